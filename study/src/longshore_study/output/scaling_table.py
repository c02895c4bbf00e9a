"""Scaling over ranks or nodes, as `show --scaling` prints it: JSON, or tables with a line per
curve."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from longshore_study.analyses.scaling import DEFINITIONS, Curve, ScalingPoint
from longshore_study.base import terminal


def document(curves: Sequence[Curve]) -> dict[str, Any]:
    """The JSON of `show --scaling --json`."""
    return {
        "schema": 1,
        "efficiency": DEFINITIONS,
        "curves": [
            {
                "study": curve.study,
                "tag": curve.tag,
                "pattern": curve.pattern,
                "metric": curve.metric,
                "axis": curve.axis,
                "unit": f"{curve.unit} per node",
                "factors": curve.factors,
                "points": [_point_document(curve, point) for point in curve.points],
            }
            for curve in curves
        ],
    }


def _point_document(curve: Curve, point: ScalingPoint) -> dict[str, Any]:
    return {
        curve.axis: point.at,
        "layout": {"ranks": point.layout.ranks, "nodes": point.layout.nodes},
        "value": point.value,
        "spread": list(point.spread),
        "launches": len({f.launch for f in point.figures}),
        "efficiency": point.efficiency,
        "interval": list(point.interval) if point.interval else None,
        "why_no_interval": point.why_no_interval,
        "warnings": sorted({f.above for f in point.figures if f.above}),
    }


def render(curves: Sequence[Curve]) -> None:
    """A table per pattern: a line per variant, a column per number of ranks or nodes."""
    tables: dict[tuple[str, ...], list[Curve]] = {}
    for curve in curves:
        tables.setdefault((curve.study, curve.tag, curve.pattern, curve.axis, curve.unit), []).append(curve)
    for (study, tag, pattern, axis, unit), members in tables.items():
        shared, names = terminal.varying([curve.factors for curve in members])
        places = sorted({point.at for curve in members for point in curve.points})
        places_named = [terminal.count(at, axis.removesuffix("s")) for at in places]
        columns = [*terminal.options(names), *places_named]
        rows = [
            [*terminal.levels(curve.factors, names), *(_place_text(curve, at) for at in places)] for curve in members
        ]
        title = f"{terminal.side(study, tag)}: {pattern}, {unit} per node and efficiency"
        terminal.print_table(title + terminal.shared_factors(shared), columns, rows, right=places_named)
        print("figures: geometric mean over launches")
        print(f"efficiency: {DEFINITIONS[axis]}; in parentheses its 95 % interval from launches\n")


def _place_text(curve: Curve, at: int) -> str:
    point = next((one for one in curve.points if one.at == at), None)
    if point is None:
        return "-"
    text = terminal.number(point.value)
    if point is not curve.points[0] and point.efficiency is not None:
        text += f"  {point.efficiency:.0%}"
        if point.interval is not None:
            text += f" ({point.interval[0]:.0%} to {point.interval[1]:.0%})"
    return text
