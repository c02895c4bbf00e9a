"""Importer of cartex, the halo exchange benchmark of ghexbench: statistics over repetitions, and
the throughput of the whole job.

    running on 1728 ranks
    repetitions       10000
    load (bytes)      8.78200000e+08
    median (s)        1.60000000e-04
    tp. median (GB/s) 5.48800000e+03

The throughput is our exchange_bandwidth: all halos of all ranks, read once and written once. If the
file has the command line, --domain, --halo and --nfields become factors.
"""

import re
from typing import Any

from longshore_study.importers.fortran import NUMBER, value
from longshore_study.importers.imported import Imported, Options, Source, aggregate_result, whole_records
from longshore_study.importers.run_texts import integer, runs_of
from longshore_study.store import records

_BEGIN = re.compile(
    r"^(?:running on \d+ ranks|repetitions[ \t]+\d+)[ \t]*$(?:\s*^repetitions[ \t]+\d+[ \t]*$)?", re.MULTILINE
)
_TRIPLE = r"--{}[ =]+(\d+)[ ,]+(\d+)[ ,]+(\d+)"
_COMMAND_REACH = 4000
"""The command line is at most so many characters above the output."""


def read(source: Source, options: Options) -> list[Imported]:
    return [_imported(run, options) for _, run in runs_of(source, _BEGIN, "running on N ranks")]


def _imported(run: Source, options: Options) -> Imported:
    def line(name: str) -> float:
        match = re.search(rf"^{re.escape(name)}[ \t]*({NUMBER})[ \t]*$", run.text, re.MULTILINE)
        if match is None:
            raise run.error_at_end(f"the output ends without '{name}'")
        return value(match[1])

    load, median, throughput = line("load (bytes)"), line("median (s)"), line("tp. median (GB/s)")
    best = line("tp. max (GB/s)")
    if min(load, median, throughput) <= 0 or abs(load / median / 1e9 - throughput) > 1e-5 * throughput:
        raise run.error(0, f"{throughput} GB/s is not the load by the median time; was the file edited?")
    before = run.before[-_COMMAND_REACH:]
    ranks = integer(r"running on (\d+) ranks", before + run.text) or options.ranks
    variant: dict[str, Any] = {}
    if domain := re.search(_TRIPLE.format("domain"), before):
        variant["domain"] = [int(domain[group]) for group in (1, 2, 3)]
    for option, factor in (("halo", "halo"), ("nfields", "fields")):
        if (level := integer(rf"--{option}[ =]+(\d+)", before)) is not None:
            variant[factor] = level
    if grid := re.search(_TRIPLE.format("MPICart"), before):
        variant |= {"grid": [int(grid[group]) for group in (1, 2, 3)], "placement": "cart"}
    failed = "check failed!!!!" in before + run.text
    result = aggregate_result(
        "halo", variant,
        {
            "exchange_bandwidth": records.metric(throughput, "GB/s"),
            "best_exchange_bandwidth": records.metric(best, "GB/s"),
        },
        verified=False if failed else None, repetitions=integer(r"repetitions[ \t]+(\d+)", run.text) or 1,
        seconds={"median": median, "p5": line("5% centile (s)"), "p95": line("95% centile (s)")},
        traffic={"payload_bytes": round(load / 2)},
        original={"name": "tp. median", "value": throughput, "unit": "GB/s"},
    )  # fmt: skip
    cell: dict[str, Any] = {"program": "cartex", "transport": "mpi", **({"ranks": ranks} if ranks else {})}
    if nodes := options.nodes_of(ranks):
        cell |= {"nodes": nodes, "ranks_per_node": options.ranks_per_node}
    header = {"program": {"name": "cartex"}, "transport": {"name": "mpi"}, "ranks": ranks, "nodes": cell.get("nodes")}
    return Imported(cell, whole_records(header, [result]))
