"""The public names of C++, from Doxygen's XML. The page of the C++ interface must show all of them.

A name of namespace longshore is public in three cases: a header that longshore.hpp includes declares
the name; a page or an example mentions the name; or a base class, an argument, a result or a member
of a public name has the name as its type.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

WORD = re.compile(r"(?<![\w:])(?:longshore::)?(\w+)")
BLOCK = re.compile(r"^```\{doxygen\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MENTIONED = re.compile(r"\blongshore::(\w+)\b(?!::)")


@dataclass(frozen=True)
class Declaration:
    """A name of namespace longshore, its header, and the words of its interface."""

    name: str
    header: str
    words: frozenset[str]


def listed(block: str) -> Iterator[tuple[str, str]]:
    """The kind and the declaration of each name in a block of the page: `enum errc; reduction`."""
    for line in block.splitlines():
        kind, _, declarations = line.partition(" ")
        yield from ((kind, declaration) for declaration in declarations.split("; "))


def directives(page: str) -> str:
    """The page with a directive of Breathe for each name."""

    def of_block(block: re.Match[str]) -> str:
        lines = (f".. doxygen{kind}:: longshore::{declaration}\n" for kind, declaration in listed(block[1]))
        return f"```{{eval-rst}}\n{''.join(lines)}```"

    return BLOCK.sub(of_block, page)


def public_names(repository: Path, xml: Path) -> set[str]:
    """The public names, without their namespace."""
    by_name: dict[str, list[Declaration]] = {}
    for declaration in _declarations(xml):
        by_name.setdefault(declaration.name, []).append(declaration)
    headers = _interface_headers(repository)
    pending = {name for name, found in by_name.items() if any(declaration.header in headers for declaration in found)}
    pending |= _mentioned_names(repository) & by_name.keys()
    public: set[str] = set()
    while pending:
        name = pending.pop()
        public.add(name)
        for declaration in by_name[name]:
            pending |= (declaration.words & by_name.keys()) - public
    return public


def names_without_a_page(repository: Path, xml: Path) -> list[str]:
    """Public names that docs/reference/api/cpp.md does not show."""
    page = (repository / "docs/reference/api/cpp.md").read_text("utf-8")
    shown = {re.split(r"\W", name)[0] for block in BLOCK.findall(page) for _, name in listed(block)}
    return sorted(public_names(repository, xml) - shown)


def _interface_headers(repository: Path) -> set[str]:
    text = (repository / "src/longshore/longshore.hpp").read_text("utf-8")
    return {*re.findall(r"#include <(longshore/[^>]+)>", text), "longshore_cxx.hpp"}


def _mentioned_names(repository: Path) -> set[str]:
    interface = repository / "docs/reference/api"
    pages = [page for page in repository.glob("docs/**/*.md") if interface not in page.parents]
    files = [repository / "README.md", *pages, *repository.glob("examples/cpp/*.cpp")]
    return {name for file in files if file.exists() for name in MENTIONED.findall(file.read_text("utf-8"))}


def _declarations(xml: Path) -> Iterator[Declaration]:
    namespace = ElementTree.parse(xml / "namespacelongshore.xml").getroot()
    for member in namespace.iter("memberdef"):
        if "<" not in (name := member.findtext("name", "")):  # a specialisation is no name of its own
            yield Declaration(name, _header_of(member), _words([member]))
    for inner in ElementTree.parse(xml / "index.xml").getroot().findall("compound"):
        space, _, name = re.sub(r"<.*", "", inner.findtext("name", "")).strip().rpartition("::")
        if inner.get("kind") not in ("class", "struct", "concept") or space != "longshore":
            continue
        compound = ElementTree.parse(xml / f"{inner.get('refid')}.xml").getroot().find("compounddef")
        assert compound is not None
        bases = [base.text or "" for base in compound.findall("basecompoundref") if base.get("prot") == "public"]
        members = [member for member in compound.iter("memberdef") if member.get("prot") == "public"]
        yield Declaration(name, _header_of(compound), _words([compound, *members]) | set(WORD.findall(" ".join(bases))))


def _header_of(element: ElementTree.Element) -> str:
    location = element.find("location")
    file = Path(location.get("file", "") if location is not None else "")
    return file.as_posix().rpartition("/src/")[2] if "/src/" in file.as_posix() else file.name


def _words(elements: Iterable[ElementTree.Element]) -> frozenset[str]:
    parts = ("type", "param/type", "templateparamlist/param/type", "requiresclause")
    found = (found for element in elements for part in parts for found in element.findall(part))
    return frozenset(word for element in found for word in WORD.findall("".join(element.itertext())))
