"""Detects figures above a bound in the study file, or above the memory copy of the session."""

from collections.abc import Iterable

from longshore_study.base.json_values import number_in, positive_in
from longshore_study.metrics.memory_bound import is_copy
from longshore_study.patterns import FACTORS_OF_A_LAUNCH, facts_of
from longshore_study.store.launch_store import Launch
from longshore_study.store.records import Record

# STREAM's copy counts two words for each element, but a cache with write-allocate moves three. So
# no kernel can have more than 3/2 of the bandwidth of copy.
_COPY_ALLOWANCE = 1.5
# Control cells copy arrays several times as large as the caches. An operation that moves at least
# this share of the copied bytes also exceeds the caches.
_LARGE_SHARE = 0.75


class PlausibilityLimits:
    """The limits for the figures of some launches: the bounds of their study file, and the memory
    copies that their control cells measured. `exceeded` compares one figure with these limits."""

    def __init__(self, launches: Iterable[Launch]) -> None:
        self._copies_of_session: dict[str, list[Record]] = {}
        self._copies_of_launch: dict[str, list[Record]] = {}
        for launch in launches:
            copies = [r for r in launch.results if is_copy(r) and _bandwidth(r) > 0.0] if launch.problem is None else []
            if copies:
                self._copies_of_launch[str(launch.path)] = copies
                self._copies_of_session.setdefault(_session_key(launch), []).extend(copies)

    def exceeded(self, launch: Launch, result: Record, name: str) -> str | None:
        """The bound that the metric `name` of this result exceeds, in words, or None."""
        if launch.simulated is not None:
            return None  # the bounds are those of the real machine
        value = float(result["metrics"][name]["value"])
        bounds = launch.envelope.get("bound") or {}
        limit = facts_of(result["pattern"]).metric(name).limit
        if limit == "memory copy":
            memory = bounds.get("memory_GBps_per_node")
            if memory is not None:
                return f"above the given memory bandwidth of {memory:g} GB/s per node" if value > memory else None
            return self._above_copy(launch, result, value)
        injection = bounds.get("injection_GBps_per_node")
        if injection is not None:
            injected = _injected(launch, result, value, spread=limit == "injection")
            if injected is not None and injected > injection:
                return f"{injected:.3g} GB/s leave the node, more than its given bound of {injection:g} GB/s"
        return None

    def _above_copy(self, launch: Launch, result: Record, value: float) -> str | None:
        of_launch = self._copies_of_launch.get(str(launch.path))
        # A launch that measured memory copy itself is compared with its own copies only.
        copies = of_launch or self._copies_of_session.get(_session_key(launch), [])
        moved = _moved(result)
        bound = max((_bandwidth(copy) for copy in copies if _as_large(moved, _moved(copy))), default=None)
        if bound is None or value <= _COPY_ALLOWANCE * bound:
            return None
        where = "launch" if of_launch else "session"
        return f"more than {_COPY_ALLOWANCE:g} times the memory copy of the same {where}, {bound:.3g} GB/s"


def _session_key(launch: Launch) -> str:
    """The same key for the launches of a session that share a control cell."""
    shared = {name: launch.cell[name] for name in FACTORS_OF_A_LAUNCH if name in launch.cell}
    return f"{launch.study}/{launch.tag}/{launch.session}/{sorted(shared.items())}"


def _bandwidth(result: Record) -> float:
    return number_in(result, "metrics", "bandwidth", "value") or 0.0


def _moved(result: Record) -> float | None:
    """The gigabytes that an operation moves on a node. None if the record has no time."""
    seconds = number_in(result, "seconds", "median")
    return None if seconds is None else _bandwidth(result) * seconds


def _as_large(moved: float | None, copied: float | None) -> bool:
    """Whether an operation moves about as much data as the copy, or its size is not known."""
    return moved is None or copied is None or moved >= _LARGE_SHARE * copied


def _injected(launch: Launch, result: Record, value: float, *, spread: bool) -> float | None:
    """The GB/s that leave a node. None if the records do not determine this bandwidth."""
    nodes = (launch.header or {}).get("nodes") or launch.cell.get("nodes")
    nodes = nodes if isinstance(nodes, int) else len(nodes) if isinstance(nodes, list) else None
    if not nodes or nodes < 2:
        return None
    offnode, seconds = number_in(result, "traffic", "offnode_bytes"), positive_in(result, "seconds", "median")
    if offnode is not None and seconds is not None:
        return offnode / nodes / seconds / 1e9
    # Requests are spread evenly over the nodes, so one of `nodes` requests stays on its node.
    return value * (nodes - 1) / nodes if spread else None
