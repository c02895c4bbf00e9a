"""Guidelines that hold, are broken, or cannot be decided."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from longshore_study.cli.command_line import main
from longshore_study.store.launch_store import Store
from stored_launches import halo, json_of, store_launch

STUDY = '[study]\nname = "s"\n[[pattern]]\nprogram = "halo"\nbetween = { transport = "mpi", ranks = 2 }\n'


def fill(store: Store, values: dict[str, float], launches: int = 4, **more: Any) -> None:
    generator = random.Random(9)
    for index in range(launches):
        launch_noise = generator.gauss(1, 0.3)  # common to all variants
        store_launch(
            store,
            "t",
            "a",
            [halo(m, v * launch_noise * generator.gauss(1, 0.01)) for m, v in values.items()],
            index,
            **more,
        )


def check(store: Store, capsys: pytest.CaptureFixture[str], own: str = "") -> tuple[int, list[dict[str, Any]]]:
    """`own` is the guideline of a study file."""
    file = store.path.with_name("s.toml")
    file.write_text(f"{STUDY}[[guideline]]\n{own}", encoding="utf-8")
    capsys.readouterr()
    status = main(["--store", str(store.path), "guidelines", "t", "--json", *(["--file", str(file)] if own else [])])
    return status, list(json_of(capsys.readouterr().out)["rows"])


def test_pairs_within_a_launch_are_independent_of_its_speed(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    fill(results, {"waitall": 1000.0, "persistent": 800.0, "neighbor": 1010.0})
    status, rows = check(results, capsys)
    assert status == 1
    found = {row["faster"]["mode"]: row for row in rows}
    assert found["persistent"]["holds"] is False
    assert found["persistent"]["ratio"] == pytest.approx(0.8, rel=0.02)
    assert found["persistent"]["times_slower"] == pytest.approx(1.25, rel=0.02)
    assert found["neighbor"]["holds"] is True


def test_a_sentence_names_the_unit_and_the_chosen_factors(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    fill(results, {"waitall": 2e7, "persistent": 1e7}, cell={"program": "halo", "ranks": 2, "environment": {}})
    assert main(["--store", str(results.path), "guidelines", "t"]) == 1
    said = capsys.readouterr().out
    assert "0 MiB/s per rank;" in said
    assert "e+07" not in said
    assert "environment" not in said


def test_guidelines_that_all_hold_exit_with_0(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    fill(results, {"waitall": 1000.0, "persistent": 1100.0})
    assert check(results, capsys)[0] == 0


def test_one_launch_is_shown_and_not_judged(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    fill(results, {"waitall": 1000.0, "persistent": 30.0}, launches=1)
    status, (row,) = check(results, capsys)
    assert status == 2
    assert (row["holds"], row["verdict"]) == (None, "untestable")
    assert row["times_slower"] > 20


def test_a_study_file_may_add_guidelines_after_the_run(
    results: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(results, {"waitall": 1000.0, "redblack": 500.0})
    (tmp_path / "s.toml").write_text(STUDY, encoding="utf-8")
    asked = ["--store", str(results.path), "guidelines", "t", "--file", str(tmp_path / "s.toml"), "--json"]
    assert main(asked) == 64
    assert "has no [[guideline]]" in capsys.readouterr().err
    guideline = '[[guideline]]\nfaster = { mode = "redblack" }\nthan = { mode = "waitall" }\n'
    (tmp_path / "s.toml").write_text(STUDY + guideline, encoding="utf-8")
    assert main(asked) == 1
    rows = json_of(capsys.readouterr().out)["rows"]
    assert [row["verdict"] for row in rows if row["faster"] == {"mode": "redblack"}] == ["broken"]


def test_a_study_may_raise_the_tolerance(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    own = 'faster = { mode = "persistent" }\nthan = { mode = "waitall" }\ntolerance = 0.6\n'
    fill(results, {"waitall": 1000.0, "persistent": 800.0})
    status, rows = check(results, capsys, own)
    assert (status, [row["tolerance"] for row in rows]) == (0, [0.6])


def test_the_study_file_in_the_store_is_read(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    fill(results, {"waitall": 1000.0, "sendrecv": 100.0}, study_file={"path": "x.toml", "digest": "abc"})
    folder = results.session_path("s", "t", "a")
    text = """
