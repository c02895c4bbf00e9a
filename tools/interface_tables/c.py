"""The calls of C, from the comments of its headers.

A comment belongs to the declarations below it, up to the next comment or an empty line. A comment
that an empty line follows belongs to the calls of its section.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from interface_tables.tables import Section, code, markdown, sentences

HEADERS = ("longshore.h", "longshore_mpi.h")
PART = re.compile(
    r"/\* ---- (?P<section>.+?) ---- \*/"
    r"|/\*(?P<comment>.*?)\*/"
    r"|(?P<gap>\n[ ]*\n)"
    r"|^(?P<declared>(?:struct|enum) \w+ \{.*?^\}|[a-z][^;{}#]*);",
    re.DOTALL | re.MULTILINE,
)
MEMBER = re.compile(
    r"(?:/\*(?P<above>.*?)\*/\s*)?(?P<member>[\w*][^;,/]*?)\s*[;,]?[ ]*(?:/\*(?P<beside>.*?)\*/)?\n", re.DOTALL
)
HANDLE = re.compile(r"typedef struct (\w+) \1")


def table(repository: Path) -> str:
    sections = [section for header in HEADERS for section in sections_of(header, repository)]
    return markdown(("call", "what it does"), sections)


def sections_of(header: str, repository: Path) -> Iterator[Section]:
    text = (repository / "bindings" / "c" / header).read_text(encoding="utf-8")
    text = text[text.index("#include") :].replace('extern "C" {', "")
    heading, rows = f"{header}: communicators of MPI", list[tuple[str, ...]]()
    comment, declared, handles = "", list[str](), list[str]()

    def end_of_group() -> None:
        nonlocal comment, declared
        calls, said = "<br>".join(code(one) for one in declared), sentences(plain(comment))
        if said == "Collective." and rows:
            rows[-1] = (f"{rows[-1][0]}<br>{calls}", f"{rows[-1][1]} {calls}: {said}")
        elif declared or comment:
            rows.append((calls, said))
        comment, declared = "", []

    for part in PART.finditer(text):
        if part["gap"]:
            end_of_group()
        elif part["section"]:
            end_of_group()
            if rows:
                yield heading, rows
            heading, rows = part["section"].capitalize(), []
        elif part["comment"]:
            end_of_group()
            comment = part["comment"]
        elif found := HANDLE.fullmatch(part["declared"]):
            handles.append(found[1])
        elif "{" in part["declared"]:
            rows.append(of_members(part["declared"], plain(comment)))
            comment = ""
        else:
            declared.append(part["declared"])
        if handles and not (part["declared"] or "").startswith("typedef struct"):
            rows.append(("<br>".join(code(handle) for handle in handles), "Handles of objects."))
            handles.clear()
    end_of_group()
    yield heading, rows


def of_members(declared: str, comment: str) -> tuple[str, ...]:
    """The row of a struct or an enumeration."""
    name, _, body = declared.partition(" {")
    members = []
    for found in MEMBER.finditer(body.strip("\n}") + "\n"):
        if "reserved" in found["member"]:
            continue
        said = sentences(plain(found["above"] or found["beside"] or ""))
        members.append(code(found["member"]) + (f": {said}" if said else ""))
    return code(name), "<br>".join([*([sentences(comment)] if comment else []), *members])


def plain(comment: str) -> str:
    return re.sub(r"\n\s*\* ?", "\n", comment)
