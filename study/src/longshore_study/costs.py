"""What messages cost, read from the control kernels shift, barrier and fetch-add of one session: the parameters of the
model. Of each the median over launches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from statistics import median
from typing import Any

from longshore_study.figures import CONTROL, canonical
from longshore_study.model import Costs, Gap
from longshore_study.store import Launch

LAYOUT = ("transport", "ranks", "ranks_per_node", "environment")
"""The factors between launches in which a prediction and what it is made from must agree."""
FIGURES = {"shift": "shift_us", "barrier": "barrier_us", "fetch-add": "fetch_add_us"}

Place = tuple[str, str, str, str]
"""Study, tag, session, layout."""


def place_of(launch: Launch) -> Place:
    layout = {name: launch.cell[name] for name in LAYOUT if launch.cell.get(name) not in (None, {})}
    return (launch.study, launch.tag, launch.session, canonical(layout))


def costs_of(launches: Iterable[Launch]) -> dict[Place, Costs]:
    """By place, of those in which anything of it was measured."""
    seconds: dict[Place, dict[tuple[str, str, str, float], list[float]]] = defaultdict(lambda: defaultdict(list))
    for launch in launches:
        if launch.problem is not None:
            continue
        for result in launch.results:
            found = _measured(result)
            if found is not None:
                what, value = found
                seconds[place_of(launch)][what].append(value)
    return {place: _costs({what: median(values) for what, values in found.items()}) for place, found in seconds.items()}


def _measured(result: Mapping[str, Any]) -> tuple[tuple[str, str, str, float], float] | None:
    """((kernel, over, pair, bytes), seconds)"""
    variant = result["variant"]
    kernel = str(variant.get("kernel"))
    if result["pattern"] != CONTROL or kernel not in FIGURES or result.get("verified") is False:
        return None
    figure = (result.get("metrics") or {}).get(FIGURES[kernel])
    value = figure.get("value") if isinstance(figure, dict) else None
    size = variant.get("bytes", 0)
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0 or not isinstance(size, int | float):
        return None
    return (kernel, str(variant.get("over", "")), str(variant.get("pair", "")), float(size)), 1e-6 * value


def _costs(seconds: Mapping[tuple[str, str, str, float], float]) -> Costs:
    shifts: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for (kernel, over, pair, size), value in sorted(seconds.items()):
        if kernel == "shift":
            shifts[over, pair].append((size, value))
    gaps = {way: Gap(tuple(points)) for way, points in shifts.items()}
    barriers = [value for (kernel, *_), value in seconds.items() if kernel == "barrier"]
    return Costs(
        copy=gaps.pop(("copy", ""), None),
        messages=gaps,
        barrier=barriers[0] if barriers else None,
        fetch_add={pair: value for (kernel, _, pair, _), value in seconds.items() if kernel == "fetch-add"},
    )
