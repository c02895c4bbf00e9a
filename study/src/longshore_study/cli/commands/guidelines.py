"""`longshore guidelines`: checks rules between the variants of one tag."""

import argparse
from functools import partial

from longshore_study.base.errors import UsageError
from longshore_study.cli.result_output import print_result
from longshore_study.compare.guideline_check import check
from longshore_study.output import guideline_table
from longshore_study.store import selection
from longshore_study.store.launch_store import Store
from longshore_study.study_file import reader

EXAMPLES = """\
examples:
  longshore guidelines new
  longshore guidelines new --json
  longshore guidelines new --file study.toml      with the current [[guideline]] tables of this file

A guideline says that some variants are not slower than others. A few come with longshore: for example, persistent
requests are not slower than Isend and Irecv. Study files add others in [[guideline]] tables.

exit status: 0 all hold, 1 one is broken, 2 something is inconclusive or untestable, 3 data is missing, 64 usage
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("tag", metavar="TAG", help="a tag, or a study")
    parser.add_argument("--study", help="only this study of the tag")
    parser.add_argument(
        "--file", metavar="STUDY.toml", help="also its [[guideline]] tables, which may be newer than the run"
    )


def run(args: argparse.Namespace) -> int:
    side = selection.sides(Store(args.store), [args.tag], args.study)[0]
    more = reader.load(args.file).guidelines if args.file else ()
    if args.file and not more:
        raise UsageError(
            f"{args.file} has no [[guideline]] table; add one to state which variants are not slower than others"
        )
    findings = check(side, more=more)
    document, render = partial(guideline_table.document, findings), partial(guideline_table.render, findings)
    return print_result(args, document, render, findings.exit_status)
