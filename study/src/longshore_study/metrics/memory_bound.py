"""The memory traffic behind a figure, to compare the figure with memory copy.

Memory copy is the only bound that can be measured on one machine. The traffic is the number of
bytes that any implementation has to read and to write, per second. An implementation that moves
more bytes is further from the bound; an implementation that works in caches can exceed the bound.
docs/reference/figures.md explains the definitions to users.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from longshore_study.store import records

_KEY_BYTES = {
    "uint8": 1, "uint16": 2, "uint32": 4, "float": 4, "int64": 8, "uint64": 8, "double": 8,
}  # fmt: skip
_DEFAULT_KEY_TYPE = "uint32"  # also stands for types that are not in the table
_SORT_PASSES = 7  # count: read; bucket, exchange and sort: read and write
_DIRECT_PASSES = 5  # exchange direct writes into the buckets
_TRAFFIC_BYTES_OF_REQUEST = 24  # what a request moves through memory
# What injection_bandwidth counts for a request: the bytes that the request sends.
_INJECTED_BYTES_OF_REQUEST = {"gather": 16, "scatter": 8, "histogram": 8}
_DEFAULT_OPERATION = "gather"  # also stands for operations that are not in the table
_MIB = 2**20

DEFINITIONS = {
    "stream": "bytes that the kernel reads and writes",
    "gather": f"{_TRAFFIC_BYTES_OF_REQUEST} bytes for each request (index, table item, result)",
    "halo": "each payload byte once read and once written, on all ranks of the node",
    "sort": f"{_SORT_PASSES} passes over the items (count: read; bucket, exchange, sort: read and write), "
    f"{_DIRECT_PASSES} with exchange direct",
}
"""For each pattern, the bytes that count as memory traffic. Tables append "per second, relative to
memory copy"."""


def moved_gigabytes_per_second(
    pattern: str, main_figure: float, factors: Mapping[str, Any], nodes: int | None = None
) -> float | None:
    """The memory traffic of one node in GB/s, for a value of the pattern's main metric in its own
    unit. `nodes` is the number of nodes of the launch. If it is not known, `ranks_per_node` of the
    factors gives it; without that, all ranks count as ranks of one node. None if the factors do not
    determine the traffic.
    """
    match pattern:
        case "stream":  # bandwidth: GB/s per node
            return main_figure
        case "gather":  # injection_bandwidth: GB/s per node
            operation = str(factors.get("operation", _DEFAULT_OPERATION))
            injected = _INJECTED_BYTES_OF_REQUEST.get(operation, _INJECTED_BYTES_OF_REQUEST[_DEFAULT_OPERATION])
            return main_figure * _TRAFFIC_BYTES_OF_REQUEST / injected
        case "halo":  # process_bandwidth: MiB/s that one rank sends
            ranks = factors.get("ranks_per_node") or factors.get("ranks")
            if not isinstance(ranks, int):
                return None
            ranks_of_node = ranks if factors.get("ranks_per_node") else ranks / (nodes or 1)
            read_and_written = 2
            return main_figure * _MIB * read_and_written * ranks_of_node / 1e9
        case "sort":  # keys_per_second: keys/s of all ranks
            key_type, payload = str(factors.get("key_type", _DEFAULT_KEY_TYPE)), factors.get("payload")
            key_bytes = _KEY_BYTES.get(key_type, _KEY_BYTES[_DEFAULT_KEY_TYPE])
            item_bytes = key_bytes + (payload if isinstance(payload, int) else 0)
            passes = _DIRECT_PASSES if factors.get("exchange") == "direct" else _SORT_PASSES
            return main_figure * item_bytes * passes / 1e9 / (nodes or _nodes_of(factors))
        case _:
            return None


def _nodes_of(factors: Mapping[str, Any]) -> int:
    ranks, ranks_per_node = factors.get("ranks"), factors.get("ranks_per_node")
    if isinstance(ranks, int) and isinstance(ranks_per_node, int) and ranks_per_node > 0:
        return records.node_count(ranks, ranks_per_node)
    return 1
