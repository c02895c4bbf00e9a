"""Splits printed text into runs and reads numbers, for importers."""

import math
import re
from collections.abc import Sequence
from typing import Any

from longshore_study.importers.imported import Source

_NUMBER_FIRST = re.compile(r"\s*(?:[-+]?\.?\d[\d.]*(?:e[-+]?\d+)?|[-+]?(?:nan|inf))(?=\s|$)", re.IGNORECASE)
_LARGEST_COUNT = 10**18


def parts_of(source: Source, begins: Sequence[re.Match[str]]) -> list[tuple[re.Match[str], Source]]:
    """Each match with the text from its begin to the next match."""
    ends = [*(match.start() for match in begins[1:]), len(source.text)]
    return [(match, source.part(match.start(), end)) for match, end in zip(begins, ends, strict=False)]


def runs_of(source: Source, begin: re.Pattern[str], what: str) -> list[tuple[re.Match[str], Source]]:
    """The runs, each with its match of `begin`, called `what`. Raises LongshoreError if none."""
    runs = parts_of(source, list(begin.finditer(source.text)))
    if not runs:
        raise source.error_at_end(f"no line '{what}' at the start of a run")
    return runs


def word(pattern: str, text: str) -> str | None:
    """The first group of the first match. ^ and $ match at each line."""
    match = re.search(pattern, text, re.MULTILINE)
    return match[1] if match else None


def integer(pattern: str, text: str) -> int | None:
    found = word(pattern, text)
    return None if found is None else int(found)


def number(pattern: str, text: str) -> float | None:
    """The number in the first group that took part in the match. None without a match."""
    match = re.search(pattern, text)
    return next((float(group) for group in match.groups() if group is not None), None) if match else None


def starts_with_number(line: str) -> bool:
    """Whether a line begins with a number. Some programs print nan or inf for missing values."""
    return _NUMBER_FIRST.match(line) is not None


def finite_or_nan(value: Any) -> float:
    """The number that a text or a value of JSON is. NaN for anything else, and for infinities."""
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan
    return number if math.isfinite(number) else math.nan


def finite_number(source: Source, column: str, word: str) -> float:
    """A number in a column of a table, in the line `source`. Raises LongshoreError unless it is
    finite and at least 0."""
    value = finite_or_nan(word)
    if math.isnan(value):
        raise source.error(f"'{word[:40]}' below {column} is not a number")
    if value < 0:
        raise source.error(f"'{word[:40]}' below {column} is negative")
    return value


def whole(source: Source, column: str, word: str) -> int:
    """Like finite_number, for whole numbers such as sizes and counts."""
    if not re.fullmatch(r"\d{1,19}", word) or int(word) > _LARGEST_COUNT:
        raise source.error(f"'{word[:40]}' below {column} is not a whole number from 0 to 10^18")
    return int(word)


NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[EeDd][-+]?\d+|[-+]\d{3})?(?![\w.])"
"""A pattern of numbers of Fortran: 1.0E-2, 1.0D-02, 1.0-100 and .5 (see `fortran_value`)."""

_PARTS = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+))(?:[EeDd]?([-+]?\d+))?")


def fortran_value(text: str) -> float:
    """The number. Raises ValueError for other texts, such as NaN, infinities and asterisks."""
    match = _PARTS.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"'{text.strip()}' is not a number")
    number = float(f"{match[1]}e{match[2] or '0'}")
    if not math.isfinite(number):
        raise ValueError(f"'{text.strip()}' is too large")
    return number
