"""Draws random combinations of everything that a build can do.

A seed and a number determine a combination completely.
"""

import random
from dataclasses import dataclass

from fuzzing.capabilities import Capabilities, Factor, Pattern
from fuzzing.combination import Combination, Option
from fuzzing.numbers import draw_number, factors_of, size_hint_of

MAX_RANKS = 9
MAX_VARIANTS = 6
"""Limit of the cross product of the lists of a run."""
SHARE_GIVEN = 0.5
"""The share of commands that give an optional option."""
SHARE_OF_LISTS = 0.2
"""The share of options with more than one level, as long as MAX_VARIANTS allows a list."""
SHARE_OF_ANY_LEVEL = 0.03
"""The share of words drawn from all levels, including levels that the transport cannot run."""


@dataclass(frozen=True)
class Choice:
    """The patterns and transports that a sweep draws from."""

    capabilities: Capabilities
    patterns: tuple[str, ...]
    transports: tuple[str, ...]


def draw(seed: str, number: int, choice: Choice) -> Combination:
    """The combination with this number."""
    random_numbers = random.Random(f"{seed}/{number}")  # noqa: S311 - reproducible, not secret
    transport = random_numbers.choice(choice.transports)
    pattern = choice.capabilities.pattern(random_numbers.choice(choice.patterns))
    ranks = random_numbers.randint(1, MAX_RANKS)
    options = [*common_options(random_numbers, ranks), *factor_options(random_numbers, pattern, transport, ranks)]
    variables = draw_variables(random_numbers, transport)
    return Combination(pattern.name, transport, ranks, tuple(options), variables)


def common_options(random_numbers: random.Random, ranks: int) -> list[Option]:
    """Options of all patterns. A number that stands repeatedly in a tuple is drawn more often."""
    options: list[Option] = [("--repetitions", (str(random_numbers.choice((1, 1, 1, 2, 3))),))]
    if random_numbers.random() < 0.55:
        options.append(("--ranks-per-node", (str(random_numbers.randint(1, ranks + 1)),)))
    if random_numbers.random() < 0.2:
        options.append(("--warmup", (str(random_numbers.randint(0, 2)),)))
    if random_numbers.random() < 0.5:
        options.append(("--iterations", (str(random_numbers.choice((1, 1, 2, 3, 7))),)))
    if random_numbers.random() < 0.5:
        options.append(("--seed", (str(random_numbers.randrange(1 << 31)),)))
    options += [(flag, ()) for flag in ("--no-shuffle", "--no-noise-probe") if random_numbers.random() < 0.15]
    return options


def factor_options(random_numbers: random.Random, pattern: Pattern, transport: str, ranks: int) -> list[Option]:
    options: list[Option] = []
    room = MAX_VARIANTS  # limit of the product of the remaining lists
    # Factors drawn first may get more levels. The command line keeps the order of the listing.
    order = random_numbers.sample(pattern.factors, len(pattern.factors))
    for factor in order:
        if factor.type == "text":  # the name of a file, which no draw could guess
            continue
        if not size_hint_of(factor.name).always and random_numbers.random() >= SHARE_GIVEN:
            continue
        count = random_numbers.randint(2, min(3, room)) if room > 1 and random_numbers.random() < SHARE_OF_LISTS else 1
        levels = dict.fromkeys(draw_level(random_numbers, factor, transport, ranks) for _ in range(count))
        room //= len(levels)  # levels that were drawn twice count once
        options.append((factor.option, tuple(levels)))
    if pattern.factor_of("--node"):
        options = use_placement_by_levels(random_numbers, options, ranks)
    options = drop_options_without_their_need(random_numbers, pattern.name, options)
    options = drop_one_of_two_that_exclude_each_other(random_numbers, pattern.name, options)
    position = {factor.option: index for index, factor in enumerate(pattern.factors)}
    return sorted(options, key=lambda option: position[option[0]])


def draw_level(random_numbers: random.Random, factor: Factor, transport: str, ranks: int) -> str:
    if factor.type == "word":
        possible = factor.levels_on(transport)
        if not possible or random_numbers.random() < SHARE_OF_ANY_LEVEL:
            possible = [level for level, _ in factor.levels]
        return random_numbers.choice(possible)
    if factor.type == "triple":
        return ",".join(str(number) for number in draw_triple(random_numbers, factor, ranks))
    return str(draw_number(random_numbers, factor.low, factor.high, size_hint_of(factor.name), ranks))


def draw_triple(random_numbers: random.Random, factor: Factor, ranks: int) -> tuple[int, ...]:
    """A triple without a default is a grid. Its product mostly divides the number of ranks."""
    if factor.has_default or random_numbers.random() < 0.1:
        hint = size_hint_of(factor.name)
        return tuple(draw_number(random_numbers, factor.low, factor.high, hint, ranks) for _ in range(3))
    divisors = [count for count in range(1, ranks + 1) if ranks % count == 0]
    whole = factor.low == 0 or random_numbers.random() < 0.3  # for 0, the program selects a number
    numbers = factors_of(random_numbers, ranks if whole else random_numbers.choice(divisors))
    return tuple(0 if factor.low == 0 and random_numbers.random() < 0.2 else number for number in numbers)


# ---- options that need a level of another option. A draw that meets the needs avoids a refused
# run. Some draws ignore a need on purpose: the program must refuse their combinations with a
# reason.

