"""tools/fuzz is reproducible by its seed, finds every kind of fault, and shrinks its command.

Most tests let it run fake_bench.py, whose fault is known.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fuzzing.capabilities import UsageError, read_capabilities
from fuzzing.combination import Combination, combination_of
from fuzzing.drawing import EXCLUSIONS, Choice, draw
from fuzzing.judging import SCARCE_BYTES, SKIPPED, judge
from fuzzing.leftovers import MARK
from fuzzing.running import Run
from fuzzing.shrinking import shrink
from repository import BUILD, REPOSITORY

FUZZ = REPOSITORY / "tools" / "fuzz"
FAKE = REPOSITORY / "tests" / "tools" / "fake_bench.py"
FAULTY = BUILD / "bench" / "longshore-bench-faulty"

Fuzz = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def shared_memory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Replaces /dev/shm, where other tests may leave files of programs that they killed."""
    return tmp_path_factory.mktemp("shm")


@pytest.fixture
def fuzz(tmp_path: Path, shared_memory: Path) -> Fuzz:
    """Runs the tool on the fake program, with more environment variables."""

    def run(*words: str, bench: Path = FAKE, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, FUZZ, "--bench", bench, "--keep", tmp_path / "kept", *words],
            env=os.environ | {"LONGSHORE_FUZZ_SHARED_MEMORY": str(shared_memory)} | variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def lines_of(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def commands(printed: str) -> list[str]:
    """The part of each line that begins with the name of the pattern."""
    return [line.partition(f"{FAKE} ")[2] for line in printed.splitlines()]


# ---- drawing


def test_a_seed_draws_the_same_combinations_again_and_another_seed_draws_others(fuzz: Fuzz) -> None:
    first, again, shorter, other = (
        fuzz("--dry-run", "--runs", runs, "--seed", seed).stdout.splitlines()
        for runs, seed in (("50", "7"), ("50", "7"), ("20", "7"), ("50", "8"))
    )
    assert len(set(first)) > 40
    assert first == again
    assert first[:20] == shorter
    assert not set(first) & set(other)


def test_every_listed_level_and_many_sizes_are_drawn(fuzz: Fuzz) -> None:
    drawn = [line.split() for line in commands(fuzz("--dry-run", "--runs", "600", "--seed", "1").stdout)]
    given = {(word, after) for words in drawn for word, after in zip(words, [*words[1:], ""], strict=True)}
    for option, level in (("--kind", "good"), ("--kind", "odd"), ("--kind", "bad"), ("--new-one", "this")):
        assert (option, level) in given
    assert {after for word, after in given if word == "--ranks"} == {str(ranks) for ranks in range(1, 10)}
    items = {int(level) for word, after in given if word == "--items" for level in after.split(",")}
    assert {0, 1} <= items
    assert len(items & {63, 64, 65, 127, 128, 129}) >= 2
    assert any("," in after for word, after in given if word == "--kind")
    assert ("--ranks-per-node", "2") in given


def test_checks_of_collective_calls_are_on_in_half_of_the_runs(fuzz: Fuzz) -> None:
    drawn = fuzz("--dry-run", "--runs", "400", "--seed", "1").stdout.splitlines()
    assert 150 < sum("LONGSHORE_CHECK=1" in line for line in drawn) < 250


def test_options_that_exclude_each_other_are_rarely_drawn_together() -> None:
    bench = BUILD / "bench" / "longshore-bench"
    assert bench.exists(), "build first: tools/run_tests.py build"
    choice = Choice(read_capabilities(bench), ("halo",), ("mpi",))
    drawn = [dict(draw("1", number, choice).options) for number in range(1000)]
    of_halo = [exclusion for exclusion in EXCLUSIONS if exclusion.pattern == "halo"]
    for option in {option for exclusion in of_halo for option in (*exclusion.options, exclusion.other)}:
        assert sum(option in options for options in drawn) > 30, option
    refused = sum(any(exclusion.is_violated(options) for exclusion in of_halo) for options in drawn)
    assert 0 < refused < 150


# ---- judging


def test_a_program_without_faults_passes(fuzz: Fuzz, tmp_path: Path) -> None:
    done = fuzz("--runs", "12", "--seed", "1")
    assert done.returncode == 0, done.stdout
    assert done.stdout.splitlines()[0].startswith("fuzz: seed 1, ")
    assert "passed:  ring/threads 12" in done.stdout
    assert done.stdout.endswith("fuzz: 12 runs, 12 passed with 12 variants, 0 skipped, 0 failed\n")
    assert list(tmp_path.iterdir()) == []


FAULTS = {
    "wrong": "wrong result: ",
    "throw": "run-time failure (transport): it fell off the ring",
    "die": "signal SIGKILL: ",
    "hang": "deadline: not ended after 1 s",
    "odd status": "status 77: ",
    "no reason": "no reason: status 2 without a reason",
    "no file": "records: status 0 without records",
    "torn": "records: the last line of the records is not whole",
    "no end": "records: the records do not close with one end",
    "no sample": "has 0 samples for 1 repetitions",
    "nan": "a number is NaN, which JSON does not have",
    "unverified": "records: status 0, but 'verified' is None",
    "quietly wrong": "records: status 0, but 'verified' is False",
    "process": "left behind: process ",
}


@pytest.mark.parametrize(
    "fault", [pytest.param(fault, marks=pytest.mark.thorough if fault == "process" else ()) for fault in FAULTS]
)
def test_each_kind_of_fault_is_found_and_kept_with_its_command(fuzz: Fuzz, tmp_path: Path, fault: str) -> None:
    deadline = ["--deadline", "1"] if fault == "hang" else []
    done = fuzz("--runs", "1", "--seed", "1", "--shrink-seconds", "0", *deadline, FAKE_FAULT=fault)
    assert done.returncode == 1, done.stdout
    assert FAULTS[fault] in done.stdout
    kept = tmp_path / "kept" / "1"
    (line,) = lines_of(kept / "failures.txt")
    assert f"{FAKE} ring --ranks " in line
    assert FAULTS[fault] in line
    (beside,) = (path for path in kept.iterdir() if path.is_dir())
    assert line.startswith((beside / "command").read_text().rstrip())
    assert (beside / "stderr").read_text() == ("hm\n" if fault == "no reason" else "")
    assert (beside / "records").exists() == (fault not in ("die", "hang", "no reason", "no file"))


@pytest.mark.thorough
def test_a_file_of_shared_memory_that_stays_is_found(fuzz: Fuzz, shared_memory: Path) -> None:
    file = shared_memory / "segment"
    done = fuzz("--runs", "1", "--shrink-seconds", "0", FAKE_FAULT="file", FAKE_FILE=str(file))
    assert done.returncode == 1, done.stdout
    assert f"left behind: {file}" in done.stdout


def test_runs_refused_with_a_reason_are_skipped_and_counted_by_reason(fuzz: Fuzz) -> None:
    done = fuzz("--runs", "5", FAKE_FAULT="refuse")
    assert done.returncode == 2
    assert "5  nothing could run: not here" in done.stdout
    assert "5 runs, 0 passed with 0 variants, 5 skipped, 0 failed" in done.stdout
    assert "nothing could be verified" in done.stderr


def test_running_out_of_memory_is_no_failure_only_where_memory_is_scarce() -> None:
    end = {"record": "end", "status": "failed", "error": {"kind": "out_of_memory", "message": "8 bytes are not there"}}
    records = "".join(json.dumps(record) + "\n" for record in ({"record": "launch"}, end)).encode()
    run = Run(3, 1.0, records=records)
    assert judge(run, lambda: SCARCE_BYTES - 1).kind == SKIPPED
    assert judge(run, lambda: SCARCE_BYTES).kind == "run-time failure (out_of_memory)"


def test_a_status_that_contradicts_the_records_is_a_failure() -> None:
    found: list[dict[str, Any]] = [{"record": "launch"}, {"record": "sample", "variant": {}}]
    found.append({"record": "result", "variant": {}, "verified": True, "repetitions": 1})
    found.append({"record": "end", "status": "ok", "results": 1, "skipped": 0, "wrong": 0})

    def judged(status: int) -> str:
        text = "".join(json.dumps(record) + "\n" for record in found)
        return judge(Run(status, 1.0, errors="longshore-bench: no\n", records=text.encode())).reason

    assert judged(0) == ""
    assert judged(2) == "status 2, but 1 variants ran"
    found[-1]["results"] = 2
    assert judged(0) == "the end counts 2 'results', but the records have 1"


def test_the_status_of_a_launcher_may_stand_for_a_signal() -> None:
    assert judge(Run(139, 1.0)).kind == "signal SIGSEGV"
    assert judge(Run(-6, 1.0)).kind == "signal SIGABRT"


# ---- the real program with planted faults


FAULTS_OF_THE_REAL_PROGRAM = {
    "wrong": "wrong result: wrong result: ring",
    "die": "signal SIGKILL",
    "throw": "run-time failure (transport): ",
    "stuck": "run-time failure (timeout): ",
}


@pytest.mark.thorough
def test_faults_of_the_real_program_are_found(fuzz: Fuzz, tmp_path: Path) -> None:
    assert FAULTY.exists(), "build first: tools/run_tests.py build"
    lines = [
        f"longshore-bench ring --ranks 3 --iterations 7 --fault {fault}"
        for fault in (*FAULTS_OF_THE_REAL_PROGRAM, "none", "refused", "impossible")
    ]
    (tmp_path / "commands").write_text("\n".join(lines))
    words = ["--replay", str(tmp_path / "commands"), "--deadline", "12", "--shrink-seconds", "0"]
    done = fuzz(*words, bench=FAULTY)
    assert done.returncode == 1
    for number, told in enumerate(FAULTS_OF_THE_REAL_PROGRAM.values(), start=1):
        assert f"FAILED {number}: {told}" in done.stdout
    assert "nothing does the impossible" in done.stdout
    assert "refused when it was made ready" in done.stdout
    assert "7 runs, 1 passed with 1 variants, 2 skipped, 4 failed" in done.stdout


# ---- shrinking


LARGE = Combination(
    "ring",
    "mpi",
    9,
    (
        ("--repetitions", ("3",)),
        ("--no-noise-probe", ()),
        ("--seed", ("77",)),
        ("--kind", ("odd", "bad")),
        ("--items", ("5", "911")),
        ("--shape", ("5,3,7", "50,2,1")),
    ),
    (("A", "1"), ("B", "2")),
)


def numbers_of(combination: Combination, option: str) -> list[int]:
    levels = dict(combination.options).get(option, ("1",))
    return [int(number) for level in levels for number in level.split(",")]


SMALLEST: dict[str, tuple[Callable[[Combination], bool], Combination]] = {
    "always": (lambda _: True, Combination("ring", "threads", 1)),
    "on a transport, with a variable": (
        lambda one: one.transport == "mpi" and ("B", "2") in one.variables,
        Combination("ring", "mpi", 1, (), (("B", "2"),)),
    ),
    "with a level and a size": (
        lambda one: "bad" in dict(one.options).get("--kind", ()) and max(numbers_of(one, "--items")) > 554,
        Combination("ring", "threads", 1, (("--kind", ("bad",)), ("--items", ("555",)))),
    ),
    "with two levels": (
        lambda one: len(dict(one.options).get("--kind", ())) == 2 and one.ranks > 4,
        Combination("ring", "threads", 5, (("--kind", ("good", "odd")),)),
    ),
    "of a shape": (
        lambda one: sum(numbers_of(one, "--shape")) > 10,
        Combination("ring", "threads", 1, (("--shape", ("1,3,7",)),)),
    ),
}


@pytest.mark.parametrize("when", SMALLEST)
def test_a_combination_shrinks_to_the_smallest_that_fails(when: str) -> None:
    capabilities = read_capabilities(FAKE)
    fails, smallest = SMALLEST[when]
    shrunk = shrink(LARGE, capabilities.pattern("ring"), ("threads", "mpi"), fails, time.monotonic() + 60)
    assert shrunk.combination == smallest
    assert shrunk.complete
    assert shrunk.tries < 200


def test_a_combination_that_does_not_fail_again_is_not_shrunk() -> None:
    shrunk = shrink(
        LARGE, read_capabilities(FAKE).pattern("ring"), ("threads",), lambda _: False, time.monotonic() + 60
    )
    assert (shrunk.combination, shrunk.failed, shrunk.complete) == (LARGE, 0, False)


def test_a_combination_that_fails_sometimes_is_shrunk_too() -> None:
    count = itertools.count()
    smallest = shrink(
        LARGE,
        read_capabilities(FAKE).pattern("ring"),
        ("threads",),
        lambda _: next(count) % 3 == 0,
        time.monotonic() + 60,
    )
    assert smallest.combination == Combination("ring", "threads", 1)


def test_the_smallest_command_is_kept_and_can_be_replayed(fuzz: Fuzz, tmp_path: Path) -> None:
    kept, file = tmp_path / "kept" / "s", tmp_path / "commands"
    file.write_text(
        f"# a comment\n\nLONGSHORE_PIN=0 {FAKE} ring --ranks 4 --no-noise-probe --kind bad,good --items 8\n"
    )
    done = fuzz("--replay", str(file), "--seed", "s", FAKE_FAULT="torn", FAKE_LIMIT="1")
    assert done.returncode == 1
    (smallest,) = lines_of(kept / "smallest.txt")
    command, _, why = smallest.partition("  # ")
    assert command == f"LONGSHORE_PROFILE=off LONGSHORE_TIMEOUT=20 {FAKE} ring --ranks 3 --kind bad --items 7"
    assert why == "3: records: the last line of the records is not whole"
    again = fuzz("--replay", str(kept / "smallest.txt"), "--shrink-seconds", "0", FAKE_FAULT="torn", FAKE_LIMIT="1")
    assert again.returncode == 1
    mended = fuzz("--replay", str(kept / "failures.txt"))
    assert mended.returncode == 0, mended.stdout


def test_a_fault_that_is_found_again_is_shrunk_only_once(fuzz: Fuzz, tmp_path: Path) -> None:
    done = fuzz("--runs", "4", "--seed", "s", "--jobs", "1", FAKE_FAULT="wrong")
    assert done.stdout.count("it looks like run 1") == 3
    assert len(lines_of(tmp_path / "kept" / "s" / "failures.txt")) == 4
    assert len(lines_of(tmp_path / "kept" / "s" / "smallest.txt")) == 1


# ---- replaying


def test_command_lines_written_by_hand_are_understood() -> None:
    capabilities = read_capabilities(FAKE)

    def read(line: str) -> Combination | None:
        return combination_of(line, capabilities, {"LONGSHORE_PROFILE": "off"})

    assert read("  # nothing") is None
    assert read("longshore-bench ring --ranks 4 --shape 1,2,3,4,5,6 --kind=odd") == Combination(
        "ring", "threads", 4, (("--shape", ("1,2,3", "4,5,6")), ("--kind", ("odd",)))
    )
    assert read(
        "env A='b c' LONGSHORE_PROFILE=off mpirun -n 5 ./bench ring --transport ucx --no-noise-probe # why"
    ) == (Combination("ring", "ucx", 5, (("--no-noise-probe", ()),), (("A", "b c"),)))
    with pytest.raises(UsageError, match="the number of ranks"):
        read("longshore-bench ring --kind odd")


# ---- the command line


def test_an_interrupted_sweep_leaves_no_process(tmp_path: Path) -> None:
    hangs = tmp_path / "hangs"
    words: list[str | Path] = [sys.executable, FUZZ, "--bench", FAKE, "--keep", tmp_path, "--runs", "3", "--jobs", "1"]
    environment = os.environ | {"FAKE_FAULT": "hang", "FAKE_FILE": str(hangs)}
    with subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while not hangs.exists():
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate()
    assert process.returncode == 130
    assert b"0 failed" in out
    assert b"interrupted" in err
    assert list(processes_of(process.pid)) == []


def processes_of(sweep: int) -> Iterator[str]:
    for environ in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"{MARK}={sweep}-".encode() in environ.read_bytes():
                yield environ.parent.name
        except OSError:
            continue


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--only", "rings"), "--only: 'rings' is not one of ring"),
        (("--transport", "mpi"), "--transport: 'mpi' is not one of threads"),
        (("--replay", "missing"), "--replay: 'missing' cannot be read"),
        (("--seed", "a/b"), "--seed: 'a/b' becomes the name of a folder"),
        (("--runs", "0"), "'0' is no whole number from 1"),
        (("--seconds", "inf"), "'inf' is no number from 0"),
        (("--bench", "missing"), "--list' failed"),
    ],
)
def test_a_usage_error_names_the_value(fuzz: Fuzz, words: tuple[str, ...], told: str) -> None:
    done = fuzz(*words)
    assert done.returncode == 2
    assert told in done.stderr


