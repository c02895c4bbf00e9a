"""tools/run_tests.py counts tests, ends at the first failed stage, and refuses stages without
tests."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
from fuzzing.judging import PASSED, Verdict
from fuzzing.reporting import Tally
from repository import REPOSITORY

PROGRAM = REPOSITORY / "tools" / "run_tests.py"


@pytest.fixture
def run_tests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("run_tests", PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "run_tests", module)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "LOGS", tmp_path)
    return module


def printing(text: str, exit_status: int = 0) -> tuple[tuple[str, ...], ...]:
    return ((sys.executable, "-c", f"print({text!r}); raise SystemExit({exit_status})"),)


CLOSINGS = {
    "ctest 3": ("CTEST_CLOSING", "100% tests passed, 0 tests failed out of 77", 77),
    "ctest 4": ("CTEST_CLOSING", "100% tests passed out of 77", 77),
    "pytest": ("PYTEST_CLOSING", "======== 21 passed, 1 skipped in 19.71s ========", 21),
    "pytest over a minute": ("PYTEST_CLOSING", "======== 21 passed in 79.71s (0:01:19) ========", 21),
}


@pytest.mark.parametrize("runner", CLOSINGS)
def test_tests_are_counted_by_the_closing_line_of_their_runner(
    run_tests: ModuleType, runner: str, capsys: pytest.CaptureFixture[str]
) -> None:
    pattern, line, count = CLOSINGS[runner]
    stage = run_tests.Stage("some", printing(line), getattr(run_tests, pattern))
    assert run_tests.main([], (stage,)) == 0
    assert f"{count} tests in 1 stages" in capsys.readouterr().out


@pytest.mark.parametrize("printed", ["", "No tests were found!!!", "100% tests passed, 0 tests failed out of 0"])
def test_a_stage_that_runs_no_tests_fails(
    run_tests: ModuleType, printed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    stage = run_tests.Stage("library", printing(printed), run_tests.CTEST_CLOSING)
    assert run_tests.main([], (stage,)) == 1
    assert "FAILED: stage 'library': it ran no tests" in capsys.readouterr().out


def test_a_stage_that_cannot_run_here_is_skipped_and_says_so(
    run_tests: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    never = run_tests.Stage("never", printing("bad", exit_status=8), run_tests.PYTEST_CLOSING, lambda: "no headers")
    some = run_tests.Stage("some", printing(CLOSINGS["pytest"][1]), run_tests.PYTEST_CLOSING)
    assert run_tests.main([], (never, some)) == 0
    out = capsys.readouterr().out
    assert re.search(r"^never +0  skipped: no headers$", out, re.MULTILINE)
    assert "21 tests in 2 stages" in out


def test_the_first_stage_that_fails_ends_the_run_and_is_named(
    run_tests: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    stages = (
        run_tests.Stage("first", printing("fine")),
        run_tests.Stage("second", printing("bad", exit_status=8)),
        run_tests.Stage("third", printing("never")),
    )
    assert run_tests.main([], stages) == 1
    out = capsys.readouterr().out
    assert re.search(r"FAILED: stage 'second': exit status 8 of: ", out)
    assert "not run: third" in out
    assert "never\n" not in out
    assert out.rstrip().endswith("failed")


def test_the_beginning_and_the_end_of_endless_output_are_kept(
    run_tests: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    count = run_tests.FIRST_LINES + run_tests.LAST_LINES + 7
    program = f"for i in range({count}): print('line', i)\nprint('100% tests passed out of 3')"
    stage = run_tests.Stage("library", ((sys.executable, "-c", program),), run_tests.CTEST_CLOSING)
    assert run_tests.main([], (stage,)) == 0
    out = capsys.readouterr().out
    assert f"line {run_tests.FIRST_LINES - 1}\n... 8 lines left out ...\n" in out
    assert f"line {count - 1}\n100% tests passed out of 3\n" in out
    assert "3 tests in 1 stages" in out


def test_the_time_of_random_combinations_is_an_option(
    run_tests: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert any("--seconds 300 " in " ".join(stage.commands[0]) for stage in run_tests.STAGES if stage.name == "fuzz")
    tally = Tally()
    tally.add("ring/threads", Verdict(PASSED, variants=3))

    def pretend(seconds: int) -> tuple[tuple[str, ...], ...]:
        return printing(f"for {seconds} s\nfuzz: {tally.line()}")

    monkeypatch.setattr(run_tests, "fuzz", pretend)
    assert run_tests.main(["--fuzz-seconds", "7", "fuzz"]) == 0
    out = capsys.readouterr().out
    assert "for 7 s\n" in out
    assert "1 tests in 1 stages" in out
    with pytest.raises(SystemExit):
        run_tests.main(["--fuzz-seconds", "0"])
    assert "'0' is no whole number of seconds from 1" in capsys.readouterr().err


PARTS = {"--quick": ("fast", ["quick"]), "--rest": ("slow", ["rest"]), "slow": ("slow", []), "": ("fast slow", ["all"])}


@pytest.mark.parametrize("word", PARTS)
def test_the_quick_stages_and_the_rest_run_apart_and_keep_their_counts(
    run_tests: ModuleType, word: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ran, kept = PARTS[word]
    stages = (
        run_tests.Stage("fast", printing(CLOSINGS["pytest"][1]), run_tests.PYTEST_CLOSING, quick=True),
        run_tests.Stage("slow", printing(CLOSINGS["ctest 4"][1]), run_tests.CTEST_CLOSING),
    )
    assert run_tests.main(word.split(), stages) == 0
    out = capsys.readouterr().out
    assert " ".join(re.findall(r"^==== \d/\d (\w+)$", out, re.MULTILINE)) == ran
    assert [file.stem for file in tmp_path.glob("*.summary")] == kept
    for file in tmp_path.glob("*.summary"):
        assert file.read_text(encoding="utf-8").strip().splitlines()[-1] == out.strip().splitlines()[-1]


def test_names_of_stages_cannot_be_combined_with_a_part(
    run_tests: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_tests.main(["--quick", "lint"]) == 2
    assert "give names of stages, or --quick, or --rest" in capsys.readouterr().err


def test_each_test_runs_in_one_of_the_two_parts(run_tests: ModuleType) -> None:
    """The rest selects by label the tests that the quick stages exclude by the same label."""
    quick = [" ".join(command) for stage in run_tests.STAGES if stage.quick for command in stage.commands]
    rest = [" ".join(command) for stage in run_tests.STAGES if not stage.quick for command in stage.commands]
    ctests = [[c for c in part if "ctest --preset test" in c] for part in (quick, rest)]
    assert [c.replace("--label-exclude", "--label-regex") for c in ctests[0]] == ctests[1]
    folders = {"study/tests", "tests", "bindings/python/tests"}
    marks = " or ".join(run_tests.PYTEST_MARKS)
    assert {c.split()[-1] for c in quick if f"pytest -m not ({marks})" in c} == folders
    assert {c.split()[-1] for c in rest if f"pytest -m {marks}" in c} == folders


def test_the_error_of_an_unknown_stage_lists_the_known_ones(
    run_tests: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_tests.main(["libary"]) == 2
    assert "unknown stage 'libary'; allowed: lint, " in capsys.readouterr().err
