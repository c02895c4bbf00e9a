"""Series that others measured: CSV with times, and ReFrame's run reports and performance logs."""

from __future__ import annotations

import datetime as dt
import json
import random
from pathlib import Path

import pytest

from longshore_study.analyses.history import build
from longshore_study.cli.command_line import main
from longshore_study.importers import formats
from longshore_study.importers.imported import Columns, MetricChoice, Options
from longshore_study.store.launch_store import Store
from stored_launches import json_of

CSV = ("--time", "when", "--figure", "rate", "--unit", "GB/s")


def run(store: Path, *arguments: str) -> int:
    return main(["--store", str(store), "import", *arguments])


def series(path: Path, levels: dict[str, float], per_version: int = 8, seed: int = 1) -> Path:
    """Two sizes, measured once a day, with 1 % of noise."""
    noise = random.Random(seed)
    lines = ["when,commit,size,rate,job"]
    days = (dt.date(2026, 1, 1) + dt.timedelta(days=day) for day in range(1000))
    for version, level in levels.items():
        for _ in range(per_version):
            day = next(days)
            for size in (8, 1024):
                rate = level * size * noise.gauss(1, 0.01)
                lines.append(f"{day}T12:00:00,{version},{size},{rate:.4f},{noise.randrange(10**9)}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_versions_become_tags_and_times_become_sessions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = series(tmp_path / "rates.csv", {"v1": 1.0, "v2": 0.8})
    assert run(tmp_path / "store", "csv", str(file), *CSV, "--version", "commit") == 0
    printed = capsys.readouterr().out
    assert "32 figures stored in csv, 2 tags from v1 to v2, 16 sessions" in printed
    assert "the rows are told apart by size; not used, since they differ in most lines: job" in printed
    launches = list(Store(tmp_path / "store").launches())
    assert len(launches) == 16
    assert {launch.tag for launch in launches} == {"v1", "v2"}
    assert launches[0].session == "2026-01-01T12-00-00"
    assert launches[0].envelope["started"] == "2026-01-01T12:00:00+00:00"
    assert [result["variant"] for result in launches[0].results] == [{"size": 8}, {"size": 1024}]
    assert main(["--store", str(tmp_path / "store"), "compare", "v1", "v2", "--json"]) == 1
    for row in json_of(capsys.readouterr().out)["rows"]:
        assert row["verdict"] == "regressed"
        assert row["ratio"] == pytest.approx(0.8, rel=0.02)


def test_a_series_that_has_grown_stores_what_is_new(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = series(tmp_path / "rates.csv", {"v1": 1.0}, per_version=3)
    run(tmp_path / "store", "csv", str(file), *CSV, "--tag", "all")
    capsys.readouterr()
    series(file, {"v1": 1.0}, per_version=5)
    assert run(tmp_path / "store", "csv", str(file), *CSV, "--tag", "all") == 0
    printed = capsys.readouterr().out
    assert "4 figures stored in csv, tag all, 5 sessions" in printed
    assert "3 runs already stored; not stored again" in printed
    assert len(list(Store(tmp_path / "store").launches())) == 5


def test_history_finds_the_change_of_a_series(tmp_path: Path) -> None:
    file = series(tmp_path / "rates.csv", {"v1": 1.0, "v2": 1.0, "v3": 0.7})
    run(tmp_path / "store", "csv", str(file), *CSV, "--version", "commit", "--tag", "all")
    rows = build(list(Store(tmp_path / "store").launches())).rows
    assert len(rows) == 2
    for row in rows:
        assert [change.at for change in row.changes] == [16]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("2026-13-01,v1,8,1.0,1", "rates.csv:2: '2026-13-01' is no time; it is like 2026-11-27T13:05:00"),
        ("2026-01-01,v1,8,fast,1", "rates.csv:2: 'fast' below rate is not a number"),
        ("2026-01-01,v1,8,-1,1", "rates.csv:2: rate: a figure of -1 GB/s is not possible"),
        ("2026-01-01,v1,8,1.0", "rates.csv:2: 4 values, but the header has 5 columns"),
        ('2026-01-01,v1,8,"1.0,1', "rates.csv:2: not CSV"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str, told: str) -> None:
    file = tmp_path / "rates.csv"
    file.write_text(f"when,commit,size,rate,job\n{line}\n", encoding="utf-8")
    assert run(tmp_path / "store", "csv", str(file), *CSV, "--tag", "t") != 0
    assert told in capsys.readouterr().err
    assert not list(Store(tmp_path / "store").launches())


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--figure", "rate", "--unit", "GB/s"], "format 'csv' needs --time COLUMN"),
        ([*CSV[:2], "--unit", "GB/s"], "needs 'figure'"),
        ([*CSV[:2], "--figure", "speed", "--unit", "GB/s", "--tag", "t"], "no column 'speed' (columns: when, commit"),
        ([*CSV], "give --tag NAME, the measured state, or --version COLUMN of csv"),
        ([*CSV, "--tag", "t", "--session", "s"], "csv has a session for each time in the file"),
    ],
)
def test_a_wrong_request_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], told: str
) -> None:
    file = series(tmp_path / "rates.csv", {"v1": 1.0})
    assert run(tmp_path / "store", "csv", str(file), *words) != 0
    assert told in capsys.readouterr().err


