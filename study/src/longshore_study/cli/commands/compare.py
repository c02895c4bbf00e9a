"""`longshore compare`: judges a tag or study against another, or the levels of a factor."""

import argparse
from functools import partial

from longshore_study.base.errors import UsageError, require_known
from longshore_study.cli.options import add_comparison, add_metric, comparison_options
from longshore_study.cli.result_output import print_result
from longshore_study.compare.comparison import Comparison, compare
from longshore_study.compare.factor_levels import FactorComparison, compare_levels
from longshore_study.compare.pairing import known_factors
from longshore_study.output import compare_document, compare_table
from longshore_study.output.level_table import render_levels
from longshore_study.store import selection
from longshore_study.store.launch_store import Store

EXAMPLES = """\
examples:
  longshore compare reference new
  longshore compare reference new --where 'nodes > 1' --margin 3%
  longshore compare reference new --where "host != 'n3'"        only launches that did not run on n3
  longshore compare before after --row mode --col ranks
  longshore compare study --factor transport                          each transport with the first
  longshore compare study --factor OMPI_MCA_btl --baseline vader,self  a variable of the environment

The two figures are geometric means over sessions. The ratio is new / reference. If the common shift or noise was
removed from the ratio, the line under the table says so. Sessions with the same name are pairs. 'regressed': the
slowdown is significantly larger than the margin (95 %). 'same': a difference larger than the margin is ruled out.
'untestable': with one session per side, the spread of sessions is unknown.

exit status: 0 fine, 1 regressed, 2 inconclusive or untestable, 3 invalid or missing data, 64 usage
"""


def configure(parser: argparse.ArgumentParser) -> None:
    add_comparison(parser, one_side=True)
    parser.add_argument(
        "--factor", metavar="NAME", help="compare the levels of this factor, or variable of the environment, of REF"
    )
    parser.add_argument("--baseline", metavar="LEVEL", help="with --factor: the reference (default: the first level)")
    add_metric(parser)
    parser.add_argument("--row", metavar="FACTOR", help="print a table of ratios with a row per level of this factor")
    parser.add_argument(
        "--col", metavar="FACTOR", help="print a table of ratios with a column per level of this factor"
    )


def run(args: argparse.Namespace) -> int:
    options = comparison_options(args, metrics=tuple(args.metric))
    if args.new is None and args.factor is None:
        raise UsageError("the following arguments are required: NEW, or --factor NAME for the levels of a factor")
    if args.factor is None and args.baseline is not None:
        raise UsageError("--baseline is a level of a factor: add --factor NAME")
    if args.factor is not None and args.new is not None:
        raise UsageError(f"--factor compares levels within '{args.reference}': remove '{args.new}' or --factor")
    if args.factor is not None:
        [side] = selection.sides(Store(args.store), [args.reference], args.study)
        levels = compare_levels(side, args.factor, args.baseline, options)
        document = partial(compare_document.document_of_levels, levels)
        return print_result(args, document, lambda: _print_levels(levels, args), levels.exit_status)
    reference, new = selection.sides(Store(args.store), [args.reference, args.new], args.study)
    comparison = compare(reference, new, options)
    document = partial(compare_document.document, comparison)
    return print_result(args, document, lambda: _print(comparison, args), comparison.exit_status)


def _print_levels(levels: FactorComparison, args: argparse.Namespace) -> None:
    if len(levels.comparisons) > 1 and not (args.verbose or args.row or args.col):
        render_levels(levels)
        return
    for comparison in levels.comparisons:
        _print(comparison, args)


def _print(comparison: Comparison, args: argparse.Namespace) -> None:
    for name in filter(None, (args.row, args.col)):
        require_known(name, (factor for row in comparison.rows for factor in known_factors(row.key)), "factor")
    if args.row or args.col:
        compare_table.render_pivot(comparison, args.row, args.col, verbose=args.verbose)
    else:
        compare_table.render(comparison, verbose=args.verbose)
