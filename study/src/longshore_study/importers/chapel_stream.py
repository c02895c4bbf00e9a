"""Importer of Chapel's STREAM: stream (global arrays, block distributed) and stream-ep (own arrays
on each locale).

    Performance (GB/s) = 123.4         stream: all locales together, shortest trial
    Performance (GB/s):                stream-ep: a single locale; statistics over the locales
      max = 61.2
      avg = 60.8
      min = 60.1

Our best_bandwidth is per node, of the slowest rank. For stream, it is the value divided by the
number of locales; for stream-ep, the minimum.
"""

import re

from longshore_study.importers.imported import Imported, Options, Source, aggregate_result, known, whole_records
from longshore_study.importers.run_texts import NUMBER, integer, number, runs_of
from longshore_study.store import records

_BEGIN = re.compile(r"^Problem size = ", re.MULTILINE)
_LOCALES = re.compile(r"^Number of Locales = (\d+)", re.MULTILINE)
_COMMAND = re.compile(r"(?:-nl|--numLocales)[ =]?(\d+)")


def read(source: Source, options: Options) -> list[Imported]:
    return [_imported(run, options) for _, run in runs_of(source, _BEGIN, "Problem size = ...")]


def _imported(run: Source, options: Options) -> Imported:
    text, before = run.text, run.before
    total = number(rf"Performance \(GB/s\) = ({NUMBER})", text)
    of_locale = {
        word: number(rf"Performance \(GB/s\):(?:\s+\w+ = \S+)*?\s+{word} = ({NUMBER})", text)
        for word in ("max", "avg", "min")
    }
    if total is None and of_locale["min"] is None:
        raise run.error_at_end("no line 'Performance (GB/s)': cut short, or run with --printStats=false")
    found = list(_LOCALES.finditer(before)) or list(_COMMAND.finditer(before))
    locales = int(found[-1][1]) if found else options.ranks
    if locales is None:
        raise run.error(
            "the number of locales is unknown: keep the command line with -nl N, or the line 'Number of Locales', in "
            "the file"
        )
    if locales < 1:
        raise run.error(f"{locales} locales cannot run; was the line 'Number of Locales' edited?")
    problem = integer(r"Problem size = (\d+)", text)
    variant = known(
        scope="ep" if total is None else "global", kernel="triad", type="double",
        elements=problem // locales if problem else None,
    )  # fmt: skip
    value = total / locales if total is not None else of_locale["min"]
    if value is None or value <= 0:
        raise run.error_at_end("a result of 0 is too small to be printed; use a larger problem")
    metrics = {"best_bandwidth": records.metric(value, "GB/s")}
    for word in ("max", "avg"):
        if (bandwidth := of_locale[word]) is not None and total is None:
            metrics[f"locale_bandwidth_{word}"] = records.metric(bandwidth, "GB/s")
    original = {"name": "Performance", "value": of_locale["avg"] if total is None else total, "unit": "GB/s"}
    seconds = number(rf"(?:min|max) \(seconds\) = ({NUMBER})", text) or number(rf"\n\s+min = ({NUMBER})\n", text)
    result = aggregate_result(
        "stream", variant, metrics, verified="Validation: SUCCESS" in text,
        repetitions=integer(r"Number of trials = (\d+)", text) or 1, seconds={"min": seconds}, original=original,
    )  # fmt: skip
    tasks = integer(r"Tasks per locale = (\d+)", before[-400:])
    header = {"program": {"name": "Chapel STREAM"}, "transport": {"name": "chapel"}, "nodes": locales}
    return Imported(
        known(program="chapel-stream", nodes=locales, tasks_per_node=tasks), whole_records(header, [result])
    )
