"""The common parts of tables: column heads, strips, and folded rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from longshore_study.report.markup import Child, Element, element

Row = TypeVar("Row")


def folded(
    rows: Sequence[Row], shown: int, summary: Callable[[int], str], table: Callable[[Sequence[Row]], Child]
) -> list[Child]:
    """The first `shown` rows as a table, the others folded. `summary`: a text for the number of
    folded rows."""
    if len(rows) <= shown:
        return [table(rows)]
    rest = element("details", element("summary", summary(len(rows) - shown)), table(rows[shown:]))
    return [table(rows[:shown]), rest]


def scroll_table(
    heads: Sequence[str], rows: Sequence[Child], label: str, *, numbers: Sequence[str] = (), style: str = "plain"
) -> Element:
    """A table that scrolls sideways on a narrow page. `numbers`: the heads of columns of
    numbers."""
    cells = [element("th", head, scope="col", class_="number" if head in numbers else None) for head in heads]
    table = element("table", element("thead", element("tr", cells)), element("tbody", list(rows)), class_=style)
    return element("div", table, class_="scroll", tabindex="0", role="region", aria_label=label)


def strip_table(heads: Sequence[tuple[str, Child]], rows: Sequence[Child]) -> Element:
    """A table whose rows have a name, a drawing on a common axis, and numbers."""
    return element("table", column_heads(heads), element("tbody", list(rows)), class_="strips")


def strip_row(name: Child, drawn: Child, numbers: Sequence[tuple[str, str]]) -> Element:
    """`numbers`: pairs of the kind of the column, as in its head, and the text."""
    return element(
        "tr",
        element("th", name, class_="c-name", scope="row"),
        element("td", drawn, class_="c-plot"),
        [element("td", text, class_=f"c-{kind} number") for kind, text in numbers],
    )


def column_heads(heads: Sequence[tuple[str, Child]]) -> Element:
    """`heads`: pairs of the class and the text of each column."""
    return element(
        "thead", element("tr", [element("th", text, class_=f"c-{kind}", scope="col") for kind, text in heads])
    )
