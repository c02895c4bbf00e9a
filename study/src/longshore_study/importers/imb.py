"""Intel MPI Benchmarks, 3.2 to 2021: a table per benchmark and number of processes, a line per message size.

    # Benchmarking Sendrecv
    # #processes = 2
    #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]   Mbytes/sec
         0         1000         4.06         4.06         4.06         0.00

A mode of IMB-RMA, -EXT or -IO (`#    MODE: AGGREGATE`) is a factor. Times are of the mean over repetitions.
"""

from __future__ import annotations

import re
from typing import Any

from longshore_study import records
from longshore_study.importers import Imported, Options, Source, whole_records
from longshore_study.importers.run_texts import figure, integer, runs_of, starts_with_number, whole
from longshore_study.records import Record

_BEGIN = re.compile(r"Intel ?\(R\) MPI Benchmark(?:s| Suite)\s*V?([\d.]+)?[^\n]*", re.IGNORECASE)
_TABLE = re.compile(r"^#[ \t]*Benchmarking[ \t]+(\S+)", re.MULTILINE)
_COLUMNS = {
    "t[usec]": ("latency_us", "us", "lower"), "t_avg[usec]": ("latency_us", "us", "lower"),
    "t_min[usec]": ("min_latency_us", "us", "lower"), "t_max[usec]": ("max_latency_us", "us", "lower"),
    "mbytes/sec": ("bandwidth_MBps", "MB/s", "higher"), "msg/sec": ("messages_per_second", "1/s", "higher"),
    "t_ovrl[usec]": ("overall_us", "us", "lower"), "t_pure[usec]": ("pure_us", "us", "lower"),
    "t_cpu[usec]": ("cpu_us", "us", "lower"), "overlap[%]": ("overlap_percent", "%", "higher"),
}  # fmt: skip


def read(source: Source, options: Options) -> list[Imported]:
    return [
        _imported(source, options, text, offset) for text, offset in runs_of(source, _BEGIN, "Intel(R) MPI Benchmarks")
    ]


def _imported(source: Source, options: Options, text: str, offset: int) -> Imported:
    tables = list(_TABLE.finditer(text))
    ends = [table.start() for table in tables[1:]] + [len(text)]
    results = [
        record
        for table, end in zip(tables, ends, strict=True)
        for record in _table(source, table[1], text[table.end() : end], offset + table.end())
    ]
    end = offset + len(text.rstrip())
    if not results:
        raise source.error(end, "no table '# Benchmarking ...' with lines of figures")
    finished = "All processes entering MPI_Finalize" in text
    partial = None if finished else "IMB's output ends without 'All processes entering MPI_Finalize'"
    if partial and not options.partial:
        raise source.error(end, f"{partial}; --partial takes what is there, and marks it")
    most = max(result["variant"].get("processes", 1) for result in results)
    ranks = options.ranks or most
    version = _BEGIN.search(text)
    cell: dict[str, Any] = {"program": "imb", "transport": "mpi", "ranks": ranks}
    if options.ranks_per_node:
        cell["nodes"] = -(-ranks // options.ranks_per_node)
    header = {"program": {"name": "IMB", "version": version[1] if version else None}, "transport": {"name": "mpi"},
              "ranks": ranks, "nodes": cell.get("nodes")}  # fmt: skip
    return Imported(cell, whole_records(header, results), partial=partial)


def _table(source: Source, name: str, text: str, offset: int) -> list[Record]:
    processes = integer(r"#processes = (\d+)", text)
    mode = re.search(r"^#\s*MODE:\s*(.+?)\s*$", text, re.MULTILINE)
    factors: dict[str, Any] = {"test": name, **({"processes": processes} if processes else {})}
    columns: list[str] = []
    found: list[Record] = []
    place = offset
    for line in text.splitlines(keepends=True):
        words = line.split()
        if words and words[0] in ("#bytes", "#repetitions"):
            columns = words
        elif re.search(r"out-of-mem|time-out", line, re.IGNORECASE):
            columns = []  # IMB's own word for the sizes that it left out; the rest of the line explains it
        elif columns and starts_with_number(line):
            found.append(
                _record(source, place, columns, words, {**factors, **({"mode": mode[1].lower()} if mode else {})})
            )
        place += len(line)
    return found


def _record(source: Source, place: int, columns: list[str], values: list[str], factors: dict[str, Any]) -> Record:
    if len(values) != len(columns):
        raise source.error(place, f"{len(values)} values below {len(columns)} columns ({' '.join(columns)})")
    metrics: dict[str, Any] = {}
    repetitions = 1
    for column, value in zip(columns, values, strict=True):
        if column == "#bytes":
            factors["bytes"] = whole(source, place, column, value)
        elif column == "#repetitions":
            repetitions = whole(source, place, column, value)
        elif (known := _COLUMNS.get(column.lower())) is not None:
            # The latency first: it is what a table without bandwidth has too.
            metrics[known[0]] = records.metric(figure(source, place, column, value), known[1], known[2])
    if factors.get("bytes") == 0:
        metrics.pop("bandwidth_MBps", None)  # 0.00 is printed, of no bytes
    ordered = {name: metrics[name] for name in sorted(metrics, key=lambda name: name != "latency_us")}
    return records.result_record("imb", factors, ordered, aggregate=True, repetitions=repetitions)
