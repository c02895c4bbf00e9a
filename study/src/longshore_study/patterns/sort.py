"""Sort: keys that go to the rank of their bucket, as in ISx."""

from longshore_study.patterns.pattern import (
    BYTES_PER_SECOND,
    NUMBER_BYTES,
    TASKS,
    Levels,
    MemoryUse,
    Metric,
    Pattern,
    between_nodes,
    count,
    product_of,
    words,
)

_DEFAULT_KEY_TYPE = "uint32"  # also stands for types that are not known
_PASSES = 7  # count: read; bucket, exchange and sort: read and write
_DIRECT_PASSES = 5  # exchange direct writes into the buckets
_ARRAYS = 3  # keys, buckets, received keys


def _traffic(levels: Levels) -> list[MemoryUse]:
    key_bytes = NUMBER_BYTES.get(str(levels.get("key_type")), NUMBER_BYTES[_DEFAULT_KEY_TYPE])
    payload = levels.get("payload")
    passes = _DIRECT_PASSES if levels.get("exchange") == "direct" else _PASSES
    item_bytes = key_bytes + (payload if isinstance(payload, int) else 0)
    sharing = levels.get("ranks") if levels.get("scaling") == "strong" else 1
    array_bytes = product_of(item_bytes, levels.get("keys"), 1 / sharing if sharing else None)
    memory = MemoryUse("copy", item_bytes * passes, product_of(_ARRAYS, array_bytes))
    return [memory, *between_nodes(levels, item_bytes)]


PATTERN = Pattern(
    name="sort",
    title="Bucket sort",
    order=4,
    metrics={
        "keys_per_second": Metric("keys/s", title="keys sorted"),
        "exchange_bandwidth": Metric("GB/s", per="node", title="exchange bandwidth"),
        "total_seconds": Metric("s", better="lower"),
        "exchange_seconds": Metric("s", better="lower"),
    },
    main="keys_per_second",
    factors={
        "exchange": words("way", "put put-scan direct sendrecv alltoallv rma channel two-hop auto"),
        "order": words("way", "round-robin random random-private xor incast node-aware"),
        "keys": count("work"),
        "scaling": words("work", "weak strong weak-iso"),
        "max_key": count("work"),
        "key_pattern": words("work", "uniform zipf sorted all-equal"),
        "key_type": words("work", "uint8 uint32 uint64 double"),
        "payload": count("work", 0, 4096),
        "splitters": words("given", "equal-width sampled"),
        "stable": words("work", "no yes"),
        "meet": words("given", "no yes"),
        **TASKS,
    },
    sizes={"keys": "keys per rank", "task_count": "tasks"},
    auto="exchange",
    mean_metrics=("total_seconds", "exchange_seconds"),
    modelled_phase="exchange",
    traffic=_traffic,
    traffic_text=f"{_PASSES} passes over the items (count: read; bucket, exchange, sort: read and write), "
    f"{_DIRECT_PASSES} with exchange direct",
    repetition_seconds=lambda ranks, levels: ranks * int(levels.get("keys", 2**23)) * 8 * 6 / BYTES_PER_SECOND,
    pairs_of_ranks=True,
)
