"""Reads from `longshore-bench --list` what a build can do: patterns, factors and transports."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LIST_SECONDS = 60


class UsageError(Exception):
    """An argument is wrong, or nothing can run. The text says how to continue."""


@dataclass(frozen=True)
class Factor:
    name: str
    option: str
    type: str
    """word, integer, triple or text."""
    has_default: bool
    """False if the program selects a level itself."""
    levels: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Each level of a word, with the transports that can run this level."""
    low: int = 0
    high: int = 0

    def levels_on(self, transport: str) -> list[str]:
        return [level for level, transports in self.levels if transport in transports]


@dataclass(frozen=True)
class Pattern:
    name: str
    factors: tuple[Factor, ...]

    def factor_of(self, option: str) -> Factor | None:
        return next((factor for factor in self.factors if factor.option == option), None)


@dataclass(frozen=True)
class Capabilities:
    patterns: tuple[Pattern, ...]
    transports: tuple[str, ...]
    """The transports in this build."""

    def pattern(self, name: str) -> Pattern:
        return next(pattern for pattern in self.patterns if pattern.name == name)


def factor_from(entry: dict[str, Any]) -> Factor:
    levels = ((level["level"], tuple(level.get("transports", ()))) for level in entry.get("levels", ()))
    return Factor(
        name=entry["name"],
        option=entry["option"],
        type=entry["type"],
        has_default=bool(entry["default"]),
        levels=tuple(levels),
        low=entry.get("low", 0),
        high=entry.get("high", 0),
    )


def capabilities_from(listing: dict[str, Any]) -> Capabilities:
    patterns = (
        Pattern(entry["name"], tuple(factor_from(factor) for factor in entry["factors"]))
        for entry in listing["patterns"]
    )
    transports = (entry["name"] for entry in listing["transports"] if entry["available"])
    return Capabilities(tuple(patterns), tuple(transports))


def read_capabilities(bench: Path) -> Capabilities:
    """Run `bench --list` and parse its output. Raises UsageError if that fails."""
    try:
        done = subprocess.run([bench, "--list"], capture_output=True, text=True, check=True, timeout=LIST_SECONDS)
        return capabilities_from(json.loads(done.stdout))
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError) as problem:
        raise UsageError(
            f"'{bench} --list' failed ({type(problem).__name__}: {problem}); "
            "run 'make build' first, or name the program with --bench"
        ) from problem
