"""Runs programs in which one rank passes other arguments than the others.

A program has two arguments, FIRST and COUNT, and draws its calls from COUNT seeds from FIRST on. It
ends with status 0 if all ranks refused each wrong call and went on.
"""

import os
import random
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from fuzzing.launchers import Launchers, common_variables
from fuzzing.reporting import Reporter

MAX_RANKS = 7
SEEDS_OF_A_RUN = 50


def sweep(
    programs: Sequence[Path],
    transports: Sequence[str],
    launchers: Launchers,
    reporter: Reporter,
    *,
    seed: str,
    seconds: float | None,
    most: int | None,
    deadline: float,
) -> int:
    """Makes `most` runs, or starts runs for `seconds`, and returns the exit status of the tool."""
    runs = failed = 0
    until = time.monotonic() + (seconds or float("inf"))
    while time.monotonic() < until and runs != most:
        numbers = random.Random(f"{seed}/{runs}")  # noqa: S311 - reproducible, not secret
        program, transport, ranks = numbers.choice(programs), numbers.choice(transports), numbers.randint(2, MAX_RANKS)
        settings = common_variables(max(1, int(deadline / 3))) | {
            "LONGSHORE_TRANSPORT": transport,
            "LONGSHORE_RANKS": str(ranks),
            "LONGSHORE_RANKS_PER_NODE": str(numbers.randint(0, ranks)),
        }
        python = [sys.executable] if program.suffix == ".py" else []
        calls = [str(numbers.randrange(1 << 31)), str(SEEDS_OF_A_RUN)]
        command = [*launchers.prefix(transport, ranks), *python, str(program), *calls]
        runs += 1
        try:
            done = subprocess.run(
                command, env=os.environ | settings, capture_output=True, text=True, check=False, timeout=deadline
            )
            status, output = str(done.returncode), done.stdout + done.stderr
        except subprocess.TimeoutExpired:
            status, output = f"none after {deadline:g} s", ""
        if status != "0":
            failed += 1
            variables = " ".join(f"{name}={value}" for name, value in settings.items())
            reporter.say(f"FAILED, status {status}: {variables} {shlex.join(command)}\n{output}")
        reporter.progress(f"{runs} runs, {failed} failed")
    reporter.say(f"fuzz: {runs} runs, of {SEEDS_OF_A_RUN} calls each, {failed} failed")
    return 1 if failed else 0
