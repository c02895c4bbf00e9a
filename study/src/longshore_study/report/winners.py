"""Per problem the fastest choice. A problem is what a user is given (pattern, sizes, ranks); a choice is what he may
pick (strategy, mode, transport, ...)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from longshore_study.figures import pattern_rank
from longshore_study.report.bounds import Bound, bound_for
from longshore_study.report.facts import Factors, Facts, Figure, by_key, frozen, median_value
from longshore_study.report.labels import Naming, metric_title, naming, pattern_title
from longshore_study.report.markup import Child, Element, element
from longshore_study.report.numbers import counted, figure, share, unit_name

CHOICES = frozenset(
    {
        "strategy", "mode", "algorithm", "exchange", "order", "transport", "tasks", "memory", "hops", "buffer_items",
        "distribution", "first_touch", "placement", "environment", "task_count", "grid",
    }
)  # fmt: skip
ROWS_SHOWN = 20
NUMBERS = ("Figure", "Lead", "Of bound")
# A share of the bound that is noise no longer.
ABOVE = 1.05


@dataclass(frozen=True)
class Contestant:
    """One choice for a problem: the median over launches, and their range."""

    figures: tuple[Figure, ...]
    value: float
    low: float
    high: float
    unit: str
    better: str
    pattern: str


@dataclass(frozen=True)
class Winner:
    best: Contestant
    runner_up: Contestant | None
    name: str
    runner_up_name: str
    problem: str
    contestants: int
    bound: Bound | None
    side: str

    @property
    def lead(self) -> float | None:
        """How many times better than the runner-up, at least 1."""
        if self.runner_up is None or min(self.best.value, self.runner_up.value) <= 0:
            return None
        pair = (self.best.value, self.runner_up.value)
        return max(pair) / min(pair)

    @property
    def separated(self) -> bool:
        """No launch of the runner-up is as good as any of the winner's."""
        if self.runner_up is None:
            return True
        if self.best.better == "lower":
            return self.best.high < self.runner_up.low
        return self.best.low > self.runner_up.high

    @property
    def above_bound(self) -> bool:
        return self.share_of_bound is not None and self.share_of_bound > ABOVE

    @property
    def share_of_bound(self) -> float | None:
        return self.best.value / self.bound.value if self.bound else None

    def better_than(self, other: Winner) -> bool:
        if self.best.better == "lower":
            return self.best.value < other.best.value
        return self.best.value > other.best.value


def winners(facts: Facts) -> list[Winner]:
    found = []
    for side in facts.sides:
        for pattern in facts.patterns:
            figures = [f for f in facts.of_pattern(pattern) if f.side == side and f.above is None]
            if figures and pattern != "control":
                found += _of_pattern(side, facts, figures)
    # The sides of one problem stand together.
    problems = list(dict.fromkeys((w.best.pattern, w.problem) for w in found))
    return sorted(found, key=lambda w: (pattern_rank(w.best.pattern), problems.index((w.best.pattern, w.problem))))


def _of_pattern(side: str, facts: Facts, figures: Sequence[Figure]) -> list[Winner]:
    chosen = naming({k: v for k, v in f.factors.items() if k in CHOICES} for f in figures)
    given = naming({k: v for k, v in f.factors.items() if k not in CHOICES} for f in figures)
    problems: dict[tuple[str, Factors], list[Contestant]] = {}
    for group in by_key(figures).values():
        problem = frozen({k: v for k, v in group[0].factors.items() if k not in CHOICES})
        problems.setdefault((group[0].metric, problem), []).append(_contestant(group))
    return [_winner(side, facts, contestants, chosen, given) for contestants in problems.values()]


def _contestant(group: Sequence[Figure]) -> Contestant:
    values = [f.value for f in group]
    first = group[0]
    return Contestant(
        tuple(group), median_value(group), min(values), max(values), first.unit, first.better, first.pattern
    )


def _winner(side: str, facts: Facts, contestants: Sequence[Contestant], chosen: Naming, given: Naming) -> Winner:
    ranked = sorted(contestants, key=lambda c: c.value, reverse=contestants[0].better != "lower")
    best = ranked[0]
    second = ranked[1] if len(ranked) > 1 else None
    return Winner(
        best=best,
        runner_up=second,
        name=_choice(chosen, best),
        runner_up_name=_choice(chosen, second) if second else "",
        problem=", ".join(given.parts(best.figures[0].factors)),
        contestants=len(ranked),
        bound=bound_for(facts, best.figures),
        side=side,
    )


def _choice(chosen: Naming, contestant: Contestant) -> str:
    return ", ".join(chosen.parts(contestant.figures[0].factors))


def winners_section(facts: Facts) -> Element | None:
    found = winners(facts)
    if not found:
        return None
    return element(
        "section",
        element("h2", "Fastest choices"),
        element(
            "p",
            "Per problem, the choice with the best median over launches. “Close” marks a winner that is not set apart: "
            "a launch of the runner-up was as good as one of the winner’s.",
            class_="note",
        ),
        _table(facts, found[:ROWS_SHOWN]),
        element(
            "details",
            element("summary", f"{counted(len(found) - ROWS_SHOWN, 'more problem')}"),
            _table(facts, found[ROWS_SHOWN:]),
        )
        if len(found) > ROWS_SHOWN
        else None,
        id="winners",
    )


def _table(facts: Facts, rows: Sequence[Winner]) -> Child:
    several = len(facts.sides) > 1
    heads = ["Pattern", "Problem", *(["Side"] if several else []), "Fastest", "Figure", "Runner-up", "Lead", "Of bound"]
    return element(
        "div",
        element(
            "table",
            element(
                "thead",
                element(
                    "tr", [element("th", h, scope="col", class_="number" if h in NUMBERS else None) for h in heads]
                ),
            ),
            element("tbody", [_row(w, several=several) for w in rows]),
            class_="plain",
        ),
        class_="scroll",
        tabindex="0",
        role="region",
        aria_label="fastest choices",
    )


def _row(winner: Winner, *, several: bool) -> Element:
    lead = winner.lead
    unit = unit_name(winner.best.unit)
    bound = winner.bound
    return element(
        "tr",
        element("td", pattern_title(winner.best.pattern)),
        element("td", winner.problem or "–"),
        element("td", winner.side) if several else None,
        element("td", element("b", winner.name) if winner.name else "the only choice"),
        element(
            "td",
            f"{figure(winner.best.value)} {unit}",
            class_="number",
            title=f"{metric_title(winner.best.figures[0].metric)}; launches from {figure(winner.best.low)} to "
            f"{figure(winner.best.high)} {unit}",
        ),
        element("td", winner.runner_up_name or "no other"),
        element(
            "td",
            f"×{lead:.2f}" if lead and lead < 10 else f"×{figure(lead)}" if lead else "",
            [" ", element("span", "close", class_="close")] if not winner.separated else None,
            class_="number",
        ),
        element(
            "td",
            share(winner.share_of_bound or 0) if bound else "–",
            [" ", element("span", "in cache?", class_="close")] if winner.above_bound else None,
            class_="number",
            title=f"of {bound.text}" if bound else "no bound is known in this unit",
        ),
    )
