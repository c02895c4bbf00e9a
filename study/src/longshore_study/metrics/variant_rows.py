"""Rows of stored figures: the median over launches of each variant, and the best variant among
those that a user can choose between.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from longshore_study.base.json_values import canonical
from longshore_study.metrics.launch_metrics import CONTROL, Figure, Key, pattern_rank

CHOICES = frozenset((
    "strategy", "buffer_items", "hops", "indexing", "algorithm", "mode", "placement", "exchange", "order", "scope",
    "tasks", "task_count", "memory", "first_touch", "stores", "transport", "stack",
    "environment",
))  # fmt: skip
"""The factors that a user chooses. Rows that agree in all other factors answer the same question;
one of them is the best."""


LAYOUT = ("nodes", "ranks", "ranks_per_node", "tasks_per_node", "grid", "domain")
"""The layout of ranks: no figure is shown without it."""


MEASUREMENTS = ("part", "test", "datatype", "processes")
"""The factors that name a benchmark; they come before its sizes."""


@dataclass(frozen=True, slots=True)
class VariantRow:
    study: str
    tag: str
    session: str | None
    """None: all sessions."""
    pattern: str
    variant: dict[str, Any]
    cell: dict[str, Any]
    main: str
    """The metric by which the pattern is judged."""
    metrics: dict[str, dict[str, Any]]
    launches: int
    sessions: int
    spread: tuple[float, float]
    """The smallest and the largest main figure of a launch."""
    imported: bool
    doubts: list[str] = field(default_factory=list)
    best: bool = False
    of_best: float | None = None
    """The main figure relative to the best one: 1 for the best, smaller for all others."""

    @property
    def value(self) -> float:
        return float(self.metrics[self.main]["value"])

    @property
    def question(self) -> tuple[str, ...]:
        factors = {**self.cell, **self.variant}
        asked = canonical({name: value for name, value in factors.items() if name not in CHOICES})
        return (self.study, self.tag, self.session or "", self.pattern, self.main, asked)


def variant_rows(figures: Iterable[Figure], *, by_session: bool) -> list[VariantRow]:
    """One row per variant and cell, for each session or for all sessions together."""
    groups: dict[tuple[Any, ...], list[Figure]] = defaultdict(list)
    for figure in figures:
        key = figure.key
        session = figure.session if by_session else None
        groups[key.study, figure.tag, session, key.pattern, key.variant_text, key.cell_text].append(figure)
    return sorted(_with_best([_row(group[2], found) for group, found in groups.items()]), key=_order)


def _row(session: str | None, figures: Sequence[Figure]) -> VariantRow:
    by_metric: dict[str, list[Figure]] = defaultdict(list)
    for figure in figures:
        by_metric[figure.key.metric].append(figure)
    main = next((f for f in figures if f.main), figures[0])
    metrics = {
        name: {"value": _median([f.value for f in found]), "unit": found[0].unit, "better": found[0].better}
        for name, found in by_metric.items()
    }
    values = [f.value for f in by_metric[main.key.metric]]
    key: Key = main.key
    return VariantRow(
        key.study,
        main.tag,
        session,
        key.pattern,
        key.variant,
        key.cell,
        key.metric,
        metrics,
        launches=len({f.launch for f in figures}),
        sessions=len({f.session for f in figures}),
        spread=(min(values), max(values)),
        imported=main.imported,
        doubts=sorted({f.above for f in figures if f.above}),
    )


def _with_best(rows: Iterable[VariantRow]) -> Iterator[VariantRow]:
    questions: dict[tuple[str, ...], list[VariantRow]] = defaultdict(list)
    for row in rows:
        if row.pattern == CONTROL:
            yield row
        else:
            questions[row.question].append(row)
    for answers in questions.values():
        best = max(answers, key=_goodness)
        for row in answers:
            of_best = math.exp(_goodness(row) - _goodness(best)) if len(answers) > 1 else None
            yield replace(row, best=len(answers) > 1 and row is best, of_best=of_best)


def _goodness(row: VariantRow) -> float:
    return math.log(row.value) * (-1.0 if row.metrics[row.main]["better"] == "lower" else 1.0)


def _order(row: VariantRow) -> tuple[Any, ...]:
    asked = {name: value for name, value in {**row.cell, **row.variant}.items() if name not in CHOICES}
    whose = (pattern_rank(row.pattern), row.study, row.tag, row.session or "")
    return (*whose, reading_order(asked), -_goodness(row))


def reading_order(factors: Mapping[str, Any]) -> tuple[Any, ...]:
    """A sort key: by layout, then by sizes, then by the chosen factors."""
    first = {name: place for place, name in enumerate((*LAYOUT, *MEASUREMENTS))}
    # The name of a test comes before its size, so that the sizes of one test stand together.
    names = sorted(factors, key=lambda name: (name in CHOICES, first.get(name, len(first)), name == "bytes", name))
    return tuple((name, _sortable(factors[name])) for name in names)


def _sortable(value: Any) -> tuple[int, float, str]:
    """Sorts numbers by size and everything else by its text."""
    if isinstance(value, int | float):
        return (0, float(value), "")
    return (1, 0.0, str(value))


def _median(values: Sequence[float]) -> float:
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2.0
