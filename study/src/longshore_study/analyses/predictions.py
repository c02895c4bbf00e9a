"""Predicts measured exchanges with the communication model, for patterns with a modelled phase."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any

from longshore_study.analyses import communication_model
from longshore_study.analyses.communication_model import Costs, Exchange, NotModelledError
from longshore_study.analyses.model_parameters import CostsKey, costs_by_session_and_layout, costs_key
from longshore_study.analyses.scaling import layout_of
from longshore_study.base.json_values import canonical, positive_in
from longshore_study.metrics.variant_results import correct_results, factors_of
from longshore_study.metrics.variant_rows import reading_order
from longshore_study.patterns import facts_of, pattern_rank
from longshore_study.store.launch_store import Launch
from longshore_study.store.records import Record

CLOSE = 0.25
"""A prediction is close when it is within this share of the measured time."""


@dataclass(frozen=True)
class Prediction:
    """The measured and the predicted seconds of a phase of one variant in one session."""

    study: str
    tag: str
    session: str
    pattern: str
    factors: Mapping[str, Any]
    phase: str
    measured: float
    """Seconds, the median over launches."""
    launches: int
    begun: float | None = None
    """Seconds from the moment when the last rank started the phase to its end. The rest of
    `measured` is waiting for ranks that started late, which the model cannot predict."""
    predicted: float | None = None
    parts: Mapping[str, float] = field(default_factory=dict)
    why_not: str | None = None

    @property
    def ratio(self) -> float | None:
        return self.predicted / self.measured if self.predicted is not None and self.measured > 0 else None

    @property
    def close(self) -> bool:
        return self.ratio is not None and abs(self.ratio - 1.0) <= CLOSE

    @property
    def between(self) -> bool:
        """Whether the prediction is close, or between `begun` and `measured`, because ranks were
        late."""
        low = self.measured if self.begun is None else self.begun
        return self.predicted is not None and (self.close or low <= self.predicted <= self.measured)


def predictions_of(launches: Iterable[Launch]) -> list[Prediction]:
    """The predictions for the variants of each session. Empty if no parameter was measured."""
    launches = list(launches)
    costs = costs_by_session_and_layout(launches)
    if not costs:
        return []
    groups: dict[tuple[CostsKey, str, str], list[tuple[Launch, Record]]] = defaultdict(list)
    for launch, result in correct_results(launches):
        pattern = str(result["pattern"])
        if facts_of(pattern).modelled_phase:
            groups[costs_key(launch), pattern, canonical(factors_of(launch, result))].append((launch, result))
    rows = [
        row
        for (key, pattern, _), members in groups.items()
        if (row := _prediction(key, pattern, members, costs.get(key))) is not None
    ]
    return sorted(
        rows, key=lambda row: (row.study, row.tag, row.session, pattern_rank(row.pattern), reading_order(row.factors))
    )


def _prediction(
    key: CostsKey, pattern: str, members: list[tuple[Launch, Record]], costs: Costs | None
) -> Prediction | None:
    phase = facts_of(pattern).modelled_phase
    seconds = [value for _, result in members if (value := positive_in(result, "phases", phase))]
    if not seconds:
        return None
    launch, result = members[0]
    begun = [value for _, result in members if (value := positive_in(result, "phases_least", phase))]
    since = median(begun) if begun else None
    row = Prediction(*key[:3], pattern, factors_of(launch, result), phase, median(seconds), len(seconds), since)
    try:
        if costs is None:
            raise NotModelledError("the kernels shift, barrier and fetch-add were not measured in this layout")
        parts = communication_model.predict(_exchange(launch, result), costs)
    except NotModelledError as error:
        return replace(row, why_not=str(error))
    return replace(row, predicted=sum(parts.values()), parts=parts)


def _exchange(launch: Launch, result: Record) -> Exchange:
    variant, layout = result["variant"], layout_of(launch)
    if layout is None:
        raise NotModelledError("the record does not say how many ranks there were")
    ranks, (per_node, rest) = layout.ranks, divmod(layout.ranks, layout.nodes)
    if rest:
        raise NotModelledError("the nodes have different numbers of ranks")
    if ranks < 2:
        raise NotModelledError("one rank exchanges nothing")
    if variant.get("key_pattern", "uniform") != "uniform" and variant.get("splitters") != "sampled":
        raise NotModelledError(f"keys are {variant['key_pattern']}: the model has blocks of equal size only")
    payload = positive_in(result, "traffic", "payload_bytes")
    if not payload:
        raise NotModelledError("the record does not say how many bytes were exchanged")
    return Exchange(
        strategy=str(result.get("exchange") or variant.get("exchange")),  # the choice of auto
        order=str(variant.get("order", "round-robin")),
        near=per_node - 1,
        remote=ranks - per_node,
        block_bytes=payload / ranks**2,
    )
