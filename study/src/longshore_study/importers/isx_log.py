"""Reads the log of ISx: two lines that describe the run, then one line of times per process and
iteration.

    SHMEM<TAB>NUM_PES 4<TAB>Max_Key 268435456<TAB>Num_Iters 10<TAB>...
    TOTAL (sec)<TAB>ATA_KEYS (sec)<TAB>ATA_KEYS_COUNTS<TAB>...

The lines of a process are consecutive. ISx appends to an existing log without repeating the first
two lines.
"""

import re
from dataclasses import dataclass
from typing import Any

from longshore_study.importers.imported import Source, known

HEAD = re.compile(
    r"^(\w+)\tNUM_PES (\d+)\t(?:Max_Key[ ]|[ ]*Max Key Value:[ ]*)(\w+)\tNum_Iters (\d+)\t(.*)$", re.MULTILINE
)
_ORDERS = (
    ("Random", "random"), ("Incast", "incast"), ("Latin Square", "latin-square"), ("Round Robin", "round-robin"),
)  # fmt: skip
_SCALINGS = (
    (re.compile(r"Strong Scaling: (\d+) total keys"), "strong"),
    (re.compile(r"Constant Bucket Width: (\d+)u? keys per PE"), "weak-iso"),
    (re.compile(r"Weak Scaling: (\d+) keys per PE"), "weak"),
)
_MOST_LINES = 5_000_000


@dataclass
class Log:
    printed: Source
    settings: dict[str, Any]
    """The facts of the first lines that are known, by the names of the members of `_IsxRun`."""
    runs: list[dict[str, list[float]]]
    """One dictionary per run: column to seconds by process and iteration. Empty if `repeats`."""
    repeats: bool
    """Whether all lines of times are equal: a bug of ISx 1.1 over MPI repeats the first."""


def read_log(printed: Source, head: re.Match[str]) -> Log:
    """Reads a log, which begins with the match `head`."""
    ranks, iterations, description = int(head[2]), int(head[4]), head[5]
    for name, value in (("NUM_PES", ranks), ("Num_Iters", iterations)):
        if value <= 0:
            raise printed.error(f"{name} is {value}; a run with measurements has more than 0")
    scaling, keys = None, None
    for pattern, name in _SCALINGS:
        if found := pattern.search(description):
            scaling, keys = name, int(found[1]) // (ranks if name == "strong" else 1)
            break
    names, rows = _rows(printed)
    expected = ranks * iterations
    if not rows or len(rows) % expected:
        raise printed.error(f"{len(rows)} lines of times, but {ranks} PEs and {iterations} iterations need {expected}")
    blocks = [rows[first : first + expected] for first in range(0, len(rows), expected)]
    repeats = head[1] == "MPI" and expected > 1 and all(row == block[0] for block in blocks for row in block)
    columns = {name.removesuffix(" (sec)"): index for index, name in enumerate(names) if name.endswith(" (sec)")}
    runs = [{name: [float(row[index]) for row in block] for name, index in columns.items()} for block in blocks]
    order = next((order for word, order in _ORDERS if word in description), None)
    settings = known(
        transport=head[1].lower(), ranks=ranks, max_key=int(head[3], 0), iterations=iterations, scaling=scaling,
        keys=keys, order=order,
    )  # fmt: skip
    return Log(printed, settings, [] if repeats else runs, repeats)


def _rows(printed: Source) -> tuple[list[str], list[list[str]]]:
    """The names of the columns, and the values of each line."""
    head_end = printed.text.find("\n") + 1
    lines = printed.text[head_end:].lstrip("\n").split("\n")
    names = lines[0].rstrip("\t").split("\t")
    if "TOTAL (sec)" not in names:
        raise printed.part(head_end, head_end).error("the second line of the log lacks 'TOTAL (sec)'")
    rows: list[list[str]] = []
    for line in lines[1:]:
        values = line.rstrip("\t").split("\t")
        if len(values) != len(names) or not re.fullmatch(r"[\d.\t]+", line):
            break  # the screen output, or the end
        if len(rows) >= _MOST_LINES:
            raise printed.error(f"more than {_MOST_LINES} lines")
        rows.append(values)
    return names, rows
