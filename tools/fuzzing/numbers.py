"""Draws numbers for sizes and counts, with a preference for numbers that often break programs.

Such numbers are 0, 1, the ends of a range, primes, powers of two and their neighbours.
"""

import math
import random
from dataclasses import dataclass


@dataclass(frozen=True)
class SizeHint:
    """How to draw numbers for one factor."""

    high: int = 1000
    """The largest number, so that a run is short and needs little memory."""
    always: bool = False
    """Whether every drawn command gives this factor, because its default is large or depends on the
    machine."""
    preferred: tuple[int, ...] = ()
    """Numbers that select special code."""
    of_memory: bool = False
    """Whether the factor counts elements per rank. Draws near the sizes of caches then test choices
    that depend on caches."""


UNKNOWN = SizeHint()
SIZE_HINTS = {
    "elements": SizeHint(2_000_000, always=True, of_memory=True),
    "requests": SizeHint(20_000, always=True),
    "table": SizeHint(20_000),
    "block_items": SizeHint(3_000),
    "buffer_items": SizeHint(5_000),
    "hops": SizeHint(3),
    "keys": SizeHint(50_000, always=True),
    "max_key": SizeHint(1 << 40, preferred=(1 << 8, 1 << 28, 1 << 32)),
    "payload": SizeHint(60, preferred=(0, 0, 8, 56)),
    "task_count": SizeHint(5),
    "domain": SizeHint(40, always=True),
    "halo": SizeHint(5),
    "fields": SizeHint(6),
    "boxes": SizeHint(40, preferred=(0, 1, 3, 12)),
    "contiguous": SizeHint(20_000),
    "bytes": SizeHint(300_000, always=True),
    "ghosts": SizeHint(5_000, always=True),
    "reach": SizeHint(5),
}


def size_hint_of(factor: str) -> SizeHint:
    return SIZE_HINTS.get(factor, UNKNOWN)


def log_uniform(random_numbers: random.Random, low: int, high: int) -> int:
    """A number in [low, high]. Each doubling of the distance from `low` is equally likely."""
    return min(high, low - 1 + round(math.exp(random_numbers.uniform(0.0, math.log(high - low + 2)))))


def is_prime(number: int) -> bool:
    return number > 1 and all(number % divisor for divisor in range(2, math.isqrt(number) + 1))


def prime_up_to(number: int) -> int:
    """The largest prime up to the number; 1 if there is none."""
    while number > 1 and not is_prime(number):
        number -= 1
    return max(number, 1)


def near_a_cache(random_numbers: random.Random, ranks: int) -> int:
    """A number of elements for which the arrays of all ranks have about a power of two of bytes.

    Caches and their parts have such sizes. The sizes of this machine are not used, so that a seed
    draws the same numbers everywhere.
    """
    bytes_in_all = 1 << random_numbers.randint(18, 25)
    element_and_arrays = random_numbers.choice((4, 8, 12, 16, 24))
    # The cube makes small deviations frequent, on both sides of the power of two.
    deviation = 0.02 * random_numbers.uniform(-1.0, 1.0) ** 3
    return round((1.0 + deviation) * bytes_in_all / (ranks * element_and_arrays))


def draw_number(random_numbers: random.Random, low: int, high: int, hint: SizeHint, ranks: int) -> int:
    """A number in [low, high], at most hint.high. In one case of fifty, low - 1 on purpose."""
    high = max(low, min(high, hint.high))
    if random_numbers.random() < 0.02:
        return low - 1
    if hint.preferred and random_numbers.random() < 0.7:
        return min(high, max(low, random_numbers.choice(hint.preferred)))
    if hint.of_memory and random_numbers.random() < 0.4:
        return min(high, max(low, near_a_cache(random_numbers, ranks)))
    kind = random_numbers.choice(("low", "small", "power", "near a power", "prime", "high", "any", "any", "any"))
    number = log_uniform(random_numbers, low, high)
    if kind == "low":
        number = low
    elif kind == "small":
        number = random_numbers.randint(1, 9)
    elif kind in ("power", "near a power"):
        number = 1 << (max(number, 1).bit_length() - 1)
        number += random_numbers.choice((-1, 1)) if kind == "near a power" else 0
    elif kind == "prime":
        number = prime_up_to(min(number, 1 << 30))
    elif kind == "high":
        number = high
    return min(high, max(low, number))


def factors_of(random_numbers: random.Random, count: int) -> tuple[int, int, int]:
    """Three random numbers whose product is the count."""
    x = random_numbers.choice([n for n in range(1, count + 1) if count % n == 0])
    rest = count // x
    y = random_numbers.choice([n for n in range(1, rest + 1) if rest % n == 0])
    return x, y, rest // y
