"""Importer of the OSU micro-benchmarks, versions 5 to 7, over MPI, OpenSHMEM, UPC, NCCL and RCCL:
one line per message size.

    # OSU MPI Allreduce Latency Test v7.3
    # Datatype: MPI_INT.
    # Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
    4                      11.69              9.21             14.02        1000

The latency of osu_latency is half a round trip, like our latency_us of pattern control. Tests such
as barrier have no sizes. osu_mbw_mr -V prints two tables with a line per size and a column per
window: bandwidths, and message rates.

OSU does not print the number of ranks, and does not always print where its buffers are. The command
line above the output gives both, as in `mpirun -n 2 osu_latency -d cuda D H`, or options do.
"""

import re
from itertools import takewhile
from typing import Any

from longshore_study.importers.imported import Imported, Options, Source, aggregate_result, known, whole_records
from longshore_study.importers.osu_columns import Column, columns_of
from longshore_study.importers.run_texts import finite_number, parts_of, starts_with_number, whole
from longshore_study.store import records
from longshore_study.store.records import Record

_BEGIN = re.compile(
    r"^#[ \t]*(?:OSU|OMB(?:-Py)?)[ \t]+(?=.*(?:Test|v\d))(\S+)[ \t]+(.+?)(?:[ \t]+Test)*(?:[ \t]+v(\d\S*))?[ \t]*$",
    re.MULTILINE,
)
_SETTINGS = (
    (re.compile(r"Datatype: (\S+?)\.?$"), "datatype"),
    (re.compile(r".*window size: (\d+)"), "window"),
    (re.compile(r".*pairs: (\d+)"), "pairs"),
    (re.compile(r"Window creation: (\S+)"), "window_creation"),
    (re.compile(r"Synchronization: (\S+)"), "synchronization"),
    (re.compile(r".*(?:Memory|Buffer) on \w+ \((\w)\) and .*(?:Memory|Buffer) on \w+ \((\w)\)"), "memory"),
    (re.compile(r"Number of Sender threads: (\d+)"), "sender_threads"),
    (re.compile(r"Number of Receiver threads: (\d+)"), "receiver_threads"),
    (re.compile(r"Number of forked processes in sender: (\d+)"), "sender_processes"),
    (re.compile(r"Number of forked processes in receiver: (\d+)"), "receiver_processes"),
)
"""Patterns of lines above the tables, and the factors whose levels these lines have."""
_USUAL = {"datatype": "MPI_CHAR"}
"""Levels that are not stored, because older versions do not print them."""
_COMMAND = re.compile(r"^(?![ \t]*#).*\bosu_\w+.*$", re.MULTILINE)
_RANKS_OF_LAUNCHER = re.compile(r"(?:\s-n|\s-np|\s--np|\s--ntasks)[ =]?(\d+)\s.*?\bosu_")
_PLACEMENT = re.compile(r"\bosu_\w+(?:\s.*)?\s(M?[HDG])\s+(M?[HDG])\s*$")
_OF_ALL_RANKS = re.compile(
    r"\b(?:all|bcast|broadcast|gather|scatter|reduce|scan|exscan|barrier|neighbor|collect|fcollect|multi )",
    re.IGNORECASE,
)
"""Names of tests whose figures depend on the number of ranks."""
_OF_DEVICES = re.compile(r"MPI\w*-\w+")
"""Interfaces, such as MPI-CUDA, whose tests of two ranks have their buffers on hosts or devices."""
_PROFILES = (
    (re.compile(r"Uni-directional Bandwidth \(MB/sec\)"), ("bandwidth_MBps", "MB/s", "higher")),
    (re.compile(r"Message Rate Profile"), ("messages_per_second", "1/s", "higher")),
)
"""The headings of the tables of osu_mbw_mr -V, with their metrics."""
_DECIMALS = 2  # of all values, in all versions
_STARTS = re.compile(
    r"^nprocs: (\d+), min: ([\d.]+)(?: ms)?, max: ([\d.]+)(?: ms)?, avg: ([\d.]+)(?: ms)?\s*$", re.MULTILINE
)


