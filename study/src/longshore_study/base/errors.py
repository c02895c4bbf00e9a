"""What ends a verb early: one line for the user and the exit status that goes with it."""

from __future__ import annotations

from collections.abc import Iterable

EXIT_OK = 0
EXIT_REGRESSED = 1  # compare and guidelines: something got worse or is broken
EXIT_UNDECIDED = 2  # compare and guidelines: inconclusive or untestable
EXIT_INVALID = 3  # missing, unreadable or invalid data
EXIT_USAGE = 64  # EX_USAGE of sysexits.h
EXIT_STOPPED = 75  # run: the time given is used up, and launches are left (EX_TEMPFAIL of sysexits.h)
EXIT_INTERRUPTED = 130  # 128 + SIGINT, as shells have it


class LongshoreError(Exception):
    """What happened, what was given, what to do next, in one line."""

    def __init__(self, message: str, exit_status: int = EXIT_INVALID) -> None:
        super().__init__(message)
        self.exit_status = exit_status


class UsageError(LongshoreError):
    """The command line asks for something that does not exist or contradicts itself."""

    def __init__(self, message: str) -> None:
        super().__init__(message, EXIT_USAGE)


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that a mistyped one most likely means, or None when none is near."""
    import difflib  # noqa: PLC0415 - needed only once something went wrong

    matches = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return matches[0] if matches else None


def suggestion(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'x'?` to append to a message, or nothing."""
    match = nearest(word, known)
    return f"; did you mean '{match}'?" if match else ""
