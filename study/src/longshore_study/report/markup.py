"""HTML and SVG as a tree of elements. Text and attribute values are escaped when the tree is
written, so that data, such as a tag named `<script>`, never becomes markup."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

# Elements without an end tag in HTML.
VOID = frozenset({"br", "col", "hr", "img", "input", "link", "meta", "wbr"})

AttributeValue = str | int | float | bool | None


class Verbatim(str):
    """Text of this package that is not escaped: the style sheet and the script.

    REQUIRES: the text contains no data, or only data that the caller has escaped.
    """

    __slots__ = ()


@dataclass(frozen=True)
class Element:
    name: str
    attributes: dict[str, AttributeValue]
    children: tuple[Node, ...]


Node = Element | str
# None and nested lists spare callers an `if` or a `for`.
Child = Node | None | Iterable["Child"]


def element(name: str, /, *children: Child, **attributes: AttributeValue) -> Element:
    """`class_` becomes `class`; any other underscore becomes a hyphen (`aria_label`)."""
    named = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items()}
    return Element(name, named, tuple(_flatten(children)))


def section(anchor: str, title: str, *children: Child) -> Element:
    """A section of the page. `anchor` identifies the section in links."""
    return element("section", element("h2", title), *children, id=anchor)


def block(title: Child, *children: Child, level: int = 3) -> Element:
    return element("div", element(f"h{level}", title), *children)


def remark(*children: Child) -> Element:
    return element("p", *children, class_="note")


def details(summary: Child, *children: Child, **attributes: AttributeValue) -> Element:
    """A folded part of the page under the heading `summary`."""
    return element("details", element("summary", summary), *children, **attributes)


def to_text(node: Node) -> str:
    if isinstance(node, str):
        return node if isinstance(node, Verbatim) else escape(node, quote=False)
    start = f"<{node.name}{''.join(_attribute(*pair) for pair in node.attributes.items())}>"
    return start if node.name in VOID else f"{start}{''.join(map(to_text, node.children))}</{node.name}>"


def _attribute(name: str, value: AttributeValue) -> str:
    if value is None or value is False:
        return ""
    if value is True:
        return f" {name}"
    return f' {name}="{escape(f"{value:.6g}" if isinstance(value, float) else str(value))}"'


def percent(fraction: float) -> str:
    """0.3421 -> "34.21%"."""
    return f"{100 * fraction:.2f}%"


def _flatten(children: Iterable[Child]) -> Iterable[Node]:
    for child in children:
        if child is None:
            continue
        if isinstance(child, (str, Element)):
            yield child
        else:
            yield from _flatten(child)
