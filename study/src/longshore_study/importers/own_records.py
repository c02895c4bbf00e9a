"""Importer of longshore-bench's own records, written with `--json FILE` by launches outside of
`longshore run`, such as a job script, a simulator or a debugger.

The records have repetitions, layout and system, and are stored as `longshore run` would store them.
Lines that are not JSON objects, from launchers and tables, are skipped.
"""

import re
from dataclasses import dataclass
from typing import Any

from longshore_study.base.errors import LongshoreError
from longshore_study.host.bench_program import BENCH
from longshore_study.importers.imported import PARTIAL_HINT, Imported, Options, Source, known
from longshore_study.store import records
from longshore_study.store.records import Record

_LAUNCH = re.compile(r'\{"record": ?"launch"')


def read(source: Source, options: Options) -> list[Imported]:
    """A `launch` record begins a run. Stored files have the cell in a `study` record above it."""
    runs: list[_Run] = []
    envelope: Record | None = None
    for number, printed in enumerate(source.text.split("\n"), start=1):
        if not printed.lstrip().startswith("{"):
            continue
        line, record = _parsed(source, printed, number, options)
        if record["record"] == "study":
            envelope = record
        elif record["record"] == "launch":
            runs.append(_Run(envelope, record, [line], [record]))
            envelope = None
        elif not runs or runs[-1].ended:
            raise LongshoreError(
                f"{source.name}:{number}: '{record['record']}' is outside of a run, which begins with a 'launch' record"
            )
        else:
            runs[-1].lines.append(line)
            runs[-1].records.append(record)
    return [_imported(source, run, options) for run in runs]


@dataclass(frozen=True)
class _Run:
    envelope: Record | None
    header: Record
    lines: list[str]
    records: list[Record]

    @property
    def ended(self) -> bool:
        return bool(self.records[-1]["record"] == "end")


def _parsed(source: Source, line: str, number: int, options: Options) -> tuple[str, Record]:
    """A record and its text. After a run that was killed, a line may hold a second record."""
    try:
        return line, records.parse(line, source.name, number)
    except records.RecordError:
        begin = _LAUNCH.search(line, 1)
        if begin is None or not options.partial:
            raise
        return line[begin.start() :], records.parse(line[begin.start() :], source.name, number)


def _imported(source: Source, run: _Run, options: Options) -> Imported:
    if not run.ended and not options.partial:
        raise LongshoreError(f"{source.name}: cut short: no 'end' record follows; {PARTIAL_HINT}")
    end = run.records[-1] if run.ended else records.end_record()
    results = [record for record in run.records if record["record"] == "result"]
    if not results and end["status"] == "ok":
        raise LongshoreError(f"{source.name}: the run {run.header.get('launch', '')!s} has no result")
    began = run.header.get("start")
    return Imported(
        dict(run.envelope["cell"]) if run.envelope else _cell(run.header, results, options),
        run.lines if run.ended else [*run.lines, records.dump(end)],
        why_incomplete=None if run.ended else "no 'end' record",
        aggregate=False,
        started=began if isinstance(began, str) else None,
    )


def _cell(header: Record, results: list[Record], options: Options) -> dict[str, Any]:
    """The cell that `longshore run` would store for this launch, so that the launches can be
    compared. The environment of the launch is unknown, and taken as empty."""
    argv = header.get("argv")
    # A run without results: the first argument of the program is the pattern.
    requested = str(argv[1]) if isinstance(argv, list) and len(argv) > 1 else BENCH
    patterns = sorted({result["pattern"] for result in results} or {requested})
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
    return {**known(**cell), "environment": {}}
