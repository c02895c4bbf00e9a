"""The layout of a simulated cell: its ranks, from the nodes of its machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from longshore_study.base.errors import UsageError
from longshore_study.study_file.study import MachineFile


def simulated_layout(machine: MachineFile, between: Mapping[str, Any], where: str) -> dict[str, int]:
    """The factors `ranks`, and `ranks_per_node` if it follows from the others. `nodes` alone means
    full nodes. Raises UsageError, which begins with `where`, if the machine has no such layout."""
    nodes, ranks, given = between.get("nodes"), between.get("ranks"), between.get("ranks_per_node")
    per_node = given or (-(-ranks // nodes) if ranks and nodes else machine.ranks_per_node)
    total = ranks or (nodes or 1) * per_node
    name = f"machine '{machine.name}'"
    if nodes and -(-total // per_node) != nodes:
        what = f"{total} ranks with {per_node} on each node do not make {nodes} nodes of {name}"
        raise UsageError(f"{where}: {what}; remove ranks, nodes or ranks_per_node, which follows from the others")
    if total > machine.nodes * per_node:
        most = f"{machine.nodes} nodes, so at most {machine.nodes * per_node} ranks with {per_node} on each node"
        raise UsageError(f"{where}: {name} has {most}; {total} are too many: write fewer, or another machine")
    return {"ranks": total} | ({"ranks_per_node": per_node} if given or (ranks and nodes) else {})
