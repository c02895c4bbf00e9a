"""Figures for other tools."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from longshore_study.cli import main
from longshore_study.store import Store
from stored_launches import halo, store_launch


@pytest.fixture
def results(tmp_path: Path) -> Store:
    store = Store(tmp_path / "results")
    sample = {
        "record": "sample",
        "pattern": "halo",
        "variant": {"mode": "waitall"},
        "repetition": 1,
        "seconds": {"max": 0.5},
    }
    cell = {"ranks": 2, "tag": "of the cell", "environment": {"A": "b"}}
    store_launch(store, "t", "a", [sample, halo("waitall", 10.0), halo("sendrecv", 5.5)], cell=cell, position=4)
    return store


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_csv_has_a_line_per_figure(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--store", str(results.path), "export"]) == 0
    rows = table(capsys.readouterr().out)
    assert [(row["mode"], row["value"], row["unit"]) for row in rows] == [
        ("waitall", "10.0", "MiB/s"),
        ("sendrecv", "5.5", "MiB/s"),
    ]
    assert (rows[0]["tag"], rows[0]["factor_tag"], rows[0]["position"]) == ("t", "of the cell", "4")
    assert json.loads(rows[0]["environment"]) == {"A": "b"}


def test_samples_have_a_line_per_repetition(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--store", str(results.path), "export", "--samples"]) == 0
    (row,) = table(capsys.readouterr().out)
    assert (row["repetition"], row["value"], row["unit"], row["mode"]) == ("1", "0.5", "s", "waitall")


def test_json_lines_go_to_a_file(results: Store, tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    assert main(["--store", str(results.path), "export", "t", "--format", "jsonl", "-o", str(path)]) == 0
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [row["value"] for row in rows] == [10.0, 5.5]


def test_damage_and_unknown_names_are_said(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--store", str(results.path), "export", "u"]) == 64
    store_launch(results, "t", "a", [], index=1, end=False)
    capsys.readouterr()
    assert main(["--store", str(results.path), "export"]) == 3
    captured = capsys.readouterr()
    assert "truncated" in captured.err
    assert len(table(captured.out)) == 2


def test_a_place_that_cannot_be_written_is_said(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--store", str(results.path), "export", "-o", "/nowhere/x.csv"]) == 3
    assert "/nowhere/x.csv: cannot be written" in capsys.readouterr().err
