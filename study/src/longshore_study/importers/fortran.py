"""Reads numbers that Fortran programs print. List-directed output has forms such as 1.0E-2,
1.0D-02, 1.0-100 (no letter before three exponent digits) and .5. Fortran prints asterisks if a
field is too narrow."""

import math
import re

NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[EeDd][-+]?\d+|[-+]\d{3})?(?![\w.])"
"""A pattern for `re`. `value` converts its matches."""

_PARTS = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+))(?:[EeDd]?([-+]?\d+))?")


def value(text: str) -> float:
    """The number. Raises ValueError for asterisks, NaN, infinities and other texts."""
    match = _PARTS.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"'{text.strip()}' is not a number")
    number = float(f"{match[1]}e{match[2] or '0'}")
    if not math.isfinite(number):
        raise ValueError(f"'{text.strip()}' is too large")
    return number
