"""Stream: the memory bandwidth of nodes, as STREAM measures it."""

from __future__ import annotations

from longshore_study.patterns.pattern import (
    BYTES_PER_SECOND,
    TASKS,
    WAY,
    WORK,
    Guideline,
    Metric,
    Pattern,
    count,
    words,
)

PATTERN = Pattern(
    name="stream",
    title="Stream",
    order=1,
    metrics={
        "bandwidth": Metric("GB/s", per="node", title="bandwidth per node", limit="memory copy"),
        "best_bandwidth": Metric("GB/s", per="node", title="best bandwidth per node", limit="memory copy"),
        "mean_bandwidth": Metric("GB/s", per="node"),  # of imported programs
        "write_allocate_bandwidth": Metric("GB/s", per="node"),
        "rank_bandwidth_max": Metric("GB/s", per="rank"),
        "rank_bandwidth_mean": Metric("GB/s", per="rank"),
        "rank_bandwidth_min": Metric("GB/s", per="rank"),
        "region_start": Metric("us", better="lower"),
    },
    main="bandwidth",
    factors={
        "scope": words(WAY, "ep global"),
        "kernel": words(WORK, "copy scale add triad"),
        "elements": count(WORK, 1, 2**48),
        "type": words(WORK, "float double"),
        **TASKS,
        "memory": words(WAY, "malloc calloc huge huge-transparent huge-explicit interleave jemalloc mimalloc tcmalloc"),
        "first_touch": words(WAY, "serial parallel"),
        "distribution": words(WAY, "block cyclic block-cyclic"),
        "stores": words(WAY, "auto ordinary streaming"),
    },
    work_of_imports=("array",),  # BabelStream prints no number of elements
    sizes={"elements": "elements per rank", "task_count": "tasks"},
    guidelines=(
        Guideline({"scope": "global"}, {"scope": "ep"}, why="a global array touched by its owners is local memory"),
    ),
    traffic=lambda _: 1.0,
    traffic_text="bytes that the kernel reads and writes",
    repetition_seconds=lambda ranks, levels: ranks * int(levels.get("elements", 10_000_000)) * 24 / BYTES_PER_SECOND,
)
