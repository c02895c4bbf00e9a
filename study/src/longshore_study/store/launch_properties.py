"""Properties of a launch as named texts: host, CPU, kernel, compiler, MPI, binding, environment,
image, modules, firmware. A property that differs between two sides may be the cause of a change.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from longshore_study.base import terminal
from longshore_study.base.texts import name_text, whole_number
from longshore_study.store import provenance
from longshore_study.store.launch_store import Launch

# Keys of records that differ in every launch by design. They are not properties.
PER_LAUNCH = frozenset(
    {"record", "schema", "launch", "seed", "start", "started", "argv", "pid", "time", "date", "end", "seconds"}
)

ENVIRONMENT = "environment"
VARIABLE = f"{ENVIRONMENT}: "
"""Prefix of the properties that are recorded environment variables."""
NOT_SET = "not set"


def properties(launch: Launch) -> list[tuple[str, str]]:
    names = (("launcher", "launcher"), ("binding", "binding asked for"))
    requested = [(name, str(launch.envelope[key])) for key, name in names if launch.envelope.get(key)]
    return [("source", launch.source), *requested, *_flat(launch.header or {}), *provenance.of_launch(launch).items()]


def values_by_side(sides: Sequence[Iterable[Launch]]) -> list[dict[str, list[str]]]:
    """The values of each property on each side, in order of first appearance.

    An environment variable that only some launches have is "not set" for the other launches, if
    their environment was recorded.
    """
    launches_of_sides = [[(launch, properties(launch)) for launch in side] for side in sides]
    variables = dict.fromkeys(
        name for side in launches_of_sides for _, pairs in side for name, _ in pairs if name.startswith(VARIABLE)
    )  # in order, unlike a set
    values_of_sides: list[dict[str, list[str]]] = []
    for side in launches_of_sides:
        values: dict[str, dict[str, None]] = {}
        for launch, pairs in side:
            for name, value in pairs:
                values.setdefault(name, {})[value] = None
            if isinstance(environment := (launch.header or {}).get(ENVIRONMENT), dict):
                for name in variables:
                    if name.removeprefix(VARIABLE) not in environment:
                        values.setdefault(name, {})[NOT_SET] = None
        values_of_sides.append({name: list(texts) for name, texts in values.items()})
    return values_of_sides


def _flat(value: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Flattens nested objects to names such as "system: cpu". A list is a single property."""
    for key, inner in value.items():
        if key in PER_LAUNCH:
            continue
        name = f"{prefix}{name_text(str(key))}"
        if isinstance(inner, Mapping):
            if name == ENVIRONMENT:  # keep underscores in the names of variables
                yield from ((f"{VARIABLE}{variable}", str(inner[variable])) for variable in sorted(inner))
            elif not inner:
                yield name, "none set"
            else:
                yield from _flat(inner, f"{name}: ")
        elif inner is not None:
            yield name, _text(inner)


def is_fraction(text: str) -> bool:
    try:
        return not float(text).is_integer()
    except (ValueError, OverflowError):
        return False


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return terminal.significant(value, 4)
    if isinstance(value, int):
        return whole_number(value)
    if isinstance(value, list) and all(isinstance(v, (str, int, float)) for v in value):
        return ", ".join(str(v) for v in value) or "none"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (list, dict)) else str(value)
