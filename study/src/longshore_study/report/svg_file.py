"""A drawing as an SVG file: absolute positions, no style sheet, editable text."""

from __future__ import annotations

from longshore_study.report.drawing import Colour, Drawing, Line, Mark, Rectangle, Symbol, Text
from longshore_study.report.markup import Element, element, to_text

_FONT = "Helvetica, Arial, sans-serif"


def svg(drawing: Drawing) -> str:
    size = {"width": f"{drawing.width:g}pt", "height": f"{drawing.height:g}pt"}
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + to_text(
        element(
            "svg",
            element("title", drawing.title) if drawing.title else None,
            element("rect", width=drawing.width, height=drawing.height, fill="#ffffff"),
            [_mark(mark) for mark in drawing.marks],
            xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {drawing.width:g} {drawing.height:g}", font_family=_FONT,
            **size,
        )
    ) + "\n"  # fmt: skip


def _mark(mark: Mark) -> Element:
    match mark:
        case Line():
            dash = " ".join(f"{part:g}" for part in mark.dash) or None
            return element(
                "line", x1=mark.x1, y1=mark.y1, x2=mark.x2, y2=mark.y2, stroke=_hex(mark.colour),
                stroke_width=mark.width, stroke_dasharray=dash,
            )  # fmt: skip
        case Rectangle():
            return element("rect", x=mark.x, y=mark.y, width=mark.width, height=mark.height, fill=_hex(mark.colour))
        case Symbol(radius=radius) if radius:
            ((x, y),) = mark.points
            return element("circle", cx=x, cy=y, r=radius, fill=_hex(mark.fill), stroke=_hex(mark.stroke))
        case Symbol():
            corners = " ".join(f"{x:.2f},{y:.2f}" for x, y in mark.points)
            return element("polygon", points=corners, fill=_hex(mark.fill), stroke=_hex(mark.stroke), stroke_width=0.75)
        case Text():
            weight = "bold" if mark.bold else None
            anchor = None if mark.anchor == "start" else mark.anchor
            return element(
                "text", mark.text, x=mark.x, y=mark.y, font_size=mark.size, font_weight=weight, text_anchor=anchor,
                fill=_hex(mark.colour),
            )  # fmt: skip


def _hex(colour: Colour) -> str:
    return "#" + "".join(f"{round(255 * part):02x}" for part in colour)
