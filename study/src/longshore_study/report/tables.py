"""The common forms of tables: folded, scrolling, sortable, and with a strip in each row."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from longshore_study.base.texts import counted
from longshore_study.report.markup import Child, Element, details, element

Row = TypeVar("Row")


def folded(rows: Sequence[Row], what: str, table: Callable[[Sequence[Row]], Child], shown: int = 40) -> list[Child]:
    """A table of the first `shown` rows, and a folded one of the others; `what` names one."""
    if len(rows) <= shown:
        return [table(rows)]
    rest = details(counted(len(rows) - shown, what), table(rows[shown:]))
    return [table(rows[:shown]), rest]


def scroll_table(
    heads: Sequence[Child],
    rows: Iterable[Sequence[Child]],
    label: str,
    *,
    numbers: Sequence[str] = (),
    style: str = "plain",
) -> Element:
    """A table that scrolls sideways on a narrow page. Cells are elements `td` and `th`, or their
    content. `numbers`: the heads of the columns with numbers."""
    kinds = ["number" if head in numbers else None for head in heads]
    head = [_cell("th", text, kind, scope="col") for text, kind in zip(heads, kinds, strict=True)]
    body = [
        element("tr", [_cell("td", content, kind) for content, kind in zip(row, kinds, strict=False)]) for row in rows
    ]
    return scrolling(
        element("table", element("thead", element("tr", head)), element("tbody", body), class_=style), label
    )


def _cell(name: str, content: Child, kind: str | None, scope: str | None = None) -> Element:
    if isinstance(content, Element) and content.name in ("td", "th"):
        return content
    return element(name, content, scope=scope, class_=kind)


def scrolling(table: Element, label: str) -> Element:
    return element("div", table, class_="scroll", tabindex="0", role="region", aria_label=label)


def strip_table(heads: Sequence[tuple[str, Child]], rows: Sequence[Child], style: str = "strips") -> Element:
    """A table whose rows have a name, a strip on a common axis, and numbers. `heads`: the class and
    the text of each column. In a table of the style `sortable`, page.js makes all columns but that
    of strips sortable."""
    cells = []
    for kind, text in heads:
        values = "" if kind == "plot" else "number" if "number" in kind else "text"
        order = values if "sortable" in style else None
        cells.append(element("th", text, class_=f"c-{kind}", scope="col", data_sort=order))
    return element("table", element("thead", element("tr", cells)), element("tbody", list(rows)), class_=style)


def strip_row(name: Child, strip: Child, *cells: Child) -> Element:
    head, plot = element("th", name, class_="c-name", scope="row"), element("td", strip, class_="c-plot")
    return element("tr", head, plot, cells)


def number_cell(kind: str, text: Child) -> Element:
    """`kind`: the class of the column, as in its head."""
    return element("td", text, class_=f"c-{kind} number")


def side_numbers(kind: str, values: Sequence[tuple[str, float]]) -> Element:
    """A cell with a number of each side, as text and value; the first value sorts it."""
    texts = [element("span", text, class_="side-text") for text, _ in values]
    return element("td", texts, class_=f"c-{kind} number", data_value=values[0][1])
