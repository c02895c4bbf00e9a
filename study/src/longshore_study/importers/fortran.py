"""Numbers as Fortran programs print them: list-directed output writes 1.0E-2, 1.0D-02, 1.0-100 (no
letter before three exponent digits), .5, and stars where a field was too narrow.
"""

from __future__ import annotations

import math
import re

NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[EeDd][-+]?\d+|[-+]\d{3})?(?![\w.])"
"""A pattern for `re`; `value` reads what it finds."""

_PARTS = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+))(?:[EeDd]?([-+]?\d+))?")


def value(text: str) -> float:
    """The number; raises ValueError for stars, NaN, infinities and everything else that is no
    number."""
    match = _PARTS.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"'{text.strip()}' is not a number")
    number = float(f"{match[1]}e{match[2] or '0'}")
    if not math.isfinite(number):
        raise ValueError(f"'{text.strip()}' is too large for a number")
    return number
