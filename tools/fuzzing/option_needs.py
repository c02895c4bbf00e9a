"""Options that need a level of another option. Draws that meet the needs avoid refused runs.

Some draws ignore a need on purpose: the program must refuse their combinations with a reason.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from fuzzing.combination import Option
from fuzzing.numbers import factors_of

SHARE_THAT_IGNORES = 0.03
LEVELS_OF_PLACEMENT = ("--node", "--socket", "--numa", "--l3", "--core")
SHARE_BY_LEVELS = 0.12


@dataclass(frozen=True)
class Need:
    pattern: str
    options: tuple[str, ...]
    other: str
    levels: tuple[str, ...]
    """The options need the option `other`, with no levels except these."""

    def is_met(self, options: dict[str, tuple[str, ...]]) -> bool:
        given = options.get(self.other, ())
        return bool(given) and all(level in self.levels for level in given)


TASK_LAYERS = ("threads", "openmp", "tbb")
NEEDS = (
    Need("halo", (*LEVELS_OF_PLACEMENT, "--order"), "--placement", ("levels",)),
    Need("halo", ("--task-count",), "--tasks", TASK_LAYERS),
    Need("sort", ("--task-count",), "--tasks", TASK_LAYERS),
    Need("stream", ("--task-count",), "--tasks", TASK_LAYERS),
    Need("gather", ("--block-items",), "--distribution", ("block-cyclic",)),
    Need("ghost", ("--reach",), "--mesh", ("random", "hexahedra", "tetrahedra")),
    Need("gather", ("--hops",), "--strategy", ("conveyor",)),
)


def drop_options_without_their_need(random_numbers: random.Random, pattern: str, options: list[Option]) -> list[Option]:
    """The options without those whose need is not met, except for the share that ignores needs."""
    given = dict(options)
    for need in NEEDS:
        ignored = random_numbers.random() < SHARE_THAT_IGNORES
        if pattern == need.pattern and not ignored and not need.is_met(given):
            given = {option: levels for option, levels in given.items() if option not in need.options}
    return list(given.items())


def use_placement_by_levels(random_numbers: random.Random, options: list[Option], ranks: int) -> list[Option]:
    """Replaces some placements by a grid of ranks for each of some levels of the machine.

    The product of all grids is the number of ranks: the innermost level gets what the others leave.
    """
    if "--placement" not in dict(options) or random_numbers.random() >= SHARE_BY_LEVELS:
        return options
    names = sorted(
        random_numbers.sample(LEVELS_OF_PLACEMENT, random_numbers.randint(1, 3)), key=LEVELS_OF_PLACEMENT.index
    )
    given = {option: levels for option, levels in options if option not in LEVELS_OF_PLACEMENT}
    given["--placement"] = ("levels",)
    for name in names:
        part = ranks if name == names[-1] else random_numbers.choice([n for n in range(1, ranks + 1) if ranks % n == 0])
        given[name] = (",".join(str(number) for number in factors_of(random_numbers, part)),)
        ranks //= part
    return list(given.items())
