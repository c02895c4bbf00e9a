"""`longshore import`: stores the output of another benchmark as launches."""

import argparse
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from longshore_study.base.durations import today
from longshore_study.base.errors import LongshoreError, UsageError
from longshore_study.base.groups import grouped
from longshore_study.base.terminal import count
from longshore_study.base.units import unit_of
from longshore_study.cli.options import from_1
from longshore_study.cli.result_output import print_result
from longshore_study.importers import formats
from longshore_study.importers.imported import Columns, Imported, MetricChoice, Options
from longshore_study.store.launch_store import Launch, Store
from longshore_study.store.records import Record
from longshore_study.study_file.metric_reader import read_metric
from longshore_study.study_file.toml_values import Problems, TomlTable

_MIN_DIGITS = 12
"""Two measurements do not agree by chance in this number of digits."""
_DIGEST_DIGITS = 16

EXAMPLES = """\
examples:
  longshore import halobench production.out --tag reference --session production
  longshore import bale ig-16-nodes.out ig-256-nodes.out --tag cray
  longshore import chapel-ig ig-block-16-nodes.out --tag cray
  longshore import stream-csv stream-by-layer.csv --tag published
  longshore import osu osu_allreduce.out --tag image-1 --ranks 64
  longshore import osu osu_latency.out --tag image-1 --factor memory=D-D    if OSU does not print where its buffers are
  longshore import isx isx.screen-and-log --tag image-1
  longshore import longshore-bench records.jsonl --tag image-1  the output of longshore-bench --json
  longshore import regex any.out --tag t --pattern 'rate: (\\S+)' --figure rate --unit GB/s
  longshore import json any.json --tag t --path 'results[*].rate' --figure rate --unit GB/s
  longshore import csv rates.csv --time time --version commit --figure rate --unit GB/s    a series, for history
  longshore import reframe run-report.json --tag system     and perflog, a performance log of ReFrame

The files of one call are launches of one session. Give each day or job its own --session: tags are compared by their
sessions. Each time in a series (csv, reframe, perflog) is a session. Imported results are aggregates without
repetitions, except for the records of longshore-bench.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("format", metavar="FORMAT", help=", ".join(formats.FORMATS))
    parser.add_argument("files", metavar="FILE", nargs="+", type=Path, help="output of the program")
    parser.add_argument(
        "--tag",
        help="the measured state, such as an image of the system; compare takes two tags (default: the version of csv)",
    )
    parser.add_argument("--session", help="the day or job of the measurement (default: today)")
    parser.add_argument("--study", help="name of the study in the store (default: the format)")
    parser.add_argument("--partial", action="store_true", help="accept an output that was cut short, and mark it")
    for option in ("--ranks-per-node", "--ranks"):
        parser.add_argument(option, type=from_1(option), metavar="N", help="if the output does not tell")
    parser.add_argument(
        "--factor", metavar="NAME=LEVEL", action="append", default=[],
        help="a setting on which the figures depend, if the output does not tell; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--pattern", metavar="REGEX", help="for regex: its group named value, or its only group, is the figure"
    )
    parser.add_argument("--path", metavar="PATH", help="for json: path of the figure, such as results[*].rate")
    parser.add_argument(
        "--figure", metavar="NAME", help="for regex and json: name of the figure; for csv: its column, or several"
    )
    parser.add_argument("--unit", help="for regex, json and csv: unit of the figure")
    named = "for regex, json and csv: name of the program (default: --study, else --figure)"
    parser.add_argument("--name", metavar="PROGRAM", help=named)
    parser.add_argument("--time", metavar="COLUMN", help="for csv: the time of each line")
    parser.add_argument("--version", metavar="COLUMN", help="for csv: the version, which becomes the tag")
    parser.add_argument(
        "--by", metavar="COLUMN", action="append", default=[],
        help="for csv: a factor; may be repeated (default: the other columns, unless they differ in most lines)",
    )  # fmt: skip
    parser.add_argument("--better", choices=("higher", "lower"), default="higher", help="for regex, json and csv")


@dataclass(frozen=True)
class _Run:
    file: Path
    number: int
    """The position in the file, from 1."""
    imported: Imported
    content_id: str
    """Identifies the content of the run. Two runs may have the same."""
    launch_id: str
    """Identifies the run by its content, its file and its session."""
    tag: str
    session: str


def run(args: argparse.Namespace) -> int:
    """Reads all files before it stores any launch. If a file has a mistake, nothing is stored."""
    for option, given in (("--session", args.session), ("--study", args.study), ("--tag", args.tag)):
        if given is not None and not given.strip():
            raise UsageError(f"{option} needs a name; it is empty")
    format_name = formats.format_name(args.format)
    options = _options(args, format_name)
    is_series = format_name in formats.SERIES
    if is_series and args.session:
        raise UsageError(f"--session {args.session}: {format_name} has a session for each time in the file")
    session = args.session or today()
    study = args.study or format_name
    store = Store(args.store)
    candidates = [run for path in args.files for run in _runs_in(format_name, path, options, args.tag, session)]
    stored = _Stored(store.launches(study), options.metric)
    for candidate in candidates:
        stored.refuse_other_quantity(candidate)
    launch_counts: Counter[str] = Counter()
    rows: list[dict[str, Any]] = []
    for candidate in candidates:
        imported = candidate.imported
        warnings = list(imported.warnings)
        if imported.why_incomplete:
            warnings.append(f"{candidate.file}: {imported.why_incomplete}; stored as partial")
        run = f"{candidate.file}: run {candidate.number}"
        same = stored.places.get((candidate.tag, candidate.launch_id))
        if same:
            warnings.append(f"{run} is the same as {same}, to the last digit; not stored again")
        else:
            equal = stored.places.get((candidate.tag, candidate.content_id))
            if equal and not is_series:
                warnings.append(f"{run} has the figures of {equal}, to the last digit")
            cell_text = json.dumps(imported.cell, sort_keys=True)
            envelope: Record = {
                "study": study, "tag": candidate.tag, "session": candidate.session, "cell": imported.cell,
                "launch_id": candidate.launch_id, "content_id": candidate.content_id,
                "launch_index": launch_counts[cell_text], "exit_status": 0,
                "source": f"import {format_name}" if imported.aggregate else "longshore-bench",
                "imported_from": candidate.file.name, "partial": imported.why_incomplete,
            }  # fmt: skip
            known = {"started": imported.started, "steps": imported.steps}
            envelope |= {name: value for name, value in known.items() if value}
            number = stored.counts[candidate.tag, candidate.session] + launch_counts.total() + 1
            store.write_launch(envelope, imported.lines, number)
            launch_counts[cell_text] += 1
        place = f"run {candidate.number}" + ("" if len(args.files) == 1 else f" of {candidate.file}")
        for digest in (candidate.launch_id, candidate.content_id):
            stored.places.setdefault((candidate.tag, digest), place)
        figures = _figure_count(imported)
        rows.append({"file": str(candidate.file), "figures": figures, "warnings": warnings, "stored": not same})
    where = f"{study}, tag {args.tag}, session {session}"
    if is_series:
        tags = sorted({candidate.tag for candidate in candidates})
        named = f"tag {tags[0]}" if len(tags) == 1 else f"{len(tags)} tags from {tags[0]} to {tags[-1]}"
        sessions = len({(candidate.tag, candidate.session) for candidate in candidates})
        rows, where = _by_file(rows), f"{study}, {named}, {count(sessions, 'session')}"
    document = {"schema": 1, "study_tag_session": where, "rows": rows}
    return print_result(args, lambda: document, lambda: _print(rows, where))


def _by_file(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Merges the rows of the runs of each file into one row."""
    merged = []
    for file, of_file in grouped(rows, lambda row: row["file"]).items():
        new = [row for row in of_file if row["stored"]]
        warnings = [warning for row in new for warning in row["warnings"]]
        if known := len(of_file) - len(new):
            warnings.append(f"{file}: {count(known, 'run')} already stored; not stored again")
        figures = sum(row["figures"] for row in new)
        merged.append({"file": file, "figures": figures, "warnings": warnings, "stored": bool(new)})
    return merged


