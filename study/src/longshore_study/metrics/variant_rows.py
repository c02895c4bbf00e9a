"""Rows of `longshore show`: medians over launches, and the best variant to choose."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any

from longshore_study.base.groups import grouped
from longshore_study.base.json_values import attributes, canonical
from longshore_study.base.near_and_far import by_distance
from longshore_study.metrics.launch_metrics import Figure
from longshore_study.patterns import CONTROL, FACTORS_BETWEEN_LAUNCHES, PATTERNS, pattern_rank

CHOICES = frozenset(
    name
    for factors in (FACTORS_BETWEEN_LAUNCHES, *(pattern.factors for pattern in PATTERNS.values()))
    for name, factor in factors.items()
    if factor.role == "way"
) | {"indexing", "environment"}
"""The factors that a user chooses. Among rows that agree in all other factors, one is the best."""
LAYOUT_COLUMNS = ("nodes", "ranks", "ranks_per_node", "tasks_per_node", "grid", "domain")
"""The factors of the layout of ranks. Tables always show these factors."""
MEASUREMENTS = ("part", "test", "datatype", "processes")
"""The factors that name a benchmark. Tables show these factors before the sizes."""


@dataclass(frozen=True, slots=True)
class VariantRow:
    """A variant in one cell, with the medians of its metrics over launches."""

    study: str
    tag: str
    session: str | None
    """None if the row is of all sessions."""
    pattern: str
    variant: dict[str, Any]
    cell: dict[str, Any]
    main: str
    metrics: dict[str, dict[str, Any]]
    launches: int
    sessions: int
    spread: tuple[float, float]
    """The smallest and the largest main figure of the launches."""
    imported: bool
    doubts: list[str] = field(default_factory=list)
    cache_line_seconds: dict[str, list[float]] = field(default_factory=dict)
    """The launches by the distance of their cores, as `by_distance` gives them."""
    simulated: str | None = None
    """The simulated machine with its version. Its rows are never in a table with measured ones."""
    best: bool = False
    of_best: float | None = None
    """The main figure relative to the best row, which has 1. None if there is no other row."""

    @property
    def value(self) -> float:
        return float(self.metrics[self.main]["value"])

    @property
    def question(self) -> tuple[str, ...]:
        """The same key for the rows among which one row is the best."""
        factors = {**self.cell, **self.variant}
        asked = canonical({name: value for name, value in factors.items() if name not in CHOICES})
        return (self.study, self.tag, self.session or "", self.pattern, self.main, asked)


def variant_rows(figures: Iterable[Figure], *, by_session: bool) -> list[VariantRow]:
    """One row per variant and cell, for each session or for all sessions together."""

    def identity(figure: Figure) -> tuple[Any, ...]:
        key = figure.key
        session = figure.session if by_session else None
        return (session, key.study, figure.tag, figure.simulated, key.pattern, key.variant_text, key.cell_text)

    rows = [_row(name[0], members) for name, members in grouped(figures, identity).items()]
    return sorted(_with_best(rows), key=_order)


def _row(session: str | None, figures: Sequence[Figure]) -> VariantRow:
    by_metric = grouped(figures, lambda figure: figure.key.metric)
    main = next((f for f in figures if f.main), figures[0])
    metrics = {
        name: {"value": median(f.value for f in group), **attributes(group[0], "unit better")}
        | ({"per": group[0].per} if group[0].per else {})
        for name, group in by_metric.items()
    }
    key = main.key
    values = [f.value for f in by_metric[key.metric]]
    return VariantRow(
        study=key.study,
        tag=main.tag,
        session=session,
        pattern=key.pattern,
        variant=key.variant,
        cell=key.cell,
        main=key.metric,
        metrics=metrics,
        launches=len({f.launch for f in figures}),
        sessions=len({f.session for f in figures}),
        spread=(min(values), max(values)),
        imported=main.imported,
        simulated=main.simulated,
        doubts=sorted({f.why_implausible for f in figures if f.why_implausible}),
        cache_line_seconds=by_distance([f.cache_line for f in by_metric[key.metric] if f.cache_line]),
    )


def _with_best(rows: Sequence[VariantRow]) -> Iterator[VariantRow]:
    yield from (row for row in rows if row.pattern == CONTROL)
    ranked = (row for row in rows if row.pattern != CONTROL)
    for answers in grouped(ranked, lambda row: row.question).values():
        best = max(answers, key=_goodness)
        for row in answers:
            of_best = math.exp(_goodness(row) - _goodness(best)) if len(answers) > 1 else None
            yield replace(row, best=of_best == 1.0, of_best=of_best)


def _goodness(row: VariantRow) -> float:
    return math.log(row.value) * (-1.0 if row.metrics[row.main]["better"] == "lower" else 1.0)


def _order(row: VariantRow) -> tuple[Any, ...]:
    given = {name: value for name, value in {**row.cell, **row.variant}.items() if name not in CHOICES}
    owner = (pattern_rank(row.pattern), row.study, row.tag, row.session or "")
    return (*owner, reading_order(given), -_goodness(row))


def reading_order(factors: Mapping[str, Any]) -> tuple[Any, ...]:
    """A sort key for rows: by layout, then by the name of the benchmark, then by other factors with
    `bytes` at the end, then by the factors that a user chooses."""
    first = {name: index for index, name in enumerate((*LAYOUT_COLUMNS, *MEASUREMENTS))}
    names = sorted(factors, key=lambda name: (name in CHOICES, first.get(name, len(first)), name == "bytes", name))
    return tuple((name, sortable(factors[name])) for name in names)


def sortable(level: Any) -> tuple[int, float, str]:
    """A sort key: numbers by size, then all other levels by their texts."""
    return (0, float(level), "") if isinstance(level, int | float) else (1, 0.0, str(level))
