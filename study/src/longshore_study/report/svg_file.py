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
            [_mark(one) for one in drawing.marks],
            xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {drawing.width:g} {drawing.height:g}", font_family=_FONT,
            **size,
        )
    ) + "\n"  # fmt: skip


def _mark(one: Mark) -> Element:
    match one:
        case Line():
            dash = " ".join(f"{part:g}" for part in one.dash) or None
            return element(
                "line", x1=one.x1, y1=one.y1, x2=one.x2, y2=one.y2, stroke=_hex(one.colour), stroke_width=one.width,
                stroke_dasharray=dash,
            )  # fmt: skip
        case Rectangle():
            return element("rect", x=one.x, y=one.y, width=one.width, height=one.height, fill=_hex(one.colour))
        case Symbol(radius=radius) if radius:
            ((x, y),) = one.points
            return element("circle", cx=x, cy=y, r=radius, fill=_hex(one.fill), stroke=_hex(one.stroke))
        case Symbol():
            corners = " ".join(f"{x:.2f},{y:.2f}" for x, y in one.points)
            return element("polygon", points=corners, fill=_hex(one.fill), stroke=_hex(one.stroke), stroke_width=0.75)
        case Text():
            weight = "bold" if one.bold else None
            anchor = None if one.anchor == "start" else one.anchor
            return element(
                "text", one.text, x=one.x, y=one.y, font_size=one.size, font_weight=weight, text_anchor=anchor,
                fill=_hex(one.colour),
            )  # fmt: skip


def _hex(colour: Colour) -> str:
    return "#" + "".join(f"{round(255 * part):02x}" for part in colour)
