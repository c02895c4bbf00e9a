"""Importer of BabelStream 3 to 5 (University of Bristol), printed or as CSV: best and mean rate of
copy, mul, add, triad, dot and nstream on one device.

    Function    MBytes/sec  Min (sec)   Max         Average
    Copy        12345.678   0.04349     0.04500     0.04400

The rate of the fastest repetition is our best_bandwidth, in GB/s (10^9 bytes) or GiB converted to
it. The average time gives our mean_bandwidth. With --triad-only there is one rate of all
repetitions. The printed form has no number of elements, but the rounded size of an array.
BabelStream reports only wrong results, so all other results count as unverified.
"""

import re
from collections.abc import Iterator
from typing import Any

from longshore_study.importers.imported import Imported, Options, Source, aggregate_result, known, whole_records
from longshore_study.importers.run_texts import finite_number, integer, runs_of, whole, word
from longshore_study.importers.stream import kernel_result
from longshore_study.store import records
from longshore_study.store.records import Record

KERNELS = {"Copy": "copy", "Mul": "scale", "Add": "add", "Triad": "triad", "Dot": "dot", "Nstream": "nstream"}
"""Our kernel for each printed name."""
_ALL = ("Copy", "Mul", "Add", "Triad", "Dot")
_UNITS = {"MBytes/sec": 1e-3, "MiBytes/sec": 2**20 / 1e9, "GB/s": 1.0, "GiB/s": 2**30 / 1e9}
_CSV_UNITS = {
    "max_mbytes_per_sec": 1e-3, "max_mibytes_per_sec": 2**20 / 1e9, "gbytes_per_sec": 1.0,
    "gibytes_per_sec": 2**30 / 1e9,
}  # fmt: skip
"""The GB/s of one unit of each column."""

_BEGIN = re.compile(r"^(?:BabelStream|function,num_times,n_elements,sizeof,\w+).*$", re.MULTILINE)
_HEAD = re.compile(r"^Function[ \t]+(\S+)[ \t]+Min \(sec\)[ \t]+Max[ \t]+Average[ \t]*$", re.MULTILINE)
_LINE = re.compile(rf"^({'|'.join(KERNELS)})[ \t]+(\S+)[ \t]+(\S+)[ \t]+(\S+)[ \t]+(\S+)[ \t]*$", re.MULTILINE)
_BANDWIDTH = re.compile(r"^Bandwidth \((\S+)\):[ \t]+(\S+)[ \t]*$", re.MULTILINE)


def read(source: Source, options: Options) -> list[Imported]:
    return [_imported(run, options) for _, run in runs_of(source, _BEGIN, "BabelStream, or its CSV")]


def _imported(run: Source, options: Options) -> Imported:
    text = run.text
    results = list(_csv_results(run) if text.startswith("function,") else _printed_results(run))
    kernels = {result["variant"]["kernel"] for result in results}
    if not results:
        raise run.error_at_end("BabelStream's output ends before the first result")
    missing = [name for name in _ALL if KERNELS[name] not in kernels]
    alone = kernels == {"nstream"} or (kernels == {"triad"} and "mean_bandwidth" in results[0]["metrics"])
    why_incomplete = f"BabelStream's output ends without {', '.join(missing)}" if missing and not alone else None
    run.refuse_incomplete(why_incomplete, options)
    program = {"name": "BabelStream", "version": word(r"^Version:[ \t]*(\S+)", text)}
    implementation = word(r"^Implementation:[ \t]*(.*\S)", text)
    cell = known(program="babelstream", nodes=1, ranks=1, implementation=implementation)
    header = {"program": program, "device": word(r"^Using \w+ device[ \t]*(.*\S)", text), "nodes": 1, "ranks": 1}
    return Imported(cell, whole_records(header, results), why_incomplete=why_incomplete)


def _printed_results(run: Source) -> Iterator[Record]:
    text = run.text
    elements = integer(r"^Number of elements:[ \t]*(\d+)", text)
    array = word(r"^Array size:[ \t]*([\d.]+ Mi?B)", text) if elements is None else None
    precision = word(r"^Precision:[ \t]*(\w+)", text) or "double"
    settings = known(scope="ep", type=precision, elements=elements, array=array)
    more: dict[str, Any] = {
        "repetitions": integer(r"^Running \w+ (\d+) times", text) or 1, "verified": _verified(text),
    }  # fmt: skip
    if head := _HEAD.search(text):
        factor = _gigabytes(run, head)
        for match in _LINE.finditer(text, head.end()):
            rate = finite_number(run.at(match), head[1], match[2]) * factor
            yield kernel_result(run.at(match), KERNELS[match[1]], rate, match.group(3, 4, 5), settings=settings, **more)
    elif alone := _BANDWIDTH.search(text):
        rate = finite_number(run.at(alone), alone[1], alone[2]) * _gigabytes(run, alone)
        yield _mean_result("triad", rate, settings, **more)


def _csv_results(run: Source) -> Iterator[Record]:
    columns = run.text.partition("\n")[0].strip().split(",")
    unit = next((name for name in columns if name in _CSV_UNITS), None)
    if unit is None:
        raise run.error(f"no column of rates (columns: {', '.join(columns)})")
    for line in run.lines():
        words = line.text.strip().split(",")
        if words[0] in KERNELS:
            if len(words) != len(columns):
                raise line.error(f"{len(words)} values, but the header has {len(columns)} columns")
            found = dict(zip(columns, words, strict=True))
            bytes_per_element = whole(line, "sizeof", found["sizeof"])
            settings = {
                "scope": "ep", "type": "float" if bytes_per_element == 4 else "double",
                "elements": whole(line, "n_elements", found["n_elements"]),
            }  # fmt: skip
            more: dict[str, Any] = {
                "repetitions": whole(line, "num_times", found["num_times"]),
                "verified": _verified(run.text),
            }  # fmt: skip
            rate = finite_number(line, unit, found[unit]) * _CSV_UNITS[unit]
            if "runtime" in found:
                yield _mean_result(KERNELS[words[0]], rate, settings, **more)
            else:
                times = [found[name] for name in ("min_runtime", "max_runtime", "avg_runtime")]
                yield kernel_result(line, KERNELS[words[0]], rate, times, settings=settings, **more)


def _mean_result(kernel: str, rate: float, settings: dict[str, Any], **more: Any) -> Record:
    """`rate`: of all repetitions together, in GB/s."""
    metrics = {"mean_bandwidth": records.metric(rate, "GB/s")}
    return aggregate_result("stream", {"kernel": kernel, **settings}, metrics, **more)


def _gigabytes(run: Source, line: re.Match[str]) -> float:
    """The GB/s of one unit of the rates, from the line that names the unit."""
    if line[1] not in _UNITS:
        raise run.at(line).error(f"'{line[1]}' is not one of {', '.join(_UNITS)}")
    return _UNITS[line[1]]


def _verified(text: str) -> bool | None:
    return False if "Validation failed on" in text else None
