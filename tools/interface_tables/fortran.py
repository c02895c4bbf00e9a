"""The calls of Fortran, from the comments `!>` of public types and procedures.

The comments are in the template bindings/fortran/longshore.f90.in. Its loops are expanded here with
one entry for all kinds of numbers, and one for all ranks of arrays.
"""

from __future__ import annotations

import re
import runpy
from dataclasses import dataclass, field
from pathlib import Path

from interface_tables.tables import Section, code, markdown, sentences

# The sections of the page, with the public names of each.
SECTIONS = {
    "Runs and teams": "longshore_run longshore_join longshore_version longshore_error_message longshore_team",
    "Distributed arrays": "longshore_array longshore_gather_plan longshore_scatter_plan longshore_histogram_plan "
    "longshore_update_plan",
    "Halos": "longshore_grid longshore_cart_grid longshore_halo longshore_combine_batch",
    "Ghosts": "longshore_ghost_graph longshore_ghost",
    "Boxes": "longshore_boxes longshore_glued_cells longshore_box_fields longshore_box_exchange longshore_box_copy",
    "Sort and stream": "longshore_sort longshore_stream",
}
# The name of an object in the calls of its type, if comments do not call it as its type.
OBJECTS = {"box_exchange": "halos", "box_fields": "fields", "box_copy": "turn", "ghost_graph": "graph"}
OBJECTS |= {f"{plan}_plan": "plan" for plan in ("gather", "scatter", "histogram", "update")}
OBJECTS |= {"combine_batch": "batch"}
CALL = re.compile(r"call ([\w%]+\([^)]*\))")
LIKE_THE_ROW_ABOVE = re.compile(r"(in the same way|[Ss]tart_\w+ and wait)\.$")
HEAD = re.compile(r"  (?P<kind>[^!' ]*(?: [^!' ]+)*?) ?\b(?:subroutine|function) (?P<name>\w+)\([^)]*\)(?P<rest>.*)")
ARGUMENT = re.compile(
    r"\s*(?P<kind>[^!]*?(?:intent\((?:in|out|inout)\)|procedure\(\w+\))[^!]*?)::\s*(?P<names>[^!]*?)\s*(!.*)?"
)
NOT_TOLD = re.compile(r", (?:intent\(\w+\)|optional|contiguous|target|value)")


@dataclass
class Procedure:
    """A name that programs call, and the procedures that the compiler chooses from."""

    name: str
    text: str
    specifics: list[str] = field(default_factory=list)


@dataclass
class Type:
    """A derived type with its public components and its bound procedures."""

    name: str
    text: str
    components: list[tuple[str, str, str]] = field(default_factory=list)  # name, kind, text
    bound: dict[str, Procedure] = field(default_factory=dict)


def table(repository: Path) -> str:
    module = Module.of(repository / "bindings" / "fortran" / "longshore.f90.in")
    if module.undocumented:
        raise ValueError(f"longshore.f90.in has no comment for the public name {module.undocumented[0]}")
    return markdown(("call", "what it does", "arguments"), module.sections())


