"""`longshore report`: writes one HTML file with all results, for readers who ran nothing."""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from longshore_study.analyses import history
from longshore_study.attribution import association
from longshore_study.base.errors import LongshoreError, UsageError, require_known, suggestion
from longshore_study.base.expression import Expression
from longshore_study.base.groups import grouped
from longshore_study.base.json_values import attributes
from longshore_study.cli.options import add_margin, add_output, add_where, of_file
from longshore_study.cli.result_output import print_result, write_file
from longshore_study.compare.comparison import CompareOptions, Comparison, compare
from longshore_study.compare.guideline_check import GuidelineRow, check
from longshore_study.metrics.launch_metrics import main_metric
from longshore_study.metrics.variant_results import factors_of
from longshore_study.patterns import CONTROL
from longshore_study.report.best_choice_table import solo_sentence
from longshore_study.report.facts import Facts, gather_facts
from longshore_study.report.page import build_page, sections_of
from longshore_study.store import selection
from longshore_study.store.hosts import on_hosts
from longshore_study.store.launch_store import Launch, Store
from longshore_study.store.records import Record
from longshore_study.store.selection import Side
from longshore_study.study_file import events

ENDINGS = {".html": ("html",), ".htm": ("html",)}
EXAMPLES = """\
examples:
  longshore report                                    all stored results
  longshore report quick -o quick.html                one study
  longshore report --compare reference new            two tags, judged
  longshore report quick --where 'nodes > 1'          only these rows

  longshore report --compare reference new --figures
  longshore report --compare reference new --figure NAME -o figure.pdf

The file contains its plots, data and style, and needs no network. It can be mailed and printed.

exit status: 0 written (whatever the verdict), 3 nothing to report, 64 usage
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("studies", metavar="STUDY", nargs="*", help="only these studies (default: all)")
    parser.add_argument("--compare", nargs=2, metavar=("REF", "NEW"), help="judge one tag, or study, against another")
    add_margin(parser)
    add_where(parser)
    add_output(parser, "default: report.html; for a plot NAME.svg, or a .pdf")
    parser.add_argument("--figures", action="store_true", help="list the names of the plots in the report")
    parser.add_argument("--figure", metavar="NAME", help="write one plot for a paper, as SVG or PDF")


def run(args: argparse.Namespace) -> int:
    store = Store(args.store)
    if args.margin is not None and not args.compare:
        raise UsageError("--margin needs a comparison: --compare REF NEW")
    if not (args.figures or args.figure):
        of_file(args.output, None, ENDINGS, "--figure NAME writes one plot as .svg or .pdf")
    sides = _selected((_compared if args.compare else _described)(store, args), args.where)
    compared = compare(sides[0], sides[1], CompareOptions(margin=args.margin)) if args.compare else None
    facts = facts_of(store, sides, compared)
    if args.figures or args.figure:
        return _figures(args, facts)
    args.output = args.output or Path("report.html")
    page = build_page(facts).encode("utf-8", "replace")
    write_file(args.output, page)
    verdict = facts.comparison.verdict if facts.comparison else None
    document = {"schema": 1, "file": str(args.output), "bytes": len(page), "sides": [*facts.sides], "verdict": verdict}
    return print_result(args, lambda: document, lambda: print(f"{args.output}: {verdict or solo_sentence(facts)}"))


def _figures(args: argparse.Namespace, facts: Facts) -> int:
    """Lists the plots of the page, or writes one of them to a file."""
    from longshore_study.report.paper_plots import paper_plots  # noqa: PLC0415 - only for plots

    plots = {plot.name: plot for plot in paper_plots(sections_of(facts))}
    if args.figure is None:
        listed = [attributes(plot, "name title") for plot in plots.values()]
        lines = [f"{plot.name}    {plot.title}" for plot in plots.values()]
        return print_result(args, lambda: {"schema": 1, "figures": listed}, lambda: print(*lines, sep="\n"))
    if args.figure not in plots:
        raise UsageError(
            f"there is no plot '{args.figure}'{suggestion(args.figure, plots)} ('longshore report --figures' lists "
            f"all {len(plots)})"
        )
    output = args.output or Path(f"{args.figure}.svg")
    file_format = output.suffix.lower().removeprefix(".")
    if file_format not in ("svg", "pdf"):
        raise UsageError(f"{output}: a plot is written as .svg or .pdf; change the suffix")
    try:
        from longshore_study.report.paper_figure import file_content  # noqa: PLC0415 - imports matplotlib
    except ImportError:
        raise LongshoreError("a plot for a paper needs the package matplotlib: pip install 'study/[figures]'") from None
    write_file(output, file_content(plots[args.figure], file_format))
    document = {"schema": 1, "figure": args.figure, "file": str(output)}
    return print_result(args, lambda: document, lambda: print(f"{output}: {plots[args.figure].title}"))


def _compared(store: Store, args: argparse.Namespace) -> list[Side]:
    studies = args.studies
    sides = selection.sides(store, args.compare, studies[0] if len(studies) == 1 else None)
    if len(studies) > 1:
        _require_studies(store, studies)
        sides = [replace(side, launches=[x for x in side.launches if x.study in studies]) for side in sides]
    return sides


def _described(store: Store, args: argparse.Namespace) -> list[Side]:
    """The sides without a comparison: every tag is one."""
    studies = args.studies
    _require_studies(store, studies)
    chosen = {(study, tag): None for study, tag, _ in selection.stored_names(store) if not studies or study in studies}
    return [
        Side(tag, [launch for study, _ in of_tag for launch in store.launches(study, tag)])
        for tag, of_tag in grouped(chosen, lambda pair: pair[1]).items()
    ]


def _require_studies(store: Store, studies: list[str]) -> None:
    known = {study for study, _, _ in selection.stored_names(store)}
    for study in studies:
        require_known(study, known, "study")


def _selected(sides: list[Side], where: Expression | None) -> list[Side]:
    """The sides with only the results that meet the condition. Results of control cells stay,
    because they show the state of the machine. Failed launches have no results to select."""
    if where is None:
        return sides
    kept, where = on_hosts([side.launches for side in sides], where)
    rows = [(one, result) for launches in kept for one in launches for result in one.results]
    chosen = {id(result) for _, result in rows}
    if where is not None:
        measured = [row for row in rows if row[1]["pattern"] != CONTROL]
        chosen -= {id(result) for _, result in measured}
        chosen |= {id(result) for _, result in where.select(measured, _factors)}
    selected = []
    for side, launches in zip(sides, kept, strict=True):
        found = [replace(one, results=[row for row in one.results if id(row) in chosen]) for one in launches]
        selected.append(replace(side, launches=[one for one in found if one.results]))
    return selected


def _factors(row: tuple[Launch, Record]) -> dict[str, Any]:
    launch, result = row
    metric = main_metric(result["pattern"], result["variant"], result.get("metrics") or {})
    names = {"study": launch.study, "tag": launch.tag, "metric": metric, "pattern": result["pattern"]}
    return names | factors_of(launch, result)


def facts_of(store: Store, sides: list[Side], compared: Comparison | None) -> Facts:
    """The facts of these sides. With their comparison, guidelines are checked on the new side only,
    because readers act on this side."""
    return gather_facts(
        sides, compared, _guidelines(sides[1:] if compared else sides),
        attribution=association.attribute(compared) if compared else None,
        past=history.build(
            [launch for side in sides for launch in side.launches], events.of_store(store.path),
            tags=[side.name for side in sides], margin=compared.margin if compared else None,
        ),
    )  # fmt: skip


def _guidelines(sides: list[Side]) -> dict[str, list[GuidelineRow]]:
    checked = {}
    for side in sides:
        try:
            rows = check(side).rows
        except LongshoreError:
            continue  # the side has no usable results, as the page says elsewhere
        if rows:
            checked[side.name] = rows
    return checked
