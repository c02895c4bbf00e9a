"""A store that version 0.1.0 wrote is read by all commands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from longshore_study.base.errors import EXIT_UNDECIDED
from longshore_study.cli.command_line import main

if TYPE_CHECKING:
    import pytest

STORE = Path(__file__).parents[1] / "data" / "store-0.1"


def said_by(capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> str:
    capsys.readouterr()
    assert main(["--store", str(STORE), *words]) == status, capsys.readouterr().err
    return capsys.readouterr().out


def test_the_records_are_those_of_version_0_1() -> None:
    files = list(STORE.rglob("*.jsonl"))
    assert len(files) == 8
    for file in files:
        records = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        (launch,) = (record for record in records if record["record"] == "launch")
        assert launch["program"]["version"] == "0.1.0"


def test_show_reads_all_figures(capsys: pytest.CaptureFixture[str]) -> None:
    rows = json.loads(said_by(capsys, "show", "--json"))["rows"]
    assert {row["pattern"] for row in rows} == {"gather", "halo"}
    assert all(row["metrics"] for row in rows)
    assert all(row["cache_line_seconds"] == {} for row in rows)
    assert {row["tag"] for row in rows} == {"before", "after"}


def test_compare_pairs_all_rows(capsys: pytest.CaptureFixture[str]) -> None:
    rows = json.loads(said_by(capsys, "compare", "before", "after", "--json", status=EXIT_UNDECIDED))["rows"]
    assert len(rows) == 4


def test_a_report_is_written(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    said_by(capsys, "report", "old", "-o", str(tmp_path / "report.html"))
    assert "agp" in (tmp_path / "report.html").read_text(encoding="utf-8")
