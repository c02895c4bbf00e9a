"""Compares what a launch was asked for with what its program recorded. A launcher of another MPI
library, for instance, starts several programs of one rank each in place of one program."""

from collections.abc import Iterator, Mapping
from typing import Any

from longshore_study.store.records import Record, node_count

_OTHER_LAUNCHER = (
    "; does the launcher belong to the MPI library of the program, and did it start all processes? "
    "'longshore doctor' tells what it finds"
)

_MASKED = "(masked)"
"""What longshore-bench records in place of a value that may be a secret."""


def difference(cell: Mapping[str, Any], header: Record | None) -> str | None:
    """The first fact of the cell that the program's `launch` record contradicts, in words. None if
    there is none. Facts that the record lacks are not compared."""
    if header is None:
        return None
    for what, asked, found in _facts(cell, header):
        if asked is not None and found is not None and asked != found:
            hint = _OTHER_LAUNCHER if what in ("ranks", "nodes") else ""
            return f"the launch was asked for {what} {asked}, but its program ran with {what} {found}{hint}"
    return None


def _facts(cell: Mapping[str, Any], header: Record) -> Iterator[tuple[str, Any, Any]]:
    ranks, per_node, nodes = (_count(cell.get(name)) for name in ("ranks", "ranks_per_node", "nodes"))
    yield "ranks", ranks, _count(header.get("ranks"))
    yield "nodes", nodes or (node_count(ranks, per_node) if ranks and per_node else None), _count(header.get("nodes"))
    transport = header.get("transport")
    yield "transport", cell.get("transport"), transport.get("name") if isinstance(transport, dict) else transport
    environment = header.get("environment")
    if isinstance(environment, dict):
        for name, level in (cell.get("environment") or {}).items():
            found = environment.get(name)
            yield f"the variable {name}", str(level), None if found == _MASKED else found


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
