"""Stream: the memory bandwidth of nodes, as STREAM measures it."""

from longshore_study.patterns.pattern import (
    BYTES_PER_SECOND,
    NUMBER_BYTES,
    TASKS,
    Guideline,
    Levels,
    MemoryUse,
    Metric,
    Pattern,
    count,
    product_of,
    words,
)


def _traffic(levels: Levels) -> list[MemoryUse]:
    arrays = 2 if levels.get("kernel") in ("copy", "scale") else 3
    set_bytes = product_of(arrays, levels.get("elements"), NUMBER_BYTES.get(str(levels.get("type", "double"))))
    return [MemoryUse("copy" if arrays == 2 else "triad", 1.0, set_bytes)]


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
        "scope": words("way", "ep global"),
        "kernel": words("work", "copy scale add triad"),
        "elements": count("work", 1, 2**48),
        "type": words("work", "float double"),
        **TASKS,
        "memory": words(
            "way", "malloc calloc huge huge-transparent huge-explicit interleave jemalloc mimalloc tcmalloc"
        ),
        "first_touch": words("way", "serial parallel"),
        "distribution": words("given", "block cyclic block-cyclic"),
        "stores": words("way", "auto ordinary streaming"),
    },
    work_of_imports=("array",),  # BabelStream prints no number of elements
    sizes={"elements": "elements per rank", "task_count": "tasks"},
    guidelines=(
        Guideline({"scope": "global"}, {"scope": "ep"}, why="a global array touched by its owners is local memory"),
    ),
    traffic=_traffic,
    traffic_text="bytes that the kernel reads and writes, in two or three arrays",
    repetition_seconds=lambda ranks, levels: ranks * int(levels.get("elements", 10_000_000)) * 24 / BYTES_PER_SECOND,
)
