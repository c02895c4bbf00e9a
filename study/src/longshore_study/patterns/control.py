"""Control: the machine itself. Every study measures its memory copy and its ping-pong; the other
kernels measure parameters of the communication model."""

from longshore_study.patterns.pattern import Metric, Pattern, count, words

MACHINE_METRICS = {"copy": "bandwidth", "pingpong": "latency_us"}
"""The kernels that show whether the machine as a whole has changed, with their metrics."""

PATTERN = Pattern(
    name="control",
    title="Controls",
    order=1000,
    metrics={
        "bandwidth": Metric("GB/s", per="node", title="bandwidth per node"),
        "best_bandwidth": Metric("GB/s", per="node", title="best bandwidth per node"),
        "memcpy_best_bandwidth": Metric("GB/s", per="node"),
        "rank_bandwidth": Metric("GB/s", per="rank"),
        "put_bandwidth": Metric("GB/s"),
        "latency_us": Metric("us", better="lower", title="latency"),
        **{
            name: Metric("us", better="lower")
            for name in (
                "shift_us", "until_met_us", "barrier_us", "fetch_add_us", "put_us", "best_put_us", "send_overhead_us",
                "receive_overhead_us", "gap_us", "half_round_trip_us",
            )
        },
        **{
            name: Metric("ns/B", better="lower")
            for name in ("gap_per_byte_ns", "long_gap_per_byte_ns", "overhead_per_byte_ns")
        },
    },
    main="",  # by kernel: MACHINE_METRICS
    factors={
        "kernel": words("work", "copy pingpong put loggp shift barrier fetch-add"),
        "over": words("work", "put channel alltoallv rma copy raw"),
        "pair": words("work", "near far remote self"),
        "bytes": count("work", 8, 2**48),
    },
    repetition_seconds=lambda _, levels: 0.05 if levels.get("kernel", "copy") == "copy" else 0.01,
)  # fmt: skip
