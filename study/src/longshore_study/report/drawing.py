"""A plot for a paper: lines, areas, symbols and texts at positions in points, with the colours of
the page on white. svg_file.py and pdf_file.py write drawings to files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

TEXT_SIZE = 8.0
Colour = tuple[float, float, float]


@dataclass(frozen=True)
class Line:
    x1: float
    y1: float
    x2: float
    y2: float
    colour: Colour
    width: float = 0.75
    dash: tuple[float, ...] = ()


@dataclass(frozen=True)
class Rectangle:
    x: float
    y: float
    width: float
    height: float
    colour: Colour


@dataclass(frozen=True)
class Symbol:
    """A circle around the only point if `radius` is not 0, else a polygon with these corners."""

    points: tuple[tuple[float, float], ...]
    fill: Colour
    stroke: Colour
    radius: float = 0.0


@dataclass(frozen=True)
class Text:
    x: float
    y: float  # of the base line
    text: str
    anchor: str = "start"
    colour: Colour = (0.0, 0.0, 0.0)
    size: float = TEXT_SIZE
    bold: bool = False


Mark = Line | Rectangle | Symbol | Text


@dataclass(frozen=True)
class Drawing:
    """y increases downwards, as in SVG. The unit is a point of 1/72 inch."""

    width: float
    height: float
    marks: tuple[Mark, ...]
    title: str = ""


@cache
def palette() -> dict[str, Colour]:
    """The colours of the light theme of the style sheet, by name."""
    css = files("longshore_study.report").joinpath("page.css").read_text(encoding="utf-8")
    light = css.split(":root", 1)[1].split("}", 1)[0]
    return {name: _rgb(value) for name, value in re.findall(r"--([\w-]+):\s*#([0-9a-fA-F]{3,6})", light)}


def _rgb(digits: str) -> Colour:
    if len(digits) == 3:
        digits = "".join(2 * digit for digit in digits)
    red, green, blue = (int(digits[k : k + 2], 16) / 255.0 for k in (0, 2, 4))
    return red, green, blue


def faint(colour: Colour, opacity: float) -> Colour:
    """The opaque colour that looks like `colour` over white: printers handle transparency badly."""
    red, green, blue = (1.0 - opacity * (1.0 - channel) for channel in colour)
    return red, green, blue


# Widths of Helvetica from space to tilde, in thousandths of the size (Adobe Font Metrics).
_WIDTHS = (
    "278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 278 "
    "278 584 584 584 556 1015 667 667 722 722 667 611 778 722 278 500 667 556 833 722 778 667 778 722 667 611 722 "
    "667 944 667 667 611 278 278 278 469 556 333 556 556 500 556 556 278 556 556 222 222 500 222 833 556 556 556 "
    "556 333 500 278 556 500 722 500 500 500 334 260 334 584"
)
_WIDTH_OF = dict(zip(map(chr, range(32, 127)), map(int, _WIDTHS.split()), strict=True))
_USUAL_WIDTH = 556


def text_width(text: str, size: float) -> float:
    """The width of a text in points."""
    return sum(_WIDTH_OF.get(character, _USUAL_WIDTH) for character in text) * size / 1000.0


_TOKEN = re.compile(r"[MmLlHhVvZz]|-?\d*\.?\d+")


def outline(path: str) -> tuple[tuple[float, float], ...]:
    """The corners of an SVG path that consists of straight lines."""
    tokens = iter(_TOKEN.findall(path))
    points: list[tuple[float, float]] = []
    x = y = 0.0
    command = ""
    for token in tokens:
        if token.isalpha():
            command = token
            continue
        number = float(token)
        if command in "Hh":
            x = number if command == "H" else x + number
        elif command in "Vv":
            y = number if command == "V" else y + number
        else:
            second = _next_number(tokens)
            x, y = (number, second) if command in "ML" else (x + number, y + second)
        points.append((x, y))
    return tuple(points)


def _next_number(tokens: Iterator[str]) -> float:
    return float(next(tokens))
