"""Detects figures that are not plausible: above the machine's bound in the study file, or above the
memory copy that the control cells of the same session measured.
"""

from __future__ import annotations

from collections.abc import Iterable

from longshore_study.base.json_values import number_in
from longshore_study.store.launch_store import Launch
from longshore_study.store.records import Record

CONTROL = "control"
LAUNCHING = ("transport", "ranks", "ranks_per_node", "environment")
"""The factors that a cell and its control have in common."""

# STREAM's copy counts two words for each element, but a cache with write-allocate moves three: no
# kernel can be faster than 3/2 of it.
_COPY_ALLOWANCE = 1.5
# Controls copy arrays several times as large as the caches. An operation that moves nearly as much
# does not fit into the caches either.
_AS_LARGE = 0.75


class Bounds:
    """The bounds of some launches."""

    def __init__(self, launches: Iterable[Launch]) -> None:
        self._copies: dict[str, list[Record]] = {}
        self._own: dict[str, list[Record]] = {}
        for launch in launches:
            found = [] if launch.problem is not None else [r for r in launch.results if _is_copy(r)]
            if found:
                self._own[str(launch.path)] = found
                self._copies.setdefault(_place(launch), []).extend(found)

    def exceeded(self, launch: Launch, result: Record, name: str) -> str | None:
        """Why the metric `name` of this result is not plausible; None where it is."""
        value = float(result["metrics"][name]["value"])
        given = launch.envelope.get("bound") or {}
        if result["pattern"] == "stream" and name in ("bandwidth", "best_bandwidth"):
            memory = given.get("memory_GBps_per_node")
            if memory is not None:
                return f"above the given memory bandwidth of {memory:g} GB/s per node" if value > memory else None
            return self._above_copy(launch, result, value)
        injection = given.get("injection_GBps_per_node")
        if injection is not None:
            injected = _injected(launch, result, name, value)
            if injected is not None and injected > injection:
                return f"{injected:.3g} GB/s leave the node, more than its given bound of {injection:g} GB/s"
        return None

    def _above_copy(self, launch: Launch, result: Record, value: float) -> str | None:
        own = self._own.get(str(launch.path))
        copies = own or self._copies.get(_place(launch), [])
        moved = _moved(result)
        bound = max((_value(copy) for copy in copies if _as_large(moved, _moved(copy))), default=None)
        if bound is None or value <= _COPY_ALLOWANCE * bound:
            return None
        where = "launch" if own else "session"
        return f"more than {_COPY_ALLOWANCE:g} times the memory copy of the same {where}, {bound:.3g} GB/s"


def _place(launch: Launch) -> str:
    launching = {name: launch.cell[name] for name in LAUNCHING if name in launch.cell}
    return f"{launch.study}/{launch.tag}/{launch.session}/{sorted(launching.items())}"


def _is_copy(result: Record) -> bool:
    return result["pattern"] == CONTROL and result["variant"].get("kernel") == "copy" and _value(result) > 0.0


def _value(result: Record) -> float:
    metric = (result.get("metrics") or {}).get("bandwidth")
    return (number_in(metric.get("value")) if isinstance(metric, dict) else None) or 0.0


def _moved(result: Record) -> float | None:
    """The gigabytes that one operation moves on a node: bandwidth times time. None where the record
    has no time."""
    seconds = number_in((result.get("seconds") or {}).get("median"))
    return None if seconds is None else _value(result) * seconds


def _as_large(moved: float | None, copied: float | None) -> bool:
    """Whether the data is too large for the caches, as that of the control is; also True where the
    sizes are not known."""
    return moved is None or copied is None or moved >= _AS_LARGE * copied


def _injected(launch: Launch, result: Record, name: str, value: float) -> float | None:
    """The GB/s that leave a node; None where the records do not determine it."""
    nodes = (launch.header or {}).get("nodes") or launch.cell.get("nodes")
    nodes = nodes if isinstance(nodes, int) else len(nodes) if isinstance(nodes, list) else None
    if not nodes or nodes < 2:
        return None
    offnode = (result.get("traffic") or {}).get("offnode_bytes")
    seconds = (result.get("seconds") or {}).get("median")
    if isinstance(offnode, int | float) and isinstance(seconds, int | float) and seconds > 0:
        return float(offnode) / nodes / seconds / 1e9
    if name == "injection_bandwidth":
        return value * (nodes - 1) / nodes  # requests are spread evenly
    return None
