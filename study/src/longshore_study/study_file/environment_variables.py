"""A level of the factor `environment`: variables as a launch is to have them, whatever `longshore
run` itself has.

A study file writes `{ NAME = "value", unset = ["OTHER"] }`. A variable that is not to be set is
kept as None.
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
    """Of a table of a study file; `problem` is told of each key that makes no sense, and why."""
    level: Level = {}
    for name, value in table.items():
        if name == UNSET and isinstance(value, list):
            wrong = [one for one in value if not isinstance(one, str) or not re.fullmatch(_NAME, one)]
            if wrong:
                problem(name, f"environment: {wrong[0]!r} in 'unset' is no name of a variable")
            twice = [one for one in value if one in table]
            if twice:
                problem(name, f"environment: '{twice[0]}' is set and in 'unset'; leave one of them out")
            level |= dict.fromkeys(map(str, value))
            continue
        if not re.fullmatch(_NAME, name) or isinstance(value, dict | list):
            problem(name, f"environment: '{name}' must be a name with one value")
        level[name] = text(value)
    return level


def text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def written(level: Mapping[str, str | None]) -> dict[str, Any]:
    """As a study file has it."""
    unset = [name for name, value in level.items() if value is None]
    table: dict[str, Any] = {name: value for name, value in level.items() if value is not None}
    return {**table, UNSET: unset} if unset else table


def applied(environment: Mapping[str, str], level: Mapping[str, str | None]) -> dict[str, str]:
    """The environment with this level in it."""
    return {name: value for name, value in {**environment, **level}.items() if value is not None}


def typed(level: Mapping[str, str | None]) -> list[str]:
    """What stands before a command in a shell."""
    unset = [word for name, value in level.items() if value is None for word in ("-u", name)]
    assignments = [f"{name}={shlex.quote(value)}" for name, value in level.items() if value is not None]
    return [*(["env", *unset] if unset else []), *assignments]


def told(level: Mapping[str, Any]) -> list[str]:
    """For people: `NAME=value`, or `no NAME`."""
    return [f"no {name}" if value is None else f"{name}={value}" for name, value in level.items()]
