"""Asks short programs of this machine, such as `mpirun --version`, and reads what they print."""

import subprocess
from collections.abc import Sequence

_SECONDS = 60


def answer_of(argv: Sequence[str]) -> subprocess.CompletedProcess[str] | None:
    """Exit status, stdout and stderr of a program. None if it cannot run, or takes a minute."""
    try:
        return subprocess.run(  # noqa: S603 - a list of words, without a shell
            argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=_SECONDS,
            check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None


def output_of(argv: Sequence[str]) -> str:
    """What a program prints on stdout and stderr. Empty if the program cannot be run."""
    answer = answer_of(argv)
    return answer.stdout + answer.stderr if answer else ""
