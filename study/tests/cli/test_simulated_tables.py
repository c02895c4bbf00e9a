"""Commands on a study that is measured and simulated: tables of their own, and the tables that lay
both side by side."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from longshore_study.cli.command_line import main
from started_programs import write_bench
from stored_launches import json_of, write_machine

STUDY = """
[study]
name = "both"
launches = 2
repetitions = 2

[[pattern]]
program = "gather"
within = { strategy = ["exstack", "agp"] }
[pattern.between]
transport = ["threads", "simulated"]
machine = ["../machines/cray.toml", "../machines/ether.toml"]
ranks = [2, 4]
ranks_per_node = 2
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a study, its machines, and the store of one session by a stand-in for
    longshore-bench."""
    top = tmp_path_factory.mktemp("both")
    for name in ("cray", "ether"):
        write_machine(top / "machines" / f"{name}.toml", name)
    (top / "studies").mkdir()
    (top / "studies" / "both.toml").write_text(STUDY)
    bench = write_bench(top / "longshore-bench")
    run = ["run", str(top / "studies" / "both.toml"), "--bench", str(bench), "--session", "day"]
    assert main(["--store", str(top / "store"), *run]) == 0
    return top


def printed(folder: Path, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    capsys.readouterr()
    assert main(["--store", str(folder / "store"), *words]) == 0
    return capsys.readouterr().out


def document(folder: Path, capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    return json_of(printed(folder, capsys, *words, "--json"))


def machines_of(rows: list[dict[str, Any]]) -> set[str | None]:
    return {row["between"].get("machine") for row in rows}


def test_a_session_has_the_launches_of_both_kinds(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = document(folder, capsys, "plan", str(folder / "studies" / "both.toml"))
    launches = {(cell["cell"]["transport"], cell["cell"]["program"]): cell["launches"] for cell in plan["cells"]}
    assert launches == {("threads", "control"): 2, ("threads", "gather"): 2, ("simulated", "gather"): 1}
    assert (plan["simulated_cells"], plan["rows"]) == (4, 4)
    assert "nothing to do" in printed(folder, capsys, "run", str(folder / "studies" / "both.toml"), "--session", "day",
                                      "--bench", str(folder / "longshore-bench"))  # fmt: skip
    assert main(["--store", str(folder / "store"), "resume"]) == 0  # from the copies in the store


def test_show_has_a_table_for_each_machine(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = document(folder, capsys, "show")
    assert machines_of(found["rows"]) == {None}
    assert {of["machine"]: machines_of(of["rows"]) for of in found["simulated"]} == {
        "cray 1": {"cray"},
        "ether 1": {"ether"},
    }
    blocks = printed(folder, capsys, "show").split("simulated on ")
    assert ["threads" in block for block in blocks] == [True, False, False]
    assert [block.split(":")[0] for block in blocks[1:]] == ["cray 1", "ether 1"]


def test_a_condition_selects_in_all_tables(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = document(folder, capsys, "show", "--where", "machine == 'ether'")
    assert [len(found["rows"]), *(len(of["rows"]) for of in found["simulated"])] == [0, 0, 4]


@pytest.mark.parametrize("table", ["--scaling", "--means", "--winners", "--crossings"])
def test_other_tables_are_separate_too(folder: Path, capsys: pytest.CaptureFixture[str], table: str) -> None:
    names = ["both"] if table == "--winners" else []
    found = document(folder, capsys, "show", *names, table)
    assert [of["machine"] for of in found["simulated"]] == ["cray 1", "ether 1"]
    measured = json.dumps({name: value for name, value in found.items() if name != "simulated"})
    assert "threads" in measured or table == "--crossings"
    assert "cray" not in measured
    tables = printed(folder, capsys, "show", *names, table).partition("which to choose")[0]
    blocks = tables.split("simulated on ")
    assert not any("threads" in block for block in blocks[1:])


def test_predictions_stand_beside_measured_times(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = document(folder, capsys, "show", "--predicted")
    assert (found["pairs"], found["close"], found["share_close"]) == (8, 8, 1.0)
    assert {(row["machine"], row["factors"]["transport"]) for row in found["rows"]} == {
        ("cray 1", "threads"),
        ("ether 1", "threads"),
    }
    text = printed(folder, capsys, "show", "--predicted")
    assert "8 of 8 predictions are within 25% of the measured time: 100%" in text


def test_without_a_pair_the_error_says_what_to_measure(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = STUDY.replace('["threads", "simulated"]', '"simulated"').replace('"both"', '"alone"')
    (folder / "studies" / "alone.toml").write_text(other)
    bench = ["--bench", str(folder / "longshore-bench"), "--session", "day"]
    store = ["--store", str(folder / "alone")]
    assert main([*store, "run", str(folder / "studies" / "alone.toml"), *bench]) == 0
    assert main([*store, "show", "--predicted"]) == 3
    assert "no cell is both simulated and measured (8 simulated and 0 measured" in capsys.readouterr().err
    assert main([*store, "report", "-o", str(folder / "alone.html")]) == 0
    assert "All figures are simulated, on cray 1, ether 1." in (folder / "alone.html").read_text()
    assert main([*store, "plan", str(folder / "studies" / "alone.toml")]) == 0
    assert "4 simulated cells: no noise, so every difference shows" in capsys.readouterr().out


def test_exported_rows_name_their_machine(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = document(folder, capsys, "export", "both")["rows"]
    assert {(row["transport"], row.get("simulated")) for row in rows} == {
        ("threads", None),
        ("simulated", "cray 1"),
        ("simulated", "ether 1"),
    }


def test_the_sessions_of_two_tags_are_compared_by_kind(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bench = ["--bench", str(folder / "longshore-bench"), "--session", "day", "--tag", "new"]
    assert main(["--store", str(folder / "store"), "run", str(folder / "studies" / "both.toml"), *bench]) == 0
    capsys.readouterr()
    main(["--store", str(folder / "store"), "compare", "both", "new", "--json"])
    rows = json_of(capsys.readouterr().out)["rows"]
    assert {(row["simulated"], row["verdict"]) for row in rows} == {
        (None, "untestable"),
        ("cray 1", "same"),
        ("ether 1", "same"),
    }
    main(["--store", str(folder / "store"), "compare", "both", "new", "--row", "strategy", "--col", "ranks"])
    titles = [line for line in capsys.readouterr().out.splitlines() if line.startswith("new / both by ranks")]
    assert titles == [
        "new / both by ranks across" + of for of in ("", ", simulated on cray 1", ", simulated on ether 1")
    ]
