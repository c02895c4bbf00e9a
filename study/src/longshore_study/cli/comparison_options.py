"""The options of commands that compare two sides: `compare` and `attribute`."""

from __future__ import annotations

import argparse

from longshore_study.base import expression
from longshore_study.compare.comparison import CompareOptions, parse_margin


def add_comparison_options(parser: argparse.ArgumentParser, *, one_side: bool = False) -> None:
    """With `one_side`, the new side may be missing."""
    parser.add_argument("reference", metavar="REF", help="a tag, or a study")
    parser.add_argument("new", metavar="NEW", nargs="?" if one_side else None, help="a tag, or a study")
    parser.add_argument("--study", help="only this study of the tags")
    parser.add_argument(
        "--margin",
        metavar="M",
        type=parse_margin,
        help="ignore differences below it: 5%% or 0.05 (default: the study's)",
    )
    parser.add_argument(
        "--where", metavar="CONDITION", type=expression.parse, help="only rows that meet it, such as 'nodes > 1'"
    )
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
