"""The guidelines, which can be checked on a machine without any history (guideline_check.py).

A guideline says that a variant is not slower than another variant that could always replace it:
self-consistent performance guidelines (Traeff, Gropp and Thakur 2010).
"""

from collections.abc import Iterable
from dataclasses import replace

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
    """The guidelines in the copies of the study files beside the launches. Adds a warning for each
    copy that cannot be read."""
    found: list[Guideline] = []
    for path in dict.fromkeys(path for launch in side.launches if (path := launch.study_file)):
        from longshore_study.study_file import reader  # noqa: PLC0415 - imported launches have none

        try:
            study = reader.load(path)
        except LongshoreError as error:
            warnings.append(f"the guidelines of {path} are not used: {error}")
            continue
        found += study.guidelines
    return found


def last_of_each(guidelines: Iterable[Guideline]) -> list[Guideline]:
    """The last guideline for each pair of variants, so that a study can change the tolerance of a
    built-in guideline. A guideline without a reason gets the reason of the replaced guideline."""
    last: dict[tuple[str, str], Guideline] = {}
    for guideline in guidelines:
        key = (canonical(guideline.faster), canonical(guideline.than))
        replaced = last.get(key)
        last[key] = replace(guideline, why=replaced.why) if replaced and not guideline.why else guideline
    return list(last.values())
