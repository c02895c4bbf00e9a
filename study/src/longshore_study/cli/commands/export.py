"""`longshore export`: writes results, a comparison or a run report for other tools and papers."""

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from longshore_study.base.errors import EXIT_INVALID, EXIT_OK, UsageError
from longshore_study.base.expression import Expression
from longshore_study.cli.options import add_margin, add_names, add_output, add_where, of_file
from longshore_study.cli.result_output import write_file
from longshore_study.compare.comparison import CompareOptions, compare
from longshore_study.compare.estimate import PLAIN
from longshore_study.compare.pairing import known_factors
from longshore_study.metrics import variant_rows
from longshore_study.metrics.launch_metrics import Figure, Measurements, measure, unit_of_whom
from longshore_study.output import export_tables
from longshore_study.patterns import CONTROL
from longshore_study.store import selection
from longshore_study.store.hosts import on_hosts
from longshore_study.store.launch_store import Launch, Store

EXAMPLES = """\
examples:
  longshore export > figures.csv
  longshore export new -o figures.jsonl                        the suffix of the file determines the format
  longshore export --samples > repetitions.csv
  longshore export new -o figures.parquet
  longshore export new -o table.tex                            a row per variant
  longshore export new --for paper --row mode --col ranks      medians with intervals, in LaTeX
  longshore export new --where "ranks == 4" -o figures.csv
  longshore export --compare reference new --format markdown   the rows of a comparison
  longshore export new --format reframe -o report.json         a run report as ReFrame writes it

CSV, JSON, JSON lines and Parquet have a row per launch, variant and metric; with --samples a row per repetition and
variant, in seconds. Each factor has a column, named as the option of longshore-bench. Markdown and LaTeX have a row per
variant with its median over launches, and only the factors that vary. The column simulated has the machine of
simulated rows. In a comparison the two values are geometric
means, the column ratio_is names the effects that were removed from the ratio, and raw_ratio is new / reference. --json
is --format json. Damaged data is named on stderr, with exit status 3.
"""

FOR_PEOPLE = ("markdown", "latex")
"""Formats whose units also say what the figures refer to, such as `GB/s per node`."""
ENDINGS = {
    ".csv": ("csv",), ".json": ("json", "reframe"), ".jsonl": ("jsonl",), ".ndjson": ("jsonl",), ".md": ("markdown",),
    ".markdown": ("markdown",), ".tex": ("latex",), ".parquet": ("parquet",), ".pq": ("parquet",),
}  # fmt: skip
"""The formats that a file can have, by its suffix."""
FIXED = ("study", "tag", "session", "launch", "started", "position", "pattern", "metric", "value", "unit", "better")
"""The columns of every table of results."""


def configure(parser: argparse.ArgumentParser) -> None:
    add_names(parser)
    parser.add_argument(
        "--format", choices=(*export_tables.FORMATS, "reframe"),
        help="csv, json, jsonl, markdown, latex, parquet, or reframe for a run report of ReFrame (default: by the "
        "suffix of FILE; csv on stdout)",
    )  # fmt: skip
    parser.add_argument("--compare", nargs=2, metavar=("REF", "NEW"), help="export the rows of this comparison")
    add_margin(parser, "margin of the comparison: 5%% or 0.05")
    add_where(parser)
    parser.add_argument(
        "--for", dest="purpose", choices=("paper",), help="a table of medians with 95%% intervals (LaTeX or Markdown)"
    )
    parser.add_argument(
        "--row", metavar="FACTOR", action="append", default=[],
        help="for a paper: a row per level of this factor (default: all that vary)",
    )  # fmt: skip
    parser.add_argument("--col", metavar="FACTOR", help="for a paper: a column per level of this factor")
    parser.add_argument("--samples", action="store_true", help="export repetitions instead of results")
    add_output(parser, "file to write (default, and -: stdout)")


