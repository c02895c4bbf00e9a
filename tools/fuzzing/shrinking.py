"""Makes a failing combination smaller while it fails in the same way.

Each round tries smaller candidates, in an order that makes later tries cheap: threads as transport,
fewer ranks, fewer options and variables, one level instead of a list, simpler levels, smaller
numbers. The first candidate that fails in the same way starts the next round.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from fuzzing.capabilities import Factor, Pattern
from fuzzing.combination import Combination
from fuzzing.numbers import size_hint_of

TRIES_OF_THE_DRAWN = 4
"""How often the drawn combination runs again at first."""
TRIES_OF_A_RARE_ONE = 4
"""How often a candidate runs before it counts as passed, if the drawn combination fails only
sometimes."""

NO_SIZE = ("--seed",)
"""Options whose smaller numbers are not simpler."""


@dataclass(frozen=True)
class Shrunk:
    combination: Combination
    failed: int
    """How many first tries failed in the same way. 0: the combination was not shrunk."""
    tries: int
    complete: bool
    """Whether no step makes it smaller. Otherwise the time was up."""


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
    failed = sum(fails(drawn) for _ in range(TRIES_OF_THE_DRAWN))
    tries = TRIES_OF_THE_DRAWN
    if not failed:
        return Shrunk(drawn, 0, tries, complete=False)
    repeats = 1 if failed == TRIES_OF_THE_DRAWN else TRIES_OF_A_RARE_ONE
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


def smaller(of: Combination, pattern: Pattern, transports: tuple[str, ...]) -> Iterator[Combination]:
    """All combinations that are one step smaller."""
    if "threads" in transports and of.transport != "threads":
        yield replace(of, transport="threads")
    for ranks in falling(of.ranks, 1):
        yield replace(of, ranks=ranks)
    if of.variables:
        yield replace(of, variables=())
    for variable, _ in of.variables:
        yield of.without_variable(variable)
    needed = {factor.option for factor in pattern.factors if size_hint_of(factor.name).always}
    optional = [option for option, _ in of.options if option not in needed]
    if optional:
        yield replace(of, options=tuple(option for option in of.options if option[0] in needed))
    for option in optional:
        yield of.without_option(option)
    for option, levels in of.options:
        if len(levels) > 1:
            yield from (of.with_levels(option, (level,)) for level in levels)
            yield from (of.with_levels(option, without(levels, level)) for level in levels)
    for option, levels in of.options:
        for level in levels if option not in NO_SIZE else ():
            for simpler in simpler_levels(level, pattern.factor_of(option)):
                replaced = tuple(simpler if one == level else one for one in levels)
                yield of.with_levels(option, tuple(dict.fromkeys(replaced)))


def without(levels: tuple[str, ...], level: str) -> tuple[str, ...]:
    return tuple(one for one in levels if one != level)


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
    for at, number in enumerate(numbers):
        for lower in falling(number, low):
            yield ",".join(str(lower if place == at else one) for place, one in enumerate(numbers))


def falling(number: int, low: int) -> Iterator[int]:
    """Numbers from `low` up towards this one; each halves the remaining distance."""
    distance = number - low
    while distance > 0:
        yield number - distance
        distance //= 2
