"""Importer of Chapel's ISx: the total time and the times of phases, each with mean, minimum and
maximum over tasks and trials.

    scaling mode = weak
    total keys = 1073741824 (2**30)
    keys per bucket = 134217728 (2**27)
    numTrials = 1
    numBuckets = 8
    averages across locales of min across trials (min..max):
    exchange = 0.345 (0.312..0.401)
    total = 1.234 (1.111..1.456)

The mean of `total` is our total_seconds. Our keys_per_second is the number of keys divided by the
maximum of `total`, the time of the slowest trial.
"""

import re

from longshore_study.importers.imported import Imported, Options, Source, aggregate_result, known, whole_records
from longshore_study.importers.run_texts import NUMBER, fortran_value, integer, runs_of
from longshore_study.store import records

_BEGIN = re.compile(r"^scaling mode = (strong|weakISO|weak)\s*$", re.MULTILINE)
_TIMES = re.compile(rf"^([a-z][a-z ]*?) = ({NUMBER}|\S+) \((\S+?)\.\.(\S+?)\)[ \t]*$", re.MULTILINE)
_PHASES = {"input": "make", "bucket count": "count", "bucket offset": "offsets", "bucketize": "bucketize",
           "exchange": "exchange", "count keys": "sort"}  # fmt: skip


def read(source: Source, options: Options) -> list[Imported]:
    return [_imported(run, options, head[1]) for head, run in runs_of(source, _BEGIN, "scaling mode = ...")]


def _imported(run: Source, options: Options, mode: str) -> Imported:
    text = run.text
    tasks, keys = integer(r"numBuckets = (\d+)", text), integer(r"keys per bucket = (\d+)", text)
    total_keys = integer(r"total keys = (\d+)", text)
    marks = text.find("averages across")
    times = {match[1]: match for match in _TIMES.finditer(text, max(marks, 0))}
    if "total" not in times or marks < 0:
        raise run.error_at_end(
            "the output ends without its line 'total = ... (...)': cut short, or run with --printTimings=false"
        )
    if not tasks or not keys or not total_keys:
        raise run.error("numBuckets, total keys and keys per bucket are missing; run without --printConfig=false")
    try:
        mean, largest = fortran_value(times["total"][2]), fortran_value(times["total"][4])
        phases = {_PHASES[name]: fortran_value(match[2]) for name, match in times.items() if name in _PHASES}
    except ValueError as error:
        raise run.at(times["total"]).error(str(error)) from None
    if not 0 < mean <= largest * (1 + 1e-6):
        raise run.at(times["total"]).error(f"a mean of {mean} s with a maximum of {largest} s")
    scaling = "weak-iso" if mode == "weakISO" else mode
    variant = {"exchange": "put", "order": "round-robin", "scaling": scaling, "keys": keys}
    metrics = {
        "keys_per_second": records.metric(total_keys / largest, "keys/s"),
        "total_seconds": records.metric(mean, "s", "lower"),
    }
    if "exchange" in phases:
        metrics["exchange_seconds"] = records.metric(phases["exchange"], "s", "lower")
    result = aggregate_result(
        "sort", variant, metrics, verified="Verification successful!" in text,
        repetitions=integer(r"numTrials = (\d+)", text) or 1, phases=phases or None,
        seconds={"max": largest, "mean": mean},
        original={"name": "total", "value": mean, "unit": "s"},
    )  # fmt: skip
    nodes = integer(r"(?:-nl|--numLocales)[ =]?(\d+)", run.before) or options.nodes_of(tasks)
    cell = known(program="chapel-isx", ranks=tasks, nodes=nodes)
    header = {"program": {"name": "Chapel ISx"}, "transport": {"name": "chapel"}, "ranks": tasks, "nodes": nodes}
    return Imported(cell, whole_records(header, [result]))
