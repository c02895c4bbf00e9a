"""Draws a plot of the page for a paper with matplotlib, in the colours of the page on white. A
chart keeps its form; a table of strips becomes a plot with the names at the left.
"""

import io
import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import matplotlib as mpl
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from longshore_study.report.markup import Element
from longshore_study.report.paper_plots import PaperPlot, classes, descendants, elements, rows_of, text_of

# In points. With the labels, a chart is as wide as a column of a paper, 3.5 inches.
PLOT_WIDTH, CHART_HEIGHT, LOW_HEIGHT, ROW_HEIGHT = 202.0, 150.0, 100.0, 15.0
_POINTS_PER_INCH = 72.0
_POINTS_PER_REM, _POINTS_PER_PIXEL = 11.0, 0.62
_TEXT_SIZE = 7.0
MARKERS: dict[str, Any] = {
    "circle": "o", "square": "s", "diamond": "D", "up": "^", "down": "v", "cross": "X", "plus": "P",
    "bar": [(-1, -4), (1, -4), (1, 4), (-1, 4)],
}  # fmt: skip
"""The matplotlib marker of each symbol of the page."""
_STYLE = {
    "font.size": _TEXT_SIZE,
    "pdf.fonttype": 42,  # TrueType: the text can be searched and edited
    "svg.fonttype": "none",  # text, not outlines
    "svg.hashsalt": "longshore",  # the same plot gives the same bytes
}
_DATE_KEYS = {"pdf": "CreationDate", "svg": "Date"}


def file_content(plot: PaperPlot, file_format: str) -> bytes:
    """The plot as a file: "pdf" or "svg". The same plot gives the same bytes."""
    out = io.BytesIO()
    with mpl.rc_context(_STYLE):
        metadata = {"Title": printable(plot.title), _DATE_KEYS[file_format]: None}
        figure(plot).savefig(out, format=file_format, metadata=metadata, bbox_inches="tight", pad_inches=0.03)
    return out.getvalue()


def figure(plot: PaperPlot) -> Figure:
    """One pair of axes without decoration, because the marks of the page include ticks and titles.
    x goes from 0 to 1. The unit of y is a row, downwards; a chart is one row."""
    styles, is_chart = classes(plot.plot), plot.plot.name == "svg"
    rows = [plot.plot] if is_chart else rows_of(plot.plot)
    if is_chart:
        height = LOW_HEIGHT if "low" in styles else CHART_HEIGHT
    else:
        height = ROW_HEIGHT * (1.6 if "two-sided" in styles else 1.0)
    width_inches, height_inches = PLOT_WIDTH / _POINTS_PER_INCH, len(rows) * height / _POINTS_PER_INCH
    drawn = Figure(figsize=(width_inches, height_inches))
    axes = drawn.add_axes((0, 0, 1, 1), xlim=(0, 1), ylim=(len(rows), 0))
    axes.set_axis_off()
    axes.autoscale(enable=False)
    if is_chart:
        _draw(axes, plot.plot, 0)
    else:
        _draw_strips(axes, plot.plot, rows)
    if plot.legend is not None:
        _draw_legend(axes, plot.legend)
    return drawn


def _draw_strips(axes: Any, table: Element, rows: Sequence[Element]) -> None:
    for name in descendants(table, "span", "axis-name"):
        _text(axes, text_of(name), (0.5, 0), (0, 14), palette()["soft"], ha="center")
    for label in descendants(table, "text", "tick"):
        _text(axes, text_of(label), (_place(label.attributes["x"])[0], 0), (0, 4), palette()["soft"], ha="center")
    for number, row in enumerate(rows):
        row_name = " ".join(text_of(elements(row)[0]).split())
        _text(axes, row_name, (0, number + 0.5), (-8, 0), palette()["ink"], ha="right", va="center")
        for strip in descendants(row, "svg", "strip"):
            _draw(axes, strip, number)


def _draw_legend(axes: Any, legend: Element) -> None:
    """Draws the legend below the plot, in as many columns as fit."""
    entries = [child for child in elements(legend) if child.name == "li"]
    names = [printable(" ".join(text_of(entry).split())) for entry in entries]
    handles = [_symbol(axes, use, (), ()) for entry in entries for use in descendants(entry, "use")]
    columns = PLOT_WIDTH // (20.0 + 0.55 * _TEXT_SIZE * max(map(len, names), default=0))
    height = axes.figure.get_figheight() * _POINTS_PER_INCH
    axes.legend(
        handles, names, loc="upper center", bbox_to_anchor=(0.5, -28.0 / height), ncols=max(1, int(columns)),
        frameon=False, borderaxespad=0.0, handlelength=1.0, columnspacing=1.0,
    )  # fmt: skip


