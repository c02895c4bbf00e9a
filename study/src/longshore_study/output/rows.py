"""Rows of results: groups, and tables with the factors that vary."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from longshore_study.base import groups, terminal


class _HasFactors(Protocol):
    @property
    def factors(self) -> Mapping[str, Any]: ...


R = TypeVar("R")
P = TypeVar("P")
F = TypeVar("F", bound=_HasFactors)


def grouped_by(rows: Iterable[R], names: str) -> dict[tuple[Any, ...], list[R]]:
    """The rows by their attributes `names`, separated by spaces, in the order of first rows."""
    return groups.grouped(rows, lambda row: tuple(getattr(row, name) for name in names.split()))


def scaled(value: float | None, factor: float) -> str:
    """The text of a number in a smaller unit."""
    return terminal.number(None if value is None else value * factor)


def print_rows(
    title: str, rows: Sequence[F], columns: Mapping[str, Callable[[F], str]], *, left: Collection[str] = ()
) -> None:
    """Prints a table: a column for each factor that varies, then `columns`, which maps a heading to
    the function for the text of a row. The title ends with the factors that all rows share. Columns
    are aligned right, except `left`."""
    print_parts(title, rows, lambda row: [row], columns, left=left)


def print_parts(
    title: str, rows: Sequence[F], parts_of: Callable[[F], Sequence[P]], columns: Mapping[str, Callable[[P], str]],
    *, left: Collection[str] = (),
) -> None:  # fmt: skip
    """Like `print_rows`, with a line for each part of a row. `columns` have the texts of parts."""
    shared, names = terminal.varying([row.factors for row in rows])
    lines = [(terminal.levels(row.factors, names), part) for row in rows for part in parts_of(row)]
    terminal.print_table(
        title + terminal.shared_factors(shared),
        [*terminal.options(names), *columns],
        [[*levels, *(text(part) for text in columns.values())] for levels, part in lines],
        right=[heading for heading in columns if heading not in left],
    )
