"""Makes a failing combination smaller while it fails in the same way.

Each round tries smaller candidates, in an order that makes later tries cheap: threads as transport,
fewer ranks, fewer options and variables, one level instead of a list, simpler levels, smaller
numbers. The first candidate that fails in the same way starts the next round.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from fuzzing.capabilities import Factor, Pattern
from fuzzing.combination import Combination
from fuzzing.numbers import size_hint_of

FIRST_TRIES = 4
"""Number of runs of the drawn combination before shrinking."""
TRIES_OF_RARE_FAILURES = 4
"""Number of runs of a candidate before the candidate counts as passed, if the drawn combination
fails only sometimes."""

OPTIONS_WITHOUT_ORDER = ("--seed",)
"""Options for which smaller numbers are not simpler."""


@dataclass(frozen=True)
class Shrunk:
    combination: Combination
    failed: int
    """Number of first tries that failed in the same way. If 0, the combination was not shrunk."""
    tries: int
    complete: bool
    """Whether no step makes the combination smaller. False if the time was up."""


def shrink(
    drawn: Combination,
    pattern: Pattern,
    transports: tuple[str, ...],
    fails: Callable[[Combination], bool],
    until: float,
) -> Shrunk:
    """Shrinks a combination until no step is possible or time.monotonic() reaches `until`.

    `fails` runs a combination once and returns whether it fails in the same way.
    """
    failed = sum(fails(drawn) for _ in range(FIRST_TRIES))
    tries = FIRST_TRIES
    if not failed:
        return Shrunk(drawn, 0, tries, complete=False)
    repeats = 1 if failed == FIRST_TRIES else TRIES_OF_RARE_FAILURES
    smallest, known = drawn, {drawn}
    while True:
        for candidate in smaller(smallest, pattern, transports):
            if candidate in known:
                continue
            if time.monotonic() > until:
                return Shrunk(smallest, failed, tries, complete=False)
            known.add(candidate)
            tries += 1
            if any(fails(candidate) for _ in range(repeats)):
                smallest = candidate
                break
        else:
            return Shrunk(smallest, failed, tries, complete=True)


def smaller(combination: Combination, pattern: Pattern, transports: tuple[str, ...]) -> Iterator[Combination]:
    """All combinations that are smaller by one step."""
    if "threads" in transports and combination.transport != "threads":
        yield replace(combination, transport="threads")
    for ranks in smaller_numbers(combination.ranks, 1):
        yield replace(combination, ranks=ranks)
    if combination.variables:
        yield replace(combination, variables=())
    for variable, _ in combination.variables:
        yield combination.without_variable(variable)
    needed = {factor.option for factor in pattern.factors if size_hint_of(factor.name).always}
    optional = [option for option, _ in combination.options if option not in needed]
    if optional:
        yield replace(combination, options=tuple(option for option in combination.options if option[0] in needed))
    for option in optional:
        yield combination.without_option(option)
    for option, levels in combination.options:
        if len(levels) > 1:
            yield from (combination.with_levels(option, (level,)) for level in levels)
            yield from (combination.with_levels(option, without(levels, level)) for level in levels)
    for option, levels in combination.options:
        for level in levels if option not in OPTIONS_WITHOUT_ORDER else ():
            for simpler in simpler_levels(level, pattern.factor_of(option)):
                replaced = tuple(simpler if kept == level else kept for kept in levels)
                yield combination.with_levels(option, tuple(dict.fromkeys(replaced)))


def without(levels: tuple[str, ...], level: str) -> tuple[str, ...]:
    return tuple(kept for kept in levels if kept != level)


def simpler_levels(level: str, factor: Factor | None) -> Iterator[str]:
    """Simpler levels. `factor` is None for common options, whose levels are numbers."""
    if factor is not None and factor.type == "word":
        names = [name for name, _ in factor.levels]
        yield from names[: names.index(level)] if level in names else ()
        return
    parts = level.split(",")
    if not all(part.lstrip("-").isdigit() for part in parts):
        return
    numbers = [int(part) for part in parts]
    low = factor.low if factor is not None else 1
    for index, number in enumerate(numbers):
        for lower in smaller_numbers(number, low):
            yield ",".join(str(part) for part in (*numbers[:index], lower, *numbers[index + 1 :]))


def smaller_numbers(number: int, low: int) -> Iterator[int]:
    """Numbers from `low` up to `number` - 1. Each number halves the distance to `number`."""
    distance = number - low
    while distance > 0:
        yield number - distance
        distance //= 2
