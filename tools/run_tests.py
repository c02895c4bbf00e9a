#!/usr/bin/env python3
"""Run the checks and tests of Longshore, stage by stage, and print their counts.

Usage: run_tests.py [--quick | --rest] [STAGE...]

Without names, all stages run, cheap stages first. --quick runs the stages of `make test`, --rest
the remaining stages of `make test-all`. Two stages run at a time: one that uses all cores, and one
that often waits or uses one core. The output of a stage is shown and kept in build/test-logs; that
of a stage which waits is shown at its end. After the first stage that fails, or that should run
tests and found none, no stage starts, and the run ends with exit status 1. At the end it prints the
seconds of each stage, the slowest tests, and what took 1.5 times its budget or more.

The stage fuzz runs random combinations of options of longshore-bench. Their seed and their number
are fixed, so a commit that passed passes again. tools/fuzz draws new ones.

With --rest, tests that repeat others at more sizes run in parts: each commit draws its part by its
number (LONGSHORE_TEST_PART). Without --rest, all of them run.

--quick leaves out tests with a label of CTEST_LABELS or a mark of PYTEST_MARKS. CONTRIBUTING.md has
the reason for each label and mark.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
LOGS = REPOSITORY / "build" / "test-logs"
FUZZ_RUNS = 100  # of each build
FUZZ_RUNS_OF_DISAGREEMENT = 24
OVER_BUDGET = 1.5
SLOWEST_TESTS = 20
BUILD = Path("build") / "test"  # the build that the tests use
CTEST_LABELS = ("layouts", "one_sided", "programs")
PYTEST_MARKS = ("browser", "clean_root", "consumer", "hosts", "simulation", "slurm", "thorough")
CORES = len(os.sched_getaffinity(0))
TESTS_AT_A_TIME = str(2 * CORES)  # about half of the running tests wait

# How many first and last lines of a stage are kept. A broken program may print without end.
FIRST_LINES = 50_000
LAST_LINES = 500

# The closing lines of the test runners. CTest 4 does not mention failures if there are none.
CTEST_CLOSING = re.compile(r"^\d+% tests passed(, \d+ tests failed)? out of (?P<run>\d+)")
FUZZ_CLOSING = re.compile(r"^fuzz: (?P<run>\d+) runs, .* 0 failed$")
PYTEST_CLOSING = re.compile(r"^=+ .*?(?P<run>\d+) passed.* in [\d.]+s.*=+$")
# The lines in which the test runners name a test and its seconds: of CTest, of pytest --durations.
TEST_SECONDS = (
    re.compile(r"^ *\d+/\d+ Test +#\d+: (?P<test>\S+) \.* *\S.* (?P<seconds>[\d.]+) sec$"),
    re.compile(r"^(?P<seconds>[\d.]+)s (?:setup|call|teardown) +(?P<test>\S.*)$"),
)


@dataclass(frozen=True)
class Stage:
    name: str
    commands: tuple[tuple[str, ...], ...]
    closing: re.Pattern[str] | None = None  # the closing line, if the stage runs tests
    why_not: Callable[[], str] = lambda: ""  # the reason why this machine cannot run the stage, or ""
    quick: bool = False  # whether the stage belongs to `make test`
    budget: int = 60  # seconds on two quiet cores, with the other stages of its part
    after: str = ""  # a stage that must end before this one, if both run
    waits: bool = False  # often waits or uses one core, so it runs beside stages that use all cores


def build(preset: str, *targets: str) -> tuple[tuple[str, ...], ...]:
    targets = targets or ("all",)
    return (
        ("cmake", "--preset", preset, "-Wno-dev", "--log-level=WARNING"),
        ("cmake", "--build", "--preset", preset, "--target", *targets),
    )


def ctest(preset: str, *options: str) -> tuple[str, ...]:
    return ("ctest", "--preset", preset, "--no-tests=error", "--parallel", TESTS_AT_A_TIME, *options)


def labelled(*options: str) -> tuple[str, ...]:
    """CTest on the preset test, with a selection by labels."""
    return ctest("test", *options, "^(" + "|".join(CTEST_LABELS) + ")$")


def pytest(expression: str, *words: str) -> tuple[str, ...]:
    slowest = (f"--durations={SLOWEST_TESTS}", "--durations-min=1")
    return ("python", "-m", "pytest", "-m", expression, *slowest, *words)


REST = " or ".join(PYTEST_MARKS)
QUICK = f"not ({REST})"
IN_PARALLEL = ("--numprocesses", TESTS_AT_A_TIME)
APART = ("--ignore", "tests/hosts", "--ignore", "tests/clean_root")  # these have stages of their own


def install_python_package() -> tuple[tuple[str, ...], ...]:
    """Installs the Python package into .venv, with the library of the stage build."""
    prefix = REPOSITORY / "build" / "python" / "longshore"
    pip = ("python", "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--force-reinstall")
    settings = (
        "build-type=Debug",  # optimising its loops would take a minute more
        "define.CMAKE_CXX_FLAGS_DEBUG=-O0",
        "define.LONGSHORE_PYTHON_INSTALLED=ON",
        "define.LONGSHORE_EMULATED_DEVICE=ON",
        f"define.CMAKE_PREFIX_PATH={prefix}",
        "define.LONGSHORE_WERROR=ON",
    )
    return (
        ("cmake", "--install", str(BUILD), "--prefix", str(prefix)),
        (*pip, *(f"--config-settings=cmake.{setting}" for setting in settings), "."),
    )


def commit() -> str:
    """The first digits of the commit, or "" if there is no commit."""
    words = ("git", "rev-parse", "--short=12", "HEAD")
    return subprocess.run(words, cwd=REPOSITORY, capture_output=True, text=True, check=False).stdout.strip()


def why_no_python_package() -> str:
    header = Path(sysconfig.get_path("include")) / "Python.h"
    return "" if header.exists() else f"Python's headers (python3-dev) are missing: no {header}"


def fuzz() -> tuple[tuple[str, ...], ...]:
    """The commands of stage fuzz: first programs in which one rank passes other arguments, then the
    optimised program and the program of the tests (with assertions).
    """
    programs = [f"{BUILD}/tests/disagreeing_rank"]
    if not why_no_python_package():
        programs.append("bindings/python/tests/drawn_calls.py")
    disagree = ("--disagree", ",".join(programs), "--runs", str(FUZZ_RUNS_OF_DISAGREEMENT), "--seed", "stage")
    combinations = (
        (
            *("tools/fuzz", "--bench", f"build/{build}/bench/longshore-bench", "--jobs", "2"),
            *("--runs", str(FUZZ_RUNS), "--seed", f"stage-{build}"),
        )
        for build in ("shared", "test")
    )
    return (("tools/fuzz", *disagree), *combinations)


def without_address_randomisation(command: tuple[str, ...]) -> tuple[str, ...]:
    """The command without address space randomisation, if the system permits that.

    ThreadSanitizer of gcc 12 fails if the kernel randomises 32 bits of addresses.
    """
    setarch = ("setarch", os.uname().machine, "-R")
    if shutil.which("setarch") and subprocess.run((*setarch, "true"), capture_output=True, check=False).returncode == 0:
        return (*setarch, *command)
    return command


def why_no_clean_root() -> str:
    if os.geteuid() != 0:
        return "packages are installed in a fresh Debian by root only"
    return "" if shutil.which("debootstrap") else "debootstrap, which makes a fresh Debian, is missing"


STAGES = (
    Stage("lint", (("tools/lint",), ("tools/check_layers.py",)), quick=True, waits=True, budget=20),
    Stage("build", build("test", "quick_tests"), quick=True, budget=200),
    Stage("library", (labelled("--label-exclude"),), CTEST_CLOSING, quick=True, budget=60),
    Stage("system", (pytest(QUICK, *IN_PARALLEL, "tests"),), PYTEST_CLOSING, quick=True, budget=70),
    Stage("study", (pytest(QUICK, *IN_PARALLEL, "study/tests"),), PYTEST_CLOSING, quick=True, budget=70),
    Stage(
        "python",
        (*install_python_package(), pytest("", "bindings/python/tests")),
        PYTEST_CLOSING,
        why_no_python_package,
        after="build",
        waits=True,
        budget=140,
    ),
    Stage("study-rest", (pytest(REST, *IN_PARALLEL, "study/tests"),), PYTEST_CLOSING, waits=True, budget=110),
    Stage("build-rest", build("test"), budget=60),
    Stage(
        "clean-root",
        (pytest("clean_root", "tests/clean_root"),),
        PYTEST_CLOSING,
        why_no_clean_root,
        after="build-rest",
        waits=True,
        budget=270,
    ),
    Stage("hosts", (pytest("hosts", "tests/hosts"),), PYTEST_CLOSING, waits=True, budget=110),
    Stage("headers", build("test", "all_verify_interface_header_sets"), after="build-rest", waits=True, budget=110),
    Stage("library-rest", (labelled("--label-regex"),), CTEST_CLOSING, budget=450),
    Stage("shared-build", build("shared"), budget=250),
    # The site of the documentation shows the Python package.
    Stage("system-rest", (pytest(REST, *IN_PARALLEL, *APART, "tests"),), PYTEST_CLOSING, after="python", budget=220),
    Stage("fuzz", fuzz(), FUZZ_CLOSING, after="python", budget=150),
    Stage("asan-build", build("asan"), budget=220),
    Stage("asan", (ctest("asan"),), CTEST_CLOSING, budget=110),
    Stage("tsan-build", build("tsan"), budget=120),
    Stage("tsan", (without_address_randomisation(ctest("tsan")),), CTEST_CLOSING, budget=90),
)


def environment() -> dict[str, str]:
    """The environment of tests: programs of the preset test, and MPI that yields while it waits."""
    build = REPOSITORY / BUILD
    return os.environ | {
        "LONGSHORE_BUILD": str(build),
        "OMPI_MCA_mpi_yield_when_idle": "1",
        "PATH": f"{build / 'bench'}{os.pathsep}{os.environ['PATH']}",
    }


@dataclass
class Outcome:
    stage: Stage
    seconds: float
    tests: int | None
    closing: str  # the closing line of the test runner
    problem: str  # empty if the stage passed
    slowest: dict[str, float] = field(default_factory=dict)  # seconds of its slow tests


def start_command(command: tuple[str, ...]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command,
        cwd=REPOSITORY,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )


def lines_of(process: subprocess.Popen[str]) -> Iterator[str]:
    """The output of the process. The middle of a very long output is left out."""
    assert process.stdout is not None
    last: deque[str] = deque(maxlen=LAST_LINES)
    left_out = -LAST_LINES  # becomes positive when `last` is full and begins to drop lines
    for number, line in enumerate(process.stdout):
        if number < FIRST_LINES:
            yield line
        else:
            last.append(line)
            left_out += 1
    if left_out > 0:
        yield f"... {left_out} lines left out ...\n"
    yield from last


def run_stage(stage: Stage, show: Callable[[str], object]) -> Outcome:
    """Run the commands of one stage, show and keep their output, and judge it."""
    start = time.monotonic()
    if why_not := stage.why_not():
        show(f"skipped: {why_not}\n")
        return Outcome(stage, 0.0, None, f"skipped: {why_not}", "")
    tests: int | None = None
    closing = problem = ""
    slowest: dict[str, float] = defaultdict(float)
    with (LOGS / f"{stage.name}.log").open("w", encoding="utf-8", buffering=1) as log:
        for command in stage.commands:
            with start_command(command) as process:
                for line in lines_of(process):
                    show(line)
                    log.write(line)
                    if stage.closing and (match := stage.closing.match(line)):
                        tests = (tests or 0) + int(match["run"])
                        closing = line.strip()
                    for named in filter(None, (pattern.match(line) for pattern in TEST_SECONDS)):
                        slowest[named["test"]] += float(named["seconds"])
            if process.returncode != 0:
                problem = f"exit status {process.returncode} of: {' '.join(command)}"
                break
    if not problem and stage.closing and not tests:
        problem = "it ran no tests"
    return Outcome(stage, time.monotonic() - start, tests, closing, problem, slowest)


class Run:
    """One run of some stages, in two lanes: stages that wait, and stages that use all cores."""

    def __init__(self, stages: list[Stage]) -> None:
        self.stages = stages
        self.outcomes: list[Outcome] = []
        self.failed = False
        self._started = 0
        self._ended = {stage.name: threading.Event() for stage in stages}
        self._lock = threading.Lock()

    @property
    def budget(self) -> int:
        """Seconds of the longer lane."""
        return max(sum(stage.budget for stage in self.stages if stage.waits == waits) for waits in (True, False))

    def run_all(self) -> None:
        with ThreadPoolExecutor(1) as beside:
            lane = beside.submit(self._run_lane, waits=True)
            self._run_lane(waits=False)
        lane.result()  # raises what the lane raised
        self.outcomes.sort(key=lambda outcome: self.stages.index(outcome.stage))

    def _run_lane(self, *, waits: bool) -> None:
        try:
            for stage in self.stages:
                if stage.waits != waits:
                    continue
                if stage.after in self._ended:
                    self._ended[stage.after].wait()
                if self.failed:
                    return
                self._run_one(stage)
        except BaseException:  # such as Ctrl-C: the other lane ends after its stage
            self._fail()
            raise

    def _fail(self) -> None:
        """Wakes up a lane that waits, so that it sees the failure and ends."""
        self.failed = True
        for ended in self._ended.values():
            ended.set()

    def _run_one(self, stage: Stage) -> None:
        with self._lock:
            self._started += 1
            print(f"\n==== {self._started}/{len(self.stages)} {stage.name}{' starts' * stage.waits}", flush=True)
        kept: list[str] = []
        try:
            show = kept.append if stage.waits else partial(print, end="", flush=True)
            outcome = run_stage(stage, show)
        except OSError as error:  # such as a command that is not there
            outcome = Outcome(stage, 0.0, None, "", str(error))
        with self._lock:
            if stage.waits:
                print(f"\n==== {stage.name}\n{''.join(kept)}", end="", flush=True)
            self.outcomes.append(outcome)
        if outcome.problem:
            self._fail()
        self._ended[stage.name].set()


def summary(run: Run, seconds: float) -> list[str]:
    """The seconds of all stages and their shares of the sum, the slowest tests, and the verdict."""
    together = sum(outcome.seconds for outcome in run.outcomes) or 1.0
    lines = ["", f"{'stage':<12}{'seconds':>8}{'share':>7}  tests"]
    for outcome in run.outcomes:
        judged = outcome.closing or ("passed" if not outcome.problem else "")
        share = f"{outcome.seconds / together:.0%}"
        lines.append(f"{outcome.stage.name:<12}{outcome.seconds:>8.0f}{share:>7}  {judged}")
        if outcome.problem:
            lines.append(f"FAILED: stage '{outcome.stage.name}': {outcome.problem}")
    not_run = [stage.name for stage in run.stages if stage not in [outcome.stage for outcome in run.outcomes]]
    if not_run:
        lines.append(f"not run: {', '.join(not_run)}")
    tests = [(taken, name, outcome.stage.name) for outcome in run.outcomes for name, taken in outcome.slowest.items()]
    if tests:
        lines += [
            "",
            "slowest tests",
            *(f"{s:>8.1f} s  {stage}: {name}" for s, name, stage in sorted(tests)[::-1][:SLOWEST_TESTS]),
            "",
        ]
    took = {f"stage '{outcome.stage.name}'": (outcome.seconds, outcome.stage.budget) for outcome in run.outcomes}
    took["the run"] = (seconds, run.budget)
    lines += [
        f"OVER BUDGET: {what} took {spent:.0f} s, {spent / budget:.1f} times its budget of {budget} s"
        for what, (spent, budget) in took.items()
        if spent > OVER_BUDGET * budget
    ]
    total = sum(outcome.tests or 0 for outcome in run.outcomes)
    verdict = "failed" if run.failed else "all passed"
    lines.append(f"{total} tests in {len(run.outcomes)} stages, {seconds:.0f} seconds: {verdict}")
    return lines


def main(words: list[str], stages: tuple[Stage, ...] = STAGES) -> int:
    options = argparse.ArgumentParser("run_tests", description=str(__doc__).partition("\n")[0])
    options.add_argument("stage", nargs="*", help=", ".join(stage.name for stage in stages))
    part = options.add_mutually_exclusive_group()
    part.add_argument("--quick", action="store_true", help="the stages of `make test`")
    part.add_argument("--rest", action="store_true", help="the other stages of `make test-all`")
    asked = options.parse_args(words)
    names = asked.stage
    known = [stage.name for stage in stages]
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"run_tests: unknown stage '{unknown[0]}'; allowed: {', '.join(known)}", file=sys.stderr)
        return 2
    if names and (asked.quick or asked.rest):
        print("run_tests: give names of stages, or --quick, or --rest", file=sys.stderr)
        return 2
    chosen = [
        stage
        for stage in stages
        if (stage.name in names if names else not (asked.rest if stage.quick else asked.quick))
    ]
    LOGS.mkdir(parents=True, exist_ok=True)
    if asked.rest and "LONGSHORE_TEST_PART" not in os.environ:
        os.environ["LONGSHORE_TEST_PART"] = str(int(commit() or "0", 16) % 6)
    run = Run(chosen)
    begun = time.monotonic()
    run.run_all()
    closing = "\n".join(summary(run, time.monotonic() - begun))
    print(closing, flush=True)
    if not names:
        part_name = "quick" if asked.quick else "rest" if asked.rest else "all"
        (LOGS / f"{part_name}.summary").write_text(closing + "\n", encoding="utf-8")
    return 1 if run.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
