#!/usr/bin/env python3
"""Run every check and test of Longshore, stage by stage, and end with their counts.

Usage: run_tests.py [STAGE...]; without names all stages run, in an order that finds cheap mistakes first. Everything
that a stage prints is shown and kept in build/test-logs/. The first stage that fails ends the run with exit status 1;
so does one that was to run tests and found none.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
LOGS = REPOSITORY / "build" / "test-logs"
CORES = str(len(os.sched_getaffinity(0)))

# Of a stage that prints without end, as a broken program may, its beginning and its end are kept.
FIRST_LINES = 50_000
LAST_LINES = 500

# The closing lines of the two test runners; CTest 4 does not mention failures when there are none.
CTEST_CLOSING = re.compile(r"^\d+% tests passed(, \d+ tests failed)? out of (?P<run>\d+)")
PYTEST_CLOSING = re.compile(r"^=+ .*?(?P<run>\d+) passed.* in [\d.]+s.*=+$")


@dataclass(frozen=True)
class Stage:
    name: str
    commands: tuple[tuple[str, ...], ...]
    closing: re.Pattern[str] | None = None  # of a stage that runs tests
    why_not: Callable[[], str] = lambda: ""  # why it cannot run on this machine, if it cannot


def build(preset: str, *targets: str) -> tuple[tuple[str, ...], ...]:
    targets = targets or ("all",)
    return (
        ("cmake", "--preset", preset, "-Wno-dev", "--log-level=WARNING"),
        ("cmake", "--build", "--preset", preset, "--target", *targets),
    )


def ctest(preset: str, *options: str) -> tuple[str, ...]:
    return ("ctest", "--preset", preset, "--no-tests=error", "--parallel", CORES, *options)


def install_python_package() -> tuple[tuple[str, ...], ...]:
    """Into .venv, over the library as the stage build has built it: only the bindings are compiled."""
    prefix = REPOSITORY / "build" / "python" / "longshore"
    pip = ("python", "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--force-reinstall")
    settings = (
        "build-type=Debug",  # compiling its loops as fast as can be takes a minute more
        "define.CMAKE_CXX_FLAGS_DEBUG=-O0",
        "define.LONGSHORE_PYTHON_INSTALLED=ON",
        f"define.CMAKE_PREFIX_PATH={prefix}",
        "define.LONGSHORE_WERROR=ON",
    )
    return (
        ("cmake", "--install", "build/release", "--prefix", str(prefix)),
        (*pip, *(f"--config-settings=cmake.{setting}" for setting in settings), "."),
    )


def without_address_randomisation(command: tuple[str, ...]) -> tuple[str, ...]:
    """The command as ThreadSanitizer of gcc 12 needs it: where the kernel randomises 32 bits, it finds no room.

    Some containers do not permit the change; there the kernel's setting has to do.
    """
    setarch = ("setarch", os.uname().machine, "-R")
    if shutil.which("setarch") and subprocess.run((*setarch, "true"), capture_output=True, check=False).returncode == 0:
        return (*setarch, *command)
    return command


def why_no_python_package() -> str:
    header = Path(sysconfig.get_path("include")) / "Python.h"
    return "" if header.exists() else f"Python's headers (python3-dev) are not there: no {header}"


STAGES = (
    Stage("lint", (("tools/lint",), ("tools/check_layers.py",))),
    Stage("build", build("release")),
    Stage("headers", build("release", "all_verify_interface_header_sets")),
    Stage("library", (ctest("release"),), CTEST_CLOSING),
    Stage("study", (("python", "-m", "pytest", "--numprocesses", CORES, "study/tests"),), PYTEST_CLOSING),
    Stage(
        "python",
        (*install_python_package(), ("python", "-m", "pytest", "bindings/python/tests")),
        PYTEST_CLOSING,
        why_no_python_package,
    ),
    Stage(
        "system",
        (("python", "-m", "pytest", "--numprocesses", CORES, "--ignore", "tests/hosts", "tests"),),
        PYTEST_CLOSING,
    ),
    Stage("hosts", (("python", "-m", "pytest", "tests/hosts"),), PYTEST_CLOSING),
    Stage("asan-build", build("asan")),
    Stage("asan", (ctest("asan"),), CTEST_CLOSING),
    Stage("tsan-build", build("tsan")),
    Stage("tsan", (without_address_randomisation(ctest("tsan")),), CTEST_CLOSING),
)


@dataclass
class Outcome:
    stage: Stage
    seconds: float
    tests: int | None
    closing: str  # the runner's own closing line
    problem: str  # empty when the stage passed


def start_command(command: tuple[str, ...]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command,
        cwd=REPOSITORY,
        env=os.environ | {"OMPI_MCA_mpi_yield_when_idle": "1"},  # tests share their cores with other tests
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )


def lines_of(process: subprocess.Popen[str]) -> Iterator[str]:
    """What the process prints, without the middle where that is very long."""
    assert process.stdout is not None
    last: deque[str] = deque(maxlen=LAST_LINES)
    left_out = -LAST_LINES
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
    """Run the commands of one stage, show and keep what they print, and judge it."""
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


def main(names: list[str], stages: tuple[Stage, ...] = STAGES) -> int:
    known = [stage.name for stage in stages]
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"run_tests: unknown stage '{unknown[0]}'; allowed: {', '.join(known)}", file=sys.stderr)
        return 2
    chosen = [stage for stage in stages if not names or stage.name in names]
    LOGS.mkdir(parents=True, exist_ok=True)
    outcomes: list[Outcome] = []
    for number, stage in enumerate(chosen, start=1):
        print(f"\n==== {number}/{len(chosen)} {stage.name}", flush=True)
        outcomes.append(run_stage(stage, lambda line: (sys.stdout.write(line), sys.stdout.flush())))
        if outcomes[-1].problem:
            break
    print("\n".join(summary(outcomes, chosen[len(outcomes) :])), flush=True)
    return 1 if outcomes[-1].problem else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