def read(source: Source, options: Options) -> list[Imported]:
    """Each table is a run, since the programs of a file ran in sequence."""
    heads = list(_BEGIN.finditer(source.text))
    # Some versions print their first lines twice. Ignore a head without a table.
    heads = [
        head
        for head, after in zip(heads, [*heads[1:], None], strict=True)
        if after is None or after[0] != head[0] or _columns_in(source.text[head.end() : after.start()])
    ]
    if not heads:
        raise source.error_at_end("no line '# OSU MPI ... Test v...' at the start of a run")
    found = []
    above = 0
    for head, run in parts_of(source, heads):
        command = next(reversed([*_COMMAND.finditer(source.text, above, head.start())]), None)
        found.append(_imported(run, options, head, command[0] if command else ""))
        above = head.end()
    return found


def _columns_in(text: str) -> bool:
    return any(line.startswith("#") and columns_of(line.strip("# \t")) for line in text.split("\n"))


def _imported(run: Source, options: Options, head: re.Match[str], command: str) -> Imported:
    interface = head[1]
    test = {"test": f"{interface} {head[2]}" if interface not in ("MPI", "Python") else head[2]}
    if placement := _PLACEMENT.search(command):
        test["memory"] = f"{placement[1]}-{placement[2]}"
    table = _Table(test)
    for line in run.part(len(head[0]), len(run.text)).lines():  # below the heading
        table.read(line)
    results = table.results
    launched = _RANKS_OF_LAUNCHER.search(command)
    ranks: int | None = int(launched[1]) if launched else options.ranks
    if not results and (start := _STARTS.search(run.text)):  # osu_init prints a line, not a table
        ranks = int(start[1])
        results.append(_start(run, start, test))
    if not results:
        raise run.error_at_end(f"the table of {test['test']} has no results")
    _refuse_unknown(run, options, head, results, ranks)
    transport = "mpi" if interface.startswith(("MPI", "Python")) else interface.partition("-")[0].lower()
    nodes = options.nodes_of(ranks)
    cell = known(program="osu", transport=transport, ranks=ranks or None, nodes=nodes)
    program = {"name": "OSU micro-benchmarks", "version": head[3]}
    header = {"program": program, "transport": {"name": transport}, "ranks": ranks, "nodes": nodes}
    return Imported(cell, whole_records(header, results))


def _refuse_unknown(
    run: Source, options: Options, head: re.Match[str], results: list[Record], ranks: int | None
) -> None:
    """Raises LongshoreError if the figures depend on something that the output does not tell."""
    hint = "keep the command line above the output"
    of_all_ranks = _OF_ALL_RANKS.search(head[2])
    if of_all_ranks and not ranks:
        raise run.error(f"{head[2]}: OSU does not print the number of ranks; give --ranks N, or {hint}")
    is_placed = "memory" in {*results[0]["variant"], *options.factors}
    if _OF_DEVICES.fullmatch(head[1]) and not of_all_ranks and not is_placed:
        raise run.error(f"{head[2]}: it is not known where the buffers are; give --factor memory=D-D, or {hint}")


def _start(run: Source, match: re.Match[str], factors: dict[str, Any]) -> Record:
    names = ("min_init_ms", "max_init_ms", "init_ms")
    metrics = {
        name: records.metric(finite_number(run.at(match), name, match[group]), "ms", "lower")
        for group, name in reversed(list(enumerate(names, 2)))
    }
    return aggregate_result("osu", factors, metrics)


