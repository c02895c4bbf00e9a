"""The output of `show --scaling`: JSON, or tables with a line per curve."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from longshore_study.analyses.scaling import DEFINITIONS, Curve, ScalingPoint
from longshore_study.base import terminal
from longshore_study.base.json_values import attributes
from longshore_study.output.rows import grouped_by, print_rows


def document(curves: Sequence[Curve]) -> dict[str, Any]:
    return {
        "schema": 1,
        "efficiency": DEFINITIONS,
        "curves": [
            {
                **attributes(curve, "study tag pattern metric axis"),
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
        **attributes(point, "efficiency interval why_no_interval"),
        "warnings": sorted({f.why_implausible for f in point.figures if f.why_implausible}),
    }


def render(curves: Sequence[Curve]) -> None:
    """Prints a table per pattern, with a column per number of ranks or nodes."""
    for (study, tag, pattern, axis, unit), members in grouped_by(curves, "study tag pattern axis unit").items():
        counts = sorted({point.at for curve in members for point in curve.points})
        columns = {terminal.count(at, axis.removesuffix("s")): partial(_point_text, at=at) for at in counts}
        print_rows(f"{terminal.side(study, tag)}: {pattern}, {unit} per node and efficiency", members, columns)
        print("figures: geometric mean over launches")
        print(f"efficiency: {DEFINITIONS[axis]}; in parentheses its 95 % interval from launches\n")


def _point_text(curve: Curve, at: int) -> str:
    point = next((point for point in curve.points if point.at == at), None)
    if point is None:
        return "-"
    text = terminal.number(point.value)
    if point is not curve.points[0] and point.efficiency is not None:
        text += f"  {point.efficiency:.0%}"
        if point.interval is not None:
            text += f" ({point.interval[0]:.0%} to {point.interval[1]:.0%})"
    return text
