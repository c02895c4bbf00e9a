"""A combination: the arguments, transport, ranks and variables of one run of longshore-bench.

It is also a shell command, which a user can repeat, and which --replay reads.
"""

from __future__ import annotations

import itertools
import re
import shlex
from dataclasses import dataclass, replace
from pathlib import Path

from fuzzing.capabilities import Capabilities, Factor, UsageError
from fuzzing.launchers import Launchers

ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
RANK_OPTIONS = ("-n", "-np", "--n", "--np")
FLAGS = ("--no-shuffle", "--no-noise-probe", "--no-verify")

Option = tuple[str, tuple[str, ...]]
"""An option, such as --halo, with its levels as typed. A flag has no levels."""


@dataclass(frozen=True)
class Combination:
    pattern: str
    transport: str
    ranks: int
    options: tuple[Option, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    """Environment variables and their values."""

    def without_option(self, option: str) -> Combination:
        return replace(self, options=tuple(kept for kept in self.options if kept[0] != option))

    def with_levels(self, option: str, levels: tuple[str, ...]) -> Combination:
        """A copy in which the option has these levels."""
        return replace(self, options=tuple((name, levels if name == option else old) for name, old in self.options))

    def without_variable(self, variable: str) -> Combination:
        return replace(self, variables=tuple(kept for kept in self.variables if kept[0] != variable))

    def words(self) -> list[str]:
        """The arguments of the program."""
        words = [self.pattern]
        if self.transport == "threads":
            words += ["--ranks", str(self.ranks)]
        elif self.transport != "mpi":
            words += ["--transport", self.transport]
        for option, levels in self.options:
            words += [option, ",".join(levels)] if levels else [option]
        return words


def line_of(combination: Combination, bench: Path, launchers: Launchers, common: dict[str, str]) -> str:
    """The command that repeats a run in a shell: variables, launcher, program and arguments."""
    variables = common | dict(combination.variables)
    words = [*launchers.prefix(combination.transport, combination.ranks), str(bench), *combination.words()]
    return " ".join([*(f"{name}={shlex.quote(value)}" for name, value in variables.items()), shlex.join(words)])


def combination_of(line: str, capabilities: Capabilities, common: dict[str, str]) -> Combination | None:
    """The combination of a line, without common variables; None for an empty line."""
    try:
        words = shlex.split(line, comments=True)
    except ValueError as problem:
        raise UsageError(f"not a shell command ({problem}): {line.strip()}") from problem
    if not words:
        return None
    variables = {}
    if words[0] == "env":
        words.pop(0)
    while words and (assignment := ASSIGNMENT.fullmatch(words[0])):
        variables[assignment[1]] = assignment[2]
        words.pop(0)
    names = [pattern.name for pattern in capabilities.patterns]
    # The pattern is the first word with the name of a pattern, after the program and its launcher.
    index = next((index for index, word in enumerate(words) if index > 0 and word in names), None)
    if index is None:
        raise UsageError(f"the line has none of the patterns {', '.join(names)}: {line.strip()}")
    options = options_of(words[index + 1 :], capabilities.pattern(words[index]).factors)
    transport, ranks = layout_of(words[: index - 1], dict(options), line)
    kept = tuple(option for option in options if option[0] not in ("--ranks", "--transport", "--json", "--no-verify"))
    changed = {name: value for name, value in variables.items() if common.get(name) != value}
    return Combination(words[index], transport, ranks, kept, tuple(changed.items()))


def layout_of(launcher: list[str], options: dict[str, tuple[str, ...]], line: str) -> tuple[str, int]:
    """The transport and the number of ranks."""
    given = options.get("--transport", ("mpi" if launcher else "threads",))[0]
    counts = [after for word, after in itertools.pairwise(launcher) if word in RANK_OPTIONS]
    count = (counts or options.get("--ranks", ()) or ("",))[0]
    if not count.isdigit() or int(count) < 1:
        raise UsageError(f"the line lacks the number of ranks (-n N of the launcher, else --ranks N): {line.strip()}")
    return given, int(count)


def options_of(words: list[str], factors: tuple[Factor, ...]) -> list[Option]:
    types = {factor.option: factor.type for factor in factors}
    options: list[Option] = []
    while words:
        name, _, value = words.pop(0).partition("=")
        if name in FLAGS:
            options.append((name, ()))
            continue
        if not value and words:
            value = words.pop(0)
        options.append((name, levels_of(value, types.get(name, ""))))
    return options


def levels_of(value: str, kind: str) -> tuple[str, ...]:
    parts = value.split(",")
    if kind == "triple":
        return tuple(",".join(parts[first : first + 3]) for first in range(0, len(parts), 3))
    return tuple(parts)
