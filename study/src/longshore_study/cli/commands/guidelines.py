"""`longshore guidelines`: checks rules that hold on any machine on one tag, without history."""

from __future__ import annotations

import argparse
import json

from longshore_study.base import terminal
from longshore_study.base.errors import UsageError
from longshore_study.compare import guidelines
from longshore_study.compare.estimate import ratio
from longshore_study.compare.guidelines import BROKEN, Findings, Row
from longshore_study.metrics.launch_metrics import unit_of_whom
from longshore_study.store import selection
from longshore_study.store.launch_store import Store
from longshore_study.study_file import reader

EXAMPLES = """\
examples:
  longshore guidelines new
  longshore guidelines new --json
  longshore guidelines new --file study.toml      with the current [[guideline]] tables of this file

Guidelines come with longshore (persistent requests are not slower than Isend and Irecv, and a few more) and from the
[[guideline]] tables of study files.

exit status: 0 all hold, 1 one is broken, 2 something is inconclusive or untestable, 3 data is missing, 64 usage
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    parser.add_argument("tag", metavar="TAG", help="a tag, or a study")
    parser.add_argument("--study", help="only this study of the tag")
    parser.add_argument(
        "--file", metavar="STUDY.toml", help="also its [[guideline]] tables, which may be newer than the run"
    )


def run(args: argparse.Namespace) -> int:
    side = selection.sides(Store(args.store), [args.tag], args.study)[0]
    findings = guidelines.check(side, more=_of_file(args.file) if args.file else ())
    if args.json:
        print(json.dumps(guidelines.document(findings), indent=1, ensure_ascii=False))
    else:
        _print(findings)
    return findings.exit_status


def _of_file(path: str) -> list[guidelines.Guideline]:
    study = reader.load(path)
    if not study.guidelines:
        raise UsageError(
            f"{path} has no [[guideline]] table; add one to state which variants are not slower than others"
        )
    return guidelines.of_study(study)


def _print(findings: Findings) -> None:
    if not findings.rows:
        print(f"no guideline applies to the variants that '{findings.side.name}' has measured")
    for row in findings.rows:
        terminal.print_line(sentence(row), row.verdict)
        if row.verdict == BROKEN and row.guideline.why:
            print(f"    {row.guideline.why}")
        for warning in row.warnings:
            print(f"    warning: {warning}")
    if findings.rows:
        print(f"figures: {guidelines.STATISTIC}")
    for problem in findings.problems:
        print(f"warning: {problem}")


def sentence(row: Row) -> str:
    """`broken: halo mode persistent is 31 times slower than mode waitall (401 against 12095 MiB/s;
    ...)`."""
    faster, than = (terminal.factors(variant) for variant in (row.guideline.faster, row.guideline.than))
    unit = unit_of_whom(row.pattern, row.metric, row.unit)
    values = f"{terminal.number(row.values[0])} against {terminal.number(row.values[1])} {unit}"
    bounds = ""
    if row.interval is not None:
        low, high = (terminal.times(ratio(bound, "higher")) for bound in row.interval)
        bounds = f"; 95 % interval {low} to {high}"
    how = terminal.times(ratio(row.effect.difference, "higher"))
    where = terminal.factors(terminal.chosen(row.context))
    return f"{row.verdict}: {row.pattern} {faster} is {how} than {than} ({values}{bounds}; {where})"
