"""Units of figures: their dimensions, and the factors between units of one dimension."""

import re
from typing import NamedTuple

_PREFIXES = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18,
             "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40, "Pi": 2.0**50, "Ei": 2.0**60,
             "m": 1e-3, "u": 1e-6, "n": 1e-9, "p": 1e-12}  # fmt: skip
_BASES = {
    "s": ("s", 1.0), "sec": ("s", 1.0), "second": ("s", 1.0), "seconds": ("s", 1.0), "min": ("s", 60.0),
    "minutes": ("s", 60.0), "h": ("s", 3600.0), "hours": ("s", 3600.0), "B": ("B", 1.0), "byte": ("B", 1.0),
    "bytes": ("B", 1.0), "Byte": ("B", 1.0), "Bytes": ("B", 1.0), "b": ("B", 0.125), "bit": ("B", 0.125),
    "bits": ("B", 0.125), "flop": ("flop", 1.0), "Flop": ("flop", 1.0), "FLOP": ("flop", 1.0), "op": ("op", 1.0),
    "ops": ("op", 1.0), "msg": ("msg", 1.0), "msgs": ("msg", 1.0), "key": ("key", 1.0), "keys": ("key", 1.0),
    "": ("1", 1.0), "1": ("1", 1.0),
}  # fmt: skip
"""The dimension of each word of a unit, and its size in the base unit of this dimension."""
_RATES = {f"{dimension}/s" for dimension, _ in _BASES.values()}
_BASE = "|".join(sorted(_BASES, key=len, reverse=True))
_PREFIX = "|".join(sorted(_PREFIXES, key=len, reverse=True))
_UNIT = re.compile(
    rf"(?:(?:10\^|1e)(?P<exponent>\d+))?[ ]?(?P<prefix>{_PREFIX})(?P<base>{_BASE})"
    r"(?P<rate>[ ]?/[ ]?s(?:ec|econd)?|(?<=[A-Za-z])p(?:er[ ])?s)?"
)


class Unit(NamedTuple):
    """A unit is `scale` times the base unit of its `dimension`."""

    dimension: str
    scale: float


def unit_of(text: str) -> Unit:
    """`MB/s` is 10^6 of `B/s`. A text that is no known unit is a dimension of its own."""
    text = " ".join(text.replace("\N{MICRO SIGN}", "u").replace("\N{GREEK SMALL LETTER MU}", "u").split())
    if text in ("Hz", "kHz", "MHz", "GHz"):
        text = f"{text[:-2]}/s"
    found = _UNIT.fullmatch(text)
    if found is None or not (found["base"] or found["rate"]):
        return Unit(text, 1.0)
    dimension, scale = _BASES[found["base"]]
    scale *= _PREFIXES[found["prefix"]] * 10.0 ** int(found["exponent"] or 0)
    return Unit(f"{dimension}/s" if found["rate"] else dimension, scale)


def is_above_zero(unit: str) -> bool:
    """Whether values in this unit are always above 0: times, amounts of data, rates."""
    dimension = unit_of(unit).dimension
    return dimension in ("s", "B") or dimension in _RATES
