"""Levels of the factor `environment`: the variables that `longshore run` sets or removes for a
launch.

A study file writes `{ NAME = "value", unset = ["OTHER"] }`. A variable to remove is None here.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from typing import Any

UNSET = "unset"
Level = dict[str, str | None]
_NAME = r"[A-Za-z_]\w*"


def read(table: Mapping[str, Any], problem: Callable[[str, str], None]) -> Level:
    """Reads a table of a study file. Calls `problem` with key and message for each mistake."""
    level: Level = {}
    for name, value in table.items():
        if name == UNSET and isinstance(value, list):
            wrong = [one for one in value if not isinstance(one, str) or not re.fullmatch(_NAME, one)]
            if wrong:
                problem(name, f"environment: {wrong[0]!r} in 'unset' is not the name of a variable")
            twice = [one for one in value if one in table]
            if twice:
                problem(name, f"environment: '{twice[0]}' is both set and in 'unset'; remove one of the two")
            level |= dict.fromkeys(map(str, value))
            continue
        if not re.fullmatch(_NAME, name) or isinstance(value, dict | list):
            problem(name, f"environment: '{name}' needs a valid name and one value, not a list or table")
        level[name] = text(value)
    return level


def text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def to_table(level: Mapping[str, str | None]) -> dict[str, Any]:
    """The table that a study file has for this level."""
    unset = [name for name, value in level.items() if value is None]
    table: dict[str, Any] = {name: value for name, value in level.items() if value is not None}
    return {**table, UNSET: unset} if unset else table


def apply(environment: Mapping[str, str], level: Mapping[str, str | None]) -> dict[str, str]:
    """The environment with the variables of the level set or removed."""
    return {name: value for name, value in {**environment, **level}.items() if value is not None}


def shell_prefix(level: Mapping[str, str | None]) -> list[str]:
    """The words that precede a command in a shell to give it this environment."""
    unset = [word for name, value in level.items() if value is None for word in ("-u", name)]
    assignments = [f"{name}={shlex.quote(value)}" for name, value in level.items() if value is not None]
    return [*(["env", *unset] if unset else []), *assignments]


def descriptions(level: Mapping[str, Any]) -> list[str]:
    """`NAME=value` or `no NAME` for each variable, for people."""
    return [f"no {name}" if value is None else f"{name}={value}" for name, value in level.items()]
