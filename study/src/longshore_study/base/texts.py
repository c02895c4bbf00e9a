"""Numbers in reports and plots: three digits, thin spaces between groups, ratios in words."""

import math
import sys
from collections.abc import Iterable
from dataclasses import dataclass

# A narrow space that does not break a line.
_THIN_SPACE = "\u202f"
# Units of records as axes and tables show them.
UNIT_NAMES = {"1/s": "/s", "us": "µs", "seconds": "s"}


def name_text(name: str) -> str:
    return name.replace("_", " ").replace("-", " ")


def whole_number(value: int) -> str:
    """All digits, in groups of three, so that different sizes never look the same."""
    return _grouped(str(value))


def plain_number(value: float) -> str:
    """At most four significant digits. An exponent appears only from 1e6 and below 1e-4."""
    if not math.isfinite(value):
        return "–"
    if value == 0:
        return "0"
    if abs(value) >= 1e6 or abs(value) < 1e-4:
        return _scientific(value)
    text = f"{value:.{max(0, 3 - math.floor(math.log10(abs(value))))}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return _grouped(text)


def figure(value: float | None, unit: str = "") -> str:
    """Three significant digits, or a longer integer part, and the unit. "–" stands for None."""
    if value is None or not math.isfinite(value):
        return "–"
    if not unit:
        return _significant(value)
    return quantity(unit, [value]).text(value)


@dataclass(frozen=True)
class Quantity:
    """A common scale for values of one unit: millions if the largest value reaches a million."""

    divisor: float
    name: str

    def number(self, value: float | None) -> str:
        return figure(None if value is None else value / self.divisor)

    def tick(self, value: float) -> str:
        return plain_number(value / self.divisor)

    def text(self, value: float) -> str:
        return f"{self.number(value)} {self.name}".rstrip()


def quantity(unit: str, values: Iterable[float]) -> Quantity:
    largest = max(values, default=0.0)
    name = UNIT_NAMES.get(unit, unit)
    for divisor, word in ((1e9, "billion"), (1e6, "million")):
        if largest >= divisor:
            return Quantity(divisor, f"{word} {name}".replace(" /", "/"))
    return Quantity(1.0, name)


def ratio(value: float | None) -> str:
    """0.0572 -> "0.057", 1.021 -> "1.021": three decimals, enough to compare with the margin."""
    if value is None or not math.isfinite(value):
        return "–"
    return f"{value:.3f}" if 0.01 <= value < 10 else _significant(value)


def ratio_in_words(value: float, above: str = "higher", below: str = "lower") -> str:
    """0.0572 -> "17.5 times lower", 1.021 -> "2.1 % higher"."""
    if not math.isfinite(value) or value <= 0:
        return "not comparable"
    larger = max(value, 1 / value)
    direction = above if value > 1 else below
    if larger >= 1.5:
        return f"{_significant(larger)} times {direction}"
    return f"{abs(value - 1) * 100:.1f}{_THIN_SPACE}% {direction}"


def change(value: float | None) -> str:
    """A signed change: 0.94 -> "−6.0 %", 17.5 -> "×17.5", 0.057 -> "÷17.5"."""
    if value is None or not math.isfinite(value) or value <= 0:
        return "–"
    if value >= 3:
        return f"×{_significant(value)}"
    if value <= 1 / 3:
        return f"÷{_significant(1 / value)}"
    size = f"{abs(value - 1) * 100:.1f}"
    sign = "" if size == "0.0" else "+" if value > 1 else "−"
    return f"{sign}{size}{_THIN_SPACE}%"


def share(part: float) -> str:
    """0.873 -> "87 %"."""
    text = f"{part * 100:.0f}" if part >= 0.1 else f"{part * 100:.1f}".removesuffix(".0")
    return f"{text}{_THIN_SPACE}%"


def counted(count: int, noun: str, plural: str | None = None) -> str:
    return f"{count} {noun if count == 1 else plural or noun + 's'}"


def seconds(value: float | None) -> str:
    if value is None or not math.isfinite(value):
        return "–"
    for limit, factor, name in ((1e-3, 1e6, "µs"), (1.0, 1e3, "ms"), (120.0, 1.0, "s")):
        if value < limit:
            return f"{_significant(value * factor)} {name}"
    return f"{_significant(value / 60)} min"


def _significant(value: float) -> str:
    if value == 0:
        return "0"
    if abs(value) >= 1e6 or abs(value) < 1e-3:
        return _scientific(value)
    # Round first, because 999.6 becomes 1000 and needs the digits of 1000.
    rounded = float(f"{value:.3g}") if abs(value) < 1000 else value
    decimals = max(0, 2 - math.floor(math.log10(abs(rounded))))
    return _grouped(f"{rounded:.{decimals}f}")


def _scientific(value: float) -> str:
    exponent = max(sys.float_info.min_10_exp, math.floor(math.log10(abs(value)) + 1e-12))
    mantissa = f"{value / 10.0**exponent:.3g}"
    if mantissa == "10":
        mantissa, exponent = "1", exponent + 1
    return f"10{_raised(exponent)}" if mantissa == "1" else f"{mantissa}·10{_raised(exponent)}"


def power_of_two(value: int) -> str:
    """65536 -> "2¹⁶". REQUIRES: a power of two."""
    return f"2{_raised(value.bit_length() - 1)}"


def _raised(exponent: int) -> str:
    return str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _grouped(text: str) -> str:
    whole, dot, rest = text.partition(".")
    if len(whole.lstrip("-")) > 4:
        whole = f"{int(whole):,}".replace(",", _THIN_SPACE)
    return whole + dot + rest
