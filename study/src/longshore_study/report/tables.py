"""What tables of many rows have in common: the heads of their columns, and rows that wait to be
opened."""

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


def strip_table(heads: Sequence[tuple[str, Child]], rows: Sequence[Child]) -> Element:
    """Rows of names, drawings on one axis and numbers."""
    return element("table", column_heads(heads), element("tbody", list(rows)), class_="strips")


def strip_row(name: Child, drawn: Child, numbers: Sequence[tuple[str, str]]) -> Element:
    """`numbers`: the kind of the column, as its head has it, and what stands there."""
    return element(
        "tr",
        element("th", name, class_="c-name", scope="row"),
        element("td", drawn, class_="c-plot"),
        [element("td", text, class_=f"c-{kind} number") for kind, text in numbers],
    )


def column_heads(heads: Sequence[tuple[str, Child]]) -> Element:
    """Of the class and the text of each column."""
    return element(
        "thead", element("tr", [element("th", text, class_=f"c-{kind}", scope="col") for kind, text in heads])
    )
