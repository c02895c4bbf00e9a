"""Halo: the exchange of the boundary of a grid with neighbours."""

import math

from longshore_study.patterns.pattern import (
    BYTES_PER_SECOND,
    LARGEST_COUNT,
    LINE_BYTES,
    NUMBER_BYTES,
    TASKS,
    Guideline,
    Levels,
    MemoryUse,
    Metric,
    Pattern,
    between_nodes,
    count,
    triple,
    words,
)


def _seconds(ranks: int, levels: Levels) -> float:
    return 5e-5 * ranks + ranks * _items(levels) * 8 * 4 / BYTES_PER_SECOND


def _items(levels: Levels) -> int:
    if "contiguous" in levels:
        return 6 * int(levels["contiguous"])
    domain = [int(length) for length in levels.get("domain", [64, 64, 64])]
    width, fields, boxes = (
        int(levels.get(name, default)) for name, default in (("halo", 1), ("fields", 1), ("boxes", 0))
    )
    parts = max(boxes, 1)
    # A box is about as long along each dimension as the block divided by the cube root of the
    # number of boxes.
    sides = [length / math.cbrt(parts) + (levels.get("centring") == "vertex") for length in domain]
    halos = parts * math.prod(side + 2 * width for side in sides) - math.prod(domain)
    return math.ceil(fields * halos * (2 if levels.get("operation") == "assemble" else 1))


def _traffic(levels: Levels) -> list[MemoryUse]:
    """An exchange reads and writes each byte. A sum also reads the value to which it adds. An
    assemble adds half of the bytes. The ends of a row of cells lie next to those of the next row:
    at least one line per row is read and written."""
    passes = {"accumulate": 3.0, "assemble": 2.5}.get(str(levels.get("operation")), 2.0)
    payload = levels.get("payload_bytes")
    if not payload:
        return [MemoryUse("copy", passes, None)]
    rows, ends = _rows_with_ends(levels)
    others = max(0, payload - rows * ends)
    moved = passes * others + rows * max(2 * LINE_BYTES, passes * ends)
    touched = 2 * others + rows * max(LINE_BYTES, 2 * ends)
    return [MemoryUse("copy", moved / payload, touched), *between_nodes(levels, 1.0)]


def _rows_with_ends(levels: Levels) -> tuple[int, int]:
    """The rows of cells along x whose two ends a rank exchanges, and their payload, if known."""
    domain, width, type_bytes = levels.get("domain"), levels.get("halo"), NUMBER_BYTES.get(str(levels.get("type")))
    in_a_grid = levels.get("periodic") == [1, 1, 1] and not levels.get("boxes") and levels.get("centring") != "vertex"
    if not in_a_grid or not domain or not width or not type_bytes:
        return 0, 0
    return math.prod(domain[1:]) * int(levels.get("fields", 1)), 2 * width * type_bytes


PATTERN = Pattern(
    name="halo",
    title="Halo exchange",
    order=3,
    metrics={
        "exchange_bandwidth": Metric("GB/s", title="exchange bandwidth"),
        "process_bandwidth": Metric("MiB/s", per="rank", title="bandwidth per process"),
    },
    main="process_bandwidth",
    factors={
        "algorithm": words("way", "standard staged sequenced staged-sequenced faces hybrid auto"),
        "mode": words(
            "way",
            "channel direct sendrecv redblack isend-recv irecv-send pairwise waitall persistent neighbor partitioned "
            "subarray rma-fence rma-pscw rma-flush",
        ),
        "operation": words("work", "exchange accumulate assemble"),
        "centring": words("work", "cell vertex"),
        "boxes": count("work", 0, 2**16),
        "contiguous": count("work"),
        "domain": triple("work", 1, LARGEST_COUNT),
        "halo": count("work", 1, 1024),
        "reach": words("work", "faces edges corners"),
        "fields": count("work", 1, 4096),
        "type": words("work", "float double"),
        "periodic": triple("work", 0, 1),
        "language": words("given", "c++ c fortran"),
        "memory": words("way", "shared own device"),
        "grid": triple("given", 0, 2**24),
        "placement": words("way", "linear cart auto levels"),
        **{level: triple("given", 1, 2**24) for level in ("node", "socket", "numa", "l3", "core")},
        "order": words("way", "xyz xzy yxz yzx zxy zyx"),
        **TASKS,
    },
    sizes={
        "halo": "halo width, cells",
        "contiguous": "elements per face",
        "fields": "fields",
        "boxes": "boxes per rank",
        "task_count": "tasks",
    },
    auto="algorithm",
    guidelines=(
        Guideline(
            {"mode": "persistent"},
            {"mode": "waitall"},
            why="a persistent request saves set-up; it could always be run as Isend and Irecv",
        ),
        Guideline(
            {"mode": "neighbor"},
            {"mode": "waitall"},
            why="a neighbourhood collective knows all messages; it could always post them one by one",
        ),
        Guideline(
            {"mode": "waitall"},
            {"mode": "sendrecv"},
            why="concurrent messages could always be sent one after the other, but not the reverse",
        ),
    ),
    traffic=_traffic,
    traffic_text="each payload byte once read and once written, on all ranks of the node; a sum also reads the value "
    "to which it adds; a line for the ends of each row along x",
    repetition_seconds=_seconds,
    times_phases=True,
)