def run(args: argparse.Namespace) -> int:
    store = Store(args.store)
    _check_options(args)
    if args.compare:
        return _export_comparison(args, store)
    chosen = selection.named_sessions(store, args.names)

    (launches,), where = on_hosts([[one for names in chosen for one in store.launches(*names)]], args.where)
    paths = {launch.path for launch in launches}
    measured = measure(launches, metrics=("all",))
    if where is not None:
        kept = set(where.select(list({figure.key for figure in measured.figures}), known_factors))
        measured.figures = [figure for figure in measured.figures if figure.key in kept]

    def samples() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        read = (one for names in chosen for one in store.launches(*names, samples=True) if one.path in paths)
        return _samples(read, where)

    if args.purpose:  # tags stand in the order of the command line
        measured.figures.sort(key=lambda figure: [name != figure.tag for name in args.names])
        from longshore_study.output import paper_table  # noqa: PLC0415 - one of many formats

        _write(args, paper_table.tables(measured.figures, launches, args.row, args.col, args.format))
    elif args.format == "reframe":
        from longshore_study.output.reframe_report import run_report  # noqa: PLC0415 - one of many formats

        _write(args, json.dumps(run_report(launches, measured), indent=2, ensure_ascii=False) + "\n")
    elif args.samples and args.format in ("csv", "json", "jsonl"):
        file = args.output and args.output.open("w", encoding="utf-8", errors="replace", newline="")
        with file or nullcontext(sys.stdout) as out:
            export_tables.write_lines(samples(), args.format, (*FIXED, "repetition"), out)
    elif args.samples:
        rows = [{**shared, **own} for shared, own in samples()]
        _write(args, export_tables.table(rows, args.format, FIXED))
    elif args.format in ("markdown", "latex"):
        _write(args, export_tables.table(_summary(measured), args.format))
    else:
        figures = [_figure(figure) for figure in measured.figures]
        _write(args, export_tables.table(figures, args.format, FIXED))
    return _report_problems(measured.problems, damaged=bool(measured.damaged))


def _report_problems(problems: Iterable[str], *, damaged: bool) -> int:
    for problem in problems:
        print(f"longshore: not exported: {problem}", file=sys.stderr)
    return EXIT_INVALID if damaged else EXIT_OK


def _check_options(args: argparse.Namespace) -> None:
    if args.json and args.format not in (None, "json", "jsonl", "reframe"):
        raise UsageError(f"--json means --format json and contradicts --format {args.format}; remove one of them")
    if args.output == Path("-"):
        args.output = None
    asked = args.format or ("json" if args.json else None)
    default = "latex" if args.purpose else "csv"
    args.format = of_file(args.output, asked, ENDINGS, "--format FORMAT takes any other name") or default
    if args.purpose and (args.samples or args.compare or args.format not in FOR_PEOPLE):
        raise UsageError("a table for a paper is LaTeX or Markdown, without --samples and --compare")
    if (args.row or args.col) and not args.purpose:
        raise UsageError("--row and --col belong to --for paper")
    if args.margin is not None and not args.compare:
        raise UsageError("--margin needs a comparison: --compare REF NEW")
    if args.samples and args.format == "reframe":
        raise UsageError("a run report of ReFrame has no repetitions; use another format with --samples")


def _write(args: argparse.Namespace, content: str | bytes) -> None:
    content = content.encode("utf-8", "replace") if isinstance(content, str) else content
    if args.output is None:
        if args.format == "parquet":
            if sys.stdout.isatty():
                raise UsageError("Parquet is not a text format; name a file with -o")
            sys.stdout.buffer.write(content)
        else:
            sys.stdout.write(content.decode("utf-8"))
        return
    write_file(args.output, content)


def _export_comparison(args: argparse.Namespace, store: Store) -> int:
    if args.names or args.samples or args.format == "reframe":
        raise UsageError(
            "--compare exports the rows of two tags; it cannot be combined with names, --samples or reframe"
        )
    reference, new = selection.sides(store, list(args.compare))
    comparison = compare(reference, new, CompareOptions(margin=args.margin, where=args.where))
    rows = []
    for row in comparison.rows:
        low, high = row.interval or (None, None)
        raw_low, raw_high = row.raw_interval or (None, None)
        rows.append(
            {"pattern": row.key.pattern, "metric": row.key.metric, **_factors(row.key.cell, row.key.variant),
             "unit": unit_of_whom(row.unit, row.per if args.format in FOR_PEOPLE else ""),
             "reference": row.reference_mean, "new": row.new_mean, "ratio": row.ratio, "low": low, "high": high,
             "ratio_is": row.ratio_kind or None, "raw_ratio": row.raw_ratio, "raw_low": raw_low, "raw_high": raw_high,
             "verdict": row.verdict}
        )  # fmt: skip
    _write(args, export_tables.table(_for_people(rows, args.format), args.format))
    return _report_problems(comparison.problems, damaged=bool(comparison.damaged))