def _draw(axes: Any, node: Element, row: float) -> None:
    for child in elements(node):
        styles = classes(child)
        place = {name: _place(value) for name, value in child.attributes.items() if name in _PLACES}
        x, y = place.get("x", (0.0, 0.0)), place.get("y", (0.0, 0.0))
        match child.name:
            case "line":
                ends = [place[name][0] for name in ("x1", "x2")], [row + place[name][0] for name in ("y1", "y2")]
                axes.plot(*ends, clip_on=False, solid_capstyle="butt", **_stroke(styles))
            case "rect":
                colour = palette()["margin"] if "margin" in styles else _colour(styles)
                left, right = x[0], x[0] + place["width"][0]
                top, bottom = row + y[0], row + y[0] + place["height"][0]
                axes.fill((left, right, right, left), (top, top, bottom, bottom), color=colour, linewidth=0)
            case "use":
                _symbol(axes, child, [x[0]], [row + y[0]])
            case "text":
                colour = palette()["soft"] if {"tick", "axis-title"} & set(styles) else _colour(styles)
                down = y[1] + place.get("dy", (0.0, 0.0))[1]
                anchor = {"middle": "center", "end": "right"}.get(str(child.attributes.get("text-anchor")), "left")
                _text(axes, text_of(child), (x[0], row + y[0]), (x[1], -down), colour, ha=anchor)
            case _:
                _draw(axes, child, row)


_PLACES = frozenset({"x", "y", "x1", "x2", "y1", "y2", "dy", "width", "height"})


def _place(value: object) -> tuple[float, float]:
    """A length of the page: percent as a fraction of the plot, rem or pixels as points."""
    text = str(value)
    if text.endswith("%"):
        return float(text[:-1]) / 100.0, 0.0
    return 0.0, float(text[:-3]) * _POINTS_PER_REM if text.endswith("rem") else float(text) * _POINTS_PER_PIXEL


def _text(
    axes: Any, text: str, at: tuple[float, float], offset: tuple[float, float], colour: Any, **alignment: str
) -> None:
    """Writes the text `offset` points to the right of and above a point of the plot."""
    axes.annotate(
        printable(text), at, offset, textcoords="offset points", annotation_clip=False, color=colour, parse_math=False,
        **alignment,
    )  # fmt: skip


def printable(text: str) -> str:
    return "".join(character for character in text if character.isprintable())


def _symbol(axes: Any, use: Element, x: Sequence[float], y: Sequence[float]) -> Any:
    styles = classes(use)
    colour, white = _colour(styles), "#ffffff"
    fill, edge = (white, colour) if "open" in styles else (colour, white)
    (drawn,) = axes.plot(
        x, y, marker=MARKERS[str(use.attributes["href"]).removeprefix("#m-")], linestyle="none", clip_on=False,
        markersize=5.5, markerfacecolor=fill, markeredgecolor=edge, markeredgewidth=0.75,
    )  # fmt: skip
    return drawn


@cache
def palette() -> dict[str, str]:
    """The colours of the light theme of the style sheet, by name."""
    css = files("longshore_study.report").joinpath("page.css").read_text(encoding="utf-8")
    light = css.split(":root", 1)[1].split("}", 1)[0]
    return dict(re.findall(r"--([\w-]+):\s*(#[0-9a-fA-F]{3,6})", light))


_VERDICT_COLOURS = {
    "v-regressed": "bad", "v-failed": "bad", "v-improved": "good", "v-same": "calm", "v-inconclusive": "unsure",
    "v-untestable": "unsure", "v-invalid": "odd", "v-missing": "odd",
}  # fmt: skip


def _colour(styles: Sequence[str]) -> str:
    for style in styles:
        if style in _VERDICT_COLOURS or re.fullmatch(r"s\d", style):
            return palette()[_VERDICT_COLOURS.get(style, style)]
    return palette()["ink"]


def _stroke(styles: Sequence[str]) -> dict[str, Any]:
    if "grid" in styles:
        return {"color": palette()["grid"], "linewidth": 0.5}
    if "axis" in styles or "unity" in styles:
        return {"color": palette()["soft"], "linewidth": 0.75}
    if "bound" in styles:
        return {"color": palette()["ink"], "linewidth": 0.75, "dashes": (4.0, 2.5)}
    colour: Any = _colour(styles)
    if "curve" in styles:
        return {"color": colour, "linewidth": 1.1, "linestyle": "--" if "dashed" in styles else "-"}
    if {"median", "span"} & set(styles):
        # The opaque colour that looks like 55 % of `colour`, as printers handle transparency badly.
        colour = tuple(1.0 - 0.55 * (1.0 - channel) for channel in to_rgb(colour))
    return {"color": colour, "linewidth": 1.1}
