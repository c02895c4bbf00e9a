"""Computes the parameters of the communication model (communication_model.py) from stored results
of the control kernels shift, barrier and fetch-add: medians over the launches of a session that
have the same layout of ranks."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from statistics import median
from typing import Any

from longshore_study.analyses.communication_model import Costs, Gap
from longshore_study.base.json_values import canonical, number_in
from longshore_study.metrics.variant_results import correct_results
from longshore_study.patterns import CONTROL, FACTORS_OF_A_LAUNCH
from longshore_study.store.launch_store import Launch

FIGURES = {"shift": "shift_us", "barrier": "barrier_us", "fetch-add": "fetch_add_us"}
"""The figure that has the time of each kernel."""
UNTIL_MET = "until_met_us"
"""The second figure of kernel shift: the time of the message and of a barrier after it."""
OWN_COPY = ("copy", "")
"""The kind of transfer of a shift over `copy`: each rank copies within its own memory."""

CostsKey = tuple[str, str, str, str]
"""Study, tag, session, layout."""
ParameterKey = tuple[str, str, str, float]
"""Figure, kind of transfer (factor `over`), kind of receiver (factor `pair`), bytes. Kernels drop
factors that they do not have; the key has an empty string or 0 instead."""


def costs_key(launch: Launch) -> CostsKey:
    """Predictions for a launch use the costs with this key."""
    layout = {name: launch.cell[name] for name in FACTORS_OF_A_LAUNCH if launch.cell.get(name) not in (None, {})}
    return (launch.study, launch.tag, launch.session, canonical(layout))


def costs_by_session_and_layout(launches: Iterable[Launch]) -> dict[CostsKey, Costs]:
    """The costs of each session and layout in which a parameter was measured."""
    seconds: dict[CostsKey, dict[ParameterKey, list[float]]] = defaultdict(lambda: defaultdict(list))
    for launch, result in correct_results(launches):
        for parameter, value in _measured(result):
            seconds[costs_key(launch)][parameter].append(value)
    return {
        key: _costs({parameter: median(values) for parameter, values in measured.items()})
        for key, measured in seconds.items()
    }


def _measured(result: Mapping[str, Any]) -> Iterator[tuple[ParameterKey, float]]:
    """The parameters that a control kernel of the model measured, in seconds."""
    variant = result["variant"]
    kernel = str(variant.get("kernel"))
    size = number_in(variant.get("bytes", 0))
    if result["pattern"] != CONTROL or kernel not in FIGURES or size is None:
        return
    for figure in (FIGURES[kernel], UNTIL_MET):
        value = number_in(result, "metrics", figure, "value")
        if value is not None and value >= 0:
            yield (figure, str(variant.get("over", "")), str(variant.get("pair", "")), size), 1e-6 * value


def _costs(seconds: Mapping[ParameterKey, float]) -> Costs:
    """The costs, from the seconds of each parameter.

    The cost of a message is the larger of `shift_us`, the time of the rank that is slowest on
    average, and `until_met_us - barrier_us`, the time of the slowest rank of each operation. It is
    `shift_us` alone for MPI's one-sided exchange (transfer rma), whose `shift_us` includes a
    barrier, and if one of the other two figures was not measured.
    """
    barrier = next((value for (figure, *_), value in seconds.items() if figure == FIGURES["barrier"]), None)
    shifts: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for (figure, transfer, pair, size), value in sorted(seconds.items()):
        if figure == FIGURES["shift"]:
            until_met = seconds.get((UNTIL_MET, transfer, pair, size))
            cost = value
            if until_met is not None and barrier is not None and transfer != "rma":
                cost = max(value, until_met - barrier)
            shifts[transfer, pair].append((size, cost))
    gaps = {key: Gap(tuple(points)) for key, points in shifts.items()}
    return Costs(
        copy=gaps.pop(OWN_COPY, None),
        messages=gaps,
        barrier=barrier,
        fetch_add={pair: value for (figure, _, pair, _), value in seconds.items() if figure == FIGURES["fetch-add"]},
    )
