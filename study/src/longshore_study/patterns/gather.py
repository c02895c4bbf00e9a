"""Gather, scatter and histogram: many small requests to random places of a distributed table."""

import math
from dataclasses import replace

from longshore_study.patterns.pattern import (
    LINE_BYTES,
    Guideline,
    Levels,
    MemoryUse,
    Metric,
    Pattern,
    between_nodes,
    count,
    product_of,
    words,
)

_REQUESTS_PER_SECOND = 2e7  # of one rank that sends one request at a time
_DEFAULT_OPERATION = "gather"  # also stands for operations that are not in the table
# For a request: the bytes that it sends, which injection_bandwidth counts, the bytes of index and
# value that a rank reads and writes, and those of offset and value that pass between two nodes.
_BYTES_OF_REQUEST = {_DEFAULT_OPERATION: (16, 16, 12), "scatter": (8, 16, 12), "histogram": (8, 8, 4)}
_ITEM_BYTES = 8  # also of the payload of a request


def _traffic(levels: Levels) -> list[MemoryUse]:
    operation = str(levels.get("operation", _DEFAULT_OPERATION))
    injected, copied, sent = _BYTES_OF_REQUEST.get(operation, _BYTES_OF_REQUEST[_DEFAULT_OPERATION])
    table_bytes = product_of(_ITEM_BYTES, levels.get("table"))
    uses = [MemoryUse("copy", copied / injected, product_of(copied, levels.get("requests")))]
    # With zipf, the elements that are often drawn stay in the nearest cache.
    if levels.get("index_pattern") != "zipf":
        uses.append(MemoryUse("random_lines", LINE_BYTES / injected, table_bytes))
    # Requests that are combined need fewer bytes, and single accesses need more.
    least = sent * (1 - 1 / (levels.get("nodes") or math.inf)) / injected
    network = between_nodes(levels, _ITEM_BYTES / injected)
    return [*uses, *(replace(use, bytes=min(use.bytes, least)) for use in network)]


def _seconds(ranks: int, levels: Levels) -> float:
    speed = _REQUESTS_PER_SECOND if levels.get("strategy") == "agp" else 3 * _REQUESTS_PER_SECOND
    return ranks * int(levels.get("requests", 10_000_000)) / speed


PATTERN = Pattern(
    name="gather",
    title="Gather",
    order=2,
    metrics={
        "injection_bandwidth": Metric("GB/s", per="node", title="injection bandwidth per node", limit="injection"),
        "mean_injection_bandwidth": Metric("GB/s", per="node"),
    },
    main="injection_bandwidth",
    factors={
        "operation": words("work", "gather scatter histogram"),
        "strategy": words("way", "agp exstack exstack2 conveyor aggregator direct auto"),
        "requests": count("work"),
        "table": count("work", 1, 2**48),
        "distribution": words("given", "cyclic block block-cyclic"),
        "block_items": count("given"),
        "index_pattern": words("work", "uniform zipf"),
        "combine": words("given", "no yes"),
        "buffer_items": count("way", 0, 2**24),
        "hops": count("way", 1, 3),
    },
    sizes={"requests": "requests per rank", "table": "table elements per rank", "buffer_items": "buffer, items"},
    auto="strategy",
    guidelines=(
        Guideline(
            {"strategy": "direct"},
            {"strategy": "agp"},
            why="a one-sided get within a node also loads from shared memory, but adds a call",
        ),
    ),
    traffic=_traffic,
    traffic_text="for each request index and value (histogram: index), and a line of the table at random",
    repetition_seconds=_seconds,
    pairs_of_ranks=True,
)
