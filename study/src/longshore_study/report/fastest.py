"""The section of the fastest choice for each piece of work, as ranked by analyses/winners.py."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from longshore_study.analyses.winners import RankedVariant
from longshore_study.base.groups import grouped
from longshore_study.base.json_values import canonical
from longshore_study.base.texts import counted, figure, share
from longshore_study.report.facts import Facts
from longshore_study.report.labels import naming, pattern_title
from longshore_study.report.markup import Child, Element, element, remark, section
from longshore_study.report.tables import folded, scroll_table

NUMBERS = ("Figure", "Lead", "Of the bound")


@dataclass(frozen=True)
class Winner:
    best: RankedVariant
    runner_up: RankedVariant | None
    # The choices and the work in words; empty if nothing else was measured.
    name: str
    runner_up_name: str
    problem: str
    side: str

    @property
    def lead(self) -> float | None:
        """The factor by which the winner is better than the runner-up, at least 1."""
        if self.runner_up is None:
            return None
        low, high = sorted((self.best.value, self.runner_up.value))
        return high / low if low > 0 else None

    @property
    def separated(self) -> bool:
        """Whether the winner is better than the runner-up by more than noise."""
        return self.runner_up is None or not self.runner_up.is_within_noise


def fastest(facts: Facts) -> list[Winner]:
    """The winners, sorted so that the sides of the same work are neighbours."""
    winners: list[Winner] = []
    for side, ranked in facts.ranked.items():
        for members in grouped(ranked, lambda entry: entry.pattern).values():
            winners += _of_pattern(side, members)
    works = list(dict.fromkeys((w.best.pattern, w.problem) for w in winners))
    return sorted(
        winners, key=lambda w: (facts.patterns.index(w.best.pattern), works.index((w.best.pattern, w.problem)))
    )


def _of_pattern(side: str, ranked: Sequence[RankedVariant]) -> Iterator[Winner]:
    chosen, given = naming(entry.how for entry in ranked), naming(entry.work for entry in ranked)
    for members in grouped(ranked, lambda entry: canonical(entry.work)).values():
        best, second = members[0], members[1] if len(members) > 1 else None
        runner_up_name = ", ".join(chosen.parts(second.how)) if second else ""
        problem = ", ".join(given.parts(best.work))
        yield Winner(best, second, ", ".join(chosen.parts(best.how)), runner_up_name, problem, side)


def fastest_section(facts: Facts) -> Element | None:
    winners = fastest(facts)
    if not winners:
        return None
    return section(
        "fastest",
        "Fastest choices",
        remark(
            "Per piece of work, the choice with the best median over launches. “Close” marks a winner that is "
            "not significantly better than the runner-up: the 95 % interval of their ratio includes 1."
        ),
        folded(winners, "more line", lambda some: _table(facts, some), shown=20),
    )


def _table(facts: Facts, rows: Sequence[Winner]) -> Child:
    with_side = len(facts.sides) > 1
    heads = ["Pattern", "Work", *(["Side"] if with_side else []), "Fastest", "Figure", "Runner-up", *NUMBERS[1:]]
    return scroll_table(heads, [_row(w, with_side=with_side) for w in rows], "fastest choices", numbers=NUMBERS)


def _row(winner: Winner, *, with_side: bool) -> list[Child]:
    lead, best = winner.lead, winner.best
    spread = f"{figure(min(best.values), best.unit)} to {figure(max(best.values), best.unit)}"
    launches = f"{counted(len(best.values), 'launch', 'launches')} from {spread}"
    return [
        element("td", pattern_title(best.pattern), class_="unbroken"),
        winner.problem or "–",
        *([winner.side] if with_side else []),
        element("b", winner.name) if winner.name else "the only choice",
        element("td", figure(best.value, best.unit), class_="number", title=launches),
        winner.runner_up_name or "no other",
        [
            f"×{lead:.2f}" if lead and lead < 10 else f"×{figure(lead)}" if lead else "",
            [" ", element("span", "close", class_="close")] if not winner.separated else None,
        ],
        share_and_remark(best),
    ]


def share_and_remark(variant: RankedVariant, unknown: str = "–") -> Child:
    """The share of the bound, with the word that explains it."""
    if variant.share is None:
        return unknown
    word = variant.share_remark
    return [share(variant.share), [" ", element("span", word, class_="close")] if word else None]
