"""Importer of longshore-bench's own records, written with `--json FILE` by launches outside of
`longshore run`, such as a job script, a simulator or a debugger.

The records have repetitions, layout and system, and are stored as `longshore run` would store them.
Lines that are not JSON objects, from launchers and tables, are skipped.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from longshore_study.base.errors import LongshoreError
from longshore_study.host.bench_program import BENCH
from longshore_study.importers.imported import PARTIAL_HINT, Imported, Options, Source
from longshore_study.store import records
from longshore_study.store.records import Record

_LAUNCH = re.compile(r'\{"record": ?"launch"')


def read(source: Source, options: Options) -> list[Imported]:
    """A `launch` record begins a run. In a file of a store, the `study` record has the cell."""
    runs: list[list[tuple[str, Record]]] = []
    envelope: Record | None = None
    imported: list[Imported] = []
    for number, printed in enumerate(source.text.split("\n"), start=1):
        if not printed.lstrip().startswith("{"):
            continue
        line, record = _parsed(source, printed, number, options)
        kind = record["record"]
        if kind == "study":
            envelope = record
        elif kind == "launch":
            if runs and runs[-1][-1][1]["record"] != "end":
                imported.append(_cut_short(source, runs[-1], envelope, options))
                envelope = None
            runs.append([(line, record)])
        elif not runs or runs[-1][-1][1]["record"] == "end":
            raise LongshoreError(
                f"{source.name}:{number}: '{kind}' is outside of a run, which begins with a 'launch' record"
            )
        else:
            runs[-1].append((line, record))
        if kind == "end":
            imported.append(_imported(source, runs[-1], envelope, options))
            envelope = None
    if runs and runs[-1][-1][1]["record"] != "end":
        imported.append(_cut_short(source, runs[-1], envelope, options))
    return imported


def _parsed(source: Source, line: str, number: int, options: Options) -> tuple[str, Record]:
    """The record of a line, and the text of the record. If a run was killed within a record, the
    next run may begin on the same line."""
    try:
        return line, records.parse(line, source.name, number)
    except records.RecordError:
        begin = _LAUNCH.search(line, 1)
        if begin is None or not options.partial:
            raise
        return line[begin.start() :], records.parse(line[begin.start() :], source.name, number)


def _imported(source: Source, run: list[tuple[str, Record]], envelope: Record | None, options: Options) -> Imported:
    header = run[0][1]
    results = [record for _, record in run if record["record"] == "result"]
    if not results and run[-1][1]["status"] == "ok":
        raise LongshoreError(f"{source.name}: the run {header.get('launch', '')!s} has no result")
    began = header.get("start")
    return Imported(
        dict(envelope["cell"]) if envelope else _cell(header, results, options),
        [line for line, _ in run],
        aggregate=False,
        started=began if isinstance(began, str) else None,
    )


def _cut_short(source: Source, run: list[tuple[str, Record]], envelope: Record | None, options: Options) -> Imported:
    if not options.partial:
        raise LongshoreError(f"{source.name}: cut short: no 'end' record follows; {PARTIAL_HINT}")
    whole = [*run, (records.dump(records.end_record()), records.end_record())]
    return replace(_imported(source, whole, envelope, options), why_incomplete="no 'end' record")


def _cell(header: Record, results: list[Record], options: Options) -> dict[str, Any]:
    """The cell that `longshore run` would store for this launch, so that the launches can be
    compared. The environment of the launch is unknown, and taken as empty."""
    patterns = sorted({result["pattern"] for result in results} or {_requested_pattern(header)})
    transport = header.get("transport")
    cell: dict[str, Any] = {
        "program": patterns[0] if len(patterns) == 1 else BENCH,
        "transport": transport.get("name") if isinstance(transport, dict) else transport,
        "ranks": header.get("ranks") or options.ranks,
    }
    simulated = header.get("simulated")
    if isinstance(simulated, dict):
        cell["machine"] = str(simulated.get("machine")).rpartition(" ")[0]  # without the version
    nodes, ranks = header.get("nodes"), cell["ranks"]
    if isinstance(nodes, int) and isinstance(ranks, int) and nodes > 0 and header.get("nodes_virtual"):
        cell["ranks_per_node"] = -(-ranks // nodes)
    elif isinstance(nodes, int) and nodes > 1:
        cell["nodes"] = nodes
    return {**{name: value for name, value in cell.items() if value is not None}, "environment": {}}


def _requested_pattern(header: Record) -> str:
    """The pattern of a run without results: the first argument of the program."""
    argv = header.get("argv")
    return str(argv[1]) if isinstance(argv, list) and len(argv) > 1 else BENCH