def _summary(measured: Measurements) -> list[dict[str, Any]]:
    """A row per variant: median, range and number of launches of its main metric."""
    rows = [
        {"study": row.study, "tag": row.tag, "pattern": row.pattern,
         **_factors(row.cell, row.variant, row.simulated), "metric": row.main,
         "unit": unit_of_whom(row.metrics[row.main]["unit"], row.metrics[row.main].get("per", "")),
         "median": row.value, "smallest": row.spread[0], "largest": row.spread[1], "launches": row.launches}
        for row in variant_rows.variant_rows(measured.figures, by_session=False)
        if row.pattern != CONTROL
    ]  # fmt: skip
    return _for_people(rows, "latex")


def _for_people(rows: list[dict[str, Any]], form: str) -> list[dict[str, Any]]:
    """The rows for readers, if the format is Markdown or LaTeX. Constant factors are left out, and
    raw ratios appear only if an effect was removed from a ratio."""
    if form not in FOR_PEOPLE:
        return rows
    always = ["metric", "unit", "reference", "new", "ratio", "low", "high", "verdict", "median", "smallest", "largest",
              "launches"]  # fmt: skip
    if any(row.get("ratio_is") not in (None, PLAIN) for row in rows):
        always += ["ratio_is", "raw_ratio"]
    never = {"ratio_is", "raw_ratio", "raw_low", "raw_high"} - {*always}
    names = [name for name in export_tables.columns_of(rows) if name not in never]
    kept = [name for name in names if name in always or len(rows) < 2 or _varies(rows, name)]
    return [{name: row.get(name) for name in kept} for row in rows]


def _varies(rows: list[dict[str, Any]], name: str) -> bool:
    """Whether this column has several values, or is missing in some rows of a pattern."""
    levels: dict[str, set[str | None]] = defaultdict(set)
    for row in rows:
        value = row.get(name)
        levels[row["pattern"]].add(None if value is None else str(value))
    return len(set().union(*levels.values()) - {None}) > 1 or any(len(of_pattern) > 1 for of_pattern in levels.values())


def _figure(figure: Figure) -> dict[str, Any]:
    key = figure.key
    values = (
        key.study, figure.tag, figure.session, Path(figure.launch).stem, figure.started, figure.position, key.pattern,
        key.metric, figure.value, figure.unit, figure.better,
    )  # fmt: skip
    return {**dict(zip(FIXED, values, strict=True)), **_factors(key.cell, key.variant, figure.simulated)}


def _samples(launches: Iterable[Launch], where: Expression | None) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Two parts of a row for each repetition: the shared columns, and its own."""
    for launch in launches:
        shared: dict[tuple[str, int], dict[str, Any]] = {}
        for sample in launch.samples if launch.problem is None else ():
            variant, pattern = sample["variant"], sample["pattern"]
            if where and not where.matches({"study": launch.study, "pattern": pattern, **launch.cell, **variant}):
                continue
            row = shared.get((pattern, id(variant)))
            if row is None:
                values = (
                    launch.study, launch.tag, launch.session, launch.path.stem, launch.envelope.get("started"),
                    launch.position, pattern, "seconds", None, "s", "lower",
                )  # fmt: skip
                row = {**dict(zip(FIXED, values, strict=True)), "repetition": None}
                shared[pattern, id(variant)] = row = row | _factors(launch.cell, variant, launch.simulated)
            yield row, {"value": (sample.get("seconds") or {}).get("max"), "repetition": sample.get("repetition")}


def _factors(cell: dict[str, Any], variant: dict[str, Any], machine: str | None = None) -> dict[str, Any]:
    """The factors as columns. A factor with the name of a fixed column gets a prefix."""
    columns = {(f"factor_{name}" if name in FIXED else name): value for name, value in {**cell, **variant}.items()}
    return columns if machine is None else columns | {"simulated": machine}
