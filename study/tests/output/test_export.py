"""`longshore export`: figures and comparisons in every format."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from longshore_study.cli.command_line import main
from longshore_study.output import export_tables
from longshore_study.store.launch_store import Store
from longshore_study.store.records import metric, result_record
from stored_launches import halo, import_published_images, store_launch


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


@pytest.mark.parametrize(
    ("name", "begin"),
    [
        ("figures.csv", b"study,tag,"),
        ("FIGURES.JSON", b'{"schema"'),
        ("figures.jsonl", b'{"study"'),
        ("figures.ndjson", b'{"study"'),
        ("figures.md", b"| "),
        ("figures.tex", b"% needs"),
        ("figures.parquet", b"PAR1"),
        ("figures", b"study,tag,"),
    ],
)
def test_the_ending_of_a_file_decides_on_its_format(results: Store, tmp_path: Path, name: str, begin: bytes) -> None:
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    file = tmp_path / name
    assert main(["--store", str(results.path), "export", "-o", str(file)]) == 0
    assert file.read_bytes().startswith(begin)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["t.xlsx"], "no format is written to files that end in '.xlsx'"),
        (["t.csv.gz"], "no format is written to files that end in '.gz'"),
        (["t.parquet", "--format", "csv"], "a file that ends in '.parquet' is parquet, and not csv"),
        (["t.tex", "--json"], "a file that ends in '.tex' is latex, and not json"),
    ],
)
def test_a_file_name_of_another_format_is_refused(
    results: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    file, *options = arguments
    assert main(["--store", str(results.path), "export", "-o", str(tmp_path / file), *options]) == 64
    assert message in capsys.readouterr().err
    assert not (tmp_path / file).exists()


def test_a_requested_format_is_written_to_a_file_with_an_unknown_ending(results: Store, tmp_path: Path) -> None:
    for name, form in (("figures.txt", "csv"), ("run.json", "reframe")):
        assert main(["--store", str(results.path), "export", "--format", form, "-o", str(tmp_path / name)]) == 0
    assert (tmp_path / "figures.txt").read_text(encoding="utf-8").startswith("study,tag,")
    assert "session_info" in json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))


def test_json_is_one_document(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    for more, values in (([], [10.0, 5.5]), (["--samples"], [0.5])):
        assert main(["--store", str(results.path), "export", "--json", *more]) == 0
        document = json.loads(capsys.readouterr().out)
        assert (document["schema"], [row["value"] for row in document["rows"]]) == (1, values)
    assert main(["--store", str(results.path), "export", "--json", "--format", "csv"]) == 64


def test_damage_and_unknown_names_are_reported(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--store", str(results.path), "export", "u"]) == 64
    store_launch(results, "t", "a", [], index=1, end=False)
    capsys.readouterr()
    assert main(["--store", str(results.path), "export"]) == 3
    captured = capsys.readouterr()
    assert "truncated" in captured.err
    assert len(table(captured.out)) == 2


def test_damage_of_a_comparison_is_reported(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    for tag in ("old", "new"):
        store_launch(results, tag, "a", [halo("waitall", 10.0)])
    comparison = ["--store", str(results.path), "export", "--compare", "old", "new"]
    assert main(comparison) == 0
    assert not capsys.readouterr().err
    store_launch(results, "new", "a", [halo("waitall", 10.0)], index=1, end=False)
    assert main(comparison) == 3
    captured = capsys.readouterr()
    assert "truncated" in captured.err
    assert len(table(captured.out)) == 1


def test_options_that_contradict_each_other_are_refused(
    results: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    store = ["--store", str(results.path)]
    for arguments, said in (
        (["export", "--margin", "5%"], "--compare REF NEW"),
        (["report", "--margin", "5%"], "--compare REF NEW"),
        (["export", "--samples", "--format", "reframe"], "no repetitions"),
        (["stacks", "--search", str(tmp_path / "nope")], "no such folder"),
    ):
        capsys.readouterr()
        assert main([*store, *arguments]) == 64
        assert said in capsys.readouterr().err
    assert main([*store, "export", "--json", "--format", "reframe", "-o", "o.json"]) == 0
    assert json.loads(Path("o.json").read_text())["runs"]
    assert main([*store, "export", "-o", "-"]) == 0
    assert len(table(capsys.readouterr().out)) == 2
    assert not Path("-").exists()


def images(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    import_published_images(tmp_path / "images")
    capsys.readouterr()
    return str(tmp_path / "images")


def test_tables_for_papers_have_a_row_per_variant(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = images(tmp_path, capsys)
    assert main(["--store", store, "export", "new", "--format", "markdown"]) == 0
    head, rule, *rows = capsys.readouterr().out.splitlines()
    assert head.startswith("| mode | metric | unit | median |")
    assert "---:" in rule
    assert len(rows) == 8
    assert any("| persistent |" in row and "| 401.4 |" in row for row in rows)
    assert main(["--store", store, "export", "--compare", "reference", "new", "--format", "latex"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith("\\begin{tabular}")
    assert lines[-1] == "\\end{tabular}"
    body = [line for line in lines if line.endswith("\\\\")]
    assert len(body) == 9
    assert all(line.count(" & ") == body[0].count(" & ") for line in body)
    assert any("persistent" in line and "regressed" in line and "0.0573" in line for line in body)


def test_a_comparison_is_exported_completely(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = images(tmp_path, capsys)
    assert main(["--store", store, "export", "--compare", "reference", "new"]) == 0
    rows = {row["mode"]: row for row in table(capsys.readouterr().out)}
    assert len(rows) == 8
    assert float(rows["persistent"]["low"]) < float(rows["persistent"]["ratio"]) < float(rows["persistent"]["high"])
    assert rows["persistent"]["ranks"] == "128", "a figure has its layout"
    assert main(["--store", store, "export", "new", "--compare", "reference", "new"]) == 64


def test_names_are_escaped_in_tables() -> None:
    rows: list[dict[str, Any]] = [{"a|b": "x_1 & 50 % $\\input{y}", "n": 1.25e-7}, {"a|b": "<b>\x1b[31m", "n": None}]
    latex = export_tables.table(rows, "latex").decode()
    assert "x\\_1 \\& 50 \\% \\$\\textbackslash{}input\\{y\\}" in latex
    markdown = export_tables.table(rows, "markdown").decode()
    assert "| a\\|b | n |" in markdown
    assert "\\<b\\>\\[31m" in markdown
    assert "\x1b" not in latex + markdown


def test_tables_for_papers_leave_out_constants_and_state_per_node_or_per_rank(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A factor does not vary if only one pattern has it."""
    store = Store(tmp_path / "results")
    gather: list[dict[str, Any]] = [{"strategy": "exstack", "buffer_items": 1024}, {"strategy": "direct"}]
    rows = [
        result_record("gather", {**variant, "table": 10_000}, {"injection_bandwidth": metric(2.0, "GB/s")})
        for variant in gather
    ]
    store_launch(store, "t", "a", [*rows, halo("waitall", 3.0), halo("sendrecv", 4.0)])
    assert main(["--store", str(store.path), "export", "t", "--format", "markdown"]) == 0
    head, _, *body = capsys.readouterr().out.splitlines()
    assert "table" not in head
    assert all(f"| {name} |" in head for name in ("pattern", "strategy", "buffer\\_items", "mode"))
    assert [("GB/s per node" in row, "MiB/s per rank" in row) for row in body] == 2 * [(True, False)] + 2 * [
        (False, True)
    ]


