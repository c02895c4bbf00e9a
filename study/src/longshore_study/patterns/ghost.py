"""Ghost: the exchange of the elements that neighbours of a mesh or a sparse matrix need."""

import math

from longshore_study.patterns.pattern import (
    BYTES_PER_SECOND,
    LINE_BYTES,
    NUMBER_BYTES,
    Levels,
    MemoryUse,
    Metric,
    Pattern,
    between_nodes,
    count,
    free_text,
    product_of,
    words,
)

_DEFAULT_TYPE = "double"


def _traffic(levels: Levels) -> list[MemoryUse]:
    type_bytes = NUMBER_BYTES.get(str(levels.get("type")), NUMBER_BYTES[_DEFAULT_TYPE])
    passes = 3 if levels.get("operation") == "accumulate" else 2  # ghost and element; a sum is also written
    payload, fields = levels.get("payload_bytes"), levels.get("fields", 1)
    uses = [MemoryUse("copy", passes, product_of(2, payload)), *between_nodes(levels, 1.0)]
    lines = product_of(fields, levels.get("elements"), _ranks_in_reach(levels), type_bytes / LINE_BYTES)
    if levels.get("mesh") == "random" and lines and payload:
        # Of the lines of elements of other ranks, those that at least one ghost needs, on average
        line_bytes = LINE_BYTES * lines * -math.expm1(-payload / type_bytes / lines)
        uses.append(MemoryUse("lines", line_bytes / payload, line_bytes))
    return uses


def _ranks_in_reach(levels: Levels) -> int | None:
    ranks, reach = levels.get("ranks"), levels.get("reach")
    if not isinstance(ranks, int):
        return None
    return max(1, min(ranks - 1, 2 * reach) if isinstance(reach, int) else ranks - 1)


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
        "strategy": words(
            "way", "standard direct node-aware-2 node-aware mpi-waitall mpi-persistent mpi-neighbor auto"
        ),
        "operation": words("work", "update accumulate"),
        "mesh": words("work", "random band hexahedra tetrahedra file"),
        "file": free_text("work"),
        "elements": count("work"),
        "ghosts": count("work"),
        "reach": count("work", 1, 2**20),
        "fields": count("work", 1, 4096),
        "type": words("work", "float double int32 int64"),
        "memory": words("way", "shared own"),
        "placement": words("way", "linear random auto"),
    },
    sizes={"elements": "elements per rank", "ghosts": "ghosts per rank", "fields": "fields", "reach": "reach"},
    auto="strategy",
    traffic=_traffic,
    traffic_text="each ghost and its element (accumulate: which is also written); in a random mesh whole lines of "
    "elements",
    repetition_seconds=_seconds,
    times_phases=True,
    pairs_of_ranks=True,
)
