"""Finds the plots of the page that can be saved for a paper. paper_figure.py draws them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from longshore_study.report.markup import Element, Node


@dataclass(frozen=True)
class PaperPlot:
    name: str
    title: str
    plot: Element
    """A chart, or a table with a strip in each row."""
    legend: Element | None


def paper_plots(sections: Sequence[Element]) -> list[PaperPlot]:
    """Every plot of these sections, named after the headings above the plot."""
    plots: list[PaperPlot] = []
    uses_of_name: dict[str, int] = {}
    for section in sections:
        for headings, plot, legend in _plots(section, [], None):
            if plot.name == "table" and not rows_of(plot):
                continue
            title = headings or str(section.attributes.get("id") or "figure")
            name = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60].strip("-") or "figure"
            number = uses_of_name[name] = uses_of_name.get(name, 0) + 1
            plots.append(PaperPlot(name if number == 1 else f"{name}-{number}", title, plot, legend))
    return plots


def _plots(node: Element, above: list[str], legend: Element | None) -> Iterator[tuple[str, Element, Element | None]]:
    """Yields title, plot (a chart or strips) and legend, in page order. `above`: the headings."""
    heads = list(above)
    for child in elements(node):
        if child.name in ("h2", "h3", "h4"):
            level = int(child.name[1]) - 2
            heads = [*above[:level], *heads[len(above[:level]) : level], text_of(child)]
        elif "legend" in classes(child):
            legend = child
        elif (child.name == "svg" and "chart" in classes(child)) or "strips" in classes(child):
            yield ": ".join(heads[-2:]), child, legend
        elif child.name == "figure":
            caption = next((c for c in elements(child) if c.name == "figcaption"), None)
            panel_legend = next((c for c in elements(child) if "legend" in classes(c)), legend)
            title = ": ".join([*heads[-2:], text_of(caption)] if caption else heads[-2:])
            yield from ((title, chart, panel_legend) for chart in elements(child) if "chart" in classes(chart))
        else:
            yield from _plots(child, heads, legend)


def rows_of(table: Element) -> list[Element]:
    return [row for row in descendants(table, "tr") if any(child.name == "td" for child in elements(row))]


def text_of(node: Node) -> str:
    if isinstance(node, Element):
        return "" if node.name in ("svg", "title") else "".join(text_of(child) for child in node.children)
    return node


def classes(node: Element) -> list[str]:
    return str(node.attributes.get("class") or "").split()


def elements(node: Element) -> list[Element]:
    return [child for child in node.children if isinstance(child, Element)]


def descendants(node: Element, name: str, style: str = "") -> Iterator[Element]:
    for child in elements(node):
        if child.name == name and style in (*classes(child), ""):
            yield child
        yield from descendants(child, name, style)
