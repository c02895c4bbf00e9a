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

from longshore_study.importers.imported import Imported, Options, Source, aggregate_result, known, whole_records
from longshore_study.importers.run_texts import NUMBER, fortran_value, integer, runs_of, word
from longshore_study.store import records

_BEGIN = re.compile(
    r"^(?:running on \d+ ranks|repetitions[ \t]+\d+)[ \t]*$(?:\s*^repetitions[ \t]+\d+[ \t]*$)?", re.MULTILINE
)
_COMMAND_REACH = 4000
"""The command line is at most so many characters above the output."""


def read(source: Source, options: Options) -> list[Imported]:
    return [_imported(run, options) for _, run in runs_of(source, _BEGIN, "running on N ranks")]


def _imported(run: Source, options: Options) -> Imported:
    def line(name: str) -> float:
        found = word(rf"^{re.escape(name)}[ \t]*({NUMBER})[ \t]*$", run.text)
        if found is None:
            raise run.error_at_end(f"the output ends without '{name}'")
        return fortran_value(found)

    load, median, throughput = line("load (bytes)"), line("median (s)"), line("tp. median (GB/s)")
    best = line("tp. max (GB/s)")
    if min(load, median, throughput) <= 0 or abs(load / median / 1e9 - throughput) > 1e-5 * throughput:
        raise run.error(f"{throughput} GB/s is not the load by the median time; was the file edited?")
    before = run.before[-_COMMAND_REACH:]
    ranks = integer(r"running on (\d+) ranks", before + run.text) or options.ranks
    grid = _triple("MPICart", before)
    variant = known(
        domain=_triple("domain", before), halo=integer(r"--halo[ =]+(\d+)", before),
        fields=integer(r"--nfields[ =]+(\d+)", before), grid=grid, placement=grid and "cart",
    )  # fmt: skip
    metrics = {
        "exchange_bandwidth": records.metric(throughput, "GB/s"),
        "best_exchange_bandwidth": records.metric(best, "GB/s"),
    }
    result = aggregate_result(
        "halo", variant, metrics, verified=False if "check failed!!!!" in before + run.text else None,
        repetitions=integer(r"repetitions[ \t]+(\d+)", run.text) or 1,
        seconds={"median": median, "p5": line("5% centile (s)"), "p95": line("95% centile (s)")},
        traffic={"payload_bytes": round(load / 2)},
        original={"name": "tp. median", "value": throughput, "unit": "GB/s"},
    )  # fmt: skip
    nodes = options.nodes_of(ranks)
    per_node = options.ranks_per_node if nodes else None
    cell = known(program="cartex", transport="mpi", ranks=ranks, nodes=nodes, ranks_per_node=per_node)
    header = {"program": {"name": "cartex"}, "transport": {"name": "mpi"}, "ranks": ranks, "nodes": nodes}
    return Imported(cell, whole_records(header, [result]))


def _triple(option: str, text: str) -> list[int] | None:
    found = re.search(rf"--{option}[ =]+(\d+)[ ,]+(\d+)[ ,]+(\d+)", text)
    return [int(number) for number in found.groups()] if found else None
