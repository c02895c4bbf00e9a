"""The best choices in words, for `show --winners` and the top of the report. There is one best
choice for each combination of work, number of nodes, transport and stack, because users cannot
choose these freely."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from longshore_study.analyses.winners import IN_CACHE, RankedVariant, within_noise
from longshore_study.base import terminal
from longshore_study.base.groups import grouped
from longshore_study.base.json_values import canonical
from longshore_study.compare.contrast import contrasts
from longshore_study.patterns import PATTERNS
from longshore_study.store.selection import heading

_GIVEN = ("transport", "stack")
_MAX_NAMED = 3  # choices within noise that are listed by name


@dataclass(frozen=True)
class AutoResult:
    """The result of `auto`, relative to the best fixed level of the same factor."""

    entry: RankedVariant
    share: float
    """1 if `auto` is as good as the best fixed level, below 1 if `auto` is worse."""
    is_within_noise: bool

    @property
    def chosen(self) -> str:
        return (
            " or ".join(sorted({f.chosen_level for f in self.entry.figures if f.chosen_level})) or "a choice of its own"
        )

    @property
    def text(self) -> str:
        factor, close = PATTERNS[self.entry.pattern].auto, ", within noise" if self.is_within_noise else ""
        return f"auto chose {self.chosen}: {100 * self.share:.0f} % of the best fixed {factor}{close}"

    @property
    def short_text(self) -> str:
        return f"{self.share:.0%}{'~' if self.is_within_noise else ''} ({self.chosen})"


@dataclass(frozen=True)
class BestChoice:
    """The fastest choice for one piece of work, with what a reader needs to judge it."""

    best: RankedVariant
    name: str
    """The best choice in words; empty if there was only one choice."""
    within_noise: tuple[str, ...]
    others: int
    where: str
    """The number of nodes, the transport and the stack."""
    problem: str
    """The levels that distinguish this work from other work of the pattern, if there is any."""
    auto: AutoResult | None

    @property
    def within_noise_text(self) -> str:
        if not self.others:
            return "no other was measured"
        if not self.within_noise:
            return "no other"
        more = len(self.within_noise) - _MAX_NAMED
        return "; ".join(self.within_noise[:_MAX_NAMED]) + (f"; {more} more" if more > 0 else "")

    @property
    def in_cache(self) -> bool:
        return self.best.share_remark == IN_CACHE

    @property
    def bound_text(self) -> str:
        if self.best.share is None:
            return "no bound"
        return f"{self.best.share:.0%}" + (f" ({self.best.share_remark})" if self.best.share_remark else "")

    def as_json(self) -> dict[str, Any]:
        auto = None
        if self.auto is not None:
            how = self.auto.entry.how
            auto = {"how": how, "of_best_fixed": self.auto.share, "not_told_from_best_fixed": self.auto.is_within_noise}
        return {
            "pattern": self.best.pattern, "where": self.where, "work": self.best.work, "how": self.best.how,
            "not_told_from_it": list(self.within_noise), "of_memory_copy": self.best.share,
            "of_main_memory": self.best.of_main_memory, "why_below": self.best.why_below, "auto": auto,
        }  # fmt: skip


def best_choices(ranked: Sequence[RankedVariant]) -> list[BestChoice]:
    """REQUIRES: variants as `winners.ranked_variants` sorts them."""

    def question(entry: RankedVariant) -> str:
        given = {name: entry.how.get(name) for name in _GIVEN} | {"simulated": entry.simulated}
        return canonical({"pattern": entry.pattern, "work": entry.work, "given": given})

    groups = list(grouped(ranked, question).values())
    names = {pattern: _Names(ranked, pattern) for pattern in {entry.pattern for entry in ranked}}
    rivals = [_auto_and_fixed(group) for group in groups]
    pairs = [(group[0], other) for group in groups for other in group[1:]]
    # All pairs are compared in one call, so that they share one estimate of the noise.
    pairs += [pair for pair in rivals if pair is not None and pair not in pairs]
    are_within_noise = dict(zip(pairs, within_noise(pairs), strict=True))
    choices = []
    for group, pair in zip(groups, rivals, strict=True):
        best, others, named = group[0], group[1:], names[group[0].pattern]
        choices.append(
            BestChoice(
                best,
                name=named.chosen(best),
                within_noise=tuple(named.chosen(other) for other in others if are_within_noise[best, other]),
                others=len(others),
                where=named.where(best),
                problem=named.problem(best),
                auto=_judged(*pair, is_within_noise=are_within_noise[pair]) if pair else None,
            )
        )
    return choices


def _auto_and_fixed(group: Sequence[RankedVariant]) -> tuple[RankedVariant, RankedVariant] | None:
    """The best variant with level auto and its best fixed counterpart, the better one first."""
    factor = PATTERNS[group[0].pattern].auto
    fixed = [entry for entry in group if entry.how.get(factor) != "auto"]
    for auto in group:
        if auto.how.get(factor) == "auto":
            best = next((entry for entry in fixed if _differ_in(factor, auto, entry)), None)
            if best is not None:
                return (best, auto) if best.rank < auto.rank else (auto, best)
    return None


def _judged(better: RankedVariant, other: RankedVariant, *, is_within_noise: bool) -> AutoResult:
    auto, fixed = (better, other) if better.how[PATTERNS[better.pattern].auto] == "auto" else (other, better)
    (ratio,) = contrasts([(fixed.figures, auto.figures)])
    plain = auto.value / fixed.value if auto.better != "lower" else fixed.value / auto.value
    return AutoResult(auto, ratio.ratio if ratio else plain, is_within_noise)


def _differ_in(factor: str, first: RankedVariant, second: RankedVariant) -> bool:
    """Whether two variants differ at most in `factor`, and in factors that only one of them has."""
    return all(second.how[name] == value for name, value in first.how.items() if name != factor and name in second.how)


class _Names:
    def __init__(self, ranked: Iterable[RankedVariant], pattern: str) -> None:
        entries = [entry for entry in ranked if entry.pattern == pattern]
        order = [*PATTERNS[pattern].factors, *sorted({name for entry in entries for name in (*entry.how, *entry.work)})]
        self._how = varying_names([entry.how for entry in entries], order)
        self._work = varying_names([entry.work for entry in entries], order)

    def chosen(self, entry: RankedVariant) -> str:
        return " + ".join(level_names(entry.how, [name for name in self._how if name not in (*_GIVEN, "machine")]))

    def problem(self, entry: RankedVariant) -> str:
        return ", ".join(
            level_names(entry.work, [name for name in self._work if name not in ("nodes", "ranks_per_node")])
        )

    def where(self, entry: RankedVariant) -> str:
        if entry.simulated is not None:
            return ", ".join(filter(None, (_nodes_text(entry), heading(entry.simulated))))
        given = (str(entry.how[name]) for name in _GIVEN if entry.how.get(name))
        return ", ".join(filter(None, (_nodes_text(entry), *given)))


def varying_names(rows: Sequence[Mapping[str, Any]], order: Sequence[str]) -> list[str]:
    names = dict.fromkeys(name for name in order if any(name in row for row in rows))
    return [name for name in names if len({terminal.factor(row[name]) for row in rows if name in row}) > 1]


def level_names(factors: Mapping[str, Any], names: Iterable[str]) -> list[str]:
    """The levels as texts. Only numbers get the name of their factor."""
    texts = {name: terminal.factor(factors[name]) for name in names if name in factors}
    return [
        text if isinstance(factors[name], str | dict) else f"{name.replace('_', ' ')} {text}"
        for name, text in texts.items()
    ]


def _nodes_text(entry: RankedVariant) -> str:
    nodes = {figure.nodes for figure in entry.figures}
    count = nodes.pop() if len(nodes) == 1 else None
    if count is None:
        return ""
    if count == 1:
        return "one node"
    virtual = "ranks_per_node" in entry.work and entry.simulated is None
    return f"{count} {'virtual nodes' if virtual else 'nodes'}"