SHARE_THAT_IGNORES = 0.03
LEVELS_OF_PLACEMENT = ("--node", "--socket", "--numa", "--l3", "--core")
SHARE_BY_LEVELS = 0.12


@dataclass(frozen=True)
class Rule:
    """`options` make sense only with these levels of the option `other`."""

    pattern: str
    options: tuple[str, ...]
    other: str
    levels: tuple[str, ...]

    def is_violated(self, options: dict[str, tuple[str, ...]]) -> bool:
        """Whether the levels of `other` are wrong. Without `other` they are not."""
        wrong = set(options.get(self.other, ())) - set(self.levels)
        return bool(wrong) and any(name in options for name in self.options)


TASK_LAYERS = ("threads", "openmp", "tbb")
# Rules whose option `other` must be given.
NEEDS = (
    Rule("halo", (*LEVELS_OF_PLACEMENT, "--order"), "--placement", ("levels",)),
    Rule("halo", ("--task-count",), "--tasks", TASK_LAYERS),
    Rule("sort", ("--task-count",), "--tasks", TASK_LAYERS),
    Rule("stream", ("--task-count",), "--tasks", TASK_LAYERS),
    Rule("gather", ("--block-items",), "--distribution", ("block-cyclic",)),
    Rule("ghost", ("--reach",), "--mesh", ("random", "hexahedra", "tetrahedra")),
    Rule("gather", ("--hops",), "--strategy", ("conveyor",)),
)


def drop_options_without_their_need(random_numbers: random.Random, pattern: str, options: list[Option]) -> list[Option]:
    """Drops options whose need is not met. A small share of them stays on purpose."""
    given = dict(options)
    for need in NEEDS:
        ignored = random_numbers.random() < SHARE_THAT_IGNORES
        is_met = need.other in given and not need.is_violated(given)
        if pattern == need.pattern and not ignored and not is_met:
            given = {option: levels for option, levels in given.items() if option not in need.options}
    return list(given.items())


KINDS_OF_HALOS = ("--operation", "--centring", "--boxes")
EXCLUSIONS = (
    Rule("halo", ("--contiguous",), "--algorithm", ("faces",)),
    Rule("halo", ("--contiguous",), "--memory", ()),
    Rule("halo", ("--contiguous", *KINDS_OF_HALOS), "--language", ("c++",)),
    Rule("halo", KINDS_OF_HALOS, "--contiguous", ()),
    Rule("halo", ("--operation", "--boxes"), "--algorithm", ("standard", "faces")),
    Rule("halo", ("--boxes",), "--algorithm", ("standard",)),
    Rule("halo", ("--boxes",), "--reach", ("corners",)),
    Rule("halo", ("--boxes",), "--mode", ("channel", "direct")),
    Rule("halo", ("--operation",), "--mode", ("channel", "direct", "waitall", "persistent", "neighbor")),
)


def drop_one_of_two_that_exclude_each_other(
    random_numbers: random.Random, pattern: str, options: list[Option]
) -> list[Option]:
    """Drops either side of an exclusion. A small share of both stays on purpose."""
    given = dict(options)
    for exclusion in EXCLUSIONS:
        if pattern != exclusion.pattern or not exclusion.is_violated(given):
            continue
        if random_numbers.random() < SHARE_THAT_IGNORES:
            continue
        dropped = exclusion.options if random_numbers.random() < 0.5 else (exclusion.other,)
        given = {option: levels for option, levels in given.items() if option not in dropped}
    return list(given.items())


def use_placement_by_levels(random_numbers: random.Random, options: list[Option], ranks: int) -> list[Option]:
    """Replaces some placements by placement `levels`, with a grid of ranks for one to three levels.

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


# ---- environment variables, which select code of the library

ALL_TRANSPORTS = ("threads", "mpi", "shmem", "ucx")


@dataclass(frozen=True)
class Variable:
    name: str
    values: tuple[str, ...]
    share: float
    """The share of runs with this variable."""
    transports: tuple[str, ...] = ALL_TRANSPORTS


DRAWN = (
    Variable("LONGSHORE_CHECK", ("1",), 0.5),
    Variable("LONGSHORE_PIN", ("0", "compact", "scatter"), 0.3),
    Variable("LONGSHORE_PROFILE", ("profile",), 0.1),
    Variable("LONGSHORE_TUNE", ("1",), 0.1),
    Variable("LONGSHORE_TUNING_SECONDS", ("0.01", "0.1"), 0.1),
    Variable("LONGSHORE_MPI_SHARED", ("0",), 0.15, ("mpi",)),
    Variable("LONGSHORE_UCX_START", ("mpi", "pmix"), 0.2, ("ucx",)),
    Variable("UCX_TLS", ("posix,self", "tcp,self", "all"), 0.2, ("ucx",)),
    Variable("UCX_RNDV_THRESH", ("256", "16K"), 0.1, ("ucx",)),
    Variable("OMP_NUM_THREADS", ("1", "3"), 0.1),
)


def draw_variables(random_numbers: random.Random, transport: str) -> tuple[tuple[str, str], ...]:
    drawn = []
    for variable in DRAWN:
        # Variables of other transports draw random numbers too, so that a new transport does not
        # change later draws.
        is_set, value = random_numbers.random() < variable.share, random_numbers.choice(variable.values)
        if is_set and transport in variable.transports:
            drawn.append((variable.name, value))
    return tuple(drawn)
