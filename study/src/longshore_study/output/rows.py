"""Rows of results: groups, and tables with the factors that vary."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from longshore_study.base import groups, terminal


class _HasFactors(Protocol):
    @property
    def factors(self) -> Mapping[str, Any]: ...


R = TypeVar("R")
F = TypeVar("F", bound=_HasFactors)


def grouped_by(rows: Iterable[R], names: str) -> dict[tuple[Any, ...], list[R]]:
    """The rows by their attributes with these names, separated by spaces. The groups are in the
    order of their first rows."""
    return groups.grouped(rows, lambda row: tuple(getattr(row, name) for name in names.split()))


def print_rows(
    title: str, rows: Sequence[F], columns: Mapping[str, Callable[[F], str]], *, left: Collection[str] = ()
) -> None:
    """Prints a table: a column for each factor that varies, then `columns`, which maps a heading to
    the function for the text of a row. The title ends with the factors that all rows share. Columns
    are aligned right, except `left`."""
    shared, names = terminal.varying([row.factors for row in rows])
    terminal.print_table(
        title + terminal.shared_factors(shared),
        [*terminal.options(names), *columns],
        [[*terminal.levels(row.factors, names), *(text(row) for text in columns.values())] for row in rows],
        right=[heading for heading in columns if heading not in left],
    )
