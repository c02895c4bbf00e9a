"""Reads the parameters of the communication model from the control kernels shift, barrier and
fetch-add of one session. Each parameter is the median over launches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from statistics import median
from typing import Any

from longshore_study.analyses.communication_model import Costs, Gap
from longshore_study.base.json_values import canonical, number_in
from longshore_study.metrics.launch_metrics import CONTROL
from longshore_study.store.launch_store import Launch

LAYOUT = ("transport", "stack", "nodes", "ranks", "ranks_per_node", "environment")
"""The factors of a launch in which a prediction and its parameters must agree."""
FIGURES = {"shift": "shift_us", "barrier": "barrier_us", "fetch-add": "fetch_add_us"}
UNTIL_MET = "until_met_us"

Place = tuple[str, str, str, str]
"""Study, tag, session, layout."""
What = tuple[str, str, str, float]
"""Figure, over, pair, bytes."""


def place_of(launch: Launch) -> Place:
    layout = {name: launch.cell[name] for name in LAYOUT if launch.cell.get(name) not in (None, {})}
    return (launch.study, launch.tag, launch.session, canonical(layout))


def costs_of(launches: Iterable[Launch]) -> dict[Place, Costs]:
    """By place; only places in which a parameter was measured."""
    seconds: dict[Place, dict[What, list[float]]] = defaultdict(lambda: defaultdict(list))
    for launch in launches:
        if launch.problem is not None:
            continue
        for result in launch.results:
            for what, value in _measured(result):
                seconds[place_of(launch)][what].append(value)
    return {place: _costs({what: median(values) for what, values in found.items()}) for place, found in seconds.items()}


def _measured(result: Mapping[str, Any]) -> Iterator[tuple[What, float]]:
    variant = result["variant"]
    kernel = str(variant.get("kernel"))
    size = number_in(variant.get("bytes", 0))
    if result["pattern"] != CONTROL or kernel not in FIGURES or result.get("verified") is False or size is None:
        return
    for figure in (FIGURES[kernel], UNTIL_MET):
        value = number_in(result, "metrics", figure, "value")
        if value is not None and value >= 0:
            yield (figure, str(variant.get("over", "")), str(variant.get("pair", "")), size), 1e-6 * value


def _costs(seconds: Mapping[What, float]) -> Costs:
    barrier = next((value for (figure, *_), value in seconds.items() if figure == FIGURES["barrier"]), None)
    shifts: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for (figure, over, pair, size), value in sorted(seconds.items()):
        if figure == FIGURES["shift"]:
            # An exchange ends when the slowest rank ends, and the slowest rank varies: the mean
            # over ranks is too small. MPI's one-sided exchange includes its barrier already.
            met = seconds.get((UNTIL_MET, over, pair, size))
            until_met = met - barrier if met is not None and barrier is not None and over != "rma" else 0.0
            shifts[over, pair].append((size, max(value, until_met)))
    gaps = {way: Gap(tuple(points)) for way, points in shifts.items()}
    return Costs(
        copy=gaps.pop(("copy", ""), None),
        messages=gaps,
        barrier=barrier,
        fetch_add={pair: value for (figure, _, pair, _), value in seconds.items() if figure == FIGURES["fetch-add"]},
    )
