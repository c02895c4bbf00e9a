"""Levels of the factor `environment`: the variables that `longshore run` sets or removes for a
launch.

A study file has `{ NAME = "value", unset = ["OTHER"] }`. Here a variable to remove is None.
"""

import re
import shlex
from collections.abc import Callable, Mapping
from typing import Any

UNSET = "unset"
Level = dict[str, str | None]
_NAME = r"[A-Za-z_]\w*"


def read(table: Mapping[str, Any], problem: Callable[[str, str], None]) -> Level:
    """Reads a table of a study file. Calls `problem` with message and key for each mistake."""
    level: Level = {}
    for name, value in table.items():
        if name == UNSET and isinstance(value, list):
            wrong = [item for item in value if not isinstance(item, str) or not re.fullmatch(_NAME, item)]
            if wrong:
                problem(f"environment: {wrong[0]!r} in 'unset' is not the name of a variable", name)
            twice = [item for item in value if item in table]
            if twice:
                problem(f"environment: '{twice[0]}' is both set and in 'unset'; remove one of the two", name)
            level |= dict.fromkeys(map(str, value))
            continue
        if not re.fullmatch(_NAME, name) or isinstance(value, dict | list):
            problem(f"environment: '{name}' needs a valid name and one value, not a list or table", name)
        level[name] = text(value)
    return level


def text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def to_table(level: Mapping[str, str | None]) -> dict[str, Any]:
    """The inverse of `read`: the table of a study file."""
    unset = [name for name, value in level.items() if value is None]
    table: dict[str, Any] = {name: value for name, value in level.items() if value is not None}
    return {**table, UNSET: unset} if unset else table


def apply(environment: Mapping[str, str], level: Mapping[str, str | None]) -> dict[str, str]:
    """`environment` after setting and removing the variables of the level."""
    return {name: value for name, value in {**environment, **level}.items() if value is not None}


def shell_prefix(level: Mapping[str, str | None]) -> list[str]:
    """The words in front of a shell command that set and remove the variables of the level."""
    unset = [word for name, value in level.items() if value is None for word in ("-u", name)]
    assignments = [f"{name}={shlex.quote(value)}" for name, value in level.items() if value is not None]
    return [*(["env", *unset] if unset else []), *assignments]


def descriptions(level: Mapping[str, Any]) -> list[str]:
    """`NAME=value` or `no NAME` for each variable, for people."""
    return [f"no {name}" if value is None else f"{name}={value}" for name, value in level.items()]
