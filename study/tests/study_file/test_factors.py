"""Study files and longshore-bench accept the same factors and values."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from longshore_study.patterns import CONTROL, PATTERNS

_BUILD = Path(os.environ.get("LONGSHORE_BUILD") or Path(__file__).parents[3] / "build" / "test")
_BUILT = _BUILD / "bench" / "longshore-bench"
BENCH = os.environ.get("LONGSHORE_BENCH") or (str(_BUILT) if _BUILT.exists() else None)


@pytest.fixture(scope="module")
def listed() -> dict[str, dict[str, Any]]:
    if BENCH is None:
        pytest.skip("longshore-bench is not built (make build)")
    answer = subprocess.run([BENCH, "--list"], capture_output=True, text=True, check=True, timeout=300)
    patterns = json.loads(answer.stdout)["patterns"]
    return {pattern["name"]: {factor["name"]: factor for factor in pattern["factors"]} for pattern in patterns}


def test_every_pattern_and_factor_of_the_program_is_known(listed: dict[str, dict[str, Any]]) -> None:
    assert {name: sorted(factors) for name, factors in listed.items()} == {
        name: sorted(pattern.factors) for name, pattern in PATTERNS.items()
    }


@pytest.mark.parametrize("pattern", sorted(PATTERNS))
def test_words_and_kinds_are_the_same(listed: dict[str, dict[str, Any]], pattern: str) -> None:
    for name, factor in PATTERNS[pattern].factors.items():
        theirs = listed[pattern][name]
        if factor.is_word:
            assert theirs["type"] == "word", name
            assert sorted(level["level"] for level in theirs["levels"]) == sorted(factor.values), name
        elif factor.free_text:
            assert theirs["type"] == "text", name
        else:
            assert theirs["type"] == ("integer" if factor.numbers_in_one == 1 else "triple"), name


@pytest.mark.parametrize("pattern", sorted(PATTERNS))
def test_study_files_accept_the_values_that_the_program_accepts(
    listed: dict[str, dict[str, Any]], pattern: str
) -> None:
    for name, factor in PATTERNS[pattern].factors.items():
        if not factor.is_word and not factor.free_text:
            theirs = listed[pattern][name]
            assert (factor.least, factor.most) == (theirs["low"], theirs["high"]), name


@pytest.mark.parametrize("pattern", sorted(PATTERNS))
def test_phases_are_asked_of_the_programs_that_can_time_them(pattern: str) -> None:
    if BENCH is None:
        pytest.skip("longshore-bench is not built (make build)")
    text = subprocess.run([BENCH, pattern, "--help"], capture_output=True, text=True, check=True, timeout=300).stdout
    assert ("\n  --phases " in text) == PATTERNS[pattern].times_phases


@pytest.mark.parametrize("pattern", sorted(PATTERNS))
def test_records_describe_the_metrics_as_the_module_of_the_pattern_does(
    listed: dict[str, dict[str, Any]], pattern: str
) -> None:
    """Records of version 1.0 have no `per`, so the modules repeat it."""
    assert BENCH is not None
    options = ["--ranks", "2", "--transport", "threads", "--repetitions", "1", "--json", "-"]
    sizes = {"keys": "1000", "requests": "1000", "elements": "1000", "ghosts": "100", "contiguous": "100"}
    options += [w for name, size in sizes.items() if name in listed[pattern] for w in (f"--{name}", size)]
    if pattern == CONTROL:
        options += ["--kernel", "copy,pingpong,put,loggp,shift,barrier,fetch-add", "--bytes", "1000"]
    done = subprocess.run([BENCH, pattern, *options], capture_output=True, text=True, check=True, timeout=300)
    results = [json.loads(line) for line in done.stdout.splitlines() if '"metrics"' in line]
    recorded = {name: metric for result in results for name, metric in result["metrics"].items()}
    known = PATTERNS[pattern].metrics
    assert recorded
    for name, metric in recorded.items():
        found = (metric["unit"], metric["better"], metric.get("per", ""))
        assert found == (known[name].unit, known[name].better, known[name].per), name
