"""What the study tool knows about a pattern: the fields of its module in this package."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

Role = Literal["work", "way", "given"]
"""`work`: the factor defines the work, and variants that do the same work are ranked. `way`: a way
to do the work that a user can choose. `given`: a way that the data of a program determine."""

LARGEST_COUNT = 2**40  # items per rank
LARGEST_RANKS = 2**20
BYTES_PER_SECOND = 3e9
"""The memory bandwidth of a modest core, for guesses of times."""
NUMBER_BYTES = {"uint8": 1, "uint16": 2, "uint32": 4, "int32": 4, "float": 4, "int64": 8, "uint64": 8, "double": 8}

LINE_BYTES = 64  # of the caches of most processors

Levels = Mapping[str, Any]
"""The level of each factor of a variant and its launch. For `traffic`, also from the records:
`nodes`, and the bytes that a rank sends in one operation: `payload_bytes`, and `offnode_bytes` to
other nodes."""


def product_of(*factors: object) -> float | None:
    """The product. None if a factor is no number, as a level that is absent."""
    numbers = [factor for factor in factors if isinstance(factor, int | float)]
    return math.prod(numbers) if len(numbers) == len(factors) else None


@dataclass(frozen=True)
class Factor:
    """The allowed values of a factor, as on the command line of longshore-bench. They are words
    (`values`), integers from `least` to `most`, or lists of `numbers_in_one` such integers, such as
    a domain."""

    role: Role
    values: tuple[str, ...] = ()
    least: int = 1
    most: int = LARGEST_COUNT
    numbers_in_one: int = 1
    free_text: bool = False

    @property
    def is_word(self) -> bool:
        return bool(self.values)

    def allowed(self) -> str:
        """The allowed values in words, to follow "is" in an error message."""
        if self.free_text:
            return "a text"
        if self.is_word:
            return f"one of {', '.join(self.values)}"
        integer = f"an integer from {self.least} to {self.most}"
        return integer if self.numbers_in_one == 1 else f"a list of {self.numbers_in_one} numbers, each {integer}"


def words(role: Role, text: str) -> Factor:
    return Factor(role, values=tuple(text.split()))


def count(role: Role, least: int = 1, most: int = LARGEST_COUNT) -> Factor:
    return Factor(role, least=least, most=most)


def triple(role: Role, least: int, most: int) -> Factor:
    return Factor(role, least=least, most=most, numbers_in_one=3)


def free_text(role: Role) -> Factor:
    return Factor(role, free_text=True)


TASKS = {"tasks": words("way", "serial threads openmp tbb"), "task_count": count("way", 1, 4096)}


@dataclass(frozen=True)
class Metric:
    """One figure of a pattern, as docs/reference/figures.md defines it."""

    unit: str
    per: str = ""
    """What the figure refers to: "node" or "rank". Empty for all ranks together."""
    better: str = "higher"
    title: str = ""
    """The name for readers; by default the name of the metric."""
    limit: str = ""
    """What bounds the figure: "memory copy", or "injection" if all nodes get equal shares."""


@dataclass(frozen=True)
class MemoryUse:
    """Bytes that have to move through memory or between nodes, and where they lie."""

    how: Literal["copy", "triad", "lines", "random_lines", "network"]
    """`copy`: bytes are read and written in order. `triad`: two arrays are read, and a third is
    written. `lines`, `random_lines`: a part of each cache line is read, in order or at random, and
    the bytes are those of whole lines. `network`: bytes go to other nodes, and as many arrive."""
    bytes: float
    """For each byte or item of the main metric."""
    set_bytes: float | None
    """The working set: all these bytes of one rank. None if the levels do not determine it."""


def between_nodes(levels: Levels, payload: float) -> list[MemoryUse]:
    """The bytes to other nodes in the records. `payload`: bytes of a unit of the main metric."""
    of_rank, offnode = levels.get("payload_bytes"), levels.get("offnode_bytes")
    return [MemoryUse("network", payload * offnode / of_rank, 2 * offnode)] if of_rank and offnode else []


@dataclass(frozen=True)
class Guideline:
    """A rule for any machine: variants with the levels `faster` are not slower than those with the
    levels `than`, all else equal."""

    faster: dict[str, Any]
    than: dict[str, Any]
    tolerance: float = 0.05
    pattern: str | None = None
    why: str = ""
    """The reason for a built-in guideline."""


@dataclass(frozen=True)
class Pattern:
    name: str
    title: str
    order: int
    """The place of the pattern in tables and reports."""
    metrics: Mapping[str, Metric]
    main: str
    """The metric by which variants are compared; empty if none is."""
    factors: Mapping[str, Factor]
    """In the order of the command line."""
    work_of_imports: tuple[str, ...] = ()
    """Factors of the work that only imported programs have."""
    sizes: Mapping[str, str] = field(default_factory=dict)
    """Numeric factors over which curves are drawn first, with the title of the axis."""
    auto: str = ""
    """The factor that can have the level `auto`, which leaves the choice to the program."""
    guidelines: tuple[Guideline, ...] = ()
    mean_metrics: tuple[str, ...] = ()
    """Metrics of which the reference program prints means."""
    modelled_phase: str = ""
    """The phase that the communication model predicts: equal blocks between all ranks."""
    traffic: Callable[[Levels], Sequence[MemoryUse]] | None = None
    """What moves through memory and between nodes; the slowest bounds the main metric."""
    traffic_text: str = ""
    """Which bytes `traffic` counts."""
    repetition_seconds: Callable[[int, Levels], float] = lambda ranks, levels: 0.1  # noqa: ARG005
    """A guess, right within a small factor, from the number of ranks and the levels."""
    times_phases: bool = False
    """Whether longshore-bench has the option --phases for the pattern."""
    pairs_of_ranks: bool = False
    """Whether all pairs of ranks exchange messages. The simulation then takes longer."""

    def metric(self, name: str) -> Metric:
        return self.metrics.get(name, Metric(""))

    @cached_property
    def work(self) -> tuple[str, ...]:
        return (*(name for name, factor in self.factors.items() if factor.role == "work"), *self.work_of_imports)
