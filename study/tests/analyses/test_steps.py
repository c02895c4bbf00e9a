"""The steps of a study: their syntax in the study file, and the table of their gains."""

from __future__ import annotations

import json
import random
from math import exp
from pathlib import Path
from typing import Any

import pytest

from longshore_study.cli.command_line import main
from longshore_study.store.launch_store import Store
from longshore_study.store.records import metric, result_record
from longshore_study.study_file.reader import StudyFileError, loads
from stored_launches import json_of, store_launch

STUDY = """[study]
name = "layers"
launches = 3

[[pattern]]
program = "stream"
within = { tasks = ["serial", "threads"], memory = ["malloc", "calloc"], first_touch = ["serial", "parallel"] }
between = { ranks = [1, 2], environment = [{}, { LONGSHORE_PIN = 0 }] }
"""
FIRST = '[[step]]\nname = "initial"\nwith = { memory = "calloc", first_touch = "serial", environment = {} }\n'
TOUCH = '[[step]]\nname = "touch"\nwith = { first_touch = "parallel" }\n'
MALLOC = '[[step]]\nname = "malloc"\nwith = { memory = "malloc" }\n'


def problems(text: str) -> list[str]:
    with pytest.raises(StudyFileError) as caught:
        loads(text, "s.toml")
    return caught.value.problems


def test_steps_come_on_top_of_each_other() -> None:
    first, touch, malloc = loads(STUDY + FIRST + TOUCH + MALLOC, "s.toml").steps
    assert (first.name, first.pattern) == ("initial", "stream")
    assert touch.changes == {"first_touch": "parallel"}
    assert malloc.levels == {"memory": "malloc", "first_touch": "parallel", "environment": {}}


def test_the_environment_can_be_a_step() -> None:
    pinned = '[[step]]\nname = "loose"\nwith = { environment = { LONGSHORE_PIN = 0 } }\n'
    assert loads(STUDY + FIRST + pinned, "s.toml").steps[1].changes == {"environment": {"LONGSHORE_PIN": "0"}}


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        (FIRST.replace("memory", "memroy"), "s.toml:11: unknown factor 'memroy' of stream; did you mean 'memory'?"),
        (FIRST.replace('"calloc"', '"caloc"'),  "level \"caloc\"; did you mean 'calloc'?"),
        (FIRST.replace('memory = "calloc"', 'memory = "huge"'), 'the study does not measure the level "huge"'),
        (FIRST.replace('memory = "calloc"', 'kernel = "copy"'), "s.toml:11: 'kernel' does not vary in this study"),
        (FIRST + TOUCH.replace("parallel", "serial"), "s.toml:14: the step 'touch' changes nothing: first_touch is "),
        (FIRST + TOUCH.replace('first_touch = "parallel"', ""), "s.toml:12: the step 'touch' names no factor"),
        (TOUCH + MALLOC, "s.toml:14: 'memory' changes here, but the first step, 'touch', does not give its level"),
        (FIRST + TOUCH.replace("touch\"", "initial\""), "two steps of stream are named \"initial\""),
        (FIRST.replace("with", "wiht"), "unknown key in [[step]]: 'wiht'; did you mean 'with'?"),
        (FIRST.replace("[[step]]", "[step]"), "write [[step]], not [step]"),
        ('[[step]]\nname = "x"\npattern = "gather"\nwith = {}\n', "s.toml:11: the study has no [[pattern]] gather"),
        (FIRST.replace("environment = {}", "environment = { X = 1 }"), 'does not measure the level { X = "1" }'),
    ],
)  # fmt: skip
def test_a_mistaken_step_is_reported_with_its_line(steps: str, said: str) -> None:
    assert any(said in problem for problem in problems(STUDY + steps)), problems(STUDY + steps)


def test_a_step_whose_combinations_are_excluded_selects_nothing() -> None:
    excluded = STUDY + "exclude = [\"memory == 'malloc'\"]\n"
    (problem,) = problems(excluded + FIRST + TOUCH + MALLOC)
    assert problem.startswith("s.toml:16: the step 'malloc' selects nothing: no [[pattern]] stream measures")
    assert len(loads(excluded + FIRST + TOUCH, "s.toml").steps) == 2
    some = STUDY + "exclude = [\"memory == 'malloc' and ranks == 2\"]\n"
    assert len(loads(some + FIRST + TOUCH + MALLOC, "s.toml").steps) == 3, "on one rank it is measured"


