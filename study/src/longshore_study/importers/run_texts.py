"""Functions for importers of printed text: splitting a file into runs, and reading numbers."""

from __future__ import annotations

import math
import re

from longshore_study.importers.imported import Source

_NUMBER_FIRST = re.compile(r"\s*(?:[-+]?\.?\d[\d.]*(?:e[-+]?\d+)?|[-+]?(?:nan|inf))(?=\s|$)", re.IGNORECASE)
_LARGEST_COUNT = 10**18


def runs_of(source: Source, begin: re.Pattern[str], what: str) -> list[tuple[str, int]]:
    """The text of each run, and its offset in the file. Raises LongshoreError if there is none."""
    starts = [match.start() for match in begin.finditer(source.text)]
    if not starts:
        raise source.error(len(source.text.rstrip()), f"no line '{what}' at the start of a run")
    ends = [*starts[1:], len(source.text)]
    return [(source.text[start:end], start) for start, end in zip(starts, ends, strict=True)]


def integer(pattern: str, text: str) -> int | None:
    match = re.search(pattern, text)
    return int(match[1]) if match else None


def number(pattern: str, text: str) -> float | None:
    """The first group that took part in the match."""
    match = re.search(pattern, text)
    return next((float(group) for group in match.groups() if group is not None), None) if match else None


def starts_with_number(line: str) -> bool:
    """Whether a line has results. Programs print nan and inf for missing values."""
    return _NUMBER_FIRST.match(line) is not None


def finite_number(source: Source, place: int, column: str, word: str) -> float:
    """A number in a column of a table. Raises LongshoreError if it is not a finite number."""
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise source.error(place, f"'{word[:40]}' below {column} is not a number")
    return value


def whole(source: Source, place: int, column: str, word: str) -> int:
    """Like finite_number, for sizes and counts."""
    if not re.fullmatch(r"\d{1,19}", word) or int(word) > _LARGEST_COUNT:
        raise source.error(place, f"'{word[:40]}' below {column} is not a whole number from 0 to 10^18")
    return int(word)