def test_tables_for_papers_have_no_exponents() -> None:
    rows: list[dict[str, Any]] = [{"keys": 1.692e8, "rate": 12345.6, "share": 2.5e-7, "bytes": 3.0e9}]
    for form in ("markdown", "latex"):
        text = export_tables.table(rows, form).decode()
        assert all(one in text for one in ("169200000", "12350", "0.00000025", "3000000000"))


def test_parquet_holds_what_csv_holds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed (extra 'parquet')")
    store, path = images(tmp_path, capsys), tmp_path / "figures.parquet"
    assert main(["--store", store, "export", "--format", "parquet", "-o", str(path)]) == 0
    assert main(["--store", store, "export"]) == 0
    expected = table(capsys.readouterr().out)
    found = parquet.read_table(path).to_pylist()
    assert [row["mode"] for row in found] == [row["mode"] for row in expected]
    assert [row["value"] for row in found] == [float(row["value"]) for row in expected]
    assert found[0]["ranks"] == 128


def test_parquet_without_pyarrow_is_an_error_that_names_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert main(["--store", images(tmp_path, capsys), "export", "--format", "parquet", "-o", str(tmp_path / "x")]) == 3
    assert "pip install 'study/[parquet]'" in capsys.readouterr().err


def test_a_run_report_is_as_reframe_writes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The required members of the schema runreport.json, data version 4.2."""
    assert main(["--store", images(tmp_path, capsys), "export", "new", "--format", "reframe"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report.keys() == {"session_info", "runs", "restored_cases"}
    info = {"data_version", "hostname", "time_elapsed", "time_end_unix", "time_start_unix", "uuid", "num_cases"}
    assert info <= report["session_info"].keys()
    assert [run["num_cases"] for run in report["runs"]] == [8, 8]
    required = {"environ", "fail_phase", "fail_reason", "filename", "job_completion_time_unix", "name", "perfvalues",
                "partition", "result", "system", "time_total", "unique_name"}  # fmt: skip
    cases = [case for run in report["runs"] for case in run["testcases"]]
    assert all(required <= case.keys() for case in cases)
    assert len({case["unique_name"] for case in cases}) == 8, "the same variant has one name in all sessions"
    slow = next(case for case in cases if "%mode=persistent" in case["name"])
    ((key, values),) = slow["perfvalues"].items()
    assert key == "generic:mpi:process_bandwidth"
    assert values[0] == pytest.approx(381.8, abs=0.1)
    assert values[1:] == [0, None, None, "MiB/s", "pass"]
    times = {case[name] for case in cases for name in ("job_completion_time", "job_completion_time_unix")}
    assert times == {None}, "imported launches have no time"


def test_the_checks_for_reframe_are_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "--reframe"]) == 0
    compile(Path("longshore_checks.py").read_text(), "longshore_checks.py", "exec")
    assert main(["init", "--reframe"]) == 64, "an existing file is never touched"


def test_an_output_that_cannot_be_written_is_reported(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--store", str(results.path), "export", "-o", "/nowhere/x.csv"]) == 3
    assert "cannot write /nowhere/x.csv" in capsys.readouterr().err
