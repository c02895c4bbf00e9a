"""Importer of halobench: eight modes of a halo exchange on a periodic grid of processes, with one
contiguous buffer per message.

For each mode, halobench prints the seconds of all repetitions and the MiB/s that one process sends.
Newer versions run all modes three times and print 'Finished' after each run. For these versions the
result is the median of the runs, and each run gives a sample.
"""

import math
import re
from collections.abc import Iterator
from statistics import median

from longshore_study.base.groups import grouped
from longshore_study.importers.imported import Imported, Options, Source, aggregate_result, samples, whole_records
from longshore_study.importers.run_texts import NUMBER, fortran_value, parts_of, runs_of, word
from longshore_study.store import records
from longshore_study.store.records import Record

MODES = {
    "Sendrecv": "sendrecv",
    "Redblack": "redblack",
    "Isend / Recv / Wait": "isend-recv",
    "Irecv / Send / Wait": "irecv-send",
    "Irecv / Isend / Wait (pairwise)": "pairwise",
    "Irecv / Isend / Waitall": "waitall",
    "Persistent / Startall / Waitall": "persistent",
    "Neighbourhood Collective": "neighbor",
    "Waitall": "waitall",
}
"""Our mode for each printed heading. The first versions had the last one, and three modes."""

FACES = 6
_DOUBLE_BYTES = 8
_MIB = 2**20
_AGREEMENT = 1e-4  # the program computes the MiB in single precision

_START = re.compile(r"^.*haloswap benchmark", re.IGNORECASE | re.MULTILINE)
_HEADING = re.compile(rf"^[ \t]*({'|'.join(re.escape(title) for title in MODES)})[ \t]*$", re.MULTILINE)
# \s+ also matches line breaks, which compilers insert into long records.
_FIGURE = re.compile(
    r"(?:Secs|Sendrecv time|Waitall time|Redblack time)\s*=\s*(\S+?)\s*,\s*(?:bwidth|IO rate)\s*=\s*(\S+)\s+MiB/s"
)
_FINISHED = re.compile(r"^[ \t]*Finished[ \t]*$", re.MULTILINE)
_LAYOUT = {
    "ranks": re.compile(r"Running on\s+(\d+)\s+process"),
    "grid": re.compile(r"Process grid is\s*\(\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*\)"),
    "contiguous": re.compile(r"(?:Each halo contains|Buffer size is)\s+(\d+)\b"),
    "repetitions": re.compile(r"Number of repetitions\s*=\s*(\d+)"),
}
_RUNS = re.compile(r"Benchmark run\s+(\d+)\s+out of\s+(\d+)")


def read(source: Source, options: Options) -> list[Imported]:
    return [_imported(run, options) for _, run in runs_of(source, _START, "haloswap benchmark")]


def _imported(run: Source, options: Options) -> Imported:
    ranks, grid, contiguous, repetitions = _layout(run)
    why_incomplete = _why_incomplete(run.text)
    run.refuse_incomplete(why_incomplete, options)
    results = list(_results(run, options, contiguous, repetitions))
    if not any("metrics" in result for result in results):
        raise run.error_at_end("halobench's output ends before the first result")
    clock = word(rf"Clock resolution is\s+({NUMBER})", run.text)
    header = {
        "program": {"name": "halobench"}, "transport": {"name": "mpi"}, "ranks": ranks, "grid": grid,
        "type": "double", "clock_resolution_seconds": fortran_value(clock) * 1e-6 if clock else None,
    }  # fmt: skip
    cell = {"program": "halobench", "transport": "mpi", "ranks": ranks, "grid": grid}
    return Imported(cell, whole_records(header, results), why_incomplete=why_incomplete)


def _layout(run: Source) -> tuple[int, list[int], int, int]:
    found: dict[str, list[int]] = {}
    for what, pattern in _LAYOUT.items():
        match = pattern.search(run.text)
        if match is None:
            raise run.error_at_end(f"halobench's output ends without its {what}")
        found[what] = [int(number) for number in match.groups()]
    ranks, grid = found["ranks"][0], found["grid"]
    if math.prod(grid) != ranks:
        raise run.error(f"a process grid of {grid} does not have the {ranks} processes it names")
    return ranks, grid, found["contiguous"][0], found["repetitions"][0]


def _why_incomplete(text: str) -> str | None:
    runs = list(_RUNS.finditer(text))
    number, of = (int(runs[-1][1]), int(runs[-1][2])) if runs else (1, 1)
    last = runs[-1].end() if runs else 0
    modes = list(_HEADING.finditer(text, last))
    ended = _FINISHED.search(text, modes[-1].end() if modes else last) is not None
    if ended and number >= of:
        return None
    where = f" in run {number} of {of}" if runs else ""
    without = "" if ended else f" without 'Finished', after {len(modes)} of {len(set(MODES.values()))} modes"
    return f"halobench's output ends{without}{where}"


def _results(run: Source, options: Options, contiguous: int, repetitions: int) -> Iterator[Record]:
    """One result per mode. Of several runs, each has a sample before it."""
    payload_bytes = FACES * contiguous * _DOUBLE_BYTES
    headings = list(_HEADING.finditer(run.text))
    sections = grouped(parts_of(run, headings), lambda section: MODES[section[0][1]])
    for mode, of_mode in sections.items():
        variant = {"mode": mode, "algorithm": "faces", "contiguous": contiguous}
        parts = [part for _, part in of_mode]
        texts = [part.text for part in parts]
        skipped = [text for text in texts if "Skipping this test" in text]
        if skipped:
            reason = " ".join(skipped[0].partition("\n")[2].split("Skipping")[0].strip(" -\n").split())
            yield {"record": "result", "pattern": "halo", "variant": variant, "skipped": reason}
            continue
        figures = [f for part in parts if (f := _figure(part, options, payload_bytes, repetitions))]
        if not figures:
            continue
        verified = not any("Error on process" in text or "did not verify" in text for text in texts)
        times = [seconds / repetitions for seconds, _ in figures]
        if len(figures) > 1:
            yield from samples("halo", variant, times)
        bandwidth = median(bandwidth for _, bandwidth in figures)
        yield aggregate_result(
            "halo", variant, {"process_bandwidth": records.metric(bandwidth, "MiB/s")}, verified=verified,
            repetitions=repetitions, runs=len(figures), seconds={"median": median(times)},
            traffic={"messages": FACES, "payload_bytes": payload_bytes},
        )  # fmt: skip


def _figure(part: Source, options: Options, payload_bytes: int, repetitions: int) -> tuple[float, float] | None:
    """Seconds of all repetitions, and MiB/s. Raises LongshoreError if they do not agree."""
    match = _FIGURE.search(part.text)
    if match is None:
        if options.partial:
            return None
        raise part.error("this heading has no line 'Secs = ..., bwidth = ... MiB/s'")
    try:
        seconds, bandwidth = fortran_value(match[1]), fortran_value(match[2])
    except ValueError as error:
        raise part.at(match).error(str(error)) from None
    if seconds <= 0.0:
        raise part.at(match).error(f"{match[1]} seconds is not a time")
    computed = repetitions * payload_bytes / _MIB / seconds
    if not math.isclose(computed, bandwidth, rel_tol=_AGREEMENT):
        raise part.at(match).error(
            f"bwidth = {bandwidth:.6g} MiB/s does not agree with seconds and halo, which give {computed:.6g};"
            " was the file edited?",
        )
    return seconds, bandwidth
