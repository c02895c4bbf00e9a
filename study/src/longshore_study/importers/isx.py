"""ISx, the bucket exchange: what it prints (SHMEM and MPI), and its log with a line of times per PE and iteration.

    ISx v1.1                                              on the screen
      Number of Keys per PE: 134217728
    Average total time (per PE): 1.234567 seconds
    Average all2all time (per PE): 0.345678 seconds

    SHMEM<TAB>NUM_PES 4<TAB>Max_Key 268435456<TAB>Num_Iters 10<TAB>Weak Scaling: ... keys per PE<TAB>Round Robin All2All
    TOTAL (sec)<TAB>ATA_KEYS (sec)<TAB>ATA_KEYS_COUNTS<TAB>...                              in the log

The averages are our total_seconds and exchange_seconds (mean over PEs; ISx over iterations too). The log gives more:
keys_per_second, with our t, the median over iterations of the slowest PE. Lines of a PE stand together.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean, median
from typing import Any

from longshore_study import records
from longshore_study.importers import Imported, Options, Source, whole_records
from longshore_study.importers.run_texts import integer, number
from longshore_study.records import Record

_SCREEN = re.compile(r"^ISx v([\d.]+)", re.MULTILINE)
_LOG = re.compile(r"^(SHMEM|MPI)\tNUM_PES (\d+)\tMax_Key (\d+)\tNum_Iters (\d+)\t(.*)$", re.MULTILINE)
_ORDERS = (("Random", "random"), ("Incast", "incast"), ("Round Robin", "round-robin"))
_PHASES = {
    "MAKE_INPUT": "make", "COUNT_BUCKET_SIZES": "count", "BUCKETIZE": "bucketize", "COMPUTE_OFFSETS": "offsets",
    "ATA_KEYS": "exchange", "LOCAL_SORT": "sort", "ATA_COUNTS": "exchange-counts", "RECV_OFFSET": "receive-offsets",
}  # fmt: skip
_MOST_LINES = 5_000_000


@dataclass
class _Run:
    """What screen and log tell of one run; either may be missing."""

    transport: str | None = None
    ranks: int | None = None
    keys: int | None = None
    max_key: int | None = None
    scaling: str | None = None
    order: str | None = None
    version: str | None = None
    iterations: int | None = None
    total: float | None = None
    exchange: float | None = None
    failed: bool = False
    times: dict[str, list[float]] = field(default_factory=dict)


def read(source: Source, options: Options) -> list[Imported]:
    screens = list(_SCREEN.finditer(source.text))
    logs = list(_LOG.finditer(source.text))
    if len(screens) > 1 or len(logs) > 1:
        place = (screens if len(screens) > 1 else logs)[1].start()
        raise source.error(
            place, "a second run begins here; import the runs of ISx as files of their own, screen and log together"
        )
    if not screens and not logs:
        raise source.error(len(source.text.rstrip()), "neither 'ISx v...' of the screen nor the first line of the log")
    run = _Run()
    if screens:
        _read_screen(run, source.text)
    if logs:
        _read_log(run, source, logs[0])
    if run.total is None and not run.times:
        raise source.error(len(source.text.rstrip()), "the output ends without 'Average total time (per PE)'")
    _refuse_nothing(run, source)
    return [_imported(source, options, run)]


def _refuse_nothing(run: _Run, source: Source) -> None:
    """Raises LongshoreError where no PE, no iteration or no time is told of: nothing was measured."""
    least = {
        "NUM_PES": run.ranks,
        "Num_Iters": run.iterations,
        "Average total time": run.total,
        "TOTAL": min(_per_iteration(run, "TOTAL")) if run.times else None,
    }
    for name, value in least.items():
        if value is not None and value <= 0:
            raise source.error(0, f"{name} is {value:g}; a run that measured something has more than 0")


def _read_screen(run: _Run, text: str) -> None:
    run.version = match[1] if (match := _SCREEN.search(text)) else None
    run.keys = integer(r"Number of Keys per PE: (\d+)", text)
    run.max_key = integer(r"Max Key Value: (\d+)", text)
    run.ranks = integer(r"Number of PEs: (\d+)", text)
    run.iterations = integer(r"Number of Iterations: (\d+)", text)
    run.total = number(r"Average total time \(per PE\): ([\d.]+) seconds", text)
    run.exchange = number(r"Average all2all time \(per PE\): ([\d.]+) seconds", text)
    run.failed = "Failed Verification" in text or "Verification Failed" in text
    scaling = re.search(r"(STRONG|WEAK_ISOBUCKET|WEAK) Scaling!", text)
    run.scaling = {"STRONG": "strong", "WEAK": "weak", "WEAK_ISOBUCKET": "weak-iso"}[scaling[1]] if scaling else None
    run.order = "random" if "Random Permute Used in ATA" in text else None


def _read_log(run: _Run, source: Source, head: re.Match[str]) -> None:
    run.transport = head[1].lower()
    run.ranks, run.max_key, run.iterations = int(head[2]), int(head[3]), int(head[4])
    _refuse_nothing(run, source)
    told = head[5]
    run.order = next((order for word, order in _ORDERS if word in told), run.order)
    if found := re.search(r"Strong Scaling: (\d+) total keys", told):
        run.scaling, run.keys = "strong", int(found[1]) // run.ranks
    elif found := re.search(r"Constant Bucket Width: (\d+)u? keys per PE", told):
        run.scaling, run.keys = "weak-iso", int(found[1])
    elif found := re.search(r"Weak Scaling: (\d+) keys per PE", told):
        run.scaling, run.keys = "weak", int(found[1])
    lines = source.text[head.end() :].lstrip("\n").split("\n")
    names = lines[0].rstrip("\t").split("\t")
    if "TOTAL (sec)" not in names:
        raise source.error(head.end() + 1, "the log has no line with 'TOTAL (sec)' below its first one")
    columns: dict[str, list[float]] = {name.removesuffix(" (sec)"): [] for name in names if name.endswith(" (sec)")}
    for count, line in enumerate(lines[1:]):
        values = line.rstrip("\t").split("\t")
        if len(values) != len(names) or not re.fullmatch(r"[\d.\t]+", line):
            break  # the screen, or the end
        if count > _MOST_LINES:
            raise source.error(head.end(), f"more than {_MOST_LINES} lines")
        for name, value in zip(names, values, strict=True):
            if name.endswith(" (sec)"):
                columns[name.removesuffix(" (sec)")].append(float(value))
    expected = run.ranks * run.iterations
    rows = len(columns["TOTAL"])
    if not rows or rows % expected:
        raise source.error(
            head.start(), f"{rows} lines of times where {run.ranks} PEs and {run.iterations} iterations give {expected}"
        )
    run.times = {
        name: values[-expected:] for name, values in columns.items()
    }  # a log is appended to; the last run counts


def _imported(source: Source, options: Options, run: _Run) -> Imported:
    if not run.ranks or not run.keys:
        raise source.error(0, "nothing says how many PEs and keys there were; keep what ISx prints first")
    transport = run.transport or "unknown"
    variant: dict[str, Any] = {"keys": run.keys}
    variant |= {"exchange": {"shmem": "put", "mpi": "alltoallv"}[transport]} if transport != "unknown" else {}
    variant |= {"scaling": run.scaling} if run.scaling else {}
    variant |= {"max_key": run.max_key} if run.max_key else {}
    # The MPI form calls alltoallv, which has an order of its own; what it prints of one changes nothing there.
    variant |= {"order": run.order or "round-robin"} if transport == "shmem" else {}
    cell: dict[str, Any] = {"program": "isx", "transport": transport, "ranks": run.ranks}
    if options.ranks_per_node:
        cell |= {"nodes": -(-run.ranks // options.ranks_per_node), "ranks_per_node": options.ranks_per_node}
    header = {"program": {"name": "ISx", "version": run.version}, "transport": {"name": transport}, "ranks": run.ranks,
              "nodes": cell.get("nodes")}  # fmt: skip
    return Imported(cell, whole_records(header, _records(run, variant)))


def _records(run: _Run, variant: dict[str, Any]) -> list[Record]:
    metrics: dict[str, Any] = {}
    samples: list[Record] = []
    seconds: dict[str, Any] = {}
    phases: dict[str, float] = {}
    if run.times:
        slowest = _per_iteration(run, "TOTAL")
        t = median(slowest)
        seconds = {"median": t}
        metrics["keys_per_second"] = records.metric((run.keys or 0) * (run.ranks or 0) / t, "keys/s")
        metrics["total_seconds"] = records.metric(fmean(run.times["TOTAL"]), "s", "lower")
        if "ATA_KEYS" in run.times:
            metrics["exchange_seconds"] = records.metric(fmean(run.times["ATA_KEYS"]), "s", "lower")
        phases = {_PHASES[name]: median(_per_iteration(run, name)) for name in run.times if name in _PHASES}
        samples = [
            {"record": "sample", "pattern": "sort", "variant": variant, "repetition": k, "seconds": {"max": value}}
            for k, value in enumerate(slowest)
        ]
    else:
        assert run.total is not None  # noqa: S101 - read() has looked
        metrics["total_seconds"] = records.metric(run.total, "s", "lower")
        if run.exchange is not None:
            metrics["exchange_seconds"] = records.metric(run.exchange, "s", "lower")
    total = run.total if run.total is not None else fmean(run.times["TOTAL"])
    result = records.result_record(
        "sort", variant, metrics, verified=not run.failed, aggregate=True, repetitions=run.iterations or 1,
        seconds=seconds or None, phases=phases or None,
        original={"name": "Average total time (per PE)", "value": total, "unit": "s"},
    )  # fmt: skip
    return [*samples, result]


def _per_iteration(run: _Run, name: str) -> Sequence[float]:
    """The slowest PE of each iteration."""
    count = run.iterations or 1
    values = run.times[name]
    return [max(values[k::count]) for k in range(count)]
