"""What tables of many rows have in common: the heads of their columns, and rows that wait to be opened."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from longshore_study.report.markup import Child, Element, element

Row = TypeVar("Row")


def folded(
    rows: Sequence[Row], shown: int, summary: Callable[[int], str], table: Callable[[Sequence[Row]], Child]
) -> list[Child]:
    """`summary`: of so many rows that are folded."""
    if len(rows) <= shown:
        return [table(rows)]
    rest = element("details", element("summary", summary(len(rows) - shown)), table(rows[shown:]))
    return [table(rows[:shown]), rest]


def column_heads(heads: Sequence[tuple[str, Child]]) -> Element:
    """Of the class and the text of each column."""
    return element(
        "thead", element("tr", [element("th", text, class_=f"c-{kind}", scope="col") for kind, text in heads])
    )