def _options(args: argparse.Namespace, format_name: str) -> Options:
    return Options(
        partial=args.partial,
        ranks_per_node=args.ranks_per_node,
        ranks=args.ranks,
        factors=dict(map(_factor, args.factor)),
        metric=_metric_choice(args, format_name),
        columns=_columns(args, format_name),
        program=args.name or args.study,
    )


def _columns(args: argparse.Namespace, format_name: str) -> Columns | None:
    if format_name == "csv":
        if args.time is None:
            raise UsageError("format 'csv' needs --time COLUMN, the time of each line")
        return Columns(args.time, args.version, tuple(args.by))
    for option, given in (("--time", args.time), ("--version", args.version), ("--by", args.by)):
        if given:
            raise UsageError(f"{option} is for format csv, not for {format_name}")
    return None


def _factor(text: str) -> tuple[str, int | str]:
    name, _, level = text.partition("=")
    if not re.fullmatch(r"[A-Za-z]\w*", name) or not level:
        raise UsageError(f"--factor '{text}' is not NAME=LEVEL, such as memory=D-D")
    if name in ("ranks", "ranks_per_node"):
        raise UsageError(f"give --{name.replace('_', '-')} {level} instead of --factor {text}")
    return name, int(level) if level.isdecimal() else level


class _Stored:
    def __init__(self, launches: Iterable[Launch], metric: MetricChoice | None) -> None:
        self.places: dict[tuple[str, str], str] = {}
        """Where a launch was found first, by (tag, launch_id) and by (tag, content_id)."""
        self.counts: Counter[tuple[str, str]] = Counter()
        """The number of stored launches by tag and session."""
        self._metric = metric.name if metric else ""
        self._quantities: dict[str, tuple[str, Record]] = {}
        """The first launch with the metric, and the metric, by pattern."""
        for launch in launches:
            self.counts[launch.tag, launch.session] += 1
            for name in ("launch_id", "content_id"):
                place = f"a launch of session '{launch.session}'"
                self.places.setdefault((launch.tag, str(launch.envelope.get(name))), place)
            for pattern, found in self._quantities_of(launch.results):
                self._quantities.setdefault(pattern, (f"tag {launch.tag}, session {launch.session}", found))

    def refuse_other_quantity(self, run: _Run) -> None:
        """Raises UsageError if a figure of the run is stored with another meaning."""
        if not self._metric:
            return
        for pattern, metric in self._quantities_of(_results(run.imported)):
            where, known = self._quantities.setdefault(pattern, (f"run {run.number} of {run.file}", metric))
            if _meaning(metric) != _meaning(known):
                raise UsageError(
                    f"{run.file}: the figure {self._metric} is in '{metric['unit']}' ({metric['better']} is better), "
                    f"but in '{known['unit']}' ({known['better']} is better) in {where}; give it another --figure or "
                    "--study"
                )

    def _quantities_of(self, results: Iterable[Record]) -> Iterator[tuple[str, Record]]:
        for result in results:
            if metric := (result.get("metrics") or {}).get(self._metric):
                yield result["pattern"], metric


