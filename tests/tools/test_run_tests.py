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
    monkeypatch.setenv("LONGSHORE_TEST_PART", "")  # else --rest would set it for the tests that follow
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
    assert re.search(r"^never +0 +0%  skipped: no headers$", out, re.MULTILINE)
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


def test_random_combinations_are_the_same_in_every_run(
    run_tests: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    [stage] = [stage for stage in run_tests.STAGES if stage.name == "fuzz"]
    commands = [" ".join(command) for command in stage.commands]
    assert "--disagree" in commands[0]
    assert all(re.search(r" --runs \d+ --seed stage(-\w+)?$", command) for command in commands)
    tally = Tally()
    tally.add("ring/threads", Verdict(PASSED, variants=3))
    counted = run_tests.Stage("fuzz", printing(f"fuzz: {tally.line()}") * 2, stage.closing)
    assert run_tests.main([], (counted,)) == 0
    assert "2 tests in 1 stages" in capsys.readouterr().out


def waiting_for(file: Path, text: str, exit_status: int = 0) -> tuple[tuple[str, ...], ...]:
    """A command that ends when the file exists."""
    wait = f"import pathlib, time\nwhile not pathlib.Path({str(file)!r}).exists(): time.sleep(0.01)\n"
    return ((sys.executable, "-c", f"{wait}print({text!r}); raise SystemExit({exit_status})"),)


def making(file: Path) -> tuple[tuple[str, ...], ...]:
    return ((sys.executable, "-c", f"import pathlib; pathlib.Path({str(file)!r}).touch()"),)


def test_a_stage_that_waits_runs_beside_the_others_and_is_shown_whole(
    run_tests: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stages = (
        run_tests.Stage("waits", waiting_for(tmp_path / "go", "waited"), waits=True),
        run_tests.Stage("works", making(tmp_path / "go")),
    )
    assert run_tests.main([], stages) == 0
    out = capsys.readouterr().out
    assert "==== waits\nwaited\n" in out
    assert re.search(r"^waits +\d+ +\d+%  passed\nworks +\d+ +\d+%  passed\n", out, re.MULTILINE)


def test_a_stage_starts_after_the_stage_that_it_needs(
    run_tests: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    look = f"import pathlib; raise SystemExit(not pathlib.Path({str(tmp_path / 'built')!r}).exists())"
    stages = (
        run_tests.Stage("packages", ((sys.executable, "-c", look),), waits=True, after="build"),
        run_tests.Stage("build", ((sys.executable, "-c", "import time; time.sleep(0.3)"), *making(tmp_path / "built"))),
    )
    assert run_tests.main([], stages) == 0
    assert run_tests.main(["packages"], stages) == 0, capsys.readouterr().out


def test_no_stage_starts_after_a_failure_in_the_other_lane(
    run_tests: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stages = (
        run_tests.Stage("waits", waiting_for(tmp_path / "go", "bad", 8), waits=True),
        run_tests.Stage("works", making(tmp_path / "go")),
        run_tests.Stage("later", printing("never"), after="waits"),
    )
    assert run_tests.main([], stages) == 1
    out = capsys.readouterr().out
    assert "FAILED: stage 'waits': exit status 8 of: " in out
    assert "not run: later" in out


@pytest.mark.parametrize("waits", [False, True])
def test_a_missing_program_is_a_failure(
    run_tests: ModuleType, *, waits: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = run_tests.Stage("missing", (("no-such-program",),), waits=waits)
    assert run_tests.main([], (missing, run_tests.Stage("later", printing("never"), after="missing"))) == 1
    out = capsys.readouterr().out
    assert "FAILED: stage 'missing': [Errno 2] No such file or directory: 'no-such-program'" in out
    assert "not run: later" in out


@pytest.mark.parametrize("waits", [False, True])
def test_an_exception_in_one_lane_ends_the_other(run_tests: ModuleType, *, waits: bool) -> None:
    def interrupted() -> str:
        raise KeyboardInterrupt

    stopped = run_tests.Stage("stopped", printing("never"), None, interrupted, waits=waits)
    awaiting = run_tests.Stage("awaiting", printing("never"), after="stopped", waits=not waits)
    with pytest.raises(KeyboardInterrupt):
        run_tests.main([], (stopped, awaiting))


def test_each_stage_waits_for_an_earlier_one(run_tests: ModuleType) -> None:
    names = [stage.name for stage in run_tests.STAGES]
    assert len({*names}) == len(names)
    for number, stage in enumerate(run_tests.STAGES):
        assert not stage.after or stage.after in names[:number]


def test_the_slowest_tests_are_listed_the_slowest_first(
    run_tests: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    ctest = "  3/52 Test  #63: gather.simulated .................   Passed   32.17 sec\n"
    failed = "10/52 Test #8: halo.mpi ....***Failed    2.50 sec\n"
    pytest_lines = "2.00s setup    tests/a.py::one\n40.25s call     tests/a.py::one\n"
    many = "".join(f"1.{n:02}s call     tests/a.py::n{n}\n" for n in range(30))
    printed = printing(ctest + failed + pytest_lines + many + CLOSINGS["pytest"][1])
    assert run_tests.main([], (run_tests.Stage("some", printed, run_tests.PYTEST_CLOSING),)) == 0
    listed = re.findall(r"^ +([\d.]+) s  some: (\S+)$", capsys.readouterr().out, re.MULTILINE)
    assert listed[:3] == [("42.2", "tests/a.py::one"), ("32.2", "gather.simulated"), ("2.5", "halo.mpi")]
    assert len(listed) == run_tests.SLOWEST_TESTS


@pytest.mark.parametrize(("budget", "over"), [(1000, False), (0.001, True)])
def test_a_stage_far_over_its_budget_is_named_and_passes(
    run_tests: ModuleType, budget: float, *, over: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_tests.main([], (run_tests.Stage("some", printing("fine"), budget=budget),)) == 0
    out = capsys.readouterr().out
    assert ("OVER BUDGET: stage 'some' took" in out) == over
    assert ("OVER BUDGET: the run took" in out) == over


def test_the_table_of_budgets_is_that_of_the_stages(run_tests: ModuleType) -> None:
    text = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([\w-]+)` \| (\d+) \|", text, re.MULTILINE)
    assert rows == [(stage.name, str(stage.budget)) for stage in run_tests.STAGES]
