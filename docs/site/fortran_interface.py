"""Makes the page of the Fortran interface from the comments `!>` of public types and procedures.

The comments are in the template bindings/fortran/longshore.f90.in, which has one text for all kinds
of numbers.
"""

from __future__ import annotations

import re
import runpy
from dataclasses import dataclass, field
from pathlib import Path

PLACEHOLDERS = {
    "<decl>": "number",
    "<vdecl>": "number",
    "(<colons>)": "(:, ...)",
    "_<type>_<rank>": "",
    "_<type>_<value>": "",
    "_<type>": "",
    "(<kind>)": "",
}
ARGUMENT = re.compile(
    r"\s*(?P<kind>[^!]*?(?:intent\((?:in|out|inout)\)|procedure\(\w+\))[^!]*?)"
    r"::\s*(?P<names>[^!]*?)\s*(!.*)?"
)


@dataclass
class Procedure:
    """A name that programs call, and the procedures that the compiler chooses from."""

    name: str
    text: str
    specifics: list[str] = field(default_factory=list)


@dataclass
class Type:
    """A derived type with its bound procedures."""

    name: str
    text: str
    bound: dict[str, Procedure] = field(default_factory=dict)


class Module:
    """The public names of the module, with their comments."""

    def __init__(self, source: str) -> None:
        self.lines = re.sub(r"&\s*\n\s*&?", " ", source).splitlines()
        self.public = self._public_names()
        self.types: dict[str, Type] = {}
        self.procedures: dict[str, Procedure] = {}
        self._read()

    @classmethod
    def of(cls, path: Path) -> Module:
        """Reads the module from its template, with one copy of its text for each kind of plan."""
        generator = runpy.run_path(str(path.with_name("generate_module.py")))
        plans = generator["PLANS"]

        def for_each_plan(block: re.Match[str]) -> str:
            text = ""
            for plan in plans:
                text += re.sub(r"<(\w+)>", lambda name, plan=plan: plan.get(name[1], name[0]), block[1])
            return text

        source = path.read_text(encoding="utf-8")
        header = path.parent.parent / "c" / "longshore.h"
        expanded = "\n".join(generator["expand"](source.splitlines()))
        calls = generator["calls_text"](expanded, header.read_text(encoding="utf-8"))
        source = re.sub(r"[ ]*!:for plan\n(.*?)[ ]*!:end\n", for_each_plan, source, flags=re.DOTALL)
        return cls(source.replace("  !:calls", calls))

    @property
    def constants(self) -> list[str]:
        """Public names that are neither types nor procedures."""
        return [name for name in self.public if name not in self.types and name not in self.procedures]

    @property
    def undocumented(self) -> list[str]:
        """Public names without a comment."""
        missing = [procedure.name for procedure in self.procedures.values() if not procedure.text]
        for derived in self.types.values():
            missing += [] if derived.text else [derived.name]
            missing += [f"{derived.name}%{bound.name}" for bound in derived.bound.values() if not bound.text]
        return missing

    def markdown(self) -> str:
        out = [self._opening(), "", "## Procedures", ""]
        for procedure in self.procedures.values():
            out += self._procedure(procedure, "###")
        for derived in self.types.values():
            out += [f"## type({derived.name})", "", derived.text, ""]
            for procedure in derived.bound.values():
                out += self._procedure(procedure, "###", derived.name)
        names = ", ".join(f"`{name}`" for name in self.constants)
        return "\n".join(
            [*out, "## Constants", "", f"The constants are made from the header of [C](c.md): {names}.", ""]
        )

    def _public_names(self) -> list[str]:
        names: list[str] = []
        for line in self.lines:
            if found := re.match(r"\s*public :: (.*)", line):
                names += [name.strip() for name in found[1].split(",")]
            elif found := re.match(r"\s*\w+(?:\([^)]*\))?, parameter, public :: (\w+)", line):
                names.append(found[1])
        return names

    def _read(self) -> None:
        comment: list[str] = []
        inside: Type | None = None
        interface: Procedure | None = None
        for line in self.lines:
            if found := re.match(r"\s*!>? ?(.*)", line):
                if (line.lstrip().startswith("!>") or comment) and line.lstrip()[:2] in ("!>", "! "):
                    comment.append(found[1].strip())
                continue
            text, comment = " ".join(comment), []
            if found := re.match(r"  type(?:, [^:]*)? :: (\w+)", line):
                inside = self.types.setdefault(found[1], Type(found[1], text)) if found[1] in self.public else None
            elif line.startswith("  end type"):
                inside = None
            elif inside and (found := re.match(r"\s*(?:procedure|generic) :: (\w+) => (.*)", line)):
                bound = inside.bound.setdefault(found[1], Procedure(found[1], ""))
                bound.text = bound.text or text
                bound.specifics += [name.strip() for name in found[2].split(",")]
            elif found := re.match(r"  interface (\w+)", line):
                interface = Procedure(found[1], text)
                self.procedures[found[1]] = interface
            elif interface and (found := re.match(r"\s*module procedure (\S+)", line)):
                interface.specifics.append(found[1])
            elif line.startswith("  end interface"):
                interface = None
            elif (found := re.match(r"  [^!']*\b(?:subroutine|function) (\w+)\(", line)) and found[1] in self.public:
                self.procedures[found[1]] = Procedure(found[1], text, [found[1]])

    def _opening(self) -> str:
        head = []
        for line in self.lines:
            if not line.startswith("!"):
                break
            head.append(line[2:])
        return "\n".join(head)

    def _procedure(self, procedure: Procedure, heading: str, of_type: str = "") -> list[str]:
        shown = []
        for name in procedure.specifics:
            lines = self._arguments(name, procedure.name)
            if lines and lines not in shown:
                shown.append(lines)
        title = f"{of_type.removeprefix('longshore_')}%{procedure.name}" if of_type else procedure.name
        code = ["```fortran", *"\n\n".join("\n".join(lines) for lines in shown).splitlines(), "```", ""]
        return [f"{heading} {title}", "", procedure.text, "", *(code if shown else [])]

    def _arguments(self, specific: str, public_name: str) -> list[str]:
        """The head of a specific procedure under its public name, and its arguments."""
        starts = re.compile(
            rf"\s*(?P<head>[^!']*\b(?:subroutine|function)) {re.escape(specific)}"
            r"\((?P<names>[^)]*)\)(?P<rest>.*)"
        )
        for index, line in enumerate(self.lines):
            if not (found := starts.fullmatch(line)):
                continue
            names = [name for name in re.split(r"\s*,\s*", found["names"].strip()) if name not in ("", "this")]
            result = re.search(r"result\((\w+)\)", found["rest"])
            out = [f"{found['head']} {public_name}({', '.join(names)}){found['rest']}"]
            for inner in self.lines[index + 1 :]:
                if re.match(r"\s*end (?:subroutine|function)", inner):
                    break
                if argument := ARGUMENT.fullmatch(inner):
                    if "this" not in argument["names"].split(", "):
                        out.append(f"  {argument['kind'].strip()} :: {argument['names']}")
                elif result and re.fullmatch(rf"\s*[^!:]*:: {result[1]}(\(\d\))?", inner):
                    out.append("  " + inner.strip())
            return [self._plain(line) for line in out]
        return []

    @staticmethod
    def _plain(line: str) -> str:
        for placeholder, plain in PLACEHOLDERS.items():
            line = line.replace(placeholder, plain)
        return re.sub(r", (contiguous|target)\b", "", line)
