"""Numbers for sizes and counts, with a taste for those at which programs break.

These are 0, 1, the ends of a range, primes, powers of two and their neighbours.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass


@dataclass(frozen=True)
class Taste:
    """What is drawn for one factor."""

    most: int = 1000
    """The largest number. A run must be short and must not need much memory."""
    always: bool = False
    """The option is given in every command: its default is large, or depends on the machine."""
    liked: tuple[int, ...] = ()
    """Numbers that select a path of their own."""
    of_memory: bool = False
    """Elements of each rank: all ranks together may come near the size of a cache, where choices
    change."""


UNKNOWN = Taste()
TASTES = {
    "elements": Taste(2_000_000, always=True, of_memory=True),
    "requests": Taste(20_000, always=True),
    "table": Taste(20_000),
    "block_items": Taste(3_000),
    "buffer_items": Taste(5_000),
    "hops": Taste(3),
    "keys": Taste(50_000, always=True),
    "max_key": Taste(1 << 40, liked=(1 << 8, 1 << 28, 1 << 32)),
    "payload": Taste(60, liked=(0, 0, 8, 56)),
    "task_count": Taste(5),
    "domain": Taste(40, always=True),
    "halo": Taste(5),
    "fields": Taste(6),
    "contiguous": Taste(20_000),
    "bytes": Taste(300_000, always=True),
}


def taste_of(factor: str) -> Taste:
    return TASTES.get(factor, UNKNOWN)


def log_uniform(random_numbers: random.Random, low: int, high: int) -> int:
    return min(high, low - 1 + round(math.exp(random_numbers.uniform(0.0, math.log(high - low + 2)))))


def is_prime(number: int) -> bool:
    return number > 1 and all(number % divisor for divisor in range(2, math.isqrt(number) + 1))


def prime_up_to(number: int) -> int:
    """The largest prime that is not above the number; 1 where there is none."""
    while number > 1 and not is_prime(number):
        number -= 1
    return max(number, 1)


def near_a_cache(random_numbers: random.Random, ranks: int) -> int:
    """As many elements as give some arrays of all ranks nearly a power of two of bytes: the size of
    a cache, or a part.

    It is not asked how large the caches are, so that a seed draws the same on each machine.
    """
    bytes_in_all = 1 << random_numbers.randint(18, 25)
    element_and_arrays = random_numbers.choice((4, 8, 12, 16, 24))
    beside = 0.02 * random_numbers.uniform(-1.0, 1.0) ** 3
    return round((1.0 + beside) * bytes_in_all / (ranks * element_and_arrays))


def draw_number(random_numbers: random.Random, low: int, high: int, taste: Taste, ranks: int) -> int:
    """A number of [low, high] and at most taste.most. One in fifty is below the range, which must
    be refused."""
    most = max(low, min(high, taste.most))
    if random_numbers.random() < 0.02:
        return low - 1
    if taste.liked and random_numbers.random() < 0.7:
        return min(most, max(low, random_numbers.choice(taste.liked)))
    if taste.of_memory and random_numbers.random() < 0.4:
        return min(most, max(low, near_a_cache(random_numbers, ranks)))
    kind = random_numbers.choice(("low", "small", "power", "beside a power", "prime", "most", "any", "any", "any"))
    number = log_uniform(random_numbers, low, most)
    if kind == "low":
        number = low
    elif kind == "small":
        number = random_numbers.randint(1, 9)
    elif kind in ("power", "beside a power"):
        number = 1 << (max(number, 1).bit_length() - 1)
        number += random_numbers.choice((-1, 1)) if kind == "beside a power" else 0
    elif kind == "prime":
        number = prime_up_to(min(number, 1 << 30))
    elif kind == "most":
        number = most
    return min(most, max(low, number))


def factors_of(random_numbers: random.Random, count: int) -> tuple[int, int, int]:
    """Three numbers whose product is the count."""
    x = random_numbers.choice([n for n in range(1, count + 1) if count % n == 0])
    rest = count // x
    y = random_numbers.choice([n for n in range(1, rest + 1) if rest % n == 0])
    return x, y, rest // y