def test_a_step_of_several_patterns_must_name_its_pattern() -> None:
    second = '\n[[pattern]]\nprogram = "sort"\nbetween = { ranks = 2 }\n'
    (problem,) = problems(STUDY + second + FIRST)
    assert "it is one of stream, sort" in problem
    named = FIRST.replace("[[step]]\n", '[[step]]\npattern = "stream"\n')
    assert loads(STUDY + second + named, "s.toml").steps[0].pattern == "stream"
    bale = '[[external]]\nname = "b"\ncommand = ["ig"]\nformat = "bale"\n'
    assert any("the study has none" in problem for problem in problems(f'[study]\nname = "x"\n{bale}{FIRST}'))


# The table

SIMPLE = """[study]
name = "layers"
launches = 4

[[pattern]]
program = "stream"
between = { ranks = 2, transport = ["threads", "mpi"] }
[pattern.within]
scope = ["ep", "global"]
tasks = ["serial", "threads", "tbb"]
memory = ["malloc", "calloc"]
first_touch = ["serial", "parallel"]

[[step]]
name = "initial"
with = { memory = "calloc", first_touch = "serial" }
[[step]]
name = "touch"
with = { first_touch = "parallel" }
[[step]]
name = "malloc"
with = { memory = "malloc" }
"""
DIGEST = "0123456789ab"


def bandwidth(scope: str, tasks: str, memory: str, touch: str) -> float:
    """Parallel first touch doubles the figure of threads; malloc adds 10 % to all figures."""
    speed = {"serial": 10.0, "threads": 12.0}[tasks]
    if tasks == "threads" and touch == "parallel":
        speed *= 2
    return speed * (1.1 if memory == "malloc" and scope == "ep" else 1.0)


def launch_results(noise: random.Random) -> list[dict[str, Any]]:
    results = []
    level = exp(noise.gauss(0, 0.3))  # noise of the whole launch: it does not affect paired figures
    for scope in ("ep", "global"):
        for tasks in ("serial", "threads", "tbb"):
            for memory in ("malloc", "calloc") if scope == "ep" else ("",):
                for touch in ("serial", "parallel"):
                    variant = {"scope": scope, "tasks": tasks, "memory": memory, "first_touch": touch, "type": "double"}
                    if not memory:
                        del variant["memory"]
                    if tasks == "tbb":
                        start = {"record": "result", "pattern": "stream", "variant": variant}
                        results.append({**start, "skipped": "tasks tbb: not built"})
                        continue
                    value = bandwidth(scope, tasks, memory, touch) * level * exp(noise.gauss(0, 0.01))
                    results.append(result_record("stream", variant, {"bandwidth": metric(value, "GB/s")}))
    return results


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path / "store")
    noise = random.Random(3)
    within = {
        "scope": ["ep", "global"], "tasks": ["serial", "threads", "tbb"], "memory": ["malloc", "calloc"],
        "first_touch": ["serial", "parallel"],
    }  # fmt: skip
    cell = {"program": "stream", "ranks": 2, "environment": {}, "transport": "threads"}
    for index in range(4):
        more: dict[str, Any] = {
            "study_file": {"digest": DIGEST},
            "within": within,
            "started": f"2026-01-05T10:0{index}:00",
        }
        path = store_launch(store, "layers", "a", launch_results(noise), index, cell, "layers", **more)
    (path.parent / f"study-{DIGEST}.toml").write_text(SIMPLE, encoding="utf-8")
    return store


def table_of(store: Store, capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["--store", str(store.path), "show", *(words or ("layers",)), "--steps", "--json"]) == 0
    (table,) = json_of(capsys.readouterr().out)["tables"]
    return dict(table)


def cells(table: dict[str, Any]) -> dict[tuple[str, str, str, str], dict[str, Any]]:
    return {
        (row["step"], row["column"]["transport"], row["column"]["scope"], row["column"]["tasks"]): row
        for row in table["rows"]
    }