def _meaning(metric: Record) -> tuple[str, str]:
    return unit_of(str(metric.get("unit", ""))).dimension, str(metric.get("better", "higher"))


def _metric_choice(args: argparse.Namespace, format_name: str) -> MetricChoice | None:
    """The choice of the figure, checked like the keys of a study file."""
    given = {"pattern": args.pattern, "path": args.path, "figure": args.figure, "unit": args.unit}
    problems = Problems("the command line", {})
    table = TomlTable(problems, {key: value for key, value in given.items() if value is not None})
    choice = read_metric(table, format_name)
    if problems.found:
        # The checks name a line and a key of a study file. The user gave options instead.
        line, message = problems.found[0]
        message = message.removeprefix(f"{problems.path}:{line}: ")
        raise UsageError(message.replace("'pattern'", "--pattern").replace("'path'", "--path"))
    return replace(choice, better=args.better) if choice else None


def _runs_in(format_name: str, path: Path, options: Options, given_tag: str | None, given_session: str) -> list[_Run]:
    runs = formats.read_file(format_name, path, options)
    for run in runs:
        if run.why_incomplete and not _figure_count(run):
            raise LongshoreError(f"{path}: {run.why_incomplete}, and it ends before the first figure: nothing to store")
    if not runs:
        raise LongshoreError(f"{path}: no whole run: nothing to store")
    place = str(path.resolve()) if path.is_file() else ""  # a pipe has no name that lasts
    seen: Counter[str] = Counter()
    found = []
    for index, imported in enumerate(runs):
        tag, session = given_tag or imported.tag, imported.session or given_session
        if tag is None:
            raise UsageError(f"{path}: give --tag NAME, the measured state, or --version COLUMN of csv")
        how = [options.metric.expression, options.metric.path] if options.metric else []
        content_id = f"import-{_digest(imported.cell, imported.lines, *how)}"
        launch_id = content_id  # records of longshore-bench have the time of their run
        if imported.aggregate:
            copy = 0 if _is_unlikely_twice(imported) else seen[content_id]
            launch_id = f"import-{_digest(content_id, place, session, copy)}"
        seen[content_id] += 1
        found.append(_Run(path, index + 1, imported, content_id, launch_id, tag, session))
    return found


def _figure_count(imported: Imported) -> int:
    """Of all records, only a result has the key "metrics", so the lines need not be parsed."""
    return sum('"metrics"' in line for line in imported.lines)


def _results(imported: Imported) -> list[Record]:
    return [record for record in map(json.loads, imported.lines) if record["record"] == "result"]


def _digest(*parts: Any) -> str:
    text = json.dumps(parts, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:_DIGEST_DIGITS]


def _is_unlikely_twice(imported: Imported) -> bool:
    """Whether two runs with these values can hardly agree by chance, as short values can."""
    metrics = [record.get("metrics") or {} for record in _results(imported)]
    values = [float(metric["value"]) for of_result in metrics for metric in of_result.values()]
    return sum(map(_significant_digits, values)) >= _MIN_DIGITS


def _significant_digits(value: float) -> int:
    """The number of digits without the sign, the exponent, and the zeros at both ends."""
    mantissa = f"{value:.15g}".partition("e")[0]
    return len(mantissa.replace(".", "").strip("-0"))


def _print(rows: list[dict[str, Any]], where: str) -> None:
    for row in rows:
        if row["stored"]:
            print(f"{row['file']}: {count(row['figures'], 'figure')} stored in {where}")
        for warning in row["warnings"]:
            print(f"warning: {warning}")