[study]
name = "s"
[[pattern]]
program = "halo"
within = { algorithm = "faces", mode = ["waitall", "sendrecv"], contiguous = 1000 }
between = { transport = "mpi", ranks = 2 }
[[guideline]]
faster = { mode = "sendrecv" }
than = { mode = "waitall" }
"""
    (folder / "study-abc.toml").write_text(text)
    assert {row["faster"]["mode"] for row in check(results, capsys)[1]} == {"sendrecv", "waitall"}


def test_variants_in_different_launches_are_compared_by_session(
    results: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    generator = random.Random(4)
    for session in ("a", "b", "c"):
        for index, (mode, value) in enumerate((("waitall", 1000.0), ("persistent", 100.0))):
            store_launch(results, "t", session, [halo(mode, value * generator.gauss(1, 0.01))], index)
    status, (row,) = check(results, capsys)
    assert status == 1
    assert row["holds"] is False
    assert "sessions are compared" in row["warnings"][0]


def test_launches_in_turns_are_compared_within_their_session(
    results: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two stacks in separate launches in random order: one session can distinguish them. If they
    ran one after the other, a session could not distinguish a stack from noise."""
    generator = random.Random(4)
    own = 'faster = { stack = "a" }\nthan = { stack = "b" }\n'
    for session, alternating in (("turns", True), ("blocks", False)):
        for index in range(5):
            for k, (stack, value) in enumerate((("a", 800.0), ("b", 1000.0))):
                minute = 2 * index + k if alternating else index + 20 * k
                when = f"2030-01-01T00:{minute:02}:00"
                store_launch(
                    results, "t", session, [halo("waitall", value * generator.gauss(1, 0.01))], index,
                    study=session, cell={"stack": stack, "ranks": 2}, started=when,
                )  # fmt: skip
    _, rows = check(results, capsys, own)
    found = {row["study"]: row for row in rows}
    assert (found["turns"]["verdict"], found["turns"]["compared"]) == ("broken", "in turns")
    assert found["turns"]["ratio"] == pytest.approx(0.8, rel=0.02)
    assert not found["turns"]["warnings"]
    assert (found["blocks"]["verdict"], found["blocks"]["compared"]) == ("untestable", "session")
    assert "one session" in found["blocks"]["warnings"][1]


def test_an_environment_is_a_factor_like_others(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    generator = random.Random(4)
    own = 'faster = { environment = { A = "1" } }\nthan = { environment = {} }\n'
    for index in range(5):
        for k, (environment, value) in enumerate((({"A": "1"}, 800.0), ({}, 1000.0))):
            store_launch(
                results, "t", "s", [halo("waitall", value * generator.gauss(1, 0.01))], index,
                cell={"environment": environment, "ranks": 2}, started=f"2030-01-01T00:{2 * index + k:02}:00",
            )  # fmt: skip
    _, (row,) = check(results, capsys, own)
    assert (row["verdict"], row["faster"]) == ("broken", {"environment": {"A": "1"}})


def test_other_factors_must_agree(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    for index in range(3):
        store_launch(results, "t", "a", [halo("waitall", 100.0 + index)], index, cell={"ranks": 2})
        store_launch(results, "t", "a", [halo("persistent", 10.0 + index)], index, cell={"ranks": 4})
    status, rows = check(results, capsys)
    assert (status, rows) == (0, [])
    main(["--store", str(results.path), "guidelines", "t"])
    assert "no guideline applies to the variants" in capsys.readouterr().out


def test_damaged_data_is_reported(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    fill(results, {"waitall": 1000.0, "persistent": 1100.0})
    path = min(results.path.rglob("*.jsonl"))
    path.write_bytes(path.read_bytes()[:-10])
    assert main(["--store", str(results.path), "guidelines", "t"]) == 3
    assert str(path) in capsys.readouterr().out


def test_failed_launches_are_missing_data_and_not_a_pass(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    fill(results, {"waitall": 1000.0, "persistent": 1100.0})
    status, _ = check(results, capsys)
    assert status == 0
    store_launch(results, "t", "a", [], 99, end=False, exit_status=3)
    assert main(["--store", str(results.path), "guidelines", "t"]) == 3
    assert "exit status 3" in capsys.readouterr().out
