"""Ranks the variants that do the same work, for `show --winners` and the report. Two variants do
the same work if they agree in the factors of the problem and in the number of ranks.

Each figure is also compared with its bound. The speeds of memory and network are those of control
cells that were launched in the same way in the same session, so the same noise affects both."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

from longshore_study.base.errors import require_known
from longshore_study.base.groups import grouped
from longshore_study.base.json_values import attributes, canonical
from longshore_study.base.units import unit_of
from longshore_study.compare.contrast import contrasts
from longshore_study.metrics.launch_metrics import Figure
from longshore_study.metrics.memory_bound import MemorySpeeds, median_speeds, share_of_bound
from longshore_study.patterns import (
    CONTROL,
    FACTORS_OF_A_LAUNCH,
    MEASURED,
    WORK_FACTORS_BETWEEN_LAUNCHES,
    facts_of,
    pattern_rank,
)
from longshore_study.store import selection
from longshore_study.store.launch_store import Store

_LOW_SHARE = 0.5  # a share of the bound below this needs an explanation
NO_NETWORK = "these launches did not measure the network; 'longshore run' does, between nodes of equally many ranks"
"""Why figures between nodes may have no bound."""
ABOVE_BOUND = 1.05
"""On a quiet machine, noise does not explain a share of the bound above this."""
IN_CACHE = "in cache?"


@dataclass(frozen=True, eq=False)
class RankedVariant:
    """One variant with all its launches, ranked among the variants that do the same work."""

    pattern: str
    work: dict[str, Any]
    how: dict[str, Any]
    unit: str
    better: str
    figures: Sequence[Figure]
    shares: Sequence[float]
    """The share of the bound in each launch with a known share."""
    neighbour_shares: Sequence[float]
    """The share of a bound in which all copied bytes come from the lines of a neighbour."""
    latency_shares: Sequence[float]
    """The latencies of all messages of a rank to other nodes, together, as a share of the time."""
    of_main_memory: bool = False
    """Whether the bound is that of main memory; older records have no other."""
    rank: int = 0
    is_within_noise: bool = False
    """Whether the difference from the winner is within noise."""
    simulated: str | None = None

    @property
    def values(self) -> list[float]:
        return [figure.value for figure in self.figures]

    @property
    def value(self) -> float:
        return median(self.values)

    @property
    def share(self) -> float | None:
        return median(self.shares) if self.shares else None

    @property
    def share_remark(self) -> str:
        """A word beside the share: why it is above the bound, or below half of it. Else empty."""
        if self.share is not None and self.share > ABOVE_BOUND:
            return IN_CACHE if self.of_main_memory else "noise"
        return self.why_below

    @property
    def why_below(self) -> str:
        """A word of docs/explanation/bound.md: what took at least half of the time, if the share is
        below half. Empty if the records do not tell."""
        signals = [figure.signal_share for figure in self.figures if figure.signal_share is not None]
        is_known = self.latency_shares or (signals and self.neighbour_shares)
        if self.share is None or self.share >= _LOW_SHARE or not is_known:
            return ""
        if max(self.shares) >= _LOW_SHARE:
            return "noise"
        causes = {"signals": signals, "network": self.latency_shares, "lines": self.neighbour_shares}
        part, cause = max((median(parts), cause) for cause, parts in causes.items() if parts)
        return cause if part >= _LOW_SHARE else "instructions"

    @property
    def uses_network(self) -> bool:
        return any(figure.traffic_levels.get("offnode_bytes") for figure in self.figures)

    @property
    def spread(self) -> float:
        """The range of the launches relative to their median."""
        return (max(self.values) - min(self.values)) / self.value

    def as_json(self) -> dict[str, Any]:
        return {
            **attributes(self, "pattern work how value unit"),
            "launches": len(self.values),
            "spread": round(self.spread, 4),
            "of_memory_copy": self.share,
            **attributes(self, "of_main_memory why_below rank"),
            "winner": self.rank == 1,
            "not_told_from_winner": self.is_within_noise,
            "simulated": self.simulated,
        }


def ranked_variants(figures: Iterable[Figure]) -> list[RankedVariant]:
    """All variants, sorted by pattern, then work, then rank."""
    figures = list(figures)
    speeds_of, latency_of = speeds_by_launching(figures), _latency_by_launching(figures)
    ranked = [(figure, figure.key.shown_factors) for figure in figures if figure.key.pattern in MEASURED]
    variants = grouped(ranked, lambda pair: canonical({"": [pair[0].key.pattern, *_parts(*pair), pair[0].simulated]}))
    return _ranked(_variant(members, speeds_of, latency_of) for members in variants.values())


def _parts(figure: Figure, factors: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The factors of the work, and the others."""
    names = (*facts_of(figure.key.pattern).work, *WORK_FACTORS_BETWEEN_LAUNCHES)
    work = {name: value for name, value in factors.items() if name in names and value not in ({}, None)}
    return work, {name: value for name, value in factors.items() if name not in names}


_Members = Sequence[tuple[Figure, Mapping[str, Any]]]
"""The figures of a variant, each with its factors."""


