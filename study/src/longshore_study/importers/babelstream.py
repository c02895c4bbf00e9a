"""Importer of BabelStream 3 to 5 (University of Bristol), printed or as CSV: best and mean rate of
copy, mul, add, triad, dot and nstream on one device.

    Function    MBytes/sec  Min (sec)   Max         Average
    Copy        12345.678   0.04349     0.04500     0.04400

The rate of the fastest repetition is our best_bandwidth, in GB/s (10^9 bytes) or GiB converted to
it. The average time gives our mean_bandwidth. With --triad-only there is one rate of all
repetitions. The printed form has no number of elements, but the rounded size of an array.
BabelStream reports only wrong results, so all other results count as unverified.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from longshore_study.importers.imported import Imported, Options, Source, aggregate_result, whole_records
from longshore_study.importers.run_texts import finite_number, runs_of, whole
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
    return [
        _imported(source, options, text, offset) for text, offset in runs_of(source, _BEGIN, "BabelStream, or its CSV")
    ]


def _imported(source: Source, options: Options, text: str, offset: int) -> Imported:
    is_csv = text.startswith("function,")
    results = list(_csv_results(source, text, offset) if is_csv else _printed_results(source, text, offset))
    kernels = {result["variant"]["kernel"] for result in results}
    if not results:
        raise source.error(offset + len(text.rstrip()), "BabelStream's output ends before the first result")
    missing = [name for name in _ALL if KERNELS[name] not in kernels]
    alone = kernels == {"nstream"} or (kernels == {"triad"} and "mean_bandwidth" in results[0]["metrics"])
    why_incomplete = f"BabelStream's output ends without {', '.join(missing)}" if missing and not alone else None
    source.refuse_incomplete(offset + len(text.rstrip()), why_incomplete, options)
    cell: dict[str, Any] = {"program": "babelstream", "nodes": 1, "ranks": 1}
    program = {"name": "BabelStream", "version": _word(r"^Version:[ \t]*(\S+)", text)}
    implementation = _word(r"^Implementation:[ \t]*(.*\S)", text)
    if implementation:
        cell["implementation"] = implementation
    device = _word(r"^Using \w+ device[ \t]*(.*\S)", text)
    header = {"program": program, "device": device, "nodes": 1, "ranks": 1}
    return Imported(cell, whole_records(header, results), why_incomplete=why_incomplete)


def _word(pattern: str, text: str) -> str | None:
    match = re.search(pattern, text, re.MULTILINE)
    return match[1] if match else None


def _printed_results(source: Source, text: str, offset: int) -> Iterator[Record]:
    precision, size = _word(r"^Precision:[ \t]*(\w+)", text), _word(r"^Array size:[ \t]*([\d.]+ Mi?B)", text)
    elements = _word(r"^Number of elements:[ \t]*(\d+)", text)
    settings: dict[str, Any] = {"scope": "ep", "type": precision or "double"}
    if elements:
        settings["elements"] = int(elements)
    elif size:
        settings["array"] = size
    count = _word(r"^Running \w+ (\d+) times", text)
    more: dict[str, Any] = {"repetitions": int(count) if count else 1, "verified": _verified(text)}
    if head := _HEAD.search(text):
        factor = _unit(source, offset + head.start(), head[1], _UNITS)
        for match in _LINE.finditer(text, head.end()):
            yield _result(source, offset + match.start(), match.groups(), factor, settings, **more)
    elif alone := _BANDWIDTH.search(text):
        factor = _unit(source, offset + alone.start(), alone[1], _UNITS)
        rate = finite_number(source, offset + alone.start(), alone[1], alone[2])
        yield aggregate_result(
            "stream", {"kernel": "triad", **settings}, {"mean_bandwidth": records.metric(rate * factor, "GB/s")}, **more
        )


def _csv_results(source: Source, text: str, offset: int) -> Iterator[Record]:
    lines = text.split("\n")
    columns = lines[0].strip().split(",")
    unit = next((name for name in columns if name in _CSV_UNITS), None)
    if unit is None:
        raise source.error(offset, f"no column of rates (columns: {', '.join(columns)})")
    begin = offset
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        words = line.strip().split(",")
        if words[0] in KERNELS:
            if len(words) != len(columns):
                raise source.error(begin, f"{len(words)} values, but the header has {len(columns)} columns")
            found = dict(zip(columns, words, strict=True))
            bytes_per_element = whole(source, begin, "sizeof", found["sizeof"])
            settings = {
                "scope": "ep", "type": "float" if bytes_per_element == 4 else "double",
                "elements": whole(source, begin, "n_elements", found["n_elements"]),
            }  # fmt: skip
            more: dict[str, Any] = {
                "repetitions": whole(source, begin, "num_times", found["num_times"]), "verified": _verified(text),
            }  # fmt: skip
            if "runtime" in found:
                rate = finite_number(source, begin, unit, found[unit])
                metrics = {"mean_bandwidth": records.metric(rate * _CSV_UNITS[unit], "GB/s")}
                yield aggregate_result("stream", {"kernel": KERNELS[words[0]], **settings}, metrics, **more)
            else:
                figures = (words[0], *(found[name] for name in (unit, "min_runtime", "max_runtime", "avg_runtime")))
                yield _result(source, begin, figures, _CSV_UNITS[unit], settings, **more)
        begin += len(line) + (1 if following is not None else 0)


def _result(
    source: Source, position: int, words: tuple[str | Any, ...], factor: float, settings: dict[str, Any], **more: Any
) -> Record:
    """`words`: the name, the rate, and the shortest, the longest and the average time."""
    rate, shortest, longest, mean = (
        finite_number(source, position, column, str(word))
        for column, word in zip(("the rate", "Min", "Max", "Average"), words[1:], strict=True)
    )
    if rate <= 0 or not shortest <= mean <= longest:
        raise source.error(
            position,
            f"{words[0]}: needs a rate above 0, and times in the order smallest, average, largest; was it edited?",
        )
    metrics = {"best_bandwidth": records.metric(rate * factor, "GB/s")}
    if shortest > 0:
        metrics["mean_bandwidth"] = records.metric(rate * factor * shortest / mean, "GB/s")
    seconds = {"min": shortest, "mean": mean, "max": longest} if shortest > 0 else None
    return aggregate_result("stream", {"kernel": KERNELS[words[0]], **settings}, metrics, seconds=seconds, **more)


def _unit(source: Source, position: int, word: str, units: dict[str, float]) -> float:
    if word not in units:
        raise source.error(position, f"'{word}' is not one of {', '.join(units)}")
    return units[word]


def _verified(text: str) -> bool | None:
    return False if "Validation failed on" in text else None
