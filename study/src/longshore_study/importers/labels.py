"""Removes what launchers and terminals add to the output of a program: colours, and the label with
the number of a process before each line.

0: # OSU MPI Latency Test v7.4               srun --label
[1,0]<stdout>:# OSU MPI Latency Test v7.4    mpirun --tag-output of Open MPI
[0] # OSU MPI Latency Test v7.4              mpiexec -prepend-rank of MPICH, -l of Intel MPI
"""

import re

_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_OPEN_MPI = re.compile(r"\[[\w.@-]*\d+,\d+\]<std(?:out|err|diag)>: ?")
"""Programs never print this label themselves. So it is also removed within lines, where the
launcher mixed lines."""
_LABEL = re.compile(r"^(?:\[\d+\] ?| *\d+: ?)", re.MULTILINE)
_LINE = re.compile(r"^.*\S", re.MULTILINE)


def without_colours(text: str) -> str:
    return _COLOUR.sub("", text)


def without_labels(text: str) -> str:
    """The text without labels. Plain numbers are labels if most lines begin with one."""
    text = _OPEN_MPI.sub("", text)
    labels = sum(1 for _ in _LABEL.finditer(text))
    lines = sum(1 for _ in _LINE.finditer(text))
    return _LABEL.sub("", text) if 2 * labels > lines else text
