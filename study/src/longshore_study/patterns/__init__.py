"""Each module of this package holds the facts of one pattern. All other packages take the facts of
a pattern from here. A new pattern needs one more module, and no list of modules must be changed."""

import importlib
import pkgutil

from longshore_study.patterns.control import PATTERN as _CONTROL
from longshore_study.patterns.pattern import LARGEST_RANKS, WAY, WORK, Factor, Metric, Pattern, count, free_text, words

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
    "transport": words(WAY, "threads mpi shmem ucx simulated"),
    "machine": free_text(WAY),
    "ranks": count(WORK, 1, LARGEST_RANKS),
    "nodes": count(WORK, 1, LARGEST_RANKS),
    "ranks_per_node": count(WORK, 1, LARGEST_RANKS),
    "stack": free_text(WAY),
}
"""The factors of all patterns that need a new launch, besides `environment`."""
WORK_FACTORS_BETWEEN_LAUNCHES = (
    *(name for name, factor in FACTORS_BETWEEN_LAUNCHES.items() if factor.role == WORK),
    "environment",
)
"""The factors of a launch that belong to the work of any pattern."""
FACTORS_OF_A_LAUNCH = (*FACTORS_BETWEEN_LAUNCHES, "environment")
LAUNCHED_ALIKE = ("transport", "ranks", "ranks_per_node", "environment")
"""The factors that a cell has in common with its control cell."""


def metric_of(pattern: str, name: str) -> Metric | None:
    facts = PATTERNS.get(pattern)
    return facts.metrics.get(name) if facts else None


def main_of(pattern: str) -> str:
    """The metric by which variants of a pattern are compared; empty if the pattern has none."""
    return PATTERNS[pattern].main if pattern in PATTERNS else ""


def work_of(pattern: str) -> tuple[str, ...]:
    """The factors that define the work of a pattern. Empty for an unknown pattern."""
    return PATTERNS[pattern].work if pattern in PATTERNS else ()


def pattern_rank(pattern: str) -> tuple[int, str]:
    """A sort key: known patterns in their order, then other patterns by name, then controls."""
    if pattern == CONTROL:
        return (len(PATTERNS), pattern)
    return (MEASURED.index(pattern) if pattern in MEASURED else len(MEASURED), pattern)
