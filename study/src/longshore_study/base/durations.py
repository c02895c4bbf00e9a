"""Reads durations in the notations of people and batch systems: 90s, 1h30m, 2d, 01:30:00,
1-12:00:00. Writes them for people and for batch systems. Gives the date of today."""

import datetime as dt
import re
from collections.abc import Callable

from longshore_study.base.errors import UsageError

EXAMPLES = "such as 45m, 1h30m, 2d or 01:30:00"
_WORDS = re.compile(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m(?:in)?)?(?:(\d+)s)?")
_CLOCK = re.compile(r"(?:(\d+)-)?(\d+):([0-5]?\d)(?::([0-5]?\d))?")
_UNITS = (86400, 3600, 60, 1)


def parse_duration(text: str) -> int:
    """The duration in seconds. Raises ValueError unless the text is a duration above zero.

    A number without a unit is refused, because Slurm reads it as minutes and PBS as seconds.
    """
    compact = text.replace(" ", "").lower()
    match = _CLOCK.fullmatch(compact) or _WORDS.fullmatch(compact)
    seconds = sum(int(part or 0) * unit for part, unit in zip(match.groups(), _UNITS, strict=True)) if match else 0
    if seconds <= 0:
        raise ValueError(f"'{text}' is not a duration {EXAMPLES}")
    return seconds


def duration_of(option: str) -> Callable[[str], int]:
    """Reads the value of an option of the command line. Its errors name the option."""

    def read(text: str) -> int:
        try:
            return parse_duration(text)
        except ValueError as error:
            raise UsageError(f"{option}: {error}") from None

    return read


def clock(seconds: int) -> str:
    """HH:MM:SS, the format that every batch system accepts."""
    return f"{seconds // 3600:02d}:{seconds % 3600 // 60:02d}:{seconds % 60:02d}"


def duration(seconds: float) -> str:
    """A duration for readers: 0.4 s, 12 s, 3 min 20 s, 5 h 10 min, 2 d 3 h."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    for large, large_name, small_name, small in ((86400, "d", "h", 3600), (3600, "h", "min", 60), (60, "min", "s", 1)):
        if whole >= large:
            rest = whole % large // small
            return f"{whole // large} {large_name}" + (f" {rest} {small_name}" if rest else "")
    return f"{whole} s"


def today() -> str:
    """The date here, which names a session if the user does not."""
    return dt.datetime.now().astimezone().date().isoformat()
