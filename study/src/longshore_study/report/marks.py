"""The SVG marks of plots.

Positions are percentages, because a plot is as wide as the reader's page. Text and symbols keep
their size. Series also differ in shape, and verdicts in glyph and word, so that no information is
in colour alone.
"""

from dataclasses import dataclass
from itertools import pairwise

from longshore_study.report.markup import Child, Element, element, percent
from longshore_study.report.scales import Scale, Tick

# Outlines around (0, 0) with about equal areas. `use` elements refer to an outline by its name.
SHAPES = {
    "circle": "M0,-4.4a4.4,4.4 0 1 0 .01,0z",
    "square": "M-4,-4h8v8h-8z",
    "diamond": "M0,-5.4l5.4,5.4l-5.4,5.4l-5.4,-5.4z",
    "up": "M0,-5.2l5.2,8.8h-10.4z",
    "down": "M0,5.2l5.2,-8.8h-10.4z",
    "cross": "M-4.4,-2.6l1.8,-1.8l2.6,2.6l2.6,-2.6l1.8,1.8l-2.6,2.6l2.6,2.6l-1.8,1.8l-2.6,-2.6l-2.6,2.6"
    "l-1.8,-1.8l2.6,-2.6z",
    "plus": "M-1.4,-5h2.8v3.6h3.6v2.8h-3.6v3.6h-2.8v-3.6h-3.6v-2.8h3.6z",
    "bar": "M-1.6,-6h3.2v12h-3.2z",
}
SERIES_SHAPES = ("circle", "square", "up", "diamond", "down", "plus", "cross", "bar")
SERIES_COUNT = len(SERIES_SHAPES)


def series_look(index: int) -> tuple[str, str]:
    """The shape and the style of the marks of a series."""
    return SERIES_SHAPES[index % SERIES_COUNT], f"s{index % SERIES_COUNT + 1}"


@dataclass(frozen=True)
class Axes:
    """The titles name quantity and unit."""

    x: Scale
    y: Scale
    x_title: str
    y_title: str
    x_ticks: list[Tick]
    y_ticks: list[Tick]


def symbol_sheet() -> Element:
    """Defines the shapes for all plots of a page; not visible."""
    symbols = [element("path", id=f"m-{name}", d=path) for name, path in SHAPES.items()]
    return element("svg", element("defs", symbols), class_="sheet", aria_hidden="true", focusable="false")


def mark(shape: str, x: float, y: float, style: str, title: str) -> Element:
    """A symbol at fractions `x` and `y` of the plot, from left and top; the mouse shows `title`."""
    return element(
        "use", element("title", title), href=f"#m-{shape}", x=percent(x), y=percent(y), class_=f"mark {style}"
    )


def line(x1: float, y1: float, x2: float, y2: float, style: str) -> Element:
    return element("line", x1=percent(x1), y1=percent(y1), x2=percent(x2), y2=percent(y2), class_=style)


def band(scale: Scale, low: float, high: float, style: str) -> Element:
    """A vertical band between two values of the horizontal axis, over the whole height."""
    left, right = scale.clipped(low), scale.clipped(high)
    return element("rect", x=percent(left), y="0", width=percent(right - left), height="100%", class_=style)


def bar(left: float, right: float, style: str, height: float = 0.7) -> Element:
    """A horizontal bar in the middle of a strip. All numbers are fractions of the strip."""
    return element(
        "rect", x=percent(left), y=percent((1 - height) / 2), width=percent(right - left), height=percent(height),
        class_=f"bar {style}",
    )  # fmt: skip


def vertical(scale: Scale, value: float, style: str) -> Element | None:
    at = scale.fraction(value)
    return line(at, 0, at, 1, style) if 0 <= at <= 1 else None


def interval(scale: Scale, low: float, high: float, y: float, style: str) -> list[Element]:
    """A horizontal interval. An arrow head replaces an end beyond the axis."""
    left, right = scale.fraction(low), scale.fraction(high)
    parts = [line(max(0.0, left), y, min(1.0, right), y, f"interval {style}")]
    for end, beyond, glyph, anchor in ((0.0, left < 0, "‹", "end"), (1.0, right > 1, "›", "start")):
        place = {"x": percent(end), "y": percent(y), "dy": "5", "text_anchor": anchor}
        if beyond:
            parts.append(element("text", glyph, **place, class_=f"clipped {style}"))
    return parts


def grid(ticks: list[Tick]) -> list[Element]:
    return [line(t.fraction, 0, t.fraction, 1, "grid") for t in ticks]


def strip(*marks: Child, label: str) -> Element:
    """The plot of one table row, as wide as its cell. `label` is for screen readers."""
    return element("svg", *marks, class_="strip", role="img", aria_label=label)


def named_axis(name: str, ticks: list[Tick]) -> list[Child]:
    """The name of an axis and its tick labels, above a column of strips."""
    labels = [_label_below(tick, y="0.85rem") for tick in ticks if tick.shown != "never"]
    axis = element("svg", labels, class_="strip-axis", aria_hidden="true")
    return [element("span", name, class_="axis-name"), axis]


def _label_below(tick: Tick, **place: str) -> Element:
    """The label of a tick of the horizontal axis. `place`: its vertical place in SVG."""
    return element(
        "text", tick.label, x=percent(tick.fraction), **place, text_anchor="middle", class_=f"tick {tick.shown}"
    )


def chart(axes: Axes, *marks: Child, label: str, style: str = "") -> Element:
    """A chart with marks, grid, tick labels and titles. `label` is for screen readers."""
    horizontal = [line(0, 1 - t.fraction, 1, 1 - t.fraction, "grid") for t in axes.y_ticks]
    ticks_down = [line(t.fraction, 1, t.fraction, 1.02, "axis") for t in axes.x_ticks]
    y_labels = [
        element("text", t.label, x="-0.5rem", y=percent(1 - t.fraction), dy="0.25rem", text_anchor="end", class_="tick")
        for t in axes.y_ticks
        if t.shown != "never"
    ]
    x_labels = [_label_below(tick, y="100%", dy="1.15rem") for tick in axes.x_ticks if tick.shown != "never"]
    titles = [
        element("text", axes.y_title, x="-3rem", y="0", dy="-0.65rem", class_="axis-title"),
        element("text", axes.x_title, x="100%", y="100%", dy="2.25rem", text_anchor="end", class_="axis-title"),
    ]
    return element(
        "svg", horizontal, ticks_down, line(0, 1, 1, 1, "axis"), *marks, y_labels, x_labels, titles,
        class_=f"chart {style}".rstrip(), role="img", aria_label=label,
    )  # fmt: skip


def polyline(points: list[tuple[float, float]], style: str) -> list[Element]:
    """Separate lines between points: SVG allows percentages in lines, but not in paths."""
    return [line(x1, y1, x2, y2, style) for (x1, y1), (x2, y2) in pairwise(points)]


def legend(entries: list[tuple[str, str, str]]) -> Element:
    """`entries`: shape, style and name of each series, which page.js finds by its style."""
    items = []
    for shape, style, name in entries:
        symbol = element("use", href=f"#m-{shape}", x="8", y="8", class_=f"mark {style}")
        key = element("svg", symbol, class_="key", aria_hidden="true")
        items.append(element("li", key, name, data_series=style.split()[0]))
    return element("ul", items, class_="legend")
