"""The memory traffic behind a figure, so that it can be compared with memory copy.

Memory copy is the only bound that can be measured on one machine. It counts each byte read and
each byte written, and so does this module: it counts the bytes that any implementation has to
move. An implementation that moves more is further from the bound; one that works in caches can
exceed it. docs/reference/figures.md explains the definitions to users.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_KEY_BYTES = {"uint8": 1, "uint16": 2, "float": 4, "int64": 8, "uint64": 8, "double": 8}  # others have 4
_SORT_PASSES = 7  # count: read; bucket, exchange and sort: read and write
_DIRECT_PASSES = 5  # the exchange writes into the buckets
_GATHER_BYTES = 24
_COUNTED_BYTES = {"gather": 16, "scatter": 8, "histogram": 8}  # per request, as injection_bandwidth counts them
_MIB = 2**20

DEFINITIONS = {
    "stream": "bytes that the kernel reads and writes",
    "gather": f"{_GATHER_BYTES} bytes for each request (index, table item, result)",
    "halo": "each payload byte once read and once written, on all ranks of the node",
    "sort": f"{_SORT_PASSES} passes over the items (count: read; bucket, exchange, sort: read and write), "
    f"{_DIRECT_PASSES} with exchange direct",
}
"""By pattern, what is counted; tables append "per second, relative to memory copy"."""


def moved_gigabytes_per_second(pattern: str, value: float, factors: Mapping[str, Any]) -> float | None:
    """The memory traffic, in GB/s per node, of the main figure `value`; None where the factors do
    not determine it."""
    match pattern:
        case "stream":
            return value
        case "gather":
            return value * _GATHER_BYTES / _COUNTED_BYTES.get(str(factors.get("operation", "gather")), 16)
        case "halo":
            ranks = factors.get("ranks_per_node") or factors.get("ranks")
            return value * _MIB * 2 * ranks / 1e9 if isinstance(ranks, int) else None
        case "sort":
            payload = factors.get("payload")
            item_bytes = _KEY_BYTES.get(str(factors.get("key_type")), 4) + (payload if isinstance(payload, int) else 0)
            passes = _DIRECT_PASSES if factors.get("exchange") == "direct" else _SORT_PASSES
            return value * item_bytes * passes / 1e9
        case _:
            return None