class Module:
    """The public names of the module, with their comments."""

    def __init__(self, source: str) -> None:
        self.lines = re.sub(r"&\s*\n\s*&?", " ", source).splitlines()
        self.public = self._public_names()
        heads = ((index, HEAD.fullmatch(line)) for index, line in enumerate(self.lines))
        self.heads = {found["name"]: (index, found) for index, found in reversed([*heads]) if found}
        self.types: dict[str, Type] = {}
        self.procedures: dict[str, Procedure] = {}
        self._read()

    @classmethod
    def of(cls, path: Path) -> Module:
        generator = runpy.run_path(str(path.with_name("generate_module.py")))
        generator["LOOPS"] |= {
            "type": [{"type": "kind", "decl": "number", "id": "kind"}],
            "field": [{"type": "kind", "decl": "number", "id": "kind"}],
            "value": [{"value": "value", "vdecl": "number"}],
            "rank": [{"rank": "rank", "colons": ":, ...", "first": "", "second": "", "bounds": ""}],
        }
        expanded = "\n".join(generator["expand"](path.read_text(encoding="utf-8").splitlines()))
        header = path.parent.parent / "c" / "longshore.h"
        calls = generator["calls_text"](expanded, header.read_text(encoding="utf-8"))
        return cls(f"{expanded}\n{calls}")

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

    def sections(self) -> list[Section]:
        listed = [name for names in SECTIONS.values() for name in names.split()]
        if left := {*self.types, *self.procedures} - {*listed}:
            raise ValueError(f"tools/interface_tables/fortran.py has no section for {', '.join(sorted(left))}")
        sections = [(heading, self._rows(names.split())) for heading, names in SECTIONS.items()]
        constants = ", ".join(code(name) for name in self.constants)
        return [*sections, ("Constants", [("", f"Those of [C](c.md#errors-and-types): {constants}", "")])]

    def _rows(self, names: list[str]) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = []
        for name in names:
            if name in self.procedures:
                rows.append(self._row(self.procedures[name], name))
                continue
            derived = self.types[name]
            short = name.removeprefix("longshore_")
            this = OBJECTS.get(short, short)
            rows.append((f"**type({name})**", sentences(derived.text), ""))
            rows += [(code(f"{this}%{own}"), sentences(text), code(kind)) for own, kind, text in derived.components]
            for bound in derived.bound.values():
                row = self._row(bound, f"{this}%{bound.name}")
                if LIKE_THE_ROW_ABOVE.search(row[1]):
                    rows[-1] = (f"{rows[-1][0]}<br>{row[0]}", f"{rows[-1][1]} {row[0]}: {row[1]}", rows[-1][2])
                elif row not in rows:  # the plans of gathers, scatters, ... have some calls in common
                    rows.append(row)
        return rows

    def _row(self, procedure: Procedure, name: str) -> tuple[str, ...]:
        """The call as its comment begins, or else as its declaration has it."""
        shown = list(dict.fromkeys(line for one in procedure.specifics for line in self._arguments(one)))
        text = CALL.sub(r"`\1`", sentences(procedure.text))
        if found := re.match(r"(`[^`]*`)[:.] (.*)", text):
            call, text = found[1], re.sub(r"^\w+\b(?!\()", lambda word: word[0].capitalize(), found[2])
        elif found := re.match(r"(`[^`]*`), or", text):
            call = found[1]
        else:
            names = [line.rpartition(" :: ")[2].replace("(:)", "") for line in shown if not line.startswith("result: ")]
            call = code(f"{name}({', '.join(names)})")
        return call, text, "<br>".join(code(line) for line in shown)

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
            elif inside and text and (found := re.match(r"\s*([^,:]+) :: (.*)", line)) and "=>" not in line:
                inside.components.append((found[2].split(" =")[0], found[1], text))
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

    def _arguments(self, specific: str) -> list[str]:
        """The declarations of the arguments and the result of a specific procedure."""
        if specific not in self.heads:
            return []
        index, found = self.heads[specific]
        result = re.search(r"result\((\w+)\)", found["rest"])
        out = [f"result: {found['kind'].removeprefix('pure ')}"] if found["kind"] else []
        for inner in self.lines[index + 1 :]:
            if re.match(r"\s*end (?:subroutine|function)", inner):
                break
            if argument := ARGUMENT.fullmatch(inner):
                names = [one for one in re.split(r", (?![^(]*\))", argument["names"]) if one not in ("this", "ierr")]
                kind = NOT_TOLD.sub("", argument["kind"].strip()).strip()
                out += [f"{kind} :: {', '.join(names)}"] if names else []
            elif result and (of := re.fullmatch(rf"\s*([^!:]*) :: {result[1]}((?:\(\d\))?)", inner)):
                out.insert(0, f"result: {of[1].strip()}{of[2]}")
        return out