class _Table:
    """Reads the lines of one run. Settings and headings apply to the lines below them."""

    def __init__(self, test: dict[str, Any]) -> None:
        self.results: list[Record] = []
        self._factors = dict(test)
        self._columns: list[Column] = []
        self._profile: tuple[str, str, str] | None = None
        self._windows: list[int] = []
        self._row: list[str] = []
        """The previous line of values below the current heading."""

    def read(self, line: Source) -> None:
        text = line.text.strip()
        if text.startswith("#"):
            self._comment(text.lstrip("# \t").rstrip())
            return
        words = text.split()
        if self._windows and starts_with_number(text):
            self._refuse_other_length(line, words, len(self._windows) + 1)
            self._windowed(line, words)
        elif self._columns and (starts_with_number(text) or self._is_operation(words)):
            self._refuse_other_length(line, words, len(self._columns))
            self._line(line, words)
        else:
            return
        self._row = words

    def _comment(self, text: str) -> None:
        for pattern, name in _SETTINGS:
            if found := pattern.match(text):
                level = found[1] if found.lastindex == 1 else f"{found[1]}-{found[2]}"
                if level != _USUAL.get(name):
                    self._factors[name] = int(level) if level.isdecimal() else level
        profile = next((metric for pattern, metric in _PROFILES if pattern.match(text)), None)
        if profile or (self._profile and re.fullmatch(r"\d+(?:\s+\d+)*", text)):
            self._windows = [] if profile else [int(word) for word in text.split()]
            self._profile, self._columns, self._row = profile or self._profile, [], []
        elif columns := columns_of(text):
            self._columns, self._windows, self._row = columns, [], []

    def _is_operation(self, words: list[str]) -> bool:
        return self._columns[0].name == "Operation" and len(words) == len(self._columns)

    def _refuse_other_length(self, line: Source, words: list[str], expected: int) -> None:
        """Raises LongshoreError if a line does not fit its heading or is incomplete."""
        required = expected - sum(1 for _ in takewhile(lambda column: column.optional, reversed(self._columns)))
        if not required <= len(words) <= expected or (self._row and len(words) != len(self._row)):
            names = ", ".join(column.name for column in self._columns) or "Size, and one per window"
            raise line.error(f"{len(words)} values below {expected} columns ({names})")
        if not line.text.endswith("\n") and self._is_torn(words):
            raise line.error(f"the last line is cut at '{words[-1]}'; --partial leaves this line out")

    def _is_torn(self, words: list[str]) -> bool:
        """Whether a last line without newline is incomplete. Complete values have two decimals."""
        if self._columns and len(words) < len(self._columns) and not self._row:
            return True
        is_figure = not self._columns or self._columns[len(words) - 1].metric is not None
        return is_figure and len(words[-1].partition(".")[2]) < _DECIMALS

    def _line(self, line: Source, words: list[str]) -> None:
        factors = dict(self._factors)
        metrics: dict[str, Any] = {}
        more: dict[str, Any] = {"repetitions": 1}
        for column, word in zip(self._columns, words, strict=False):
            if column.factor == "operation":
                factors[column.factor] = word
            elif column.factor:
                factors[column.factor] = whole(line, column.name, word)
            elif column.name == "Iterations":
                more["iterations"] = whole(line, column.name, word)
            elif column.name == "Validation":
                if word.lower() not in ("pass", "fail"):
                    raise line.error(f"'{word[:40]}' below Validation is neither Pass nor Fail")
                more["verified"] = word.lower() == "pass"
            elif column.metric:
                name, unit, better = column.metric
                metrics[name] = records.metric(finite_number(line, column.name, word), unit, better)
        if not metrics:
            names = ", ".join(column.name for column in self._columns)
            raise line.error(f"no known column among {names}")
        self.results.append(aggregate_result("osu", factors, metrics, **more))

    def _windowed(self, line: Source, words: list[str]) -> None:
        assert self._profile is not None  # noqa: S101 - _comment sets it before the windows
        name, unit, better = self._profile
        size = whole(line, "Size", words[0])
        known = {(result["variant"].get("bytes"), result["variant"].get("window")): result for result in self.results}
        for window, word in zip(self._windows, words[1:], strict=True):
            metric = records.metric(finite_number(line, f"window {window}", word), unit, better)
            if (size, window) in known:
                known[size, window]["metrics"][name] = metric
                continue
            factors = {**self._factors, "window": window, "bytes": size}
            self.results.append(aggregate_result("osu", factors, {name: metric}))