def test_each_step_has_its_gain_with_an_interval_from_launches(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    found = cells(table_of(store, capsys))
    touch = found["touch", "threads", "ep", "threads"]
    assert (touch["launches"], touch["against"], touch["gain"]["design"]) == (4, "initial", "launch")
    assert touch["gain"]["ratio"] == pytest.approx(2.0, rel=0.02)
    low, high = touch["gain"]["interval"]
    assert 1.9 < low < 2.0 < high < 2.1, "it does not contain the noise of launches, 30 %"
    assert touch["value"] / found["initial", "threads", "ep", "threads"]["value"] == pytest.approx(
        touch["gain"]["ratio"]
    )
    serial = found["touch", "threads", "ep", "serial"]["gain"]["interval"]
    assert serial[0] < 1.0 < serial[1]
    whole = found["malloc", "threads", "ep", "threads"]["gain_of_all_steps"]
    assert whole["ratio"] == pytest.approx(2.2, rel=0.02)


def test_a_factor_that_cannot_be_chosen_changes_nothing(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    row = cells(table_of(store, capsys))["malloc", "threads", "global", "threads"]
    assert row["no_change"] == "memory cannot be chosen here"
    assert row["gain"] is None
    assert row["value"] is not None


def test_a_missing_figure_is_shown_with_its_reason(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    found = cells(table_of(store, capsys))
    assert len(found) == 3 * 2 * 2 * 3, "every step on every layer that the study asks for"
    assert found["touch", "threads", "ep", "tbb"]["reason"] == "skipped: tasks tbb: not built"
    assert found["touch", "mpi", "ep", "threads"]["reason"] == "not measured yet"
    cell = {"program": "stream", "ranks": 2, "environment": {}, "transport": "mpi"}
    within = {"scope": ["ep"], "tasks": ["threads"], "memory": ["malloc", "calloc"], "first_touch": ["parallel"]}
    store_launch(
        store, "layers", "a", [], 0, cell, "layers", within=within, exit_status=3, stderr_tail=["rank 1 died"],
        study_file={"digest": DIGEST},
    )  # fmt: skip
    found = cells(table_of(store, capsys))
    assert "rank 1 died" in found["touch", "mpi", "ep", "threads"]["reason"]
    assert found["initial", "mpi", "ep", "threads"]["reason"] == "not measured yet"


def test_the_text_table_has_the_same_content(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["--store", str(store.path), "show", "layers", "--steps"]) == 0
    text = capsys.readouterr().out
    lines = {line.split("  ")[0]: line for line in text.splitlines()}
    assert {"initial", "touch", "malloc", "all steps", "tasks", "transport"} <= lines.keys()
    assert ": stream bandwidth, GB/s per node" in text
    assert "x2.0" in lines["touch"]
    assert "~x" in lines["touch"], "serial does not gain"
    assert "skipped [" in text
    assert "] skipped: tasks tbb: not built" in text
    assert " = " in text.replace(" =\n", " = \n")
    assert "~ the interval includes 1" in text


@pytest.mark.parametrize(
    "words", [("--steps", "--scaling"), ("--steps", "--where", "ranks == 2"), ("--scaling", "--sessions")]
)
def test_a_special_table_excludes_other_tables(
    store: Store, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    assert main(["--store", str(store.path), "show", *words]) == 64
    assert "prints its own table and cannot be combined with" in capsys.readouterr().err


def test_a_study_without_steps_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = Store(tmp_path)
    store_launch(store, "t", "a", [result_record("stream", {}, {"bandwidth": metric(1.0, "GB/s")})])
    assert main(["--store", str(store.path), "show", "--steps"]) == 3
    assert "no study here has steps; add [[step]] tables to the study file" in capsys.readouterr().err


def test_steps_of_an_edited_file_apply_to_stored_launches(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edited = tmp_path / "edited.toml"
    edited.write_text(SIMPLE.replace('name = "touch"', 'name = "first touch in parallel"'), encoding="utf-8")
    table = table_of(store, capsys, str(edited))
    assert [step["name"] for step in table["steps"]] == ["initial", "first touch in parallel", "malloc"]
    assert cells(table)["first touch in parallel", "threads", "ep", "threads"]["value"] is not None
    assert json.dumps(table["steps"][1]["changes"]) == '{"first_touch": "parallel"}'
