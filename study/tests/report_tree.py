"""A page parsed into a tree, so that tests ask for what is at a place, not for a text that is
somewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"br", "hr", "input", "meta", "wbr"}


@dataclass
class Tag:
    name: str
    attributes: dict[str, str]
    children: list[Tag | str] = field(default_factory=list)

    def walk(self) -> Iterator[Tag]:
        yield self
        for child in self.children:
            if isinstance(child, Tag):
                yield from child.walk()

    def all(self, name: str = "", class_: str = "", **attributes: str) -> list[Tag]:
        """Descendants by name, by one of their classes, by attributes (`data_verdict` is
        `data-verdict`)."""
        wanted = {k.replace("_", "-"): v for k, v in attributes.items()}
        return [
            t
            for t in self.walk()
            if name in ("", t.name)
            and (not class_ or class_ in t.classes)
            and all(t.attributes.get(k) == v for k, v in wanted.items())
        ]

    def one(self, name: str = "", class_: str = "", **attributes: str) -> Tag:
        found = self.all(name, class_, **attributes)
        assert len(found) == 1, f"{len(found)} of {name} {class_} {attributes}"
        return found[0]

    @property
    def classes(self) -> list[str]:
        return self.attributes.get("class", "").split()

    @property
    def text(self) -> str:
        """As a reader sees it; spaces that do not break or are thin become plain ones."""
        parts = [c if isinstance(c, str) else c.text for c in self.children]
        return " ".join("".join(parts).replace("\u202f", " ").replace("\u00a0", " ").split())

    def fraction(self, name: str) -> float:
        value = self.attributes[name]
        assert value.endswith("%"), value
        return float(value[:-1]) / 100


class _Builder(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Tag("root", {})
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Tag(tag, {k: v or "" for k, v in attrs})
        assert len(node.attributes) == len(attrs), f"an attribute of {tag} is given twice"
        self.open[-1].children.append(node)
        if tag not in VOID:
            self.open.append(node)

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].name == tag, f"</{tag}> closes <{self.open[-1].name}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def parse(page: str) -> Tag:
    """Fails on a tag that is closed by another or not at all."""
    builder = _Builder()
    builder.feed(page)
    builder.close()
    assert builder.open == [builder.root], f"not closed: {[t.name for t in builder.open[1:]]}"
    return builder.root
