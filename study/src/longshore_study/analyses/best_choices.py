"""The best choice for each piece of work, in words, for `show --winners` and the top of the report.

It states which choice is the fastest, which others are within noise of it, how far it is from the
bound, and how near `auto` comes to it. There is one best choice per piece of work, place (one node,
or several) and transport, because a user cannot choose these freely.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from longshore_study.analyses.winners import RankedVariant, within_noise
from longshore_study.base import terminal
from longshore_study.base.json_values import canonical
from longshore_study.compare.contrast import contrasts
from longshore_study.metrics.launch_metrics import LEFT_TO_AUTO
from longshore_study.study_file.factors import FACTORS

_GIVEN = ("transport", "stack")
_NAMED = 3  # choices within noise that are listed by name
ABOVE_COPY = 1.05
"""A share of memory copy above this is not explained by noise."""


@dataclass(frozen=True)
class Auto:
    """The result of `auto`, beside that of the best fixed level of the same factor."""

    entry: RankedVariant
    share: float
    """The figure relative to that of the best fixed level: 1 is as good."""
    near: bool
    """The difference between the two is within noise."""

    @property
    def took(self) -> str:
        return " or ".join(sorted({one.became for one in self.entry.figures if one.became})) or "a choice of its own"

    @property
    def text(self) -> str:
        factor, close = LEFT_TO_AUTO[self.entry.pattern], ", within noise" if self.near else ""
        return f"auto chose {self.took}: {100 * self.share:.0f} % of the best fixed {factor}{close}"

    @property
    def short_text(self) -> str:
        return f"{self.share:.0%}{'~' if self.near else ''} ({self.took})"


@dataclass(frozen=True)
class BestChoice:
    best: RankedVariant
    name: str
    """The choice in words; empty where there was only one."""
    near: tuple[str, ...]
    """The other choices that are within noise of the best one."""
    others: int
    """The number of choices that were measured beside the best one."""
    where: str
    problem: str
    """The factors that distinguish this piece of work from others of the pattern; empty where there
    is only one."""
    auto: Auto | None

    @property
    def near_text(self) -> str:
        if not self.others:
            return "no other was measured"
        if not self.near:
            return "no other"
        more = len(self.near) - _NAMED
        return "; ".join(self.near[:_NAMED]) + (f"; {more} more" if more > 0 else "")

    @property
    def in_cache(self) -> bool:
        return self.best.share is not None and self.best.share > ABOVE_COPY

    @property
    def bound_text(self) -> str:
        if self.best.share is None:
            return "no bound"
        return f"{self.best.share:.0%}" + (" (in cache?)" if self.in_cache else "")

    def as_json(self) -> dict[str, Any]:
        auto = None
        if self.auto is not None:
            how = self.auto.entry.how
            auto = {"how": how, "of_best_fixed": self.auto.share, "not_told_from_best_fixed": self.auto.near}
        return {
            "pattern": self.best.pattern, "where": self.where, "work": self.best.work, "how": self.best.how,
            "not_told_from_it": list(self.near), "of_memory_copy": self.best.share, "auto": auto,
        }  # fmt: skip


def best_choices(ranked: Sequence[RankedVariant]) -> list[BestChoice]:
    """REQUIRES: variants as `winners.ranked_variants` sorts them: by pattern, then work, the best
    first."""
    groups: dict[str, list[RankedVariant]] = {}
    for entry in ranked:
        given = {name: entry.how.get(name) for name in _GIVEN}
        groups.setdefault(canonical({"pattern": entry.pattern, "work": entry.work, "given": given}), []).append(entry)
    kept = list(groups.values())
    names = {pattern: _Names(ranked, pattern) for pattern in {entry.pattern for entry in ranked}}
    rivals = [_auto_and_fixed(group) for group in kept]
    pairs = [(group[0], other) for group in kept for other in group[1:]]
    # All pairs at once, so that auto and the fastest choice are judged by one estimate of the
    # noise.
    pairs += [pair for pair in rivals if pair is not None and pair not in pairs]
    near = dict(zip(pairs, within_noise(pairs), strict=True))
    found = []
    for group, pair in zip(kept, rivals, strict=True):
        best, others, named = group[0], group[1:], names[group[0].pattern]
        alike = tuple(named.chosen(other) for other in others if near[best, other])
        auto = _judged(*pair, near=near[pair]) if pair else None
        found.append(
            BestChoice(best, named.chosen(best), alike, len(others), named.where(best), named.problem(best), auto)
        )
    return found


def _auto_and_fixed(group: Sequence[RankedVariant]) -> tuple[RankedVariant, RankedVariant] | None:
    """The best variant with auto, and the best one with a fixed level in its place; the better one
    comes first."""
    factor = LEFT_TO_AUTO.get(group[0].pattern, "")
    for entry in group:
        if entry.how.get(factor) == "auto":
            fixed = next(
                (one for one in group if one.how.get(factor) != "auto" and _differ_in(factor, entry, one)), None
            )
            if fixed is not None:
                return (fixed, entry) if fixed.rank < entry.rank else (entry, fixed)
    return None


def _judged(better: RankedVariant, other: RankedVariant, *, near: bool) -> Auto:
    auto, fixed = (better, other) if better.how[LEFT_TO_AUTO[better.pattern]] == "auto" else (other, better)
    (ratio,) = contrasts([(fixed.figures, auto.figures)])
    plain = auto.value / fixed.value if auto.better != "lower" else fixed.value / auto.value
    return Auto(auto, ratio.ratio if ratio else plain, near)


def _differ_in(factor: str, one: RankedVariant, other: RankedVariant) -> bool:
    """Whether the two variants differ in no other factor that both have. A strategy may have
    factors of its own, such as the size of its buffers."""
    return all(other.how[name] == value for name, value in one.how.items() if name != factor and name in other.how)


class _Names:
    """The shortest names that distinguish the variants of one pattern."""

    def __init__(self, ranked: Iterable[RankedVariant], pattern: str) -> None:
        mine = [entry for entry in ranked if entry.pattern == pattern]
        order = [*FACTORS[pattern], *sorted({name for entry in mine for name in (*entry.how, *entry.work)})]
        self._how = _levels_of([entry.how for entry in mine], order)
        self._work = _levels_of([entry.work for entry in mine], order)

    def chosen(self, entry: RankedVariant) -> str:
        return " + ".join(_level_names(entry.how, [name for name in self._how if name not in _GIVEN]))

    def problem(self, entry: RankedVariant) -> str:
        return ", ".join(
            _level_names(entry.work, [name for name in self._work if name not in ("nodes", "ranks_per_node")])
        )

    def where(self, entry: RankedVariant) -> str:
        place = _place(entry)
        return ", ".join(filter(None, (place, *(str(entry.how[name]) for name in _GIVEN if entry.how.get(name)))))


def _levels_of(rows: Sequence[Mapping[str, Any]], order: Sequence[str]) -> list[str]:
    """The factors that have several levels. A factor that only some rows have, with one level, is
    left out: for instance the size of buffers, where one strategy has them."""
    names = dict.fromkeys(name for name in order if any(name in row for row in rows))
    return [name for name in names if len({terminal.factor(row[name]) for row in rows if name in row}) > 1]


def _level_names(factors: Mapping[str, Any], names: Iterable[str]) -> list[str]:
    """Numbers get the name of their factor; words need none."""
    texts = {name: terminal.factor(factors[name]) for name in names if name in factors}
    return [
        text if isinstance(factors[name], str | dict) else f"{name.replace('_', ' ')} {text}"
        for name, text in texts.items()
    ]


def _place(entry: RankedVariant) -> str:
    nodes = {figure.nodes for figure in entry.figures}
    count = nodes.pop() if len(nodes) == 1 else None
    if count is None:
        return ""
    if count == 1:
        return "one node"
    return f"{count} {'virtual nodes' if 'ranks_per_node' in entry.work else 'nodes'}"
