#!/usr/bin/env python3
"""Lists what Longshore promises to keep within a major version, and compares it with the pages:
names in docs/reference/public.md, and a row for each call of C, Fortran and Python in
docs/reference/api.

Usage: public_interface.py [--update] [SECTION...]. Prints the differences; --update writes the
pages instead. Sections: headers, bench, commands, study-files; c, fortran, python. Section bench
needs the build of the tests (LONGSHORE_BUILD, else build/test), and python the installed package.
"""

import argparse
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

from interface_tables import c, fortran, python
from interface_tables.tables import MissingPartError

REPOSITORY = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("LONGSHORE_BUILD") or REPOSITORY / "build" / "test")
BLOCK = r"<!-- list: {} -->\n```text\n(.*?)```\n"
TABLES = re.compile(r"<!-- tools/public_interface.py --update writes all below -->\n\n(.*)", re.DOTALL)
COLUMNS = 100
OWNED = re.compile(r"(\[*\w[\w-]*\]*[ %.])([^(].*)")  # `gather --hops`, `Halo.wait()`, `longshore_team%rank`


def text_of(path: str) -> str:
    return (REPOSITORY / path).read_text(encoding="utf-8")


def headers() -> Iterable[str]:
    """Headers of C++ that users include: the two at the top, and those that longshore.hpp joins."""
    joined = re.findall(r"^#include <(longshore/[^>]+)>", text_of("src/longshore/longshore.hpp"), re.MULTILINE)
    return ["longshore/longshore.hpp", "longshore/mpi.hpp", *joined]


def bench() -> Iterable[str]:
    """Commands and options of longshore-bench, and the levels of its factors."""
    program = BUILD / "bench" / "longshore-bench"
    if not program.exists():
        raise MissingPartError(f"{program} is not built")

    def printed(*words: str) -> str:
        return subprocess.run([program, *words], capture_output=True, text=True, check=True).stdout

    yield from ("--help", "--list", "--version")
    of_patterns: dict[str, set[str]] = {}
    for pattern in json.loads(printed("--list"))["patterns"]:
        options = of_patterns[pattern["name"]] = set()
        for factor in pattern["factors"]:
            levels = [str(level["level"]) for level in factor.get("levels", [])]
            options.add(factor["option"] + (f" {','.join(levels)}" if levels else ""))
        factors = {factor["option"] for factor in pattern["factors"]}
        options |= options_in(printed(pattern["name"], "--help")) - factors
    yield from with_common_ones_once(of_patterns)
    yield from (f"placement {option}" for option in options_in(printed("placement", "--help")))


def with_common_ones_once(of_owners: dict[str, set[str]]) -> Iterator[str]:
    """Names `OWNER OPTION`; an option that all owners have is named once, with the owner ALL."""
    common = set.intersection(*of_owners.values())
    yield from (f"ALL {option}" for option in common)
    for owner, options in of_owners.items():
        yield from (f"{owner} {option}" for option in options - common)


def options_in(help_text: str) -> set[str]:
    """Options that begin a line of a help text."""
    found: set[str] = set()
    for words in re.findall(r"^  (-[-\w,]+)", help_text, re.MULTILINE):
        found |= {word for word in words.split(",") if word.startswith("--")}
    return found


def commands() -> Iterable[str]:
    """Commands and options of the study tool."""
    tool = importlib.import_module("longshore_study.cli.command_line")
    of_commands: dict[str, set[str]] = {}
    for command in tool.COMMANDS:
        parser, _ = tool.parser_of(command)
        names = of_commands[command] = set()
        for action in parser._actions:  # noqa: SLF001 - argparse has no other list of its options
            names |= {name for name in action.option_strings if name.startswith("--")}
            if not action.option_strings:
                names.add(str(action.metavar or action.dest))
    return with_common_ones_once(of_commands)


def study_files() -> Iterable[str]:
    """Keys of study files and of files of events, as their readers know them."""
    package = "longshore_study.study_file"
    events_reader = importlib.import_module(f"{package}.events")
    reader = importlib.import_module(f"{package}.reader")
    tables = importlib.import_module(f"{package}.toml_values").TomlTable
    known: set[str] = set()
    checked = tables.known_keys

    def known_keys(self: object, keys: Iterable[str], what: str) -> None:  # noqa: ARG001
        section = what.removeprefix("key in ").removeprefix("table")
        known.update(f"{section} {key}".strip() for key in keys)

    sections = ["study", "launcher", "bound", "hypothesis"]
    lists = ["pattern", "external", "guideline", "step"]
    text = "\n".join([*(f"[{name}]" for name in sections), *(f"[[{name}]]" for name in lists)])
    tables.known_keys = known_keys
    try:
        with contextlib.suppress(reader.StudyFileError):  # required keys are missing
            reader.loads(text, "study.toml")
        with tempfile.NamedTemporaryFile("w", suffix=".toml", encoding="utf-8") as events:
            events.write('[[event]]\ndate = 2026-01-01\ntext = "x"\n')
            events.flush()
            events_reader.load(Path(events.name))
    finally:
        tables.known_keys = checked
    return known


NAMES: dict[str, Callable[[], Iterable[str]]] = {
    "headers": headers,
    "bench": bench,
    "commands": commands,
    "study-files": study_files,
}
CALLS: dict[str, Callable[[Path], str]] = {"c": c.table, "fortran": fortran.table, "python": python.table}
SECTIONS = [*NAMES, *CALLS]


def page_of(section: str) -> Path:
    return REPOSITORY / "docs" / "reference" / (f"api/{section}.md" if section in CALLS else "public.md")


def text_found(section: str) -> str:
    """The text of the section's list or tables, as the sources have it."""
    if section in NAMES:
        return packed(sorted(set(NAMES[section]())))
    return CALLS[section](REPOSITORY)


def text_promised(section: str, page: str) -> re.Match[str]:
    """The text of the section's list or tables on its page."""
    found = re.search(BLOCK.format(section), page, re.DOTALL) if section in NAMES else TABLES.search(page)
    if found is None:
        raise ValueError(f"{page_of(section)} has no list '{section}'")
    return found


def parts(section: str, text: str) -> set[str]:
    """The names of a list, or the rows of tables."""
    if section in CALLS:
        return {line for line in text.splitlines() if line}
    named = re.findall(r"(?:([^;{}]*)\{([^{}]*)\}|([^;{}]+))(?:; |$)", text.strip().replace("\n", "; "))
    return {f"{owner}{name}" for owner, group, alone in named for name in (group.split("; ") if group else [alone])}


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
    """A line for each name or row that is missing, or not on the page."""
    promised, found = parts(section, text_promised(section, page)[1]), parts(section, text_found(section))
    for name in sorted(promised - found):
        yield f"{section}: '{name}' is gone or changed: within a major version calls and names stay"
    for name in sorted(found - promised):
        yield f"{section}: '{name}' is new or changed: hide it, or run tools/public_interface.py --update"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0] if __doc__ else None)
    parser.add_argument("--update", action="store_true", help="write the lists and tables to their pages")
    parser.add_argument("section", nargs="*", choices=[*SECTIONS, []], help="default: all")
    options = parser.parse_args(arguments)
    failed = False
    for section in options.section or SECTIONS:
        page = page_of(section).read_text(encoding="utf-8")
        try:
            if options.update:
                old = text_promised(section, page)
                new = page[: old.start(1)] + text_found(section) + page[old.end(1) :]
                page_of(section).write_text(new, encoding="utf-8")
                continue
            for line in differences(section, page):
                print(line)
                failed = True
        except MissingPartError as missing:
            print(f"{section}: skipped: {missing}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
