"""Tables, numbers and words for the terminal. Terminals get colours and box lines, logs get aligned
plain text. A verdict is always a word, never a colour alone.
"""

import math
import os
import shutil
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TextIO

STYLES = {
    "regressed": "bold red",
    "broken": "bold red",
    "failed": "bold red",
    "invalid?": "bold magenta",
    "invalid": "bold magenta",
    "missing": "bold yellow",
    "inconclusive": "yellow",
    "untestable": "yellow",
    "improved": "bold green",
    "same": "green",
    "holds": "green",
    "best": "bold",
}

_LONGEST_UNBROKEN = 24


def number(value: float | None) -> str:
    """Three to five significant digits without an exponent. `-` stands for None."""
    if value is None:
        return "-"
    magnitude = abs(value)
    if magnitude != 0 and not 1e-3 <= magnitude < 1e7:
        return significant(value, 4)
    for lower_limit, decimals in ((1000.0, 0), (100.0, 1), (0.1, 3), (0.01, 4)):
        if magnitude >= lower_limit:
            return f"{value:.{decimals}f}"
    return f"{value:.5f}" if value else "0"


def significant(value: float, digits: int) -> str:
    """`digits` significant digits: 0.52, 3.1, 310. Below 1e-9 and from 1e15 with an exponent."""
    rounded = float(f"{value:.{digits - 1}e}")
    if not 1e-9 <= abs(rounded) < 1e15:
        return f"{rounded:.{digits}g}"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(rounded))))
    text = f"{rounded:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def percent(share: float) -> str:
    """`3.1 %` of 0.031, `310 %` of 3.1."""
    return f"{significant(100.0 * share, 2)} %"


def ratio_text(value: float | None) -> str:
    """Three decimals, or four significant digits from 10. `-` stands for None."""
    if value is None:
        return "-"
    return f"{value:.3f}" if value < 10 else significant(value, 4)


def interval(bounds: Sequence[float] | None) -> str:
    return "-" if bounds is None else f"{ratio_text(bounds[0])} to {ratio_text(bounds[1])}"


def times(value: float) -> str:
    """A ratio of goodness in words: 0.057 is `17.5 times slower`, 1.03 is `3 % faster`."""
    word, factor = ("faster", value) if value >= 1.0 else ("slower", 1.0 / value)
    if factor >= 1.5:
        return f"{significant(factor, 3)} times {word}"
    return f"{percent(factor - 1.0)} {word}"


def count(amount: int, noun: str) -> str:
    """`1 launch`, `2 launches`."""
    if amount == 1:
        return f"1 {noun}"
    return f"{amount} {noun}{'es' if noun.endswith(('ch', 's')) else 's'}"


def factor(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return "x".join(factor(item) for item in value)
    if isinstance(value, Mapping):
        return " ".join(f"no {k}" if v is None else f"{k}={factor(v)}" for k, v in value.items()) or "{}"
    if isinstance(value, float):
        return significant(value, 6)
    return "-" if value is None else str(value)


def factors(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {factor(value)}" for name, value in values.items())


def varying(rows: Sequence[Mapping[str, Any]]) -> tuple[dict[str, Any], list[str]]:
    """The factors that all rows share, and the names of the others in order of first appearance."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    shared = {
        name: rows[0][name] for name in names if all(name in row and row[name] == rows[0].get(name) for row in rows)
    }
    return shared, [name for name in names if name not in shared]


def side(study: str, tag: str) -> str:
    """The label of a study's tag. A tag with the name of its study is named once."""
    return study if study == tag else f"{study}, tag {tag}"


def chosen(values: Mapping[str, Any]) -> dict[str, Any]:
    """The factors without those whose level is an empty environment, an empty text or None."""
    return {name: value for name, value in values.items() if value not in ({}, "", None)}


def shared_factors(shared: Mapping[str, Any]) -> str:
    """The shared factors in parentheses, to end the title of a table."""
    text = factors(chosen(shared))
    return f" ({text})" if text else ""


def options(names: Iterable[str]) -> list[str]:
    """Names of factors as the command line writes them."""
    return [name.replace("_", "-") for name in names]


def levels(values: Mapping[str, Any], names: Iterable[str]) -> list[str]:
    """The levels of these factors as texts of a table. A factor that the row lacks gives ""."""
    return [factor(values[name]) if name in values else "" for name in names]


def wants_color() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def print_table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    right: Iterable[str] = (),
    styles: Sequence[str | None] | None = None,
) -> None:
    """Prints a table. `right`: columns to align right. `styles`: of each row, from STYLES."""
    kept = [list(row) for row in rows]
    aligned = set(right)
    if not sys.stdout.isatty():
        _print_plain(title, columns, kept, aligned)
        return
    from rich.box import SIMPLE_HEAD  # noqa: PLC0415 - takes 70 ms, which logs and JSON do not need
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    colored = wants_color()
    width = shutil.get_terminal_size().columns
    console = Console(width=width, no_color=not colored, highlight=False, emoji=False)
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0))
    for index, name in enumerate(columns):
        # Users copy the first column, the name of the row, so wrap other columns first.
        least = min(_LONGEST_UNBROKEN, max((len(row[0]) for row in kept), default=0)) if index == 0 else None
        table.add_column(Text(name), justify="right" if name in aligned else "left", overflow="fold", min_width=least)
    for index, row in enumerate(kept):
        style = STYLES.get((styles[index] if styles else None) or "", "")
        table.add_row(*(Text(text) for text in row), style=style if colored else "")
    console.print(Text(title, style="bold"))
    console.print(table)


def _print_plain(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[str]) -> None:
    """Prints columns that spaces align and that never wrap, for logs, pipes and `column`."""
    widths = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
    print(title)
    for row in (columns, *rows):
        cells = (
            text.rjust(width) if name in right else text.ljust(width)
            for text, width, name in zip(row, widths, columns, strict=True)
        )
        print("  ".join(cells).rstrip())


def print_line(text: str = "", style: str | None = None) -> None:
    """Prints one line, in colour if stdout is a terminal with colours."""
    if style is None or not wants_color():
        print(text)
        return
    from rich.console import Console  # noqa: PLC0415 - see print_table
    from rich.text import Text  # noqa: PLC0415

    Console(highlight=False, emoji=False).print(Text(text, style=STYLES.get(style, style)), soft_wrap=True)


def print_unless_closed(text: str, stream: TextIO) -> None:
    """Prints a line. Ignores the error if the reader of a pipe (`| head`) is gone."""
    try:
        print(text, file=stream, flush=True)
    except OSError:
        with suppress(OSError, ValueError):
            abandon(stream)


def abandon(stream: TextIO) -> None:
    """Sends what a broken stream still holds to /dev/null; else Python ends with status 120."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
