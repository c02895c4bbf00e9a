"""The order of the levels of a factor, for tables: numbers by size, other levels as the study file
has them. Of levels that no study file has, that of an unchanged environment is the first."""

import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from longshore_study.base.expression import canonical_name
from longshore_study.base.json_values import canonical
from longshore_study.store.launch_store import Launch
from longshore_study.study_file import environment_variables

ENVIRONMENT = "environment"
UNCHANGED = "unchanged"
"""The level of a variable that the environment of a launch does not name."""


def in_order(levels: Iterable[Any], factor: str, launches: Iterable[Launch]) -> list[Any]:
    """Each level once. `factor` may be a variable of the factor `environment`."""
    found = list({canonical({"": level}): level for level in levels}.values())
    if all(isinstance(level, int | float) for level in found):
        return sorted(found)
    files = dict.fromkeys(path for launch in launches if (path := launch.study_file))
    written = [level for path in files for level in _written(path, factor)]
    places = {canonical({"": level}): place for place, level in reversed(list(enumerate(written)))}
    return sorted(
        found, key=lambda level: (places.get(canonical({"": level}), len(written)), level not in ({}, UNCHANGED))
    )


def _written(path: Path, factor: str) -> Iterator[Any]:
    """The levels in the order of the study file. None if the file cannot be read."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return
    for block in (*document.get("pattern", ()), *document.get("external", ())):
        between = block.get("between", {})
        tables = [block.get("within", {}), *(between if isinstance(between, list) else [between])]
        for name, given in (pair for table in tables for pair in table.items()):
            levels = given if isinstance(given, list) else [given]
            if name == ENVIRONMENT:
                levels = [environment_variables.read(level, lambda *_: None) for level in levels]
                yield from levels if factor == ENVIRONMENT else (level.get(factor, UNCHANGED) for level in levels)
            elif canonical_name(name) == factor:
                yield from levels
