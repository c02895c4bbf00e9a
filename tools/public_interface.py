#!/usr/bin/env python3
"""Lists the names that Longshore promises to keep within a major version, and compares them with
docs/reference/public.md.

Usage: public_interface.py [--update] [SECTION...]. Prints the differences; --update writes the
page instead. Sections: headers, cpp, c, fortran, python, bench, commands, records, study-files.
Needs the build of the tests (LONGSHORE_BUILD, else build/test) and the installed Python packages.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY / "docs" / "site"))
import cpp_interface  # noqa: E402 - Python finds it only now

BUILD = Path(os.environ.get("LONGSHORE_BUILD") or REPOSITORY / "build" / "test")
PAGE = REPOSITORY / "docs" / "reference" / "public.md"
BLOCK = r"<!-- list: {} -->\n```text\n(.*?)```\n"
COLUMNS = 100
OWNED = re.compile(r"(\[*\w[\w-]*\]*[ %.])([^(].*)")  # `gather --hops`, `Halo.wait()`, `longshore_team%rank`


class MissingPartError(Exception):
    """A section cannot be listed, because its part of Longshore is not built or installed."""


def text_of(path: str) -> str:
    return (REPOSITORY / path).read_text(encoding="utf-8")


def headers() -> Iterable[str]:
    """Headers of C++ that users include: the two at the top, and those that longshore.hpp joins."""
    joined = re.findall(r"^#include <(longshore/[^>]+)>", text_of("src/longshore/longshore.hpp"), re.MULTILINE)
    return ["longshore/longshore.hpp", "longshore/mpi.hpp", *joined]


def cpp() -> Iterable[str]:
    """Names on the page of the C++ interface. A test checks that this page is complete."""
    for block in cpp_interface.BLOCK.findall(text_of("docs/reference/api/cpp.md")):
        yield from (f"{name.partition('(')[0]} ({kind})" for kind, name in cpp_interface.listed(block))


def c() -> Iterable[str]:
    lines = text_of("bindings/c/longshore_c.symbols").splitlines()
    return (line.split()[0] for line in lines if line.startswith("longshore_"))


def fortran() -> Iterable[str]:
    """Public names of the modules, and the procedures of their types."""
    source = re.sub(r"&\n\s*", "", text_of("bindings/fortran/longshore.f90.in"))
    for names in re.findall(r"^\s*(?:integer, parameter, )?public :: ([^!\n=]+)", source, re.MULTILINE):
        yield from (name.strip() for name in names.split(","))
    types = re.findall(r"^  type(?:, [\w() ]+)? :: (\w+)\n(.*?)^  end type", source, re.MULTILINE | re.DOTALL)
    for owner, body in types:
        for names in re.findall(r"^\s*(?:procedure|generic) :: (\w+)(?: =>|$)", body, re.MULTILINE):
            yield f"{owner}%{names}"
    yield "module longshore"
    yield "module longshore_mpi_f08"


def calls(name: str, function: ast.FunctionDef) -> Iterator[str]:
    """The call with its parameters in their order, and each parameter that is given by its name."""
    given = function.args
    in_order = [a.arg for a in (*given.posonlyargs, *given.args) if a.arg != "self"]
    if given.vararg:
        in_order.append(f"*{given.vararg.arg}")
    yield f"{name}({', '.join(in_order)})"
    yield from (f"{name}({a.arg}=)" for a in given.kwonlyargs)


def python() -> Iterable[str]:
    """Names and parameters of the Python package, from its type stub."""
    found = importlib.util.find_spec("longshore")
    if found is None or found.origin is None:
        raise MissingPartError("the Python package is not installed")
    package = Path(found.origin).parent
    exported = ast.parse((package / "__init__.py").read_text(encoding="utf-8"))
    names: list[str] = next(
        ast.literal_eval(node.value)
        for node in exported.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__"
    )
    described: set[str] = set()
    for file in ("_core.pyi", "frames.py"):
        for node in ast.parse((package / file).read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name in names:
                described.add(node.name)
                yield from calls(node.name, node)
            if isinstance(node, ast.ClassDef) and node.name in names:
                described.add(node.name)
                yield node.name
                for member in node.body:
                    if isinstance(member, ast.FunctionDef) and not member.name.startswith("__"):
                        is_property = any(isinstance(d, ast.Name) and d.id == "property" for d in member.decorator_list)
                        name = f"{node.name}.{member.name}"
                        yield from [name] if is_property else calls(name, member)
                    if isinstance(member, ast.FunctionDef) and member.name == "__init__":
                        yield from calls(node.name, member)
    yield from (name for name in names if name not in described)


def bench() -> Iterable[str]:
    """Commands and options of longshore-bench, and the levels of its factors."""
    program = BUILD / "bench" / "longshore-bench"
    if not program.exists():
        raise MissingPartError(f"{program} is not built")

    def printed(*words: str) -> str:
        return subprocess.run([program, *words], capture_output=True, text=True, check=True).stdout

    yield from ("--help", "--list", "--version")
    for pattern in json.loads(printed("--list"))["patterns"]:
        name = pattern["name"]
        for factor in pattern["factors"]:
            levels = [str(level["level"]) for level in factor.get("levels", [])]
            yield f"{name} {factor['option']}" + (f" {','.join(levels)}" if levels else "")
        factors = {factor["option"] for factor in pattern["factors"]}
        yield from (f"{name} {option}" for option in options_in(printed(name, "--help")) if option not in factors)
    yield from (f"placement {option}" for option in options_in(printed("placement", "--help")))


def options_in(help_text: str) -> set[str]:
    """Options that begin a line of a help text."""
    found: set[str] = set()
    for words in re.findall(r"^  (-[-\w,]+)", help_text, re.MULTILINE):
        found |= {word for word in words.split(",") if word.startswith("--")}
    return found


def commands() -> Iterable[str]:
    """Commands and options of the study tool."""
    tool = importlib.import_module("longshore_study.cli.command_line")
    for command in tool.COMMANDS:
        parser, _ = tool.parser_of(command)
        for action in parser._actions:  # noqa: SLF001 - argparse has no other list of its options
            names = [name for name in action.option_strings if name.startswith("--")]
            yield from (f"{command} {name}" for name in names)
            if not action.option_strings:
                yield f"{command} {(action.metavar or action.dest)!s}"


def records() -> Iterable[str]:
    """Kinds of records, and the keys on their page."""
    page = text_of("docs/reference/records.md")
    yield "schema 1"
    for heading, body in re.findall(r"^#+ (\w+)\n(.*?)(?=^#+ |\Z)", page, re.MULTILINE | re.DOTALL):
        for cell in re.findall(r"^\| (`[^|]*`) \|", body, re.MULTILINE):
            yield from (f"{heading}.{key}" for key in re.findall(r"`([^`]+)`", cell))


def study_files() -> Iterable[str]:
    """Keys of study files and of files of events, as their readers know them."""
    package = "longshore_study.study_file"
    events_reader = importlib.import_module(f"{package}.events")
    reader = importlib.import_module(f"{package}.reader")
    values = importlib.import_module(f"{package}.toml_values").Values
    known: set[str] = set()
    checked = values.known_keys

    def known_keys(self: object, table: object, where: object, keys: Iterable[str], what: str) -> None:  # noqa: ARG001
        section = what.removeprefix("key in ").removeprefix("table")
        known.update(f"{section} {key}".strip() for key in keys)

    sections = ["study", "launcher", "bound", "hypothesis"]
    lists = ["pattern", "external", "guideline", "step"]
    text = "\n".join([*(f"[{name}]" for name in sections), *(f"[[{name}]]" for name in lists)])
    values.known_keys = known_keys
    try:
        with contextlib.suppress(reader.StudyFileError):  # required keys are missing
            reader.loads(text, "study.toml")
        with tempfile.NamedTemporaryFile("w", suffix=".toml", encoding="utf-8") as events:
            events.write('[[event]]\ndate = 2026-01-01\ntext = "x"\n')
            events.flush()
            events_reader.load(Path(events.name))
    finally:
        values.known_keys = checked
    return known


SECTIONS: dict[str, Callable[[], Iterable[str]]] = {
    "headers": headers,
    "cpp": cpp,
    "c": c,
    "fortran": fortran,
    "python": python,
    "bench": bench,
    "commands": commands,
    "records": records,
    "study-files": study_files,
}


def found_names(section: str) -> list[str]:
    return sorted(set(SECTIONS[section]()))


def promised_names(section: str, page: str) -> list[str]:
    block = re.search(BLOCK.format(section), page, re.DOTALL)
    if block is None:
        raise ValueError(f"{PAGE} has no list '{section}'")
    named = re.findall(r"(?:([^;{}]*)\{([^{}]*)\}|([^;{}]+))(?:; |$)", block[1].strip().replace("\n", "; "))
    return [f"{owner}{name}" for owner, group, alone in named for name in (group.split("; ") if group else [alone])]


def packed(names: Iterable[str]) -> str:
    """The names, as many on a line as fit. Names of one owner stand together: `owner{a; b}`."""
    groups: dict[str, list[str]] = {}
    for name in names:
        owned = OWNED.fullmatch(name)
        owner, own_name = owned.groups() if owned else ("", name)
        groups.setdefault(owner, []).append(own_name)
    lines: list[str] = []
    for owner, group in groups.items():
        if owner:
            group[0] = f"{owner}{{{group[0]}"
            group[-1] += "}"
        line = ""
        for name in group:
            if line and len(line) + len(f"; {name}") > COLUMNS:
                lines.append(line)
                line = ""
            line += f"; {name}" if line else name
        lines.append(line)
    return "".join(f"{line}\n" for line in lines)


def differences(section: str, page: str) -> Iterator[str]:
    """A line for each name that is missing, or not on the page."""
    promised, found = set(promised_names(section, page)), set(found_names(section))
    for name in sorted(promised - found):
        yield f"{section}: '{name}' is gone or changed: within a major version it stays, as an old name at least"
    for name in sorted(found - promised):
        yield f"{section}: '{name}' is new: hide it, or promise it by tools/public_interface.py --update"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0] if __doc__ else None)
    parser.add_argument("--update", action="store_true", help="write the lists to docs/reference/public.md")
    parser.add_argument("section", nargs="*", choices=[*SECTIONS, []], help="default: all")
    options = parser.parse_args(arguments)
    page = PAGE.read_text(encoding="utf-8")
    failed = False
    for section in options.section or SECTIONS:
        try:
            if options.update:
                old = re.search(BLOCK.format(section), page, re.DOTALL)
                if old is None:
                    raise ValueError(f"{PAGE} has no list '{section}'")
                page = page[: old.start(1)] + packed(found_names(section)) + page[old.end(1) :]
                continue
            for line in differences(section, page):
                print(line)
                failed = True
        except MissingPartError as missing:
            print(f"{section}: skipped: {missing}", file=sys.stderr)
    if options.update:
        PAGE.write_text(page, encoding="utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
