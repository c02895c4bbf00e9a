"""What a launch was asked for is compared with what its program recorded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from longshore_study.store.asked_and_found import difference
from longshore_study.store.launch_store import Store
from longshore_study.store.records import dump, end_record

CELL = {"transport": "mpi", "ranks": 4, "ranks_per_node": 2, "environment": {"A": "1"}}
HEADER = {
    "record": "launch",
    "schema": 1,
    "transport": {"name": "mpi"},
    "ranks": 4,
    "nodes": 2,
    "environment": {"A": "1"},
}


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ({}, None),
        ({"ranks": None, "nodes": None, "transport": None, "environment": None}, None),
        (
            {"ranks": 1},
            "asked for ranks 4, but its program ran with ranks 1; does the launcher belong to the MPI library",
        ),
        ({"ranks": 3}, "asked for ranks 4, but its program ran with ranks 3"),
        ({"nodes": 1}, "asked for nodes 2, but its program ran with nodes 1"),
        ({"transport": {"name": "threads"}}, "asked for transport mpi, but its program ran with transport threads"),
        ({"environment": {"A": "2"}}, "asked for the variable A 1, but its program ran with the variable A 2"),
    ],
)
def test_each_fact_that_both_have_is_compared(found: dict[str, Any], words: str | None) -> None:
    told = difference(CELL, {**HEADER, **found})
    assert (told is None) if words is None else (told is not None and words in told)


def test_a_stored_launch_that_ran_otherwise_has_a_problem(tmp_path: Path) -> None:
    envelope = {"record": "study", "study": "s", "tag": "t", "session": "d", "cell": CELL}
    Store(tmp_path).write_launch(envelope, [dump({**HEADER, "ranks": 1}), dump(end_record())])
    [launch] = Store(tmp_path).launches()
    assert launch.problem is not None
    assert "asked for ranks 4" in launch.problem
