"""Splits the arguments of `longshore` into the command and the rest, for the command line and for
its completion."""

from __future__ import annotations

from collections.abc import Sequence

from longshore_study.base.errors import UsageError

_FLAGS = ("--json", "-v", "--verbose", "--no-color")


def split_arguments(arguments: Sequence[str]) -> tuple[str | None, list[str]]:
    """The command and its arguments. Options of every command can precede the command."""
    before: list[str] = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "__complete":
            return word, rest
        if word == "--store":
            if not rest:
                raise UsageError("--store needs the name of a folder")
            before += [word, rest.pop(0)]
        elif word in _FLAGS or word.startswith("--store="):
            before.append(word)
        elif word in ("-h", "--help", "--version"):
            return word, []
        elif word.startswith("-"):
            raise UsageError(
                f"unknown option '{word}' before the command ('longshore --help' lists commands and options)"
            )
        else:
            return word, before + rest
    return None, before
