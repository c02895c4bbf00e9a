"""Importer of STREAM (McCalpin; C 5.9 and 5.10, also with MPI, and Fortran 5.6): best rate of copy,
scale, add and triad.

    Function    Best Rate MB/s  Avg time     Min time     Max time
    Copy:           12345.6     0.012345     0.012300     0.012400

The best rate is our best_bandwidth in GB/s (10^9 bytes) per node. The average time gives our
mean_bandwidth. Versions before 5.10 print times with four decimals, which are zero for small
arrays. Then only the rate is imported.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from longshore_study.importers.imported import Imported, Options, Source, aggregate_result, known, whole_records
from longshore_study.importers.run_texts import finite_number, integer, runs_of
from longshore_study.store import records
from longshore_study.store.records import Record

KERNELS = {"Copy": ("copy", 2), "Scale": ("scale", 2), "Add": ("add", 3), "Triad": ("triad", 3)}
"""Our kernel for each printed name, and the number of arrays that the kernel accesses."""

_BEGIN = re.compile(r"STREAM [vV]ersion\s+(.*?)\s*$", re.MULTILINE)
_WANTED = "this line needs a rate above 0, and times in the order smallest, average, largest; was it edited?"
_DECIMALS = 6  # times with at least this number of decimals must not be zero
# Some versions print a median time before the last column.
_FIGURE = re.compile(
    r"^(Copy|Scale|Add|Triad):[ \t]+([\d.]+)[ \t]+([\d.]+)[ \t]+([\d.]+)(?:[ \t]+[\d.]+)?[ \t]+([\d.]+)[ \t]*$",
    re.MULTILINE,
)


def read(source: Source, options: Options) -> list[Imported]:
    return [_imported(run, options, head[1]) for head, run in runs_of(source, _BEGIN, "STREAM version ...")]


def _imported(run: Source, options: Options, version: str) -> Imported:
    text = run.text
    figures = list(_FIGURE.finditer(text))
    missing = [name for name in KERNELS if name not in {match[1] for match in figures}]
    validated = re.search(r"Solution Validates", text) is not None
    wrong = re.search(r"Failed Validation", text) is not None
    why_incomplete = f"STREAM's output ends without {', '.join(missing)}" if missing else None
    if why_incomplete is None and not validated and not wrong:
        why_incomplete = "STREAM's output ends before the validation of its results"
    if why_incomplete and not figures:
        raise run.error_at_end(why_incomplete)
    run.refuse_incomplete(why_incomplete, options)
    word_bytes = integer(r"uses\s+(\d+)\s+bytes per", text) or 8
    elements = integer(r"(?:Array size =|Total Aggregate Array size =)\s*(\d+)", text)
    counts = (integer(rf"Number of Threads{which}[^=\n]*=\s*(\d+)", text) for which in (" counted", " requested", ""))
    threads = next(filter(None, counts), 1)
    # The MPI form counts the bytes of all ranks, and the threads of one rank.
    ranks = integer(r"Data is distributed across (\d+) MPI ranks", text)
    if ranks and ranks > 1 and not options.ranks_per_node:
        raise run.error(f"the output does not tell the number of nodes of its {ranks} ranks; give --ranks-per-node N")
    per_node = min(ranks or 1, options.ranks_per_node or 1)
    nodes = records.node_count(ranks or 1, per_node)
    variant = known(
        scope="ep", type="float" if word_bytes == 4 else "double",
        elements=elements // (ranks or 1) if elements else None,
    )  # fmt: skip
    for match in figures:
        _refuse_edited(run, match, word_bytes * (elements or 0))
    results = [
        kernel_result(
            run.at(match), KERNELS[match[1]][0], float(match[2]) / 1e3 / nodes, match.group(4, 5, 3),
            settings=variant, verified=not wrong,
            original={"name": "Best Rate", "value": float(match[2]), "unit": "MB/s"},
        )
        for match in figures
    ]  # fmt: skip
    ranks_in_all = ranks or options.ranks or 1
    cell = {"program": "stream", "nodes": nodes, "ranks": ranks_in_all, "tasks_per_node": threads * per_node}
    header = {
        "program": {"name": "STREAM", "version": version.strip("$ ")},
        "transport": {"name": "mpi" if ranks else "openmp" if threads > 1 else "serial"},
        "nodes": nodes, "ranks": cell["ranks"],
    }  # fmt: skip
    return Imported(cell, whole_records(header, results), why_incomplete=why_incomplete)


def _refuse_edited(run: Source, match: re.Match[str], array_bytes: int) -> None:
    """Raises LongshoreError if rate and shortest time disagree. `array_bytes`: 0 if not known."""
    rate, shortest = float(match[2]), float(match[4])
    decimals = len(match[4].partition(".")[2])
    if shortest <= 0.0 and decimals >= _DECIMALS:
        raise run.at(match).error(_WANTED)
    if array_bytes and shortest > 0.0:
        computed = KERNELS[match[1]][1] * array_bytes / shortest / 1e6
        if abs(computed - rate) > 0.06 + computed * (0.6 * 10.0**-decimals / shortest + 1e-3):  # rounding
            raise run.at(match).error(
                f"{rate} MB/s does not agree with the time, which gives {computed:.1f}; was the file edited?",
            )


def kernel_result(
    line: Source, kernel: str, rate: float, times: Sequence[str],
    *, settings: Mapping[str, Any], verified: bool | None, **more: Any,
) -> Record:  # fmt: skip
    """The result of a kernel from its line. `rate`: the best rate in GB/s. `times`: the
    printed shortest, longest and average time. They are 0 if an array is too small for the printed
    decimals."""
    shortest, longest, mean = (
        finite_number(line, column, word) for column, word in zip(("Min", "Max", "Average"), times, strict=True)
    )
    if rate <= 0 or not shortest <= mean <= longest:
        raise line.error(_WANTED)
    metrics = {"best_bandwidth": records.metric(rate, "GB/s")}
    seconds = None
    if shortest > 0:
        metrics["mean_bandwidth"] = records.metric(rate * shortest / mean, "GB/s")
        seconds = {"min": shortest, "mean": mean, "max": longest}
    variant = {"kernel": kernel, **settings}
    return aggregate_result("stream", variant, metrics, verified=verified, seconds=seconds, **more)
