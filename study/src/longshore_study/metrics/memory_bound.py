"""Figures per node, and their share of what the memory of the machine and the network allow.

Every pattern says which bytes have to move, and where they lie. Control measures how fast memory
and the network move such bytes. docs/explanation/bound.md explains the bound to users.
"""

from collections.abc import Mapping
from typing import Any

from longshore_study.base.units import unit_of
from longshore_study.metrics.memory_speeds import MemorySpeeds
from longshore_study.patterns import PATTERNS
from longshore_study.store import records


def share_of_bound(
    pattern: str, main_figure: float, factors: Mapping[str, Any], nodes: int | None, speeds: MemorySpeeds
) -> float | None:
    """The least time in which memory and the network can move the bytes, divided by the time of the
    figure: a value of the pattern's main metric in its own unit. `nodes` is the number of nodes of
    the launch. If `nodes` is None, the factor `ranks_per_node` gives the number. Without this
    factor, all ranks count as ranks of one node. None if the factors do not determine the bytes, or
    if bytes go to other nodes and the speed of the network was not measured.
    """
    facts = PATTERNS.get(pattern)
    if facts is None or facts.traffic is None:
        return None
    metric = facts.metrics[facts.main]
    share = 1.0
    if metric.per == "rank":
        ranks_of_node = _ranks_of_node(factors, nodes)
        if not ranks_of_node:
            return None
        share = ranks_of_node
    elif not metric.per:
        share = 1.0 / (nodes or _nodes_of(factors))
    uses = [(use, speeds.of(use)) for use in facts.traffic({**factors, "nodes": nodes or _nodes_of(factors)})]
    if any(use.how == "network" and not speed for use, speed in uses):
        return None
    # The slowest of the uses counts: a machine can run them at the same time.
    seconds = [use.bytes / speed for use, speed in uses if speed]
    return main_figure * (unit_of(metric.unit).scale / 1e9) * share * max(seconds) if seconds else None


def factor_to_node(per: str, unit: str, ranks: int, nodes: int) -> tuple[float, str]:
    """The factor that converts a figure of a rank, a node or all ranks to a figure per node, and
    the unit of the result."""
    if per == "node":
        return 1.0, unit
    if not per:
        return 1.0 / nodes, unit
    dimension, scale = unit_of(unit)
    return (ranks / nodes * (scale / 1e9), "GB/s") if dimension == "B/s" else (ranks / nodes, unit)


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
