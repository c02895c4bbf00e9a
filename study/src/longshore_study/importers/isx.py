"""Importer of ISx, the bucket sort benchmark: its screen output (SHMEM and MPI), and its log with a
line of times per PE and iteration.

    ISx v1.1                                              over SHMEM
    ISx MPI 2 sided v1.1                                  over MPI; before 1.1 `ISx MPI v1.0`
      Number of Keys per PE: 134217728
    Average total time (per PE): 1.234567 seconds
    Average all2all time (per PE): 0.345678 seconds

The averages are our total_seconds and exchange_seconds (means over PEs and iterations). The log
also gives keys_per_second. It is the number of keys divided by the median, over iterations, of the
time of the slowest PE. A file may hold several runs, each with screen output, log, or both.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from statistics import fmean, median
from typing import Any

from longshore_study.importers.imported import (
    Imported,
    Options,
    Source,
    aggregate_result,
    known,
    samples,
    whole_records,
)
from longshore_study.importers.isx_log import HEAD, Log, read_log
from longshore_study.importers.run_texts import integer, number, parts_of
from longshore_study.store import records
from longshore_study.store.records import Record

_SCREEN = re.compile(r"^ISx (?:([^\n]*)[ \t])?v([\d.]+)[ \t]*$", re.MULTILINE)
_AVERAGE = r"Average {} time \(per PE\)(?:: ([\d.]+) seconds| seconds average: ([\d.]+),)"
_SCALINGS = {"STRONG": "strong", "WEAK": "weak", "WEAK_ISOBUCKET": "weak-iso"}
_PHASES = {
    "MAKE_INPUT": "make", "COUNT_BUCKET_SIZES": "count", "BUCKETIZE": "bucketize", "COMPUTE_OFFSETS": "offsets",
    "ATA_KEYS": "exchange", "LOCAL_SORT": "sort", "ATA_COUNTS": "exchange-counts",
    "COMPUTE_RECV_OFFSETS": "receive-offsets",
}  # fmt: skip
_PRINTED = 1.1e-6  # screen and log have six decimals


@dataclass(frozen=True)
class _IsxRun:
    """The data of one run, from screen output, log, or both."""

    transport: str
    exchange: str | None
    ranks: int | None = None
    keys: int | None = None
    max_key: int | None = None
    scaling: str | None = None
    order: str | None = None
    version: str | None = None
    iterations: int | None = None
    total: float | None = None
    all2all: float | None = None
    failed: bool = False
    why_incomplete: str | None = None
    times: dict[str, list[float]] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


def read(source: Source, options: Options) -> list[Imported]:
    starts = sorted([*_SCREEN.finditer(source.text), *HEAD.finditer(source.text)], key=lambda match: match.start())
    if not starts:
        raise source.error_at_end("neither 'ISx v...' of the screen nor the first line of a log")
    parts = [
        _screen(part.text, match) if match.re is _SCREEN else read_log(part, match)
        for match, part in parts_of(source, starts)
    ]
    runs = [run for screen, log in _paired(parts) for run in _runs(screen, log)]
    for run in runs:
        _refuse_unmeasured(run, source)
        source.refuse_incomplete(run.why_incomplete, options)
    return [_imported(source, options, run) for run in runs]


def _paired(parts: Sequence[_IsxRun | Log]) -> list[tuple[_IsxRun | None, Log | None]]:
    """Screen output and log of each run. A file with both must alternate them, in either order."""
    screens = [part for part in parts if isinstance(part, _IsxRun)]
    logs = [part for part in parts if isinstance(part, Log)]
    if not logs:
        return [(screen, None) for screen in screens]
    if not screens:
        return [(None, log) for log in logs]
    if len(parts) % 2 or any(type(part) is type(next_part) for part, next_part in pairwise(parts)):
        raise logs[0].printed.error(
            f"{len(screens)} screen outputs and {len(logs)} logs of ISx do not alternate, so it is unknown which "
            "belong together; put the log of each run behind its screen output",
        )
    return list(zip(screens, logs, strict=True))


def _runs(screen: _IsxRun | None, log: Log | None) -> list[_IsxRun]:
    """The runs of a screen output and a log; a log alone may have several."""
    if log is None:
        return [screen] if screen else []
    warnings = []
    if log.repeats:
        bug = "every line of times in the log is the same, a bug of ISx 1.1 over MPI"
        if screen is None:
            raise log.printed.error(f"{bug}; import the screen output of the run instead")
        warnings = [f"{log.printed.name}: {bug}; only the averages of the screen output are imported"]
    if screen is not None:
        _refuse_other_run(screen, log)
    # ISx appends to its log, so the screen output is of the last run.
    times = [{}] if log.repeats else log.runs if screen is None else log.runs[-1:]
    run = screen or _IsxRun(exchange=None, **log.settings)
    exchange = run.exchange or _exchange_of(log)
    run = replace(run, exchange=exchange, warnings=warnings, why_incomplete=None, **log.settings)
    return [replace(run, times=of_run) for of_run in times]


def _refuse_other_run(screen: _IsxRun, log: Log) -> None:
    """Raises LongshoreError if a screen output and a log contradict each other."""
    other = "screen and log are from different runs"
    for name in ("ranks", "iterations", "keys", "scaling"):
        printed, logged = getattr(screen, name), log.settings.get(name)
        if None not in (printed, logged) and printed != logged:
            raise log.printed.error(f"{other}: {name} {printed} on the screen, {logged} in the log")
    times = {} if log.repeats else log.runs[-1]
    for name, printed in (("TOTAL", screen.total), ("ATA_KEYS", screen.all2all)):
        if printed is not None and name in times:
            mean = fmean(times[name])
            if not math.isclose(mean, printed, rel_tol=1e-5, abs_tol=_PRINTED):
                what = f"the mean of {name} is {mean:.6f} s in the log, {printed:.6f} s on the screen"
                raise log.printed.error(f"{other}: {what}")


def _exchange_of(log: Log) -> str | None:
    """The exchange of the run of a log. Logs of the one-sided and of the two-sided MPI form have
    the same name, but the one-sided form does not exchange counts."""
    transport = log.settings["transport"]
    if transport != "mpi":
        return "put" if transport == "shmem" else None
    names = log.runs[0] if log.runs else {}
    return "rma" if "COMPUTE_OFFSETS" in names and "ATA_COUNTS" not in names else "alltoallv"


def _refuse_unmeasured(run: _IsxRun, source: Source) -> None:
    """Raises LongshoreError if the number of PEs, of iterations, or a time is missing or zero."""
    if run.total is None and not run.times:
        raise source.error_at_end("the output ends without 'Average total time (per PE)'")
    least = {
        "NUM_PES": run.ranks,
        "Num_Iters": run.iterations,
        "Average total time": run.total,
        "TOTAL": min(_per_iteration(run, "TOTAL")) if run.times else None,
    }
    for name, value in least.items():
        if value is not None and value <= 0:
            raise source.error(f"{name} is {value:g}; a run with measurements has more than 0")


def _screen(text: str, head: re.Match[str]) -> _IsxRun:
    words = (head[1] or "").lower()
    transport, exchange = ("mpi", None) if "mpi" in words else ("shmem", "put")
    if re.search(r"\b(?:2|two)[ -]sided", words):
        exchange = "alltoallv"
    elif re.search(r"\b(?:1|one)[ -]sided|\brma\b", words):
        exchange = "rma"
    scaling = re.search(r"(STRONG|WEAK_ISOBUCKET|WEAK) Scaling!", text)
    total, all2all = (number(_AVERAGE.format(what), text) for what in ("total", "all2all"))
    return _IsxRun(
        transport=transport,
        exchange=exchange,
        ranks=integer(r"Number of PEs: (\d+)", text),
        keys=integer(r"Number of Keys per PE: (\d+)", text),
        max_key=integer(r"Max Key Value: (\d+)\s", text),
        iterations=integer(r"Number of Iterations: (\d+)", text),
        scaling=_SCALINGS[scaling[1]] if scaling else None,
        order="random" if "Random Permute Used in ATA" in text else None,
        version=head[2],
        total=total,
        all2all=all2all,
        failed="Failed Verification" in text or "Verification Failed" in text,
        why_incomplete="ISx's output ends without 'Average all2all time (per PE)'" if all2all is None else None,
    )


def _imported(source: Source, options: Options, run: _IsxRun) -> Imported:
    if not run.ranks or not run.keys:
        raise source.error("the numbers of PEs and keys are unknown; keep the first lines of ISx's output")
    # The MPI form calls alltoallv, which has its own order. There, the order that ISx prints has no
    # effect.
    order = (run.order or "round-robin") if run.transport == "shmem" else None
    exchange, max_key = run.exchange, run.max_key or None
    variant = known(keys=run.keys, exchange=exchange, scaling=run.scaling, max_key=max_key, order=order)
    nodes = options.nodes_of(run.ranks)
    per_node = options.ranks_per_node if nodes else None
    cell = known(program="isx", transport=run.transport, ranks=run.ranks, nodes=nodes, ranks_per_node=per_node)
    program = {"name": "ISx", "version": run.version}
    header = {"program": program, "transport": {"name": run.transport}, "ranks": run.ranks, "nodes": nodes}
    return Imported(cell, whole_records(header, _records(run, variant)), run.warnings, run.why_incomplete)


def _records(run: _IsxRun, variant: dict[str, Any]) -> list[Record]:
    metrics: dict[str, Any] = {}
    before: list[Record] = []
    seconds: dict[str, Any] = {}
    phases: dict[str, float] = {}
    total, all2all = run.total, run.all2all
    if run.times:
        slowest = _per_iteration(run, "TOTAL")
        t = median(slowest)
        seconds = {"median": t}
        metrics["keys_per_second"] = records.metric((run.keys or 0) * (run.ranks or 0) / t, "keys/s")
        total = fmean(run.times["TOTAL"])
        all2all = fmean(run.times["ATA_KEYS"]) if "ATA_KEYS" in run.times else None
        phases = {_PHASES[name]: median(_per_iteration(run, name)) for name in run.times if name in _PHASES}
        before = samples("sort", variant, slowest)
    assert total is not None  # noqa: S101 - _refuse_unmeasured checked it
    metrics["total_seconds"] = records.metric(total, "s", "lower")
    if all2all is not None:
        metrics["exchange_seconds"] = records.metric(all2all, "s", "lower")
    result = aggregate_result(
        "sort", variant, metrics, verified=not run.failed, repetitions=run.iterations or 1,
        seconds=seconds or None, phases=phases or None,
        original={
            "name": "Average total time (per PE)", "value": total if run.total is None else run.total, "unit": "s",
        },
    )  # fmt: skip
    return [*before, result]


def _per_iteration(run: _IsxRun, name: str) -> Sequence[float]:
    """The time of the slowest PE in each iteration."""
    count = run.iterations or 1
    values = run.times[name]
    return [max(values[k::count]) for k in range(count)]
