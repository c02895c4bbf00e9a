"""`import longshore-bench`: launches that something else than `longshore run` started are as good
as its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from longshore_study.cli.command_line import main
from longshore_study.store.launch_store import Store


def run(mode: str, bandwidth: float, **header: Any) -> list[dict[str, Any]]:
    variant = {"algorithm": "faces", "mode": mode}
    return [
        {"record": "launch", "schema": 1, "launch": f"L{bandwidth}", "start": "2026-03-01T10:00:00Z", "ranks": 4,
         "nodes": 1, "nodes_virtual": False, "transport": {"name": "mpi"}, **header},
        {"record": "sample", "pattern": "halo", "variant": variant, "repetition": 0, "seconds": {"max": 1 / bandwidth}},
        {"record": "result", "pattern": "halo", "variant": variant, "verified": True, "repetitions": 1,
         "seconds": {"median": 1 / bandwidth},
         "metrics": {"process_bandwidth": {"value": bandwidth, "unit": "MiB/s", "better": "higher"}}},
        {"record": "end", "status": "ok"},
    ]  # fmt: skip


def written(path: Path, records: list[dict[str, Any]], around: str = "") -> str:
    path.write_text(around + "".join(json.dumps(record) + "\n" for record in records) + around, encoding="utf-8")
    return str(path)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_runs_of_a_file_become_launches_as_run_stores_them(place: Path) -> None:
    text = "mpirun: a warning\n"
    file = written(place / "r.jsonl", [*run("waitall", 1000.0), *run("waitall", 1010.0)], text)
    assert main(["import", "longshore-bench", file, "--tag", "t", "--session", "monday"]) == 0
    found = sorted(Store("longshore-results").launches(samples=True), key=lambda one: one.launch_index)
    assert [one.launch_index for one in found] == [0, 1]
    for one in found:
        assert one.problem is None
        assert not one.imported, "repetitions are known: it is no aggregate"
        assert one.cell == {"program": "halo", "transport": "mpi", "ranks": 4, "environment": {}}
        assert one.envelope["started"] == "2026-03-01T10:00:00Z"
        assert len(one.samples) == 1
    assert main(["import", "records", file, "--tag", "t", "--session", "tuesday"]) == 0
    assert len(list(Store("longshore-results").launches())) == 2, "what is stored is not stored twice"


def test_imported_records_compare_with_recorded_launches(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for session in range(3):
        cell = {"program": "halo", "transport": "mpi", "ranks": 4, "environment": {}}
        lines = [json.dumps(record) for record in run("waitall", 1000.0 + session)]
        Store("longshore-results").write_launch(
            {"study": "s", "tag": "old", "session": f"d{session}", "cell": cell, "exit_status": 0}, lines
        )
        file = written(place / f"{session}.jsonl", run("waitall", 500.0 + session))
        assert (
            main(["import", "longshore-bench", file, "--tag", "new", "--session", f"d{session}", "--study", "s"]) == 0
        )
    capsys.readouterr()
    assert main(["compare", "old", "new", "--json"]) == 1
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert row["verdict"] == "regressed"
    assert row["sessions"] == [3, 3]


@pytest.mark.parametrize(
    ("header", "cell"),
    [
        ({"nodes": 2}, {"nodes": 2}),
        ({"nodes": 2, "nodes_virtual": True}, {"ranks_per_node": 2}),
        ({"transport": None}, {}),
    ],
)
def test_the_cell_says_the_layout(place: Path, header: dict[str, Any], cell: dict[str, Any]) -> None:
    file = written(place / "r.jsonl", run("waitall", 1000.0, **header))
    assert main(["import", "longshore-bench", file, "--tag", "t"]) == 0
    (found,) = Store("longshore-results").launches()
    assert {name: found.cell[name] for name in found.cell if name in ("nodes", "ranks_per_node")} == cell
    assert ("transport" in found.cell) == ("transport" not in header)


def test_a_failed_run_is_stored_as_failed(place: Path) -> None:
    begin = run("waitall", 1000.0, argv=["longshore-bench", "halo"])[0]
    file = written(
        place / "r.jsonl", [begin, {"record": "end", "status": "failed", "error": {"message": "rank 1 died"}}]
    )
    assert main(["import", "longshore-bench", file, "--tag", "t"]) == 0
    (found,) = Store("longshore-results").launches()
    assert found.cell["program"] == "halo"
    assert "rank 1 died" in (found.problem or "")


def test_truncated_records_and_stray_records_are_refused(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = run("waitall", 1000.0)
    file = written(place / "cut.jsonl", whole[:-1])
    assert main(["import", "longshore-bench", file, "--tag", "t"]) == 3
    assert "cut short" in capsys.readouterr().err
    assert main(["import", "longshore-bench", file, "--tag", "t", "--partial"]) == 0
    for records, said in (
        (whole[1:], ":1: 'sample' is outside of a run"),
        ([whole[0], whole[-1]], "has no result"),
        ([whole[0], {"record": "result", "pattern": 7, "variant": {}}], ":2: record 'result' needs 'pattern', a text"),
    ):
        capsys.readouterr()
        assert main(["import", "longshore-bench", written(place / "bad.jsonl", records), "--tag", "t"]) == 3
        assert said in capsys.readouterr().err
    assert main(["import", "bale", file, "--tag", "t"]) == 3
    assert "use 'longshore import longshore-bench" in capsys.readouterr().err


def test_a_file_whose_last_line_is_torn_is_taken_without_it(place: Path) -> None:
    whole = "".join(json.dumps(record) + "\n" for record in run("waitall", 1000.0))
    file = place / "torn.jsonl"
    ends = (whole.index('"record": "end"'), len(whole) - 2)
    for end in ends:
        file.write_text(whole[:end], encoding="utf-8")
        assert main(["import", "longshore-bench", str(file), "--tag", "t"]) == 3
        assert main(["import", "longshore-bench", str(file), "--tag", f"t{end}", "--partial"]) == 0
        (found,) = Store("longshore-results").launches(tag=f"t{end}")
        assert len(found.results) == 1
        assert found.envelope["partial"] == "no 'end' record"
    file.write_text(whole.rstrip("\n"), encoding="utf-8")
    assert main(["import", "longshore-bench", str(file), "--tag", "whole", "--partial"]) == 0
    (found,) = Store("longshore-results").launches(tag="whole")
    assert found.envelope["partial"] is None, "only the end of its last line is missing"


@pytest.mark.parametrize("torn", ["", '{"record": "sam'])
def test_a_run_that_was_cut_short_before_another_one_is_not_lost(
    place: Path, capsys: pytest.CaptureFixture[str], torn: str
) -> None:
    first, second = ("".join(json.dumps(r) + "\n" for r in run(mode, 1000.0)) for mode in ("waitall", "persistent"))
    file = place / "both.jsonl"
    file.write_text(first[: first.index('{"record": "end"')] + torn + second, encoding="utf-8")
    assert main(["import", "longshore-bench", str(file), "--tag", "t"]) == 3
    capsys.readouterr()
    assert main(["import", "longshore-bench", str(file), "--tag", "t", "--partial"]) == 0
    found = sorted(Store("longshore-results").launches(), key=lambda launch: launch.launch_index)
    assert [(one.results[0]["variant"]["mode"], one.envelope["partial"]) for one in found] == [
        ("waitall", "no 'end' record"),
        ("persistent", None),
    ]


def test_each_run_of_a_store_has_the_cell_above_it(place: Path) -> None:
    both: list[dict[str, Any]] = []
    for mode, ranks in (("waitall", 2), ("persistent", 4)):
        cell = {"program": "halo", "ranks": ranks}
        both.append({"record": "study", "schema": 1, "study": "s", "tag": "t", "session": "a", "cell": cell})
        both += run(mode, 1000.0, ranks=ranks)
    both.remove({"record": "end", "status": "ok"})  # the first run is cut short
    assert main(["import", "longshore-bench", written(place / "both.jsonl", both), "--tag", "t", "--partial"]) == 0
    found = {one.results[0]["variant"]["mode"]: one.cell["ranks"] for one in Store("longshore-results").launches()}
    assert found == {"waitall": 2, "persistent": 4}


def test_the_same_records_twice_are_one_launch(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    once = run("waitall", 1000.0)
    file = written(place / "twice.jsonl", [*once, *once, *run("waitall", 1001.0)])
    assert main(["import", "longshore-bench", file, "--tag", "t"]) == 0
    assert "run 2 is the same as run 1, to the last digit; not stored again" in capsys.readouterr().out
    assert len(list(Store("longshore-results").launches())) == 2
    assert main(["import", "longshore-bench", written(place / "again.jsonl", once, "noise\n"), "--tag", "t"]) == 0
    assert "is the same as a launch of session" in capsys.readouterr().out
    assert len(list(Store("longshore-results").launches())) == 2
