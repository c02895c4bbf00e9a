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
    "uint8": 1, "uint16": 2, "uint32": 4, "int32": 4, "float": 4, "int64": 8, "uint64": 8, "double": 8,
}  # fmt: skip
_DEFAULT_KEY_TYPE = "uint32"  # also stands for types that are not in the table
_SORT_PASSES = 7  # count: read; bucket, exchange and sort: read and write
_DIRECT_PASSES = 5  # exchange direct writes into the buckets
_TRAFFIC_BYTES_OF_REQUEST = 24  # what a request moves through memory
# What injection_bandwidth counts for a request: the bytes that the request sends.
_INJECTED_BYTES_OF_REQUEST = {"gather": 16, "scatter": 8, "histogram": 8}
_DEFAULT_OPERATION = "gather"  # also stands for operations that are not in the table
_MIB = 2**20
_LINE_BYTES = 64  # of the caches of most processors
_DEFAULT_GHOST_TYPE = "double"

DEFINITIONS = {
    "stream": "bytes that the kernel reads and writes",
    "gather": f"{_TRAFFIC_BYTES_OF_REQUEST} bytes for each request (index, table item, result)",
    "halo": "each payload byte once read and once written, on all ranks of the node",
    "sort": f"{_SORT_PASSES} passes over the items (count: read; bucket, exchange, sort: read and write), "
    f"{_DIRECT_PASSES} with exchange direct",
    "ghost": f"for each ghost, a cache line of {_LINE_BYTES} bytes read at its element (accumulate: and written), "
    "and the ghost itself; not more than all elements of other ranks, and in a band only what is needed",
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
            ranks_of_node = _ranks_of_node(factors, nodes)
            read_and_written = 2
            return ranks_of_node and main_figure * _MIB * read_and_written * ranks_of_node / 1e9
        case "sort":  # keys_per_second: keys/s of all ranks
            key_type, payload = str(factors.get("key_type", _DEFAULT_KEY_TYPE)), factors.get("payload")
            key_bytes = _KEY_BYTES.get(key_type, _KEY_BYTES[_DEFAULT_KEY_TYPE])
            item_bytes = key_bytes + (payload if isinstance(payload, int) else 0)
            passes = _DIRECT_PASSES if factors.get("exchange") == "direct" else _SORT_PASSES
            return main_figure * item_bytes * passes / 1e9 / (nodes or _nodes_of(factors))
        case "ghost":  # ghost_bandwidth: GB/s per node
            ghost_bytes = _KEY_BYTES.get(str(factors.get("type")), _KEY_BYTES[_DEFAULT_GHOST_TYPE])
            element_bytes = _element_bytes_of_ghost(factors, ghost_bytes)
            passes_over_elements = 2 if factors.get("operation") == "accumulate" else 1
            return main_figure * (passes_over_elements * element_bytes + ghost_bytes) / ghost_bytes
        case _:
            return None


def _element_bytes_of_ghost(factors: Mapping[str, Any], ghost_bytes: int) -> float:
    """The bytes that a rank reads at the elements, per ghost."""
    if factors.get("mesh") == "band":
        return ghost_bytes
    elements, ghosts, ranks = (factors.get(name) for name in ("elements", "ghosts", "ranks"))
    if isinstance(elements, int) and isinstance(ghosts, int) and isinstance(ranks, int) and ghosts > 0:
        # Many random ghosts share lines: a rank reads each element of the others once at most.
        return min(_LINE_BYTES, max(ghost_bytes, ghost_bytes * elements * (ranks - 1) / ghosts))
    return _LINE_BYTES


def _ranks_of_node(factors: Mapping[str, Any], nodes: int | None) -> float | None:
    ranks = factors.get("ranks_per_node") or factors.get("ranks")
    if not isinstance(ranks, int):
        return None
    return ranks if factors.get("ranks_per_node") else ranks / (nodes or 1)


def _nodes_of(factors: Mapping[str, Any]) -> int:
    ranks, ranks_per_node = factors.get("ranks"), factors.get("ranks_per_node")
    if isinstance(ranks, int) and isinstance(ranks_per_node, int) and ranks_per_node > 0:
        return records.node_count(ranks, ranks_per_node)
    return 1
