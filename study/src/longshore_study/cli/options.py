"""Options and arguments that several commands have."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from longshore_study.base import expression
from longshore_study.base.errors import UsageError
from longshore_study.compare.comparison import CompareOptions, parse_margin


def add_names(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", metavar="NAME", nargs="*", help="tags or studies (default: all that is stored)")


def add_where(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--where", metavar="CONDITION", type=expression.parse, help="only rows that meet it, such as 'nodes > 1'"
    )


def add_metric(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--metric", action="append", default=[], metavar="NAME", help="also this figure; 'all' for all figures"
    )


def add_margin(
    parser: argparse.ArgumentParser,
    text: str = "ignore differences below it: 5%% or 0.05",
    default: float | None = None,
) -> None:
    parser.add_argument("--margin", metavar="M", type=parse_margin, default=default, help=text)


def add_output(parser: argparse.ArgumentParser, text: str, default: Path | None = None) -> None:
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, default=default, help=text)


def add_comparison(parser: argparse.ArgumentParser, *, one_side: bool = False) -> None:
    """The options of a comparison of two sides. With `one_side`, the new side may be missing."""
    parser.add_argument("reference", metavar="REF", help="a tag, or a study")
    parser.add_argument("new", metavar="NEW", nargs="?" if one_side else None, help="a tag, or a study")
    parser.add_argument("--study", help="only this study of the tags")
    add_margin(parser, "ignore differences below it: 5%% or 0.05 (default: the study's)")
    add_where(parser)
    parser.add_argument(
        "--ignore", action="append", default=[], metavar="FACTOR", help="merge rows that differ only in this factor"
    )
    parser.add_argument(
        "--noise-of",
        metavar="CONDITION",
        type=expression.parse,
        help="take the noise of each launch from its rows that meet this condition, such as \"mode == 'channel'\", "
        "instead of from the noise probe; choose rows that the two states cannot change",
    )


def comparison_options(args: argparse.Namespace, metrics: tuple[str, ...] = ()) -> CompareOptions:
    return CompareOptions(
        margin=args.margin, where=args.where, metrics=metrics, ignore=tuple(args.ignore), noise_of=args.noise_of
    )


def from_1(option: str) -> Callable[[str], int]:
    """Reads the value of an option: a whole number from 1. Its errors name the option."""

    def read(text: str) -> int:
        if not text.isdecimal() or int(text) < 1:
            raise UsageError(f"{option} must be a whole number, at least 1, not {text}")
        return int(text)

    return read


def of_file(output: Path | None, asked: str | None, endings: Mapping[str, Sequence[str]], otherwise: str) -> str | None:
    """The format of `output`. `asked` is the format that the user gave, or None. `endings` has the
    formats of each suffix, the usual format first.

    If there is no file, or its name has no suffix, the result is `asked`. A file with an unknown
    suffix needs `asked`; `otherwise` is the advice of the error. Raises UsageError if the suffix
    contradicts `asked`.
    """
    if output is None or not output.suffix:
        return asked
    formats = endings.get(output.suffix.lower())
    if formats is None and asked is None:
        raise UsageError(
            f"{output}: no format is written to files that end in '{output.suffix}'. Those that tell their format: "
            f"{', '.join(endings)}; {otherwise}"
        )
    if formats and asked not in (None, *formats):
        raise UsageError(
            f"{output}: a file that ends in '{output.suffix}' is {' or '.join(formats)}, and not {asked}; "
            "leave --format out, or name the file otherwise"
        )
    return asked or (formats[0] if formats else None)