def _variant(
    members: _Members, speeds_of: Mapping[str, MemorySpeeds], latency_of: Mapping[str, float]
) -> RankedVariant:
    first, launchings = members[0][0], [_launching(*member) for member in members]
    speeds = [speeds_of.get(launching) for launching in launchings]
    messages = [(f.remote_messages, latency_of.get(name)) for (f, _), name in zip(members, launchings, strict=True)]
    return RankedVariant(
        first.key.pattern,
        *_parts(*members[0]),
        first.unit,
        first.better,
        [figure for figure, _ in members],
        shares=_shares(members, speeds),
        neighbour_shares=_shares(members, [known and known.of_neighbours for known in speeds]),
        latency_shares=[count * latency for count, latency in messages if count is not None and latency is not None],
        of_main_memory=speeds[0] is not None and not speeds[0].by_size,
        simulated=first.simulated,
    )


def _shares(members: _Members, bounds: Sequence[MemorySpeeds | None]) -> list[float]:
    found = (
        share_of_bound(f.key.pattern, f.value, {**factors, **f.traffic_levels}, f.nodes, bound)
        for (f, factors), bound in zip(members, bounds, strict=True)
        if bound
    )
    return [share for share in found if share is not None]


def speeds_by_launching(figures: Iterable[Figure]) -> dict[str, MemorySpeeds]:
    """The speeds of memory, as the median over launches, for each session and way of launching."""
    launches = grouped((f for f in figures if f.speeds), lambda figure: _launching(figure, figure.key.cell))
    return {key: median_speeds(f.speeds for f in members if f.speeds) for key, members in launches.items()}


def _latency_by_launching(figures: Iterable[Figure]) -> dict[str, float]:
    """The one-way seconds of control's ping-pong: the median of each session and way of
    launching."""
    pingpongs = (f for f in figures if f.key.pattern == CONTROL and f.key.variant.get("kernel") == "pingpong")
    launches = grouped(pingpongs, lambda figure: _launching(figure, figure.key.cell))
    return {key: median(f.value * unit_of(f.unit).scale for f in members) for key, members in launches.items()}


def _launching(figure: Figure, factors: Mapping[str, Any]) -> str:
    launching = {name: factors.get(name) for name in FACTORS_OF_A_LAUNCH}
    return canonical({**launching, "when": [figure.tag, figure.session]})


def _ranked(variants: Iterable[RankedVariant]) -> list[RankedVariant]:
    groups = grouped(variants, lambda entry: canonical(attributes(entry, "pattern work simulated")))
    ordered = sorted(
        groups.values(),
        key=lambda group: (pattern_rank(group[0].pattern), group[0].simulated or "", _work_order(group[0])),
    )
    for group in ordered:
        group.sort(key=lambda entry: entry.value, reverse=group[0].better != "lower")
    are_within_noise = iter(within_noise([(group[0], entry) for group in ordered for entry in group[1:]]))
    return [
        replace(entry, rank=rank, is_within_noise=rank > 1 and next(are_within_noise))
        for group in ordered
        for rank, entry in enumerate(group, 1)
    ]


def within_noise(pairs: Sequence[tuple[RankedVariant, RankedVariant]]) -> list[bool]:
    """Whether the difference of each pair (better, other) is within noise: the 95 % interval of the
    ratio (contrast.py) includes 1. If there is no interval, the figures must overlap instead."""
    are_within_noise = [False] * len(pairs)
    for members in grouped(enumerate(pairs), lambda item: item[1][0].pattern).values():
        ratios = contrasts([(better.figures, other.figures) for _, (better, other) in members])
        for (index, (better, other)), ratio in zip(members, ratios, strict=True):
            if ratio is not None and ratio.interval is not None:
                are_within_noise[index] = ratio.interval[1] >= 1.0
            else:
                best_of_other = max(figure.goodness for figure in other.figures)
                are_within_noise[index] = best_of_other >= min(figure.goodness for figure in better.figures)
    return are_within_noise


def newest_session(store: Store, name: str, session: str | None = None) -> tuple[str, str, str]:
    """(study, tag, session) of the session that was stored last for `name`: a study, or a tag if no
    study has this name. Raises UsageError if there is no such study, tag or session."""
    stored = selection.stored_names(store)
    require_known(name, {known for triple in stored for known in triple[:2]}, "tag or study")
    chosen = [triple for triple in stored if triple[0] == name] or [triple for triple in stored if triple[1] == name]
    if session is not None:
        require_known(session, {triple[2] for triple in chosen}, f"session of '{name}'")
        chosen = [triple for triple in chosen if triple[2] == session]
    return max(chosen, key=lambda triple: store.session_path(*triple).stat().st_mtime)


def _work_order(entry: RankedVariant) -> list[tuple[float, str]]:
    """A sort key for work: the levels of its factors in the order of the command line."""
    levels = [entry.work.get(name) for name in (*facts_of(entry.pattern).work, *WORK_FACTORS_BETWEEN_LAUNCHES)]
    return [(float(level), "") if isinstance(level, int | float) else (0.0, str(level or "")) for level in levels]