def test_programs_in_which_a_rank_disagrees_are_drawn_by_the_seed(tmp_path: Path) -> None:
    """The program fails for some of its seeds."""
    program = tmp_path / "program.py"
    program.write_text(
        "import os, sys\nprint('of', os.environ['LONGSHORE_RANKS'], 'ranks')\nsys.exit(int(sys.argv[1]) % 2)\n"
    )

    def run(seed: str) -> subprocess.CompletedProcess[str]:
        words = ("--disagree", str(program), "--transport", "threads", "--runs", "8", "--seed", seed)
        return subprocess.run([sys.executable, FUZZ, *words], capture_output=True, text=True, check=False)

    done, again = run("1"), run("1")
    assert done.returncode == 1, done.stdout + done.stderr
    failed = [line for line in done.stdout.splitlines() if line.startswith("FAILED, status 1: ")]
    repeated = [line for line in again.stdout.splitlines() if line.startswith("FAILED, status 1: ")]
    assert failed == repeated
    command = subprocess.run(["bash", "-c", failed[0].partition("1: ")[2]], check=False)
    assert command.returncode == 1
    assert re.search(r"^fuzz: 8 runs, of 50 calls each, [1-7] failed$", done.stdout, re.MULTILINE)
    program.write_text("")
    assert run("1").returncode == 0


def test_a_program_that_does_not_exist_is_an_error(fuzz: Fuzz) -> None:
    done = fuzz("--disagree", "nothing")
    assert done.returncode == 2
    assert "--disagree: no file" in done.stderr
