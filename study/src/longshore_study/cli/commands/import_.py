"""`longshore import`: stores the output of another benchmark as launches."""

from __future__ import annotations

import argparse
import datetime as dt
import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from longshore_study.base.errors import EXIT_OK, UsageError
from longshore_study.base.terminal import count
from longshore_study.importers import formats
from longshore_study.importers.imported import Imported, MetricChoice, Options
from longshore_study.store.launch_store import Store
from longshore_study.study_file.metric_reader import read_metric
from longshore_study.study_file.toml_values import Values

_DIGITS_OF_ONE_RUN = 12
"""Two measurements do not agree in so many digits by chance."""

EXAMPLES = """\
examples:
  longshore import halobench production.out --tag reference --session production
  longshore import bale ig-16-nodes.out ig-256-nodes.out --tag cray
  longshore import chapel-ig ig-block-16-nodes.out --tag cray
  longshore import stream-csv stream-by-layer.csv --tag published
  longshore import osu osu_latency.out --tag image-1 --ranks 2
  longshore import isx isx.screen-and-log --tag image-1
  longshore import longshore-bench records.jsonl --tag image-1  the output of longshore-bench --json
  longshore import regex any.out --tag t --pattern 'rate: ([0-9.]+)' --figure rate --unit GB/s
  longshore import json any.json --tag t --path 'results[*].rate' --figure rate --unit GB/s

The files of one call are launches of one session. Import measurements of another day or job as another session, since
tags are compared by their sessions. Imported results are aggregates without repetitions, except for the records of
longshore-bench.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    parser.add_argument("format", metavar="FORMAT", help=", ".join(formats.FORMATS))
    parser.add_argument("files", metavar="FILE", nargs="+", type=Path, help="output of the program")
    parser.add_argument(
        "--tag", required=True, help="the measured state, such as an image of the system; compare takes two tags"
    )
    parser.add_argument("--session", help="the day or job of the measurement (default: today)")
    parser.add_argument("--study", help="name of the study in the store (default: the format)")
    parser.add_argument("--partial", action="store_true", help="accept an output that was cut short, and mark it")
    parser.add_argument("--ranks-per-node", type=int, metavar="N", help="if the output does not tell")
    parser.add_argument("--ranks", type=int, metavar="N", help="if the output does not tell")
    parser.add_argument(
        "--pattern", metavar="REGEX", help="for regex: its group named value, or its only group, is the metric"
    )
    parser.add_argument("--path", metavar="PATH", help="for json: path of the metric, such as results[*].rate")
    parser.add_argument("--figure", metavar="NAME", help="for regex and json: name of the metric")
    parser.add_argument("--unit", help="for regex and json: unit of the metric")
    parser.add_argument(
        "--name", metavar="PROGRAM", help="for regex and json: name of the program (default: --study, else --figure)"
    )
    parser.add_argument("--better", choices=("higher", "lower"), default="higher", help="for regex and json")


def run(args: argparse.Namespace) -> int:
    """Reads all files before it stores any, so that a mistake in one file stores nothing."""
    for option, given in (("--session", args.session), ("--study", args.study)):
        if given is not None and not given.strip():
            raise UsageError(f"{option} needs a name; it is empty")
    name = formats.format_name(args.format)
    for option, value in (("--ranks-per-node", args.ranks_per_node), ("--ranks", args.ranks)):
        if value is not None and value < 1:
            raise UsageError(f"{option} must be at least 1, not {value}")
    options = Options(
        partial=args.partial,
        ranks_per_node=args.ranks_per_node,
        ranks=args.ranks,
        metric=_metric_choice(args, name),
        program=args.name or args.study,
    )
    session = args.session or dt.datetime.now().astimezone().date().isoformat()
    study = args.study or name
    store = Store(args.store)
    stored_before = {launch.envelope.get("launch_id"): launch.session for launch in store.launches(study, args.tag)}
    read = [_read(name, path, options) for path in args.files]
    seen: dict[str, int] = {}
    first_place: dict[str, str] = {}
    report: list[dict[str, Any]] = []
    for path, digest, runs in read:
        for number, imported in enumerate(runs):
            # The content names the launch if it has enough digits: the same run in two files, or
            # twice in one, is one launch.
            first_id = f"import-{digest}-{number}"
            content = _content(imported)
            launch_id = f"import-{content}" if content else first_id
            row: dict[str, Any] = {
                "file": str(path),
                "figures": _figures(imported),
                "warnings": list(imported.warnings),
            }
            report.append(row)
            if imported.partial:
                row["warnings"].append(f"{path}: {imported.partial}; stored as partial")
            if launch_id in first_place:
                row["stored"] = False
                row["warnings"].append(
                    f"{path}: run {number + 1} is the same as {first_place[launch_id]}, to the last digit; stored once"
                )
                continue
            first_place[launch_id] = f"run {number + 1}" + ("" if len(args.files) == 1 else f" of {path}")
            if stored_before.keys() & {launch_id, first_id}:
                row["stored"] = False
                row["warnings"].append(
                    f"{path}: already stored, in session '{stored_before.get(launch_id) or stored_before[first_id]}';"
                    " not stored again"
                )
                continue
            key = json.dumps(imported.cell, sort_keys=True)
            envelope = {
                "study": study, "tag": args.tag, "session": session, "cell": imported.cell, "launch_id": launch_id,
                "launch_index": seen.setdefault(key, 0), "exit_status": 0,
                "source": f"import {name}" if imported.aggregate else "longshore-bench",
                "imported_from": path.name, "partial": imported.partial,
            }  # fmt: skip
            if imported.started:
                envelope["started"] = imported.started
            if imported.steps:
                envelope["steps"] = imported.steps
            seen[key] += 1
            store.write_launch(envelope, imported.lines)
            stored_before[launch_id] = session
            row["stored"] = True
    _print(args, report, f"{study}, tag {args.tag}, session {session}")
    return EXIT_OK


def _metric_choice(args: argparse.Namespace, name: str) -> MetricChoice | None:
    """The choice of the metric, checked like the keys of a study file."""
    given = {"pattern": args.pattern, "path": args.path, "figure": args.figure, "unit": args.unit}
    reader = Values("the command line", {})
    choice = read_metric(reader, {key: value for key, value in given.items() if value is not None}, (), name)
    if reader.problems:
        raise UsageError(
            reader.problems[0][1].partition(": ")[2].replace("'pattern'", "--pattern").replace("'path'", "--path")
        )
    return replace(choice, better=args.better) if choice else None


def _read(name: str, path: Path, options: Options) -> tuple[Path, str, list[Imported]]:
    """The path of a file, the digest of its content, and its runs. The digest prevents storing a
    file twice."""
    content = formats.content_of(name, path)
    runs = formats.read_bytes(name, str(path), content, options)
    return path, hashlib.sha256(content).hexdigest()[:16], runs


def _content(imported: Imported) -> str | None:
    """A digest of the content of a run. None if two runs may agree by chance, for instance in one
    short value."""
    results = [record for record in map(json.loads, imported.lines) if record["record"] == "result"]
    values = [float(one["value"]) for record in results for one in (record.get("metrics") or {}).values()]
    digits = sum(len(f"{value:.15g}".partition("e")[0].replace(".", "").strip("-0")) for value in values)
    if imported.aggregate and digits < _DIGITS_OF_ONE_RUN:
        return None
    text = json.dumps([imported.cell, imported.lines], sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]


def _figures(imported: Imported) -> int:
    return sum(1 for line in imported.lines if '"metrics"' in line)


def _print(args: argparse.Namespace, report: list[dict[str, Any]], where: str) -> None:
    if args.json:
        print(json.dumps({"schema": 1, "study_tag_session": where, "rows": report}, indent=1))
        return
    for row in report:
        if row["stored"]:
            print(f"{row['file']}: {count(row['figures'], 'figure')} stored in {where}")
        for warning in row["warnings"]:
            print(f"warning: {warning}")
