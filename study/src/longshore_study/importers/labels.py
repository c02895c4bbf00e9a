"""Removes the label with the number of a process that launchers can put before each line:

0: # OSU MPI Latency Test v7.4               srun --label
[1,0]<stdout>:# OSU MPI Latency Test v7.4    mpirun --tag-output of Open MPI
[0] # OSU MPI Latency Test v7.4              mpiexec -prepend-rank of MPICH, -l of Intel MPI
"""

from __future__ import annotations

import re

_LABEL = re.compile(r"^(?:\[\d+,\d+\]<std(?:out|err|diag)>: ?|\[\d+\] ?| *\d+: ?)", re.MULTILINE)
_LINE = re.compile(r"^.*\S", re.MULTILINE)


def without_labels(text: str) -> str:
    """The text without labels, if most lines begin with a label."""
    labels = sum(1 for _ in _LABEL.finditer(text))
    lines = sum(1 for _ in _LINE.finditer(text))
    return _LABEL.sub("", text) if 2 * labels > lines else text
