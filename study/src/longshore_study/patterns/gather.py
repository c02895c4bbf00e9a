"""Gather, scatter and histogram: many small requests to random places of a distributed table."""

from __future__ import annotations

from longshore_study.patterns.pattern import WAY, WORK, Guideline, Levels, Metric, Pattern, count, words

_REQUESTS_PER_SECOND = 2e7  # of one rank that sends one request at a time
_TRAFFIC_BYTES_OF_REQUEST = 24  # the bytes that a request moves through memory
_DEFAULT_OPERATION = "gather"  # also stands for operations that are not in the table
# What injection_bandwidth counts for a request: the bytes that the request sends.
_INJECTED_BYTES_OF_REQUEST = {_DEFAULT_OPERATION: 16, "scatter": 8, "histogram": 8}


def _traffic(levels: Levels) -> float:
    operation = str(levels.get("operation", _DEFAULT_OPERATION))
    injected = _INJECTED_BYTES_OF_REQUEST.get(operation, _INJECTED_BYTES_OF_REQUEST[_DEFAULT_OPERATION])
    return _TRAFFIC_BYTES_OF_REQUEST / injected


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
        "operation": words(WORK, "gather scatter histogram"),
        "strategy": words(WAY, "agp exstack exstack2 conveyor aggregator direct auto"),
        "requests": count(WORK),
        "table": count(WORK, 1, 2**48),
        "distribution": words(WAY, "cyclic block block-cyclic"),
        "block_items": count(WAY),
        "index_pattern": words(WORK, "uniform zipf"),
        "combine": words(WAY, "no yes"),
        "buffer_items": count(WAY, 0, 2**24),
        "hops": count(WAY, 1, 3),
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
    traffic_text=f"{_TRAFFIC_BYTES_OF_REQUEST} bytes for each request (index, table item, result)",
    traffic_factors=("operation",),
    repetition_seconds=_seconds,
    pairs_of_ranks=True,
)
