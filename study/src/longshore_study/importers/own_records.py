"""Records of longshore-bench itself, as `--json FILE` writes them: of launches that something else
than `longshore run` started, such as a job script of a site, a simulator, or a debugger.

They are no aggregates: repetitions, layout and system are in them, and they are stored as `run`
would have stored them. Lines around them that are no JSON objects, as launchers and tables print,
are passed over.
"""

from __future__ import annotations

import re
from typing import Any

from longshore_study.base.errors import LongshoreError
from longshore_study.host.bench_program import BENCH
from longshore_study.importers.imported import Imported, Options, Source
from longshore_study.store import records
from longshore_study.store.records import Record

_LAUNCH = re.compile(r'\{"record": ?"launch"')


def read(source: Source, options: Options) -> list[Imported]:
    """Each `launch` record begins a run. The first line of a file of a store, its `study` record,
    says the cell."""
    runs: list[list[tuple[str, Record]]] = []
    asked: Record | None = None
    imported: list[Imported] = []
    for number, printed in enumerate(source.text.split("\n"), start=1):
        if not printed.lstrip().startswith("{"):
            continue
        line, record = _parsed(source, printed, number, options)
        kind = record["record"]
        if kind == "study":
            asked = record
        elif kind == "launch":
            if runs and runs[-1][-1][1]["record"] != "end":
                imported.append(_cut_short(source, runs[-1], asked, options))
                asked = None
            runs.append([(line, record)])
        elif not runs or runs[-1][-1][1]["record"] == "end":
            raise LongshoreError(
                f"{source.name}:{number}: '{kind}' stands outside of a run, which a 'launch' record begins"
            )
        else:
            runs[-1].append((line, record))
        if kind == "end":
            imported.append(_imported(source, runs[-1], asked, options))
            asked = None
    if runs and runs[-1][-1][1]["record"] != "end":
        imported.append(_cut_short(source, runs[-1], asked, options))
    return imported


def _parsed(source: Source, line: str, number: int, options: Options) -> tuple[str, Record]:
    """The record of a line, and its text: a killed run may leave half a line, and the next one goes
    on there."""
    try:
        return line, records.parse(line, source.name, number)
    except records.RecordError:
        begin = _LAUNCH.search(line, 1)
        if begin is None or not options.partial:
            raise
        return line[begin.start() :], records.parse(line[begin.start() :], source.name, number)


def _imported(source: Source, run: list[tuple[str, Record]], asked: Record | None, options: Options) -> Imported:
    header = run[0][1]
    results = [record for _, record in run if record["record"] == "result"]
    if not results and run[-1][1]["status"] == "ok":
        raise LongshoreError(f"{source.name}: the run {header.get('launch', '')!s} has no result")
    began = header.get("start")
    return Imported(
        dict(asked["cell"]) if asked else _cell(header, results, options),
        [line for line, _ in run],
        aggregate=False,
        started=began if isinstance(began, str) else None,
    )


def _cut_short(source: Source, run: list[tuple[str, Record]], asked: Record | None, options: Options) -> Imported:
    if not options.partial:
        raise LongshoreError(
            f"{source.name}: cut short: no 'end' record follows; --partial stores what there is, marked as such"
        )
    whole = [*run, (records.dump(records.end_record()), records.end_record())]
    found = _imported(source, whole, asked, options)
    return Imported(found.cell, found.lines, partial="no 'end' record", aggregate=False, started=found.started)


def _cell(header: Record, results: list[Record], options: Options) -> dict[str, Any]:
    """As `run` names the cell of such a launch, so that both are compared; which variables it was
    given nobody says."""
    patterns = sorted({result["pattern"] for result in results} or {_pattern_typed(header)})
    transport = header.get("transport")
    cell: dict[str, Any] = {
        "program": patterns[0] if len(patterns) == 1 else BENCH,
        "transport": transport.get("name") if isinstance(transport, dict) else transport,
        "ranks": header.get("ranks") or options.ranks,
    }
    nodes, ranks = header.get("nodes"), cell["ranks"]
    if isinstance(nodes, int) and isinstance(ranks, int) and nodes > 0 and header.get("nodes_virtual"):
        cell["ranks_per_node"] = -(-ranks // nodes)
    elif isinstance(nodes, int) and nodes > 1:
        cell["nodes"] = nodes
    return {**{name: value for name, value in cell.items() if value is not None}, "environment": {}}


def _pattern_typed(header: Record) -> str:
    """Of a run that failed before its first result: the word after the program."""
    argv = header.get("argv")
    return str(argv[1]) if isinstance(argv, list) and len(argv) > 1 else BENCH
