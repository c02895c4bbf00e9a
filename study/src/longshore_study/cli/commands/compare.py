"""`longshore compare`: compares two tags or studies, with one verdict per row and an exit
status."""

from __future__ import annotations

import argparse
import json
import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from longshore_study.base import expression, terminal
from longshore_study.base.errors import UsageError, suggestion
from longshore_study.compare import judgement
from longshore_study.compare.differences import differences, in_words
from longshore_study.compare.estimate import PLAIN, STATISTIC, ratio
from longshore_study.compare.judgement import Comparison
from longshore_study.compare.pairing import Row, known_factors
from longshore_study.compare.row_document import row_document
from longshore_study.metrics.launch_metrics import unit_of_whom
from longshore_study.stats import verdict
from longshore_study.store import selection
from longshore_study.store.launch_store import Store

_MOST_DIFFERENCES = 12
_FILE = re.compile(r"\S+\.jsonl(:\d+)?: ")  # the file of a launch, before its problem

EXAMPLES = """\
examples:
  longshore compare reference new
  longshore compare reference new --where 'nodes > 1' --margin 3%
  longshore compare before after --row mode --col ranks

The two values are geometric means. The ratio is new / reference of the metric, after removing the common shift and the
effect of the noise probe where they apply; a line under each table tells. Sessions with the same name are pairs.
'regressed': the slowdown is significantly larger than the margin (95 %). 'same': a difference larger than the margin is
ruled out. 'untestable': with one session per side, the spread of sessions is unknown.

exit status: 0 fine, 1 regressed, 2 inconclusive or untestable, 3 invalid or missing data, 64 usage
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    parser.add_argument("reference", metavar="REF", help="a tag, or a study")
    parser.add_argument("new", metavar="NEW", help="a tag, or a study")
    parser.add_argument("--study", help="only this study of the two tags")
    parser.add_argument("--margin", metavar="M", help="ignore differences below it: 5%% or 0.05 (default: the study's)")
    parser.add_argument("--where", metavar="CONDITION", help="only rows that meet it, such as 'nodes > 1'")
    parser.add_argument(
        "--metric", action="append", default=[], metavar="NAME", help="also this metric; 'all' for all metrics"
    )
    parser.add_argument(
        "--ignore", action="append", default=[], metavar="FACTOR", help="merge rows that differ only in this factor"
    )
    parser.add_argument("--row", metavar="FACTOR", help="print a table of ratios with a row per level of this factor")
    parser.add_argument(
        "--col", metavar="FACTOR", help="print a table of ratios with a column per level of this factor"
    )


def run(args: argparse.Namespace) -> int:
    options = judgement.Options(
        margin=judgement.parse_margin(args.margin) if args.margin is not None else None,
        where=expression.parse(args.where) if args.where is not None else None,
        metrics=tuple(args.metric),
        ignore=tuple(args.ignore),
    )
    reference, new = selection.sides(Store(args.store), [args.reference, args.new], args.study)
    comparison = judgement.compare(reference, new, options)
    for name in (args.row, args.col):
        _require_factor(name, comparison)
    if args.json:
        print(json.dumps(judgement.document(comparison), indent=1, ensure_ascii=False))
    elif args.row or args.col:
        _print_pivot(comparison, args.row, args.col)
        _print_summary(comparison, verbose=args.verbose)
    else:
        _print_rows(comparison)
        _print_summary(comparison, verbose=args.verbose)
    return comparison.exit_status


def _require_factor(name: str | None, comparison: Comparison) -> None:
    known = sorted({factor for row in comparison.rows for factor in known_factors(row.key)})
    if name is not None and name not in known:
        raise UsageError(f"unknown factor '{name}'{suggestion(name, known)} (known: {', '.join(known)})")


def _print_rows(comparison: Comparison) -> None:
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in comparison.rows:
        groups[row.key.pattern, row.key.metric].append(row)
    for (pattern, metric), rows in groups.items():
        described = [{"study": row.key.study, **row.key.cell, **row.key.variant} for row in rows]
        shared, names = terminal.varying(described)
        documents = [row_document(row) for row in rows]
        unit = unit_of_whom(pattern, metric, next((d["unit"] for d in documents if d["unit"]), ""))
        title = f"{pattern}: {metric} in {unit}{terminal.shared_factors(shared)}"
        differing = any(_differs_from_raw(d) for d in documents)
        columns = [*names, comparison.reference.name, comparison.new.name, *(["raw ratio"] if differing else [])]
        columns += ["ratio", "95 % interval", "verdict"]
        body = [
            [
                *(terminal.factor(factors.get(name)) for name in names),
                terminal.number(d["reference"]), terminal.number(d["new"]),
                *([terminal.ratio((d["raw"] or {}).get("ratio"))] if differing else []),
                terminal.ratio(d["ratio"]), terminal.interval(d["interval"]), _verdict(d),
            ]
            for factors, d in zip(described, documents, strict=True)
        ]  # fmt: skip
        terminal.print_table(title, columns, body, right=columns[len(names) : -2], styles=[row.verdict for row in rows])
        print(_legend(rows))
        _print_warnings(rows, names)
        print()


def _differs_from_raw(document: dict[str, Any]) -> bool:
    """Compares the printed texts, so that a difference hidden by rounding needs no column."""
    raw = document["raw"]
    return raw is not None and terminal.ratio(raw["ratio"]) != terminal.ratio(document["ratio"])


def _legend(rows: Sequence[Row]) -> str:
    """The line under a table that explains its values and ratios."""
    kinds = list(dict.fromkeys(row.estimate.kind for row in rows if row.estimate))
    ratio_text = f"ratio: {' or '.join(kinds)}" if kinds else "no ratio"
    raw = f"; raw ratio: {PLAIN}" if any(row.estimate and row.estimate.taken_out for row in rows) else ""
    return f"figures: {STATISTIC}; {ratio_text}{raw}"


def _verdict(document: dict[str, Any]) -> str:
    """The verdict. An inconclusive one comes with the smallest slowdown that could be detected."""
    if document["verdict"] != verdict.INCONCLUSIVE or "smallest_slowdown" not in document:
        return str(document["verdict"])
    smallest = document["smallest_slowdown"]
    found = terminal.percent(smallest) if smallest < 1 else f"{terminal.significant(1 + smallest, 2)} times"
    return f"{document['verdict']} (would find {found})"


def _print_warnings(rows: list[Row], names: list[str]) -> None:
    grouped: dict[str, list[str]] = defaultdict(list)
    first: dict[str, str] = {}  # the first warning of each kind: warnings of one kind differ in their files
    for row in rows:
        factors = {"study": row.key.study, **row.key.cell, **row.key.variant}
        label = " ".join(terminal.factor(factors[name]) for name in names if name in factors)
        for warning in row.warnings:
            kind = _FILE.sub("", warning)
            first.setdefault(kind, warning)
            grouped[kind].append(label)
    for kind, labels in grouped.items():
        warning = first[kind]
        which = "all rows" if len(labels) == len(rows) else ", ".join(labels[:4]) + (" ..." if len(labels) > 4 else "")
        print(f"warning: {which}: {warning}")


def _print_pivot(comparison: Comparison, down: str | None, across: str | None) -> None:
    """A table of ratios by two factors. A cell with several rows shows the gravest one and their
    number."""
    cells: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in comparison.rows:
        factors = known_factors(row.key)
        cells[_level(factors, down), _level(factors, across)].append(row)
    lines = list(dict.fromkeys(line for line, _ in cells))
    columns = list(dict.fromkeys(column for _, column in cells))
    body = [[line, *(_cell(cells.get((line, column), [])) for column in columns)] for line in lines]
    title = f"{comparison.new.name} / {comparison.reference.name}" + (f" by {across} across" if across else "")
    terminal.print_table(title, [down or "", *columns], body)
    print(_legend(comparison.rows))
    print()


def _level(factors: dict[str, Any], name: str | None) -> str:
    return terminal.factor(factors.get(name)) if name else "all"


def _cell(rows: list[Row]) -> str:
    if not rows:
        return ""
    gravest = min(rows, key=lambda row: verdict.VERDICTS.index(row.verdict))
    shown = terminal.ratio(row_document(gravest)["ratio"])
    more = f" (gravest of {len(rows)})" if len(rows) > 1 else ""
    return f"{shown} {gravest.verdict}{more}"


def _grouped(problems: Sequence[str]) -> list[str]:
    """Merges launches that failed in the same way into one line with the first file."""
    alike: dict[str, list[str]] = {}
    for problem in problems:
        alike.setdefault(_FILE.sub("", problem), []).append(problem)
    return [
        members[0] if len(members) == 1 else f"{members[0]}; and {terminal.count(len(members) - 1, 'launch')} alike"
        for members in alike.values()
    ]


def _print_differences(comparison: Comparison, *, everything: bool) -> None:
    """Prints other differences between the two sides, which may be the cause."""
    found = differences(comparison.reference, comparison.new)
    if not found:
        return
    most = len(found) if everything else _MOST_DIFFERENCES
    print("other recorded differences between the sides:")
    for one in found[:most]:
        print(f"  {one.name}: {in_words(one.reference)} -> {in_words(one.new)}")
    if len(found) > most:
        print(f"  and {len(found) - most} more (-v lists them)")


def _print_summary(comparison: Comparison, *, verbose: bool) -> None:
    shift = comparison.shift
    if shift.measured is not None:
        document = shift.document()
        how = terminal.times(document["ratio"])
        size = f"{terminal.ratio(document['ratio'])}, 95 % interval {terminal.interval(document['interval'])}"
        print(f"common shift: {how} (ratio of speed {size}); {shift.reason}")
    if explained := comparison.pulse_explained:
        rows = terminal.count(len(explained), "row")
        most = f"{100 * explained[0]:.0f} to {100 * explained[-1]:.0f} %"
        print(f"noise probe: removed from {rows}; it was {most} of the variance between launches")
    for problem in _grouped(comparison.problems):
        print(f"warning: {problem}")
    _print_differences(comparison, everything=verbose)
    counts = [
        f"{sum(row.verdict == name for row in comparison.rows)} {name}"
        for name in verdict.VERDICTS
        if any(row.verdict == name for row in comparison.rows)
    ]
    word = comparison.verdict
    terminal.print_line(
        f"{comparison.new.name} against {comparison.reference.name}: {word} ({', '.join(counts)};"
        f" margin {100 * comparison.margin:g} %)",
        word,
    )
    regressed = (row for row in comparison.rows if row.verdict == verdict.REGRESSED)
    worst = [(row.estimate.difference, row) for row in regressed if row.estimate]
    if worst:
        difference, row = min(worst, key=lambda one: one[0])
        how = terminal.times(ratio(difference, "higher"))
        print(f"worst: {row.key.pattern} {terminal.factors(row.key.variant)} is {how}")
