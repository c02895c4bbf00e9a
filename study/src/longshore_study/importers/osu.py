"""OSU micro-benchmarks, MPI part, versions 5 to 7: a table per program with a line per message size.

    # OSU MPI Allreduce Latency Test v7.3
    # Datatype: MPI_INT.
    # Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
    4                      11.69              9.21             14.02        1000

The latency of osu_latency is half of there and back, as our control's latency_us. Barrier and the like have no size.
"""

from __future__ import annotations

import re
from typing import Any

from longshore_study import records
from longshore_study.importers import Imported, Options, Source, whole_records
from longshore_study.importers.run_texts import figure, integer, runs_of, starts_with_number, whole
from longshore_study.records import Record

_BEGIN = re.compile(
    r"^#[ \t]*OSU ((?:MPI|OpenSHMEM|UPC\+?\+?|NCCL)\S*) (.+?) (?:Test )?v(\d[\d.]*\S*)[ \t]*$", re.MULTILINE
)
_NAMES = (
    (re.compile(r"^(?:Avg )?Latency ?\(us\)$", re.IGNORECASE), "latency_us", "us", "lower"),
    (re.compile(r"^Min(?:imum)? Lat(?:ency)? ?\(us\)$", re.IGNORECASE), "min_latency_us", "us", "lower"),
    (re.compile(r"^Max(?:imum)? Lat(?:ency)? ?\(us\)$", re.IGNORECASE), "max_latency_us", "us", "lower"),
    (re.compile(r"^P(\d+) Tail Lat ?\(us\)$", re.IGNORECASE), "p{}_latency_us", "us", "lower"),
    (re.compile(r"^(?:Bidirectional )?Bandwidth ?\(MB/s\)$|^MB/s$", re.IGNORECASE), "bandwidth_MBps", "MB/s", "higher"),
    (re.compile(r"^Messages/s$", re.IGNORECASE), "messages_per_second", "1/s", "higher"),
    (
        re.compile(r"^(?:Overall|Coll\. Init|Pure Comm\.|Compute|MPI_Test)\(us\)$", re.IGNORECASE),
        "{0}_us",
        "us",
        "lower",
    ),
    (re.compile(r"^Overlap\(%\)$", re.IGNORECASE), "overlap_percent", "%", "higher"),
)
_TOLD = (
    (re.compile(r"Window creation: (\S+)"), "window_creation"),
    (re.compile(r"Synchronization: (\S+)"), "synchronization"),
    (re.compile(r".*(?:Memory|Buffer) on \w+ \((\w)\) and .*(?:Memory|Buffer) on \w+ \((\w)\)"), "memory"),
)
"""What one-sided tests and those of accelerators say of themselves above their table: two of them are two things."""
_STARTS = re.compile(
    r"^nprocs: (\d+), min: ([\d.]+)(?: ms)?, max: ([\d.]+)(?: ms)?, avg: ([\d.]+)(?: ms)?\s*$", re.MULTILINE
)


def read(source: Source, options: Options) -> list[Imported]:
    """Each table of a file is a run: they come from programs that were started one after the other."""
    return [
        _imported(source, options, text, offset) for text, offset in runs_of(source, _BEGIN, "# OSU MPI ... Test v...")
    ]


def _imported(source: Source, options: Options, text: str, offset: int) -> Imported:
    head = _BEGIN.search(text)
    assert head is not None  # noqa: S101 - runs begin with it
    columns: list[str] | None = None
    results: list[Record] = []
    factors: dict[str, Any] = {"test": _test_name(head[1], head[2])}
    place = offset
    for line in text.splitlines(keepends=True):
        columns, record = _line(source, line, place, columns, factors)
        if record is not None:
            results.append(record)
        place += len(line)
    ranks = options.ranks
    if not results and (start := _STARTS.search(text)):  # osu_init has a line and no table
        ranks = ranks or int(start[1])
        results.append(_start(source, offset + start.start(), start, factors))
    if not results:
        raise source.error(offset + len(text.rstrip()), f"the table of {factors['test']} has no line of figures")
    cell: dict[str, Any] = {"program": "osu", "transport": "mpi" if head[1].startswith("MPI") else head[1].lower()}
    if ranks:
        cell["ranks"] = ranks
    if ranks and options.ranks_per_node:
        cell["nodes"] = -(-ranks // options.ranks_per_node)
    header = {"program": {"name": "OSU micro-benchmarks", "version": head[3]}, "transport": {"name": cell["transport"]},
              "ranks": ranks, "nodes": cell.get("nodes")}  # fmt: skip
    return Imported(cell, whole_records(header, results))


def _start(source: Source, place: int, match: re.Match[str], factors: dict[str, Any]) -> Record:
    names = ("min_init_ms", "max_init_ms", "init_ms")
    metrics = {
        name: records.metric(figure(source, place, name, match[group]), "ms", "lower")
        for group, name in reversed(list(enumerate(names, 2)))
    }
    return records.result_record("osu", factors, metrics, aggregate=True, repetitions=1)


def _test_name(interface: str, title: str) -> str:
    """`MPI-CUDA Latency` is another test than `MPI Latency`: the memory is another."""
    return f"{interface} {title}".strip() if interface != "MPI" else title


def _line(
    source: Source, line: str, place: int, columns: list[str] | None, factors: dict[str, Any]
) -> tuple[list[str] | None, Record | None]:
    """The columns that now hold, and the record of this line, if it is one of figures."""
    text = line.strip()
    if text.startswith("#"):
        body = text.lstrip("# ")
        if body.startswith("Datatype:"):
            factors["datatype"] = body.partition(":")[2].strip(" .")
        if window := integer(r"window size: (\d+)", body):
            factors["window"] = window
        if pairs := integer(r"pairs: (\d+)", body):
            factors["pairs"] = pairs
        for pattern, name in _TOLD:
            if found := pattern.match(body):
                factors[name] = found[1] if found.lastindex == 1 else f"{found[1]}-{found[2]}"
        named = [part.strip() for part in re.split(r"\s{2,}", body)]
        if body.startswith("Size") or any(pattern.match(part) for part in named for pattern, *_ in _NAMES):
            return named, None
        return columns, None
    values = text.split()
    if columns is None or not starts_with_number(text):
        return columns, None
    return columns, _record(source, place, columns, values, factors)


def _record(source: Source, place: int, columns: list[str], values: list[str], factors: dict[str, Any]) -> Record:
    if len(values) != len(columns):
        raise source.error(place, f"{len(values)} values below {len(columns)} columns ({', '.join(columns)})")
    told = dict(factors)
    metrics: dict[str, Any] = {}
    more: dict[str, Any] = {"repetitions": 1}
    for column, value in zip(columns, values, strict=True):
        if column == "Size":
            told["bytes"] = whole(source, place, column, value)
        elif column == "Iterations":
            more["iterations"] = whole(source, place, column, value)
        elif column == "Validation":
            more["verified"] = value.lower() == "pass"
        elif (known := _metric(column)) is not None:
            name, unit, better = known
            metrics[name] = records.metric(figure(source, place, column, value), unit, better)
    if not metrics:
        raise source.error(place, f"no known column among {', '.join(columns)}")
    return records.result_record("osu", told, metrics, aggregate=True, **more)


def _metric(column: str) -> tuple[str, str, str] | None:
    for pattern, name, unit, better in _NAMES:
        if match := pattern.match(column):
            if match.groups():
                return name.format(match[1]), unit, better
            return name.format(re.sub(r"\W+", "_", column.partition("(")[0]).strip("_").lower()), unit, better
    return None
