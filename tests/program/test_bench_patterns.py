"""All patterns of longshore-bench run, are verified, and are listed with their options."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from bench_runs import (
    BENCH,
    THREADS_FIRST,
    TIMEOUT_SECONDS,
    TRANSPORTS,
    Run,
    command,
    needs_mpi,
    of_kind,
    own_lines,
    read_records,
    thorough,
)


@pytest.fixture(scope="module")
def listed() -> dict[str, Any]:
    assert BENCH.exists(), "build first: tools/run_tests.py build"
    done = subprocess.run([BENCH, "--list"], capture_output=True, text=True, check=True, timeout=TIMEOUT_SECONDS)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_the_list_names_patterns_transports_and_available_levels(listed: dict[str, Any]) -> None:
    assert [p["name"] for p in listed["patterns"]] == ["stream", "gather", "halo", "sort", "ghost", "control"]
    assert {t["name"]: t["available"] for t in listed["transports"]}["threads"] is True
    for pattern in listed["patterns"]:
        for factor in pattern["factors"]:
            for level in factor.get("levels", []):
                assert ("transports" if level["available"] else "why_not") in level
            for default in factor["default"]:
                levels = [level["level"] for level in factor.get("levels", [])]
                assert not levels or default in levels


def test_every_pattern_has_help_with_all_its_options(listed: dict[str, Any]) -> None:
    for pattern in listed["patterns"]:
        done = subprocess.run(
            [BENCH, pattern["name"], "--help"], capture_output=True, text=True, check=True, timeout=TIMEOUT_SECONDS
        )
        for factor in pattern["factors"]:
            assert factor["option"] in done.stdout
        assert f"longshore-bench {pattern['name']}" in done.stdout


SMALL = {
    "stream": ("--scope", "ep,global", "--elements", "1000"),
    "gather": ("--strategy", "agp,exstack,direct,auto", "--requests", "1000", "--table", "100"),
    "halo": ("--algorithm", "standard,faces", "--domain", "6,5,4", "--halo", "1,2", "--fields", "1,3"),
    "sort": ("--exchange", "put,direct,channel,auto", "--payload", "0,8", "--splitters", "sampled", "--keys", "1000"),
    "ghost": ("--strategy", "standard,direct,auto", "--mesh", "random,tetrahedra", "--elements", "600"),
    "control": ("--bytes", "1000"),
}


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("nodes", [thorough(()), ("--ranks-per-node", "2")])
@pytest.mark.parametrize("pattern", SMALL)
def test_every_pattern_runs_and_is_verified(
    run: Run, tmp_path: Path, pattern: str, transport: str, nodes: tuple[str, ...]
) -> None:
    options = (pattern, *SMALL[pattern], "--repetitions", "2", "--json", "r", *nodes)
    done = run(BENCH, *options, transport=transport, ranks=3)
    assert done.returncode == 0, done.stderr
    assert own_lines(done.stderr) == []
    results = [r for r in of_kind(read_records(tmp_path / "r"), "result") if "skipped" not in r]
    assert results
    for result in results:
        assert result["verified"] is True
        assert result["metrics"]
        assert all(metric["value"] > 0 for metric in result["metrics"].values())


@pytest.mark.parametrize(
    ("transport", "ranks"),
    [
        ("threads", 3),
        thorough("threads", 7),
        *(pytest.param("mpi", ranks, marks=[needs_mpi, pytest.mark.thorough]) for ranks in (3, 4)),
    ],
)
def test_arrays_with_uneven_parts_are_measured_on_all_ranks(run: Run, transport: str, ranks: int) -> None:
    """Parts near the sizes of caches differ between ranks; all ranks must decide alike."""
    sizes = ",".join(str(1031 * 4**n) for n in range(5))
    options = ("--scope", "global", "--kernel", "add", "--distribution", "block-cyclic,block", "--elements", sizes)
    done = run(BENCH, "stream", *options, "--type", "float", "--repetitions", "1", transport=transport, ranks=ranks)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("transport", THREADS_FIRST)
@pytest.mark.parametrize("language", ["c++", thorough("c"), thorough("fortran")])
def test_verification_follows_the_algorithm_that_auto_chooses(
    run: Run, tmp_path: Path, language: str, transport: str
) -> None:
    """The level auto may choose differently in each run. Algorithms fill different halo cells."""
    options = ["--algorithm", "auto", "--reach", "faces,edges,corners", "--mode", "direct,channel,waitall"]
    options += ["--domain", "5,7,3,9,4,6", "--halo", "3", "--fields", "1,5", "--periodic", "1,0,1"]
    options += ["--language", language, "--repetitions", "1", "--ranks-per-node", "1", "--json", "r"]
    done = run(BENCH, "halo", *options, transport=transport, ranks=4)
    if done.returncode == 2 and "this build has no" in done.stderr:
        pytest.skip(f"this build has no {language}")
    assert done.returncode == 0, done.stderr
    results = [r for r in of_kind(read_records(tmp_path / "r"), "result") if "skipped" not in r]
    assert len(results) >= 2 * 12
    assert all(result["verified"] is True for result in results)
    assert not any(result["algorithm"] == "auto" for result in results)


@needs_mpi
def test_the_command_line_of_the_first_process_holds_for_all(tmp_path: Path, bench_environment: dict[str, str]) -> None:
    """Two command lines in one launch, as between hosts with different defaults."""
    asked = ("stream", "--scope", "global", "--elements")
    first = command(BENCH, *asked, "1000", "--json", "r", transport="mpi", ranks=1)
    second = command(BENCH, *asked, "2000", "--repetitions", "3", transport="mpi", ranks=1)
    done = subprocess.run(
        [*first, ":", *second[1:]],
        env=bench_environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    results = of_kind(read_records(tmp_path / "r"), "result")
    assert [result["variant"]["elements"] for result in results] == [1000]
    assert results[0]["repetitions"] == 10


@pytest.mark.parametrize("transport", THREADS_FIRST)
@pytest.mark.parametrize(
    ("pattern", "options"),
    [
        ("stream", ("--elements", "10000000000000")),
        ("stream", ("--scope", "global", "--elements", "10000000000000")),
        ("gather", ("--table", "10000000000000", "--requests", "10")),
        ("gather", ("--requests", "1000000000000")),
        ("halo", ("--domain", "100000,100000,100000")),
        ("sort", ("--keys", "1000000000000")),
        ("ghost", ("--elements", "1000000000000")),
    ],
)
def test_a_size_beyond_the_memory_is_one_line_and_status_3(
    run: Run, tmp_path: Path, pattern: str, options: tuple[str, ...], transport: str
) -> None:
    done = run(BENCH, pattern, *options, "--json", "r", transport=transport)
    assert done.returncode == 3
    said = own_lines(done.stderr)
    assert len(said) == 1, done.stderr
    assert options[1] in said[0]
    assert read_records(tmp_path / "r")[0]["record"] == "launch"
