#!/usr/bin/env python3
"""Run the checks and tests of Longshore, stage by stage, and print their counts.

Usage: run_tests.py [--quick | --rest] [--fuzz-seconds N] [STAGE...]

Without names, all stages run, cheap stages first. --quick runs the stages of `make test`, --rest
the remaining stages of `make test-all`. The output of a stage is shown and kept in build/test-logs.
The run ends with exit status 1 after the first stage that fails, or that should run tests and found
none. The stage fuzz runs random combinations of options of longshore-bench for N seconds (300). The
seed is the commit, or the date without a commit.

Tests with one of the labels below run with --rest. CONTRIBUTING.md has the reason for each label.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
LOGS = REPOSITORY / "build" / "test-logs"
FUZZ_SECONDS = 300
BUILD = Path("build") / "test"  # the build that the tests use
CTEST_LABELS = ("layouts", "one_sided", "programs")
PYTEST_MARKS = ("browser", "clean_root", "consumer", "hosts", "simulation", "slurm", "thorough")
CORES = len(os.sched_getaffinity(0))
TESTS_AT_A_TIME = str(2 * CORES)  # about half of the running tests wait

# Numbers of first and last lines of a stage that are kept. A broken program may print without end.
FIRST_LINES = 50_000
LAST_LINES = 500

# The closing lines of the test runners. CTest 4 does not mention failures if there are none.
CTEST_CLOSING = re.compile(r"^\d+% tests passed(, \d+ tests failed)? out of (?P<run>\d+)")
FUZZ_CLOSING = re.compile(r"^fuzz: (?P<run>\d+) runs, .* 0 failed$")
PYTEST_CLOSING = re.compile(r"^=+ .*?(?P<run>\d+) passed.* in [\d.]+s.*=+$")


@dataclass(frozen=True)
class Stage:
    name: str
    commands: tuple[tuple[str, ...], ...]
    closing: re.Pattern[str] | None = None  # the closing line, if the stage runs tests
    why_not: Callable[[], str] = lambda: ""  # the reason why this machine cannot run the stage, or ""
    quick: bool = False  # whether the stage belongs to `make test`


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
    return ("python", "-m", "pytest", "-m", expression, *words)


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
        f"define.CMAKE_PREFIX_PATH={prefix}",
        "define.LONGSHORE_WERROR=ON",
    )
    return (
        ("cmake", "--install", str(BUILD), "--prefix", str(prefix)),
        (*pip, *(f"--config-settings=cmake.{setting}" for setting in settings), "."),
    )


def fuzz(seconds: int) -> tuple[tuple[str, ...], ...]:
    """A commit always gives the same sequence of combinations. `seconds` decides how many run."""
    commit = subprocess.run(
        ("git", "rev-parse", "--short=12", "HEAD"), cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    seed = commit.stdout.strip() or datetime.now(tz=UTC).strftime("%Y-%m-%d")
    return (("tools/fuzz", "--seconds", str(seconds), "--seed", seed, "--jobs", "2"),)


def without_address_randomisation(command: tuple[str, ...]) -> tuple[str, ...]:
    """The command without address space randomisation, if the system permits that.

    ThreadSanitizer of gcc 12 fails if the kernel randomises 32 bits of addresses.
    """
    setarch = ("setarch", os.uname().machine, "-R")
    if shutil.which("setarch") and subprocess.run((*setarch, "true"), capture_output=True, check=False).returncode == 0:
        return (*setarch, *command)
    return command


def why_no_python_package() -> str:
    header = Path(sysconfig.get_path("include")) / "Python.h"
    return "" if header.exists() else f"Python's headers (python3-dev) are missing: no {header}"


def why_no_clean_root() -> str:
    if os.geteuid() != 0:
        return "packages are installed in a fresh Debian by root only"
    return "" if shutil.which("debootstrap") else "debootstrap, which makes a fresh Debian, is missing"


STAGES = (
    Stage("lint", (("tools/lint",), ("tools/check_layers.py",)), quick=True),
    Stage("build", build("test", "quick_tests"), quick=True),
    Stage("library", (labelled("--label-exclude"),), CTEST_CLOSING, quick=True),
    Stage("study", (pytest(QUICK, *IN_PARALLEL, "study/tests"),), PYTEST_CLOSING, quick=True),
    Stage("system", (pytest(QUICK, *IN_PARALLEL, "tests"),), PYTEST_CLOSING, quick=True),
    Stage(
        "python",
        (*install_python_package(), pytest(QUICK, "bindings/python/tests")),
        PYTEST_CLOSING,
        why_no_python_package,
        quick=True,
    ),
    Stage("build-rest", build("test")),
    Stage("headers", build("test", "all_verify_interface_header_sets")),
    Stage("library-rest", (labelled("--label-regex"),), CTEST_CLOSING),
    Stage("study-rest", (pytest(REST, *IN_PARALLEL, "study/tests"),), PYTEST_CLOSING),
    Stage("python-rest", (pytest(REST, "bindings/python/tests"),), PYTEST_CLOSING, why_no_python_package),
    Stage("system-rest", (pytest(REST, *IN_PARALLEL, *APART, "tests"),), PYTEST_CLOSING),
    Stage("hosts", (pytest("hosts", "tests/hosts"),), PYTEST_CLOSING),
    Stage("clean-root", (pytest("clean_root", "tests/clean_root"),), PYTEST_CLOSING, why_no_clean_root),
    Stage("bench", build("release", "longshore-bench")),  # the build of users
    Stage("fuzz", fuzz(FUZZ_SECONDS), FUZZ_CLOSING),
    Stage("asan-build", build("asan")),
    Stage("asan", (ctest("asan"),), CTEST_CLOSING),
    Stage("tsan-build", build("tsan")),
    Stage("tsan", (without_address_randomisation(ctest("tsan")),), CTEST_CLOSING),
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
    with (LOGS / f"{stage.name}.log").open("w", encoding="utf-8", buffering=1) as log:
        for command in stage.commands:
            with start_command(command) as process:
                for line in lines_of(process):
                    show(line)
                    log.write(line)
                    if stage.closing and (match := stage.closing.match(line)):
                        tests = int(match["run"])
                        closing = line.strip()
            if process.returncode != 0:
                problem = f"exit status {process.returncode} of: {' '.join(command)}"
                break
    if not problem and stage.closing and not tests:
        problem = "it ran no tests"
    return Outcome(stage, time.monotonic() - start, tests, closing, problem)


def summary(outcomes: list[Outcome], not_run: list[Stage]) -> list[str]:
    lines = ["", f"{'stage':<12}{'seconds':>8}  tests"]
    for outcome in outcomes:
        judged = outcome.closing or ("passed" if not outcome.problem else "")
        lines.append(f"{outcome.stage.name:<12}{outcome.seconds:>8.0f}  {judged}")
        if outcome.problem:
            lines.append(f"FAILED: stage '{outcome.stage.name}': {outcome.problem}")
    if not_run:
        lines.append(f"not run: {', '.join(stage.name for stage in not_run)}")
    total = sum(outcome.tests or 0 for outcome in outcomes)
    seconds = sum(outcome.seconds for outcome in outcomes)
    verdict = "failed" if any(outcome.problem for outcome in outcomes) else "all passed"
    lines.append(f"{total} tests in {len(outcomes)} stages, {seconds:.0f} seconds: {verdict}")
    return lines


def whole_seconds(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no whole number of seconds from 1")
    return int(text)


def main(words: list[str], stages: tuple[Stage, ...] = STAGES) -> int:
    options = argparse.ArgumentParser("run_tests", description=str(__doc__).partition("\n")[0])
    options.add_argument("stage", nargs="*", help=", ".join(stage.name for stage in stages))
    part = options.add_mutually_exclusive_group()
    part.add_argument("--quick", action="store_true", help="the stages of `make test`")
    part.add_argument("--rest", action="store_true", help="the other stages of `make test-all`")
    options.add_argument(
        "--fuzz-seconds",
        type=whole_seconds,
        metavar="N",
        default=FUZZ_SECONDS,
        help=f"seconds of the stage fuzz (default: {FUZZ_SECONDS})",
    )
    asked = options.parse_args(words)
    names = asked.stage
    if asked.fuzz_seconds != FUZZ_SECONDS:
        commands = fuzz(asked.fuzz_seconds)
        stages = tuple(replace(stage, commands=commands) if stage.name == "fuzz" else stage for stage in stages)
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
    outcomes: list[Outcome] = []
    for number, stage in enumerate(chosen, start=1):
        print(f"\n==== {number}/{len(chosen)} {stage.name}", flush=True)
        outcomes.append(run_stage(stage, lambda line: (sys.stdout.write(line), sys.stdout.flush())))
        if outcomes[-1].problem:
            break
    closing = "\n".join(summary(outcomes, chosen[len(outcomes) :]))
    print(closing, flush=True)
    if not names:
        part_name = "quick" if asked.quick else "rest" if asked.rest else "all"
        (LOGS / f"{part_name}.summary").write_text(closing + "\n", encoding="utf-8")
    return 1 if outcomes[-1].problem else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
