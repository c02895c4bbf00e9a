"""Converts the plots of the page to drawings for a paper. A chart keeps its form; a table of strips
becomes a plot with the names at the left.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from longshore_study.report.drawing import (
    TEXT_SIZE,
    Colour,
    Drawing,
    Line,
    Mark,
    Rectangle,
    Symbol,
    Text,
    faint,
    outline,
    palette,
    text_width,
)
from longshore_study.report.marks import SHAPES
from longshore_study.report.markup import Element, Node

CHART_WIDTH, CHART_HEIGHT, LOW_HEIGHT = 252.0, 150.0, 100.0  # a column of a paper is 3.5 inches wide
STRIP_WIDTH, STRIP_HEIGHT = 200.0, 15.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 38.0, 12.0, 24.0, 32.0
_POINTS_PER_REM = 11.0  # for distances of labels
_SYMBOL_SCALE = 0.62  # symbols are smaller than on the page, because the text is smaller


@dataclass(frozen=True)
class PaperPlot:
    name: str
    title: str
    drawing: Drawing


def paper_plots(sections: Sequence[Element]) -> list[PaperPlot]:
    """Every plot of these sections, named after the headings above the plot."""
    plots: list[PaperPlot] = []
    uses_of_name: dict[str, int] = {}
    for section in sections:
        for title, plot, legend in _plots(section, [], None):
            title = title or str(section.attributes.get("id") or "figure")  # noqa: PLW2901
            drawing = _chart(plot, title, legend) if plot.name == "svg" else _strips(plot, title, legend)
            if drawing is None:
                continue
            name = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60].strip("-") or "figure"
            number = uses_of_name[name] = uses_of_name.get(name, 0) + 1
            plots.append(PaperPlot(name if number == 1 else f"{name}-{number}", title, drawing))
    return plots


def _plots(node: Element, above: list[str], legend: Element | None) -> Iterator[tuple[str, Element, Element | None]]:
    """Title, chart or table of strips, and legend of each plot in the order of the page. `above`:
    the headings above `node`."""
    heads = list(above)
    for child in _elements(node):
        if child.name in ("h2", "h3", "h4"):
            level = int(child.name[1]) - 2
            heads = [*above[:level], *heads[len(above[:level]) : level], text_of(child)]
        elif "legend" in _classes(child):
            legend = child
        elif (child.name == "svg" and "chart" in _classes(child)) or "strips" in _classes(child):
            yield ": ".join(heads[-2:]), child, legend
        elif child.name == "figure":
            caption = next((c for c in _elements(child) if c.name == "figcaption"), None)
            panel_legend = next((c for c in _elements(child) if "legend" in _classes(c)), legend)
            title = ": ".join([*heads[-2:], text_of(caption)] if caption else heads[-2:])
            yield from ((title, chart, panel_legend) for chart in _elements(child) if "chart" in _classes(chart))
        else:
            yield from _plots(child, heads, legend)


def text_of(node: Node) -> str:
    if isinstance(node, Element):
        return "" if node.name in ("svg", "title") else "".join(text_of(child) for child in node.children)
    return node if isinstance(node, str) else node.text


def _classes(node: Element) -> list[str]:
    return str(node.attributes.get("class") or "").split()


@dataclass(frozen=True)
class _Frame:
    """The rectangle in points for a plot of the page, whose positions are percentages."""

    x: float
    y: float
    width: float
    height: float

    def across(self, value: object) -> float:
        return self.x + _length(value, self.width)

    def down(self, value: object) -> float:
        return self.y + _length(value, self.height)


def _length(value: object, whole: float) -> float:
    """A length in points, from a percentage of the plot, rem, or pixels."""
    text = str(value or "0")
    if text.endswith("%"):
        return float(text[:-1]) / 100.0 * whole
    return float(text[:-3]) * _POINTS_PER_REM if text.endswith("rem") else float(text) * _SYMBOL_SCALE


def _chart(chart: Element, title: str, legend: Element | None) -> Drawing:
    height = LOW_HEIGHT if "low" in _classes(chart) else CHART_HEIGHT
    frame = _Frame(_LEFT, _TOP, CHART_WIDTH - _LEFT - _RIGHT, height)
    marks = list(_marks(chart, frame))
    keys, legend_height = _legend(legend, CHART_WIDTH, _TOP + height + _BOTTOM)
    return Drawing(CHART_WIDTH, _TOP + height + _BOTTOM + legend_height, (*marks, *keys), title)


def _strips(table: Element, title: str, legend: Element | None) -> Drawing | None:
    """None if the table has no rows."""
    rows = [row for row in _descendants(table, "tr") if any(child.name == "td" for child in _elements(row))]
    if not rows:
        return None
    names = [" ".join(text_of(_elements(row)[0]).split()) for row in rows]
    left = max(text_width(name, TEXT_SIZE) for name in names) + 12.0
    row_height = STRIP_HEIGHT * (1.6 if "two-sided" in _classes(table) else 1.0)
    marks: list[Mark] = []
    axis = next((svg for svg in _descendants(table, "svg") if "strip-axis" in _classes(svg)), None)
    axis_name = next((text_of(span) for span in _descendants(table, "span") if "axis-name" in _classes(span)), "")
    width = left + STRIP_WIDTH + _RIGHT
    if axis is not None:
        marks += [Text(left + STRIP_WIDTH / 2, 9.0, axis_name, "middle", palette()["soft"])]
        marks += _marks(axis, _Frame(left, 10.0, STRIP_WIDTH, 12.0))
    for number, (row, name) in enumerate(zip(rows, names, strict=True)):
        top = 24.0 + number * row_height
        marks.append(Text(2.0, top + row_height / 2 + 0.35 * TEXT_SIZE, name))
        strip = next((svg for svg in _descendants(row, "svg") if "strip" in _classes(svg)), None)
        if strip is not None:
            marks += _marks(strip, _Frame(left, top, STRIP_WIDTH, row_height))
    height = 24.0 + len(rows) * row_height + 6.0
    keys, legend_height = _legend(legend, width, height)
    return Drawing(width, height + legend_height, (*marks, *keys), title)


def _elements(node: Element) -> list[Element]:
    return [child for child in node.children if isinstance(child, Element)]


def _descendants(node: Element, name: str) -> Iterator[Element]:
    for child in _elements(node):
        if child.name == name:
            yield child
        yield from _descendants(child, name)


def _legend(legend: Element | None, width: float, top: float) -> tuple[list[Mark], float]:
    """The entries of the legend in lines as wide as the plot, and the height of the lines."""
    if legend is None:
        return [], 0.0
    marks: list[Mark] = []
    x, y = 4.0, top + 4.0
    for entry in (child for child in _elements(legend) if child.name == "li"):
        name = " ".join(text_of(entry).split())
        needed = 16.0 + text_width(name, TEXT_SIZE)
        if x > 4.0 and x + needed > width:
            x, y = 4.0, y + 11.0
        marks += [_symbol(use, x + 4.0, y + 2.0) for use in _descendants(entry, "use")]
        marks.append(Text(x + 11.0, y + 5.0, name))
        x += needed + 8.0
    return marks, y + 12.0 - top


def _marks(node: Element, frame: _Frame) -> Iterator[Mark]:
    for child in _elements(node):
        attributes = child.attributes
        classes = _classes(child)
        match child.name:
            case "line":
                yield Line(
                    frame.across(attributes["x1"]), frame.down(attributes["y1"]), frame.across(attributes["x2"]),
                    frame.down(attributes["y2"]), *_stroke(classes),
                )  # fmt: skip
            case "rect":
                width, height = (
                    _length(attributes.get(k), v) for k, v in (("width", frame.width), ("height", frame.height))
                )
                fill = palette()["margin"] if "margin" in classes else _colour(classes)
                yield Rectangle(frame.across(attributes.get("x")), frame.down(attributes.get("y")), width, height, fill)
            case "use":
                yield _symbol(child, frame.across(attributes["x"]), frame.down(attributes["y"]))
            case "text":
                colour = palette()["soft"] if {"tick", "axis-title"} & set(classes) else _colour(classes)
                y = frame.down(attributes.get("y")) + _length(attributes.get("dy"), 0.0)
                anchor = str(attributes.get("text-anchor") or "start")
                yield Text(frame.across(attributes.get("x")), y, text_of(child), anchor, colour)
            case _:
                yield from _marks(child, frame)


def _symbol(use: Element, x: float, y: float) -> Symbol:
    classes = _classes(use)
    shape = str(use.attributes["href"]).removeprefix("#m-")
    colour, white = _colour(classes), (1.0, 1.0, 1.0)
    fill, stroke = (white, colour) if "open" in classes else (colour, white)
    if shape == "circle":
        return Symbol(((x, y),), fill, stroke, 4.4 * _SYMBOL_SCALE)
    corners = tuple((x + _SYMBOL_SCALE * a, y + _SYMBOL_SCALE * b) for a, b in outline(SHAPES[shape]))
    return Symbol(corners, fill, stroke)


_VERDICT_COLOURS = {
    "v-regressed": "bad", "v-failed": "bad", "v-improved": "good", "v-same": "calm", "v-inconclusive": "unsure",
    "v-untestable": "unsure", "v-invalid": "odd", "v-missing": "odd",
}  # fmt: skip


def _colour(classes: Sequence[str]) -> Colour:
    for class_ in classes:
        if class_ in _VERDICT_COLOURS or re.fullmatch(r"s\d", class_):
            return palette()[_VERDICT_COLOURS.get(class_, class_)]
    return palette()["ink"]


def _stroke(classes: Sequence[str]) -> tuple[Colour, float, tuple[float, ...]]:
    if "grid" in classes:
        return palette()["grid"], 0.5, ()
    if "axis" in classes or "unity" in classes:
        return palette()["soft"], 0.75, ()
    if "bound" in classes:
        return palette()["ink"], 0.75, (4.0, 2.5)
    colour = _colour(classes)
    if "curve" in classes:
        return colour, 1.1, (3.0, 2.0) if "dashed" in classes else ()
    return faint(colour, 0.55) if {"median", "span"} & set(classes) else colour, 1.1, ()
