"""Importer of Chapel's index-gather. One task per core requests N elements. The strategy AGP
requests single elements, and AGG uses an aggregator.

    ./ig-block -nl 16 --N=10000000
           AGP:     6.823 seconds   0.844 GB/s/node

The distribution of the table follows from the name of the program: ig is cyclic, ig-block is block,
and ig-block-rad is block with optimised arithmetic to find the owner of an element (radical). The
number of tasks per node is not printed. It is computed as seconds x GB/s / (16 bytes x requests of
a task).
"""

import re

from longshore_study.importers.imported import Imported, Options, Source, aggregate_result, known, whole_records
from longshore_study.importers.run_texts import parts_of
from longshore_study.store import records
from longshore_study.store.records import Record

STRATEGIES = {"AGP": "agp", "AGG": "aggregator"}
TABLES: dict[str, dict[str, str]] = {
    "ig": {"distribution": "cyclic"},
    "ig-block": {"distribution": "block"},
    "ig-block-rad": {"distribution": "block", "indexing": "optimised"},
}
REQUEST_BYTES = 16  # an index and an element

# A path with a leading folder may contain spaces.
_COMMAND = re.compile(r"^[ \t$>]*((?:[./].*?/|\S*/)?(ig[\w-]*?)(?:_real)?)([ \t]+-.*)$", re.MULTILINE)
_LOCALES = re.compile(r"(?:-nl|--numLocales)[ =]?(\d+)")
_REQUESTS = re.compile(r"(?:--N=|-sN=|--N )(\d+)")
_FIGURE = re.compile(r"^[ \t]*(\w+):[ \t]+([\d.]+)[ \t]+seconds[ \t]+([\d.]+)[ \t]+GB/s/node[ \t]*$", re.MULTILINE)


def read(source: Source, options: Options) -> list[Imported]:
    commands = list(_COMMAND.finditer(source.text))
    if not commands:
        raise source.error("no command line such as './ig -nl 16 --N=10000000'; it must precede the output")
    return [_imported(run, options, command) for command, run in parts_of(source, commands)]


def _imported(run: Source, options: Options, command: re.Match[str]) -> Imported:
    program = command[2]
    table = TABLES.get(program)
    if table is None:
        raise run.error(f"unknown program '{program}' (known: {', '.join(TABLES)})")
    locales = _LOCALES.search(command[3])
    if locales is None:
        raise run.error("the command line lacks -nl, the number of nodes")
    requests = _REQUESTS.search(command[3])
    figures = [match for match in _FIGURE.finditer(run.text) if match[1] in STRATEGIES]
    missing = [name for name in STRATEGIES if name not in {match[1] for match in figures}]
    why_incomplete = f"the output of Chapel's ig ends without {', '.join(missing)}" if missing else None
    run.refuse_incomplete(why_incomplete, options)
    if not figures:
        raise run.error_at_end("the output of Chapel's ig ends before the first result")
    nodes = int(locales[1])
    tasks = _tasks_per_node(figures, int(requests[1])) if requests else None
    cell = known(program="chapel-ig", transport="chapel", nodes=nodes, tasks_per_node=tasks)
    results = [_result(run, table, requests and int(requests[1]), match) for match in figures]
    header = {
        "program": {"name": program}, "transport": {"name": "chapel"}, "nodes": nodes,
        "argv": [command[1], *command[3].split()],
    }  # fmt: skip
    return Imported(cell, whole_records(header, results), why_incomplete=why_incomplete)


def _tasks_per_node(figures: list[re.Match[str]], requests: int) -> int | None:
    """The tasks on a node, from seconds, GB/s and `requests` of each. None if it is no integer."""
    counts = [float(match[2]) * float(match[3]) * 1e9 / (REQUEST_BYTES * requests) for match in figures]
    nearest = [round(count) for count in counts]
    fits = all(abs(count - near) < 0.01 * near + 0.05 for count, near in zip(counts, nearest, strict=True))
    return nearest[0] if fits and len(set(nearest)) == 1 and nearest[0] >= 1 else None


def _result(run: Source, table: dict[str, str], requests: int | None, match: re.Match[str]) -> Record:
    seconds, bandwidth = float(match[2]), float(match[3])
    if seconds <= 0.0 or bandwidth <= 0.0:
        raise run.at(match).error("a result of 0 is too small to be printed; use more requests")
    variant = known(operation="gather", strategy=STRATEGIES[match[1]], **table, requests=requests)
    metrics = {"injection_bandwidth": records.metric(bandwidth, "GB/s")}
    return aggregate_result("gather", variant, metrics, seconds={"median": seconds})
