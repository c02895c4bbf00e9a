"""The exceptions that end a command, each with a message of one line and an exit status."""

from collections.abc import Iterable

EXIT_OK = 0
EXIT_REGRESSED = 1  # compare: a row regressed; guidelines: a guideline is broken
EXIT_UNDECIDED = 2  # compare and guidelines: inconclusive or untestable
EXIT_INVALID = 3  # missing, unreadable or invalid data
EXIT_USAGE = 64  # EX_USAGE of sysexits.h
EXIT_STOPPED = 75  # run: the time limit is reached and launches are left (EX_TEMPFAIL of sysexits.h)
EXIT_INTERRUPTED = 130  # 128 + SIGINT, the convention of shells


class LongshoreError(Exception):
    """One line: the problem, the value that caused it, and a remedy."""

    def __init__(self, message: str, exit_status: int = EXIT_INVALID) -> None:
        super().__init__(message)
        self.exit_status = exit_status


class UsageError(LongshoreError):
    """The command line names something unknown or contradicts itself."""

    def __init__(self, message: str) -> None:
        super().__init__(message, EXIT_USAGE)


def suggestion(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'x'?`, to append to an error message. Empty if no known word is similar."""
    import difflib  # noqa: PLC0415 - needed only for an error message

    matches = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"; did you mean '{matches[0]}'?" if matches else ""


def require_known(word: str, known: Iterable[str], what: str) -> None:
    """Raises UsageError, with the known words, unless the word is one. `what` says what it is."""
    words = sorted(set(known))
    if word not in words:
        raise UsageError(f"unknown {what} '{word}'{suggestion(word, words)} (known: {', '.join(words)})")