def test_times_of_several_forms_are_read() -> None:
    options = Options(metric=MetricChoice("t", "us", "lower"), columns=Columns("time"))
    times = ["2026-11-27", "2026-11-27T13:05:00", "2026-11-27T13:05:00+02:00", "1795785900", "1795785900.5"]
    found = formats.read_text("csv", "f", "time,t\n" + "".join(f"{time},1.5\n" for time in times), options)
    assert sorted(str(run.started) for run in found) == sorted([
        "2026-11-27T00:00:00+00:00", "2026-11-27T13:05:00+00:00", "2026-11-27T13:05:00+02:00",
        "2026-11-27T14:05:00+00:00".replace("14:05", "13:25"), "2026-11-27T13:25:00.500000+00:00",
    ])  # fmt: skip


LOG = """\
result|job_completion_time|info|num_tasks|partition|environ|display_name|copy_bw_value|copy_bw_unit|copy_bw_ref|copy_bw_lower_thres|copy_bw_upper_thres|lat_value|lat_unit|lat_ref|lat_lower_thres|lat_upper_thres|
pass|2026-11-27T13:05:00+0000|x|4|cpu|gnu|Stream %n=1|11.5|GB/s|12|-0.1|None|2.5|us|2|None|0.2|
fail|2026-11-28T13:05:00+0000|x|4|cpu|gnu|Stream %n=1|1.5|GB/s|12|-0.1|None|9.5|us|2|None|0.2|
pass|2026-11-29T13:05:00+0000|x|4|cpu|gnu|Stream %n=1|11.7|GB/s|12|-0.1|None||us|2|None|0.2|
"""


def test_a_performance_log_of_reframe_is_read() -> None:
    first, second = formats.read_text("perflog", "f.log", LOG)
    assert first.session == "2026-11-27T13-05-00"
    (result,) = (record for record in map(json.loads, first.lines) if record["record"] == "result")
    assert result["variant"] == {"num_tasks": 4, "partition": "cpu", "environ": "gnu", "test": "Stream %n=1"}
    assert result["metrics"]["copy_bw"] == {"value": 11.5, "unit": "GB/s", "better": "higher"}
    assert result["metrics"]["lat"] == {"value": 2.5, "unit": "us", "better": "lower"}
    (result,) = (record for record in map(json.loads, second.lines) if record["record"] == "result")
    assert list(result["metrics"]) == ["copy_bw"]


CASE = {"name": "Stream", "system": "daint", "result": "success", "completion_time_unix": 1795785900.25}


@pytest.mark.parametrize(
    "case",
    [
        CASE | {"perfvars": [{"name": "bw", "value": 11.5, "unit": "GB/s", "thres_lower": -0.1, "thres_upper": None}]},
        CASE | {"result": "pass", "perfvalues": {"daint:cpu:bw": [11.5, 12, -0.1, None, "GB/s", "pass"]}},
    ],
)
def test_a_run_report_of_reframe_is_read(case: dict[str, object]) -> None:
    failed = case | {"result": "fail"}
    report = {"session_info": {"data_version": "4.2"}, "runs": [{"testcases": [case, failed]}]}
    (found,) = formats.read_text("reframe", "report.json", json.dumps(report))
    (result,) = (record for record in map(json.loads, found.lines) if record["record"] == "result")
    assert result["metrics"] == {"bw": {"value": 11.5, "unit": "GB/s", "better": "higher"}}
    assert result["variant"] == {"system": "daint", "test": "Stream"}
    assert found.session == "2026-11-27T13-25-00"


def test_our_own_report_for_reframe_is_read_back(tmp_path: Path) -> None:
    file = series(tmp_path / "rates.csv", {"v1": 1.0})
    run(tmp_path / "store", "csv", str(file), *CSV, "--tag", "all")
    report = tmp_path / "report.json"
    assert main(["--store", str(tmp_path / "store"), "export", "csv", "--format", "reframe", "-o", str(report)]) == 0
    assert run(tmp_path / "again", "reframe", str(report), "--tag", "t") == 0
    figures = [
        metric["value"]
        for launch in Store(tmp_path / "again").launches()
        for result in launch.results
        for metric in result["metrics"].values()
    ]
    assert len(figures) == 16
