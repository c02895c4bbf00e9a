"""Each module of this package holds the facts of one pattern. All other packages take the facts of
a pattern from here. A new pattern needs one more module, and no list of modules must be changed."""

import importlib
import pkgutil
from functools import cache

from longshore_study.patterns.control import PATTERN as _CONTROL
from longshore_study.patterns.pattern import LARGEST_RANKS, Factor, Pattern, count, free_text, words

CONTROL = _CONTROL.name
"""The pattern that measures the machine. Its cells accompany every study."""


def _declared() -> list[Pattern]:
    names = [found.name for found in pkgutil.iter_modules(__path__) if found.name != "pattern"]
    patterns = [importlib.import_module(f"{__name__}.{name}").PATTERN for name in names]
    return sorted(patterns, key=lambda pattern: pattern.order)


PATTERNS: dict[str, Pattern] = {pattern.name: pattern for pattern in _declared()}
"""The patterns by name, in the order of tables; control is last."""
MEASURED = tuple(name for name in PATTERNS if name != CONTROL)
"""The patterns that are compared and ranked."""

FACTORS_BETWEEN_LAUNCHES: dict[str, Factor] = {
    "transport": words("way", "threads mpi shmem ucx simulated"),
    "machine": free_text("given"),
    "ranks": count("work", 1, LARGEST_RANKS),
    "nodes": count("work", 1, LARGEST_RANKS),
    "ranks_per_node": count("work", 1, LARGEST_RANKS),
    "stack": free_text("way"),
}
"""The factors of all patterns that need a new launch, besides `environment`."""
WORK_FACTORS_BETWEEN_LAUNCHES = (
    *(name for name, factor in FACTORS_BETWEEN_LAUNCHES.items() if factor.role == "work"),
    "environment",
)
"""The factors of a launch that belong to the work of any pattern."""
FACTORS_OF_A_LAUNCH = (*FACTORS_BETWEEN_LAUNCHES, "environment")
"""The factors of all patterns that need a new launch. A cell and its control cell have the same."""


@cache
def facts_of(pattern: str) -> Pattern:
    """The facts of a pattern. Those of an unknown pattern are empty."""
    return PATTERNS.get(pattern) or Pattern(pattern, pattern, _CONTROL.order - 1, metrics={}, main="", factors={})


def pattern_rank(pattern: str) -> tuple[int, str]:
    """A sort key: known patterns in their order, then other patterns by name, then controls."""
    return (facts_of(pattern).order, pattern)
