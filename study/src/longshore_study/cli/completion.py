"""Completion by the Tab key, with argcomplete: the typed line is in the environment."""

import argparse
import importlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import argcomplete

from longshore_study.base.default_store import default_store
from longshore_study.base.errors import LongshoreError, UsageError
from longshore_study.cli import command_line

_STORED_NAMES = {
    "study": ("study",),
    "studies": ("study",),
    "tag": ("tag",),
    "session": ("session",),
    "reference": ("tag", "study"),
    "new": ("tag", "study"),
    "compare": ("tag", "study"),
    "names": ("tag", "study"),
}
"""The kinds of stored names that each argument accepts, by name of the argument (`dest`)."""


def complete() -> None:
    """Writes the candidates to the shell, and exits. Only the typed command is imported."""
    *_, words, _ = argcomplete.split_line(os.environ["COMP_LINE"], int(os.environ["COMP_POINT"]))
    try:
        typed = command_line.root_parser().parse_known_args(words[1:])[0].words[:1]
    except UsageError:
        typed = []
    root = argparse.ArgumentParser("longshore", allow_abbrev=False)
    root.add_argument("--version", action="store_true", help="print the version")
    command_line.add_shared_options(root)
    commands = root.add_subparsers()
    for name, description in command_line.COMMANDS.items():
        parents = [command_line.parser_of(name)[0]] if name in typed else []
        parser = commands.add_parser(name, help=description, parents=parents, add_help=False, allow_abbrev=False)
        for action in parser._actions:  # noqa: SLF001 - argparse has no public access
            if completer := _completer(name, action, _store_of(words)):
                action.completer = completer  # type: ignore[attr-defined]
    argcomplete.autocomplete(root, always_complete_options=False)


def _completer(command: str, action: argparse.Action, store: Path) -> Any:
    """The completer of a value. None if argcomplete offers the choices, or names of files."""
    if action.choices is not None or str(action.metavar).endswith(".toml"):
        return None
    if command == "stacks" and action.dest == "names":
        return lambda parsed_args, **_: _stacks() if parsed_args.action == "build" else []
    if action.dest == "format":
        return lambda **_: list(importlib.import_module("longshore_study.importers.formats").FORMATS)
    kinds = _STORED_NAMES.get(action.dest)
    return (lambda **_: _stored(kinds, store)) if kinds else None


def _stacks() -> list[str]:
    from longshore_study.host.stack_builds import with_unique_names  # noqa: PLC0415
    from longshore_study.host.stacks import MPI, find_stacks  # noqa: PLC0415 - it runs programs

    return ["all", *(stack.name for stack in with_unique_names(find_stacks()) if stack.what == MPI)]


def _store_of(words: Sequence[str]) -> Path:
    given = [words[k + 1] for k, word in enumerate(words[:-1]) if word == "--store"]
    given += [word.partition("=")[2] for word in words if word.startswith("--store=")]
    return (Path(given[-1]) if given else default_store()).expanduser()


def _stored(kinds: Sequence[str], path: Path) -> list[str]:
    """The names of these kinds in the store. Empty if the store is unreadable."""
    from longshore_study.store.launch_store import Store  # noqa: PLC0415

    try:
        stored = [dict(zip(("study", "tag", "session"), names, strict=True)) for names in Store(path).names()]
    except (LongshoreError, OSError):
        return []
    return [name for name in dict.fromkeys(names[kind] for kind in kinds for names in stored) if name.isprintable()]
