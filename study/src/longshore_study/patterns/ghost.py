"""Ghost: the exchange of the elements that neighbours of a mesh or a sparse matrix need."""

from __future__ import annotations

from longshore_study.patterns.pattern import (
    BYTES_PER_SECOND,
    NUMBER_BYTES,
    WAY,
    WORK,
    Levels,
    Metric,
    Pattern,
    count,
    free_text,
    words,
)

_LINE_BYTES = 64  # of the caches of most processors
_DEFAULT_TYPE = "double"


def _traffic(levels: Levels) -> float:
    ghost_bytes = NUMBER_BYTES.get(str(levels.get("type")), NUMBER_BYTES[_DEFAULT_TYPE])
    passes_over_elements = 2 if levels.get("operation") == "accumulate" else 1
    return (passes_over_elements * _element_bytes(levels, ghost_bytes) + ghost_bytes) / ghost_bytes


def _element_bytes(levels: Levels, ghost_bytes: int) -> float:
    """The bytes of elements that a rank reads, per ghost."""
    if levels.get("mesh") == "band":
        return ghost_bytes
    elements, ghosts, ranks = (levels.get(name) for name in ("elements", "ghosts", "ranks"))
    if isinstance(elements, int) and isinstance(ghosts, int) and isinstance(ranks, int) and ghosts > 0:
        # Many random ghosts share cache lines: a rank reads each element of other ranks at most
        # once.
        return min(_LINE_BYTES, max(ghost_bytes, ghost_bytes * elements * (ranks - 1) / ghosts))
    return _LINE_BYTES


def _seconds(ranks: int, levels: Levels) -> float:
    """The time includes new values for all elements before each repetition."""
    elements, ghosts = int(levels.get("elements", 100_000)), int(levels.get("ghosts", 10_000))
    items = int(levels.get("fields", 1)) * (elements + 2 * ghosts)
    return 5e-5 * ranks + ranks * items * 8 * 4 / BYTES_PER_SECOND


PATTERN = Pattern(
    name="ghost",
    title="Ghost exchange",
    order=5,
    metrics={
        "ghost_bandwidth": Metric("GB/s", per="node", title="bandwidth of ghosts per node"),
        "line_bandwidth": Metric("GB/s", per="node", title="bandwidth of cache lines per node"),
        "plan_seconds": Metric("s", better="lower"),
        "remake_seconds": Metric("s", better="lower"),
    },
    main="ghost_bandwidth",
    factors={
        "strategy": words(WAY, "standard direct node-aware-2 node-aware mpi-waitall mpi-persistent mpi-neighbor auto"),
        "operation": words(WORK, "update accumulate"),
        "mesh": words(WORK, "random band hexahedra tetrahedra file"),
        "file": free_text(WORK),
        "elements": count(WORK),
        "ghosts": count(WORK),
        "reach": count(WORK, 1, 2**20),
        "fields": count(WORK, 1, 4096),
        "type": words(WORK, "float double int32 int64"),
        "memory": words(WAY, "shared own"),
        "placement": words(WAY, "linear random auto"),
    },
    sizes={"elements": "elements per rank", "ghosts": "ghosts per rank", "fields": "fields", "reach": "reach"},
    auto="strategy",
    traffic=_traffic,
    traffic_text=f"for each ghost, a cache line of {_LINE_BYTES} bytes read at its element (accumulate: and written), "
    "and the ghost itself; not more than all elements of other ranks, and in a band only what is needed",
    traffic_factors=("operation", "mesh", "type", "elements", "ghosts"),
    repetition_seconds=_seconds,
    pairs_of_ranks=True,
)
