"""What importers of printed text share: where runs begin in a file, and single numbers in a text."""

from __future__ import annotations

import re

from longshore_study.importers import Source


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
    match = re.search(pattern, text)
    return float(match[1]) if match else None
