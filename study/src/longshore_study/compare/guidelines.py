"""The guidelines, which can be checked on a machine without any history (guideline_check.py).

A guideline says that a variant is not slower than another variant that could always replace it:
self-consistent performance guidelines (Traeff, Gropp and Thakur 2010).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from longshore_study.base.errors import LongshoreError
from longshore_study.base.json_values import canonical
from longshore_study.patterns import PATTERNS
from longshore_study.patterns.pattern import Guideline
from longshore_study.store.selection import Side

BUILT_IN = tuple(
    replace(guideline, pattern=pattern.name) for pattern in PATTERNS.values() for guideline in pattern.guidelines
)
"""Study files add their own guidelines."""


def of_study_files(side: Side, warnings: list[str]) -> list[Guideline]:
    """The guidelines that are stored with the launches: in their envelopes, or in the copy of the
    study file in their session. Adds a warning for each guideline that cannot be read."""
    found: list[Guideline] = []
    files: dict[Path, None] = {}
    for launch in side.launches:
        for table in launch.envelope.get("guidelines") or ():
            try:
                found.append(
                    Guideline(dict(table["faster"]), dict(table["than"]), _tolerance(table), table.get("pattern"))
                )
            except (KeyError, TypeError, ValueError, AttributeError):
                warnings.append(f"{launch.path}:1: not a guideline, and not used: {table!r:.80}")
        if path := launch.study_file:
            files[path] = None
    for path in files:
        from longshore_study.study_file import reader  # noqa: PLC0415 - imported launches have none

        try:
            study = reader.load(path)
        except LongshoreError as error:
            warnings.append(f"the guidelines of {path} are not used: {error}")
            continue
        found += study.guidelines
    return found


def _tolerance(table: Mapping[str, Any]) -> float:
    tolerance = float(table.get("tolerance", 0.05))
    if not 0.0 <= tolerance < 100.0:
        raise ValueError(f"a tolerance of {tolerance} is not possible")
    return tolerance


def last_of_each(guidelines: Iterable[Guideline]) -> list[Guideline]:
    """The last guideline for each pair of variants, so that a study can change the tolerance of a
    built-in guideline. A guideline without a reason gets the reason of the replaced guideline."""
    last: dict[tuple[str, str], Guideline] = {}
    for guideline in guidelines:
        key = (canonical(guideline.faster), canonical(guideline.than))
        replaced = last.get(key)
        last[key] = replace(guideline, why=replaced.why) if replaced and not guideline.why else guideline
    return list(last.values())
