"""What importers of printed text share: where runs begin in a file, and single numbers in a
text."""

from __future__ import annotations

import math
import re

from longshore_study.importers.imported import Source

_NUMBER_FIRST = re.compile(r"\s*(?:[-+]?\.?\d[\d.]*(?:e[-+]?\d+)?|[-+]?(?:nan|inf))(?=\s|$)", re.IGNORECASE)
_LARGEST_COUNT = 10**18


def runs_of(source: Source, begin: re.Pattern[str], what: str) -> list[tuple[str, int]]:
    """The text of each run with its place in the file; raises LongshoreError where none begins."""
    starts = [match.start() for match in begin.finditer(source.text)]
    if not starts:
        raise source.error(len(source.text.rstrip()), f"no line '{what}', with which a run begins")
    ends = [*starts[1:], len(source.text)]
    return [(source.text[start:end], start) for start, end in zip(starts, ends, strict=True)]


def integer(pattern: str, text: str) -> int | None:
    match = re.search(pattern, text)
    return int(match[1]) if match else None


def number(pattern: str, text: str) -> float | None:
    """What the first group holds that matched."""
    match = re.search(pattern, text)
    return next((float(group) for group in match.groups() if group is not None), None) if match else None


def starts_with_number(line: str) -> bool:
    """Whether a line stands in a table of figures; nan and inf are what a program prints for a
    figure that it lacks."""
    return _NUMBER_FIRST.match(line) is not None


def figure(source: Source, place: int, column: str, word: str) -> float:
    """The number in a column of a table; raises LongshoreError for what is none."""
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise source.error(place, f"'{word[:40]}' below {column} is no number")
    return value


def whole(source: Source, place: int, column: str, word: str) -> int:
    """As figure, for sizes and counts."""
    if not re.fullmatch(r"\d{1,19}", word) or int(word) > _LARGEST_COUNT:
        raise source.error(place, f"'{word[:40]}' below {column} is no whole number from 0 to 10^18")
    return int(word)
