"""Importer of the Intel MPI Benchmarks, 3.2 to 2021: one table per benchmark and number of
processes, one line per message size.

    # Benchmarking Sendrecv
    # #processes = 2
    #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]   Mbytes/sec
         0         1000         4.06         4.06         4.06         0.00

Factors are all settings that distinguish measurements: the part of the benchmarks (except MPI-1),
the mode of IMB-RMA, -EXT or -IO (`#    MODE: AGGREGATE`), concurrent groups (-multi, and the group
of a line), the threads of IMB-MT, and selected data types. Times are means over repetitions.
"""

import re
from typing import Any

from longshore_study.importers.imported import Imported, Options, Source, aggregate_result, known, whole_records
from longshore_study.importers.run_texts import finite_number, integer, parts_of, runs_of, starts_with_number, whole
from longshore_study.store import records
from longshore_study.store.records import Record

_BEGIN = re.compile(
    r"(?:Intel ?\(R\)|PALLAS) MPI Benchmark(?:s| Suite)[ \t]*V?(\d[\d.]*(?:[ \t]+(?:Update|Beta)[ \t]*\d*)*)?[^\n]*",
    re.IGNORECASE,
)
_PART = re.compile(r"(?:MPI-2|(EXT|RMA|NBC|IO|P2P|\bMT|MPI-4|HALO)) part")
"""The part of the benchmarks. MPI-2 is the old name of EXT."""
_WITHOUT_END = ("mt", "halo")
"""Parts whose output has no end mark."""
_TABLE = re.compile(r"^#[ \t]*Benchmarking[ \t]+(\S+)(?:[ \t]+\((\d+(?:[ \t]*x[ \t]*\d+)+)\))?", re.MULTILINE)
"""The benchmark, and the grid of processes of IMB-P2P: `# Benchmarking Stencil2D (4 x 4)`."""
_TYPES = (
    ("datatype", r"^#[ \t]*MPI_Datatype[ \t]*:[ \t]*(\S+)", "MPI_BYTE"),
    ("reduction_datatype", r"^#[ \t]*MPI_Datatype for reductions[ \t]*:[ \t]*(\S+)", "MPI_FLOAT"),
)
"""A factor, the line with its level, and the default level, which is not stored."""
_COLUMNS = {
    "t[usec]": ("latency_us", "us", "lower"), "t_avg[usec]": ("latency_us", "us", "lower"),
    "t_min[usec]": ("min_latency_us", "us", "lower"), "t_max[usec]": ("max_latency_us", "us", "lower"),
    "mbytes/sec": ("bandwidth_MBps", "MB/s", "higher"), "msg/sec": ("messages_per_second", "1/s", "higher"),
    "t_ovrl[usec]": ("overall_us", "us", "lower"), "t_pure[usec]": ("pure_us", "us", "lower"),
    "t_cpu[usec]": ("cpu_us", "us", "lower"), "overlap[%]": ("overlap_percent", "%", "higher"),
}  # fmt: skip
_WRONG_FROM = 0.01  # value of the column `defects` from which IMB calls a result wrong
_NOT_RUN = re.compile(r"\b(?:out-of-mem|time-out|int-overflow).*", re.IGNORECASE)
"""What IMB prints instead of the figures of a size that it skips."""
_WRONG_BUFFER = re.compile(r"^\s*\d+: Error (\w+)(?:, *size *= *(\d+))?", re.MULTILINE)
"""What a rank prints about a wrong buffer: the benchmark and the size in bytes."""


def read(source: Source, options: Options) -> list[Imported]:
    return [_imported(run, options, head) for head, run in runs_of(source, _BEGIN, "Intel(R) MPI Benchmarks")]


