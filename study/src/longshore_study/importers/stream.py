"""Importer of STREAM (McCalpin; C 5.9 and 5.10, also with MPI, and Fortran 5.6): best rate of copy,
scale, add and triad.

    Function    Best Rate MB/s  Avg time     Min time     Max time
    Copy:           12345.6     0.012345     0.012300     0.012400

The best rate is our best_bandwidth in GB/s (10^9 bytes) per node. The average time gives our
mean_bandwidth. Versions before 5.10 print times with four decimals, which are zero for small
arrays. Then only the rate is imported.
"""

from __future__ import annotations

import re
from typing import Any

from longshore_study.importers.imported import PARTIAL_HINT, Imported, Options, Source, aggregate_result, whole_records
from longshore_study.importers.run_texts import integer, runs_of
from longshore_study.store import records
from longshore_study.store.records import Record

KERNELS = {"Copy": ("copy", 2), "Scale": ("scale", 2), "Add": ("add", 3), "Triad": ("triad", 3)}
"""Our kernel for each printed name, and the number of arrays that the kernel accesses."""

_BEGIN = re.compile(r"STREAM [vV]ersion\s+(.*?)\s*$", re.MULTILINE)
_DECIMALS = 6  # times with at least this number of decimals must not be zero
# Some versions print a median time before the last column.
_FIGURE = re.compile(
    r"^(Copy|Scale|Add|Triad):[ \t]+([\d.]+)[ \t]+([\d.]+)[ \t]+([\d.]+)(?:[ \t]+[\d.]+)?[ \t]+([\d.]+)[ \t]*$",
    re.MULTILINE,
)


def read(source: Source, options: Options) -> list[Imported]:
    return [_imported(source, options, text, offset) for text, offset in runs_of(source, _BEGIN, "STREAM version ...")]


def _imported(source: Source, options: Options, text: str, offset: int) -> Imported:
    figures = list(_FIGURE.finditer(text))
    missing = [name for name in KERNELS if name not in {match[1] for match in figures}]
    validated = re.search(r"Solution Validates", text) is not None
    wrong = re.search(r"Failed Validation", text) is not None
    why_incomplete = f"STREAM's output ends without {', '.join(missing)}" if missing else None
    if why_incomplete is None and not validated and not wrong:
        why_incomplete = "STREAM's output ends before the validation of its results"
    if why_incomplete and not (options.partial and figures):
        hint = f"; {PARTIAL_HINT}" if figures else ""
        raise source.error(offset + len(text.rstrip()), why_incomplete + hint)
    word = integer(r"uses\s+(\d+)\s+bytes per", text) or 8
    elements = integer(r"(?:Array size =|Total Aggregate Array size =)\s*(\d+)", text)
    counts = (integer(rf"Number of Threads{which}[^=\n]*=\s*(\d+)", text) for which in (" counted", " requested", ""))
    threads = next(filter(None, counts), 1)
    # The MPI form counts the bytes of all ranks, and the threads of one rank.
    ranks = integer(r"Data is distributed across (\d+) MPI ranks", text)
    if ranks and ranks > 1 and not options.ranks_per_node:
        raise source.error(
            offset, f"the output does not tell the number of nodes of its {ranks} ranks; give --ranks-per-node N"
        )
    per_node = min(ranks or 1, options.ranks_per_node or 1)
    nodes = records.node_count(ranks or 1, per_node)
    variant: dict[str, Any] = {"scope": "ep", "type": "float" if word == 4 else "double"}
    if elements:
        variant["elements"] = elements // (ranks or 1)
    settings = {**variant, "arrays": elements, "word": word, "nodes": nodes}
    results = [_result(source, match, offset, dict(settings), not wrong) for match in figures]
    version = _BEGIN.search(text)
    ranks_in_all = ranks or options.ranks or 1
    cell = {"program": "stream", "nodes": nodes, "ranks": ranks_in_all, "tasks_per_node": threads * per_node}
    header = {
        "program": {"name": "STREAM", "version": version[1].strip("$ ") if version else None},
        "transport": {"name": "mpi" if ranks else "openmp" if threads > 1 else "serial"},
        "nodes": nodes, "ranks": cell["ranks"],
    }  # fmt: skip
    return Imported(cell, whole_records(header, results), why_incomplete=why_incomplete)


def _result(source: Source, match: re.Match[str], offset: int, settings: dict[str, Any], verified: bool) -> Record:
    kernel, arrays = KERNELS[match[1]]
    rate, mean, shortest, longest = (float(match[group]) for group in (2, 3, 4, 5))
    position = offset + match.start()
    decimals = len(match[4].partition(".")[2])
    timed = shortest > 0.0
    if rate <= 0.0 or (not timed and decimals >= _DECIMALS) or not shortest <= mean <= longest:
        raise source.error(
            position,
            f"{match[1]}: needs a rate above 0, and times in the order smallest, average, largest; was it edited?",
        )
    elements, word, nodes = (settings.pop(name) for name in ("arrays", "word", "nodes"))
    if elements and timed:
        computed = arrays * word * elements / shortest / 1e6
        if abs(computed - rate) > 0.06 + computed * (0.6 * 10.0**-decimals / shortest + 1e-3):  # rounding
            raise source.error(
                position, f"{rate} MB/s does not agree with the time, which gives {computed:.1f}; was the file edited?"
            )
    metrics = {"best_bandwidth": records.metric(rate / 1e3 / nodes, "GB/s")}
    if timed:
        metrics["mean_bandwidth"] = records.metric(rate / 1e3 / nodes * shortest / mean, "GB/s")
    return aggregate_result(
        "stream",
        {"kernel": kernel, **settings},
        metrics,
        verified=verified,
        seconds={"min": shortest, "mean": mean, "max": longest} if timed else None,
        original={"name": "Best Rate", "value": rate, "unit": "MB/s"},
    )
