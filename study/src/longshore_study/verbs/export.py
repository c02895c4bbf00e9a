"""`longshore export`: every stored figure as a line of CSV or JSON, for other tools."""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TextIO

from longshore_study import selection
from longshore_study.errors import EXIT_INVALID, EXIT_OK, LongshoreError, UsageError, suggestion
from longshore_study.figures import Figure, measure
from longshore_study.store import Launch, Store

EXAMPLES = """\
examples:
  longshore export > figures.csv
  longshore export new --format jsonl -o figures.jsonl
  longshore export --samples > repetitions.csv

A line per launch, variant and metric; with --samples a line per repetition and variant, in seconds. Factors have a
column each, named as the option of longshore-bench. What is damaged is named on stderr, with exit status 3.
"""

FIXED = ("study", "tag", "session", "launch", "started", "position", "pattern", "metric", "value", "unit", "better")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    parser.add_argument("names", metavar="NAME", nargs="*", help="tags or studies (default: all that is stored)")
    parser.add_argument("--format", choices=("csv", "jsonl"), default="csv", help="csv (default) or JSON lines")
    parser.add_argument("--samples", action="store_true", help="repetitions instead of figures")
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, help="write there (default: stdout)")


def run(args: argparse.Namespace) -> int:
    store = Store(args.store)
    stored = selection.stored_names(store)
    known = {name for triple in stored for name in triple[:2]}
    for name in args.names:
        if name not in known:
            listed = ", ".join(sorted(known))
            raise UsageError(f"unknown tag or study '{name}'{suggestion(name, known)} (known: {listed})")
    launches = [
        launch
        for study, tag, session in stored
        if not args.names or {study, tag} & set(args.names)
        for launch in store.launches(study, tag, session, samples=args.samples)
    ]
    measured = measure(launches, metrics=("all",))
    rows = _samples(launches) if args.samples else [_figure(figure) for figure in measured.figures]
    write = _write_jsonl if args.format == "jsonl" or args.json else _write_csv
    if args.output is None:
        write(rows, sys.stdout)
    else:
        try:
            with args.output.open("w", encoding="utf-8", newline="") as file:
                write(rows, file)
        except OSError as error:
            raise LongshoreError(f"{args.output}: cannot be written ({error.strerror})") from None
    for problem in measured.problems:
        print(f"longshore: not exported: {problem}", file=sys.stderr)
    return EXIT_INVALID if measured.damaged else EXIT_OK


def _figure(figure: Figure) -> dict[str, Any]:
    key = figure.key
    values = (
        key.study, figure.tag, figure.session, Path(figure.launch).stem, figure.started, figure.position, key.pattern,
        key.metric, figure.value, figure.unit, figure.better,
    )  # fmt: skip
    return {**dict(zip(FIXED, values, strict=True)), **_factors(key.cell, key.variant)}


def _samples(launches: Iterable[Launch]) -> list[dict[str, Any]]:
    rows = []
    for launch in launches:
        for sample in launch.samples if launch.problem is None else ():
            seconds = (sample.get("seconds") or {}).get("max")
            values = (
                launch.study, launch.tag, launch.session, launch.path.stem, launch.envelope.get("started"),
                launch.position, sample["pattern"], "seconds", seconds, "s", "lower",
            )  # fmt: skip
            row = {**dict(zip(FIXED, values, strict=True)), "repetition": sample.get("repetition")}
            rows.append(row | _factors(launch.cell, sample["variant"]))
    return rows


def _factors(cell: dict[str, Any], variant: dict[str, Any]) -> dict[str, Any]:
    """A factor named like a fixed column gets a prefix; it must not replace it."""
    return {(f"factor_{name}" if name in FIXED else name): value for name, value in {**cell, **variant}.items()}


def _write_jsonl(rows: Sequence[dict[str, Any]], file: TextIO) -> None:
    file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _write_csv(rows: Sequence[dict[str, Any]], file: TextIO) -> None:
    columns = list(dict.fromkeys([*FIXED, *(name for row in rows for name in row)]))
    writer = csv.DictWriter(file, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _plain(value) for name, value in row.items()} for row in rows)


def _plain(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value