def _imported(run: Source, options: Options, head: re.Match[str]) -> Imported:
    text = run.text
    named = _PART.search(head[0])
    part = (named[1] or "ext").lower() if named else None
    common: dict[str, Any] = known(part=part)
    for name, line, usual in _TYPES:
        if (found := re.search(line, text, re.MULTILINE)) and found[1] != usual:
            common[name] = found[1]
    results: list[Record] = []
    most = 1
    tables = list(_TABLE.finditer(text))
    late = _wrong_in(text[: tables[0].start()] if tables else "")
    for table, printed in parts_of(run, tables):
        factors, ranks = _heading(table[1], printed.text)
        grid = {"grid": "x".join(re.findall(r"\d+", table[2]))} if table[2] else {}
        rows = _table(printed, {**factors, **grid, **common})
        late |= _mark_wrong(rows, _wrong_in(printed.text))
        results += rows
        most = max(most, ranks)
    _mark_wrong(results, late)
    if not results:
        missing = "no table '# Benchmarking ...' with results" if tables else "the run ended before its first table"
        raise run.error_at_end(missing)
    why_incomplete = None
    if part not in _WITHOUT_END and "All processes entering MPI_Finalize" not in text:
        why_incomplete = "IMB's output ends without 'All processes entering MPI_Finalize'"
    elif part in _WITHOUT_END and run.ends_file and not text.endswith("\n"):
        why_incomplete = "IMB's output ends in the middle of a line"
    run.refuse_incomplete(why_incomplete, options)
    nodes = options.nodes_of(most)
    cell = known(program="imb", transport="mpi", ranks=most, nodes=nodes)
    program = {"name": "IMB", "version": head[1]}
    header = {"program": program, "transport": {"name": "mpi"}, "ranks": most, "nodes": nodes}
    return Imported(cell, whole_records(header, results), why_incomplete=why_incomplete)


def _wrong_in(text: str) -> set[tuple[str, int | None]]:
    return {(match[1], int(match[2]) if match[2] else None) for match in _WRONG_BUFFER.finditer(text)}


def _mark_wrong(results: list[Record], wrong: set[tuple[str, int | None]]) -> set[tuple[str, int | None]]:
    """Marks the results whose buffers a rank found wrong. Returns the entries of `wrong` that are
    for other benchmarks, because ranks also print into the next tables. An entry without a size
    marks all results of its benchmark."""
    for result in results if wrong else ():
        variant = result["variant"]
        if {(variant["test"], variant.get("bytes")), (variant["test"], None)} & wrong:
            result["verified"] = False
    names = {result["variant"]["test"] for result in results}
    return {(name, size) for name, size in wrong if name not in names}


def _heading(name: str, text: str) -> tuple[dict[str, Any], int]:
    """The factors in the heading of a table, and the number of ranks of the program."""
    groups = integer(r"\( *(\d+) groups of \d+ processes", text)
    processes = integer(r"\( *\d+ groups of (\d+) processes" if groups else r"#processes = (\d+)", text)
    threads, window = integer(r"\(threads: (\d+)\)", text), integer(r"window_size = (\d+)", text)
    named = {"processes": processes, "groups": groups, "threads": threads, "window": window}
    waiting = integer(r"\( *(\d+) additional process", text) or 0
    ranks = (processes or 1) * (groups or 1) + waiting
    return {"test": name, **{key: value for key, value in named.items() if value}}, ranks


def _table(printed: Source, factors: dict[str, Any]) -> list[Record]:
    mode = re.search(r"^#\s*MODE:\s*(.+?)\s*$", printed.text, re.MULTILINE)
    columns: list[str] = []
    results: list[Record] = []
    for line in printed.lines():
        words = line.text.split()
        if {"#bytes", "#repetitions"} & set(words[:2]):
            columns = words
        elif columns and starts_with_number(line.text):
            variant = {**factors, **({"mode": mode[1].lower()} if mode else {})}
            if skipped := _NOT_RUN.search(line.text):
                variant["bytes"] = whole(line, columns[0], words[0])
                skip = {"record": "result", "pattern": "imb", "variant": variant, "skipped": skipped[0].strip()}
                results.append(skip)
            else:
                results.append(_record(line, columns, words, variant))
    return results


def _record(line: Source, columns: list[str], values: list[str], factors: dict[str, Any]) -> Record:
    if len(values) != len(columns):
        raise line.error(f"{len(values)} values below {len(columns)} columns ({' '.join(columns)})")
    metrics: dict[str, Any] = {}
    more: dict[str, Any] = {"repetitions": 1}
    for column, value in zip(columns, values, strict=True):
        if column == "#bytes":
            factors["bytes"] = whole(line, column, value)
        elif column == "Group" and "groups" in factors:
            factors["group"] = whole(line, column, value)
        elif column == "#repetitions":
            more["repetitions"] = whole(line, column, value)
        elif column == "defects":
            more["verified"] = finite_number(line, column, value) < _WRONG_FROM
        elif (known := _COLUMNS.get(column.lower())) is not None:
            # All tables have a latency, even those without bandwidth, so the latency comes first.
            metrics[known[0]] = records.metric(finite_number(line, column, value), known[1], known[2])
    if factors.get("bytes") == 0:
        metrics.pop("bandwidth_MBps", None)  # IMB prints 0.00 for zero bytes
    ordered = {name: metrics[name] for name in sorted(metrics, key=lambda name: name != "latency_us")}
    return aggregate_result("imb", factors, ordered, **more)
