"""The factor `machine` of a study file: machine files of the transport `simulated`."""

from __future__ import annotations

from pathlib import Path

import pytest

from longshore_study.base.errors import UsageError
from longshore_study.execution.launchers import nodes_of
from longshore_study.execution.session_folder import Target, store_study_file, stored_study_files
from longshore_study.planning.plan import Cell, Plan, make_plan
from longshore_study.store.launch_store import Store
from longshore_study.study_file.reader import StudyFileError, load
from longshore_study.study_file.study import LauncherChoice
from stored_launches import write_machine

HEAD = '[study]\nname = "s"\nlaunches = 3\n[[pattern]]\nprogram = "halo"\nwithin = { mode = "channel" }\n'


def study_with(folder: Path, between: str, more: str = "") -> Path:
    """A study file in `folder`/studies, beside `folder`/machines with cray.toml and ether.toml."""
    for name in ("cray", "ether"):
        write_machine(folder / "machines" / f"{name}.toml", name)
    path = folder / "studies" / "s.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{HEAD}between = {{ {between} }}\n{more}")
    return path


def plan_of(folder: Path, between: str, more: str = "") -> Plan:
    return make_plan(load(study_with(folder, between, more)))


def layout(cell: Cell) -> tuple[object, ...]:
    return tuple(cell.between.get(name) for name in ("nodes", "ranks", "ranks_per_node"))


CRAY = 'machine = "../machines/cray.toml"'


def test_a_machine_is_a_factor_by_its_name_and_its_file_is_relative_to_the_study(tmp_path: Path) -> None:
    both = 'transport = "simulated", machine = ["../machines/cray.toml", "../machines/ether.toml"], ranks = 8'
    plan = plan_of(tmp_path, both)
    assert [cell.factors["machine"] for cell in plan.cells] == ["cray", "ether"]
    words = plan.cells[1].options(seed=1)
    file = Path(words[words.index("--machine") + 1])
    assert file.resolve() == (tmp_path / "machines" / "ether.toml").resolve()
    assert words[words.index("--ranks") + 1] == "8"


def test_the_identifier_of_a_cell_does_not_depend_on_the_folder(tmp_path: Path) -> None:
    between = f'transport = "simulated", {CRAY}, ranks = 8'
    plans = [plan_of(tmp_path / folder, between) for folder in ("here", "there")]
    assert plans[0].cells[0].cell_id == plans[1].cells[0].cell_id


@pytest.mark.parametrize(
    ("between", "message"),
    [
        ('transport = "simulated", ranks = 8', r"s.toml:7: transport simulated needs a machine; write machine ="),
        (f"{CRAY}, ranks = 8", r"s.toml:7: a machine is for transport simulated only; write transport = \"simulated\""),
        (f'transport = "mpi", {CRAY}, ranks = 8', "a machine is for transport simulated only"),
        ('transport = "simulated", machine = "none.toml", ranks = 8', "cannot read .*none.toml.*folder of the study"),
        ('transport = "simulated", machine = "s.toml", ranks = 8', "not a machine file: 'machine' is missing"),
        ('transport = "simulated", machine = 3, ranks = 8', "machine: 3 is not a text"),
        (f'transport = ["threads", "simulated"], {CRAY}, nodes = 2', "the number of ranks is missing"),
    ],
)
def test_mistakes_have_a_remedy(tmp_path: Path, between: str, message: str) -> None:
    with pytest.raises(StudyFileError, match=message):
        plan_of(tmp_path, between)


def test_machine_files_of_the_same_name_are_refused(tmp_path: Path) -> None:
    write_machine(tmp_path / "studies" / "copy.toml", "cray")
    both = 'transport = "simulated", machine = ["copy.toml", "../machines/cray.toml"], ranks = 8'
    with pytest.raises(StudyFileError, match='both named "cray"'):
        plan_of(tmp_path, both)


@pytest.mark.parametrize("line", ["nodes = 0", "nodes = true", 'nodes = "16"', "version = 1"])
def test_a_wrong_number_in_a_machine_file_is_refused(tmp_path: Path, line: str) -> None:
    file = write_machine(tmp_path / "studies" / "wrong.toml", "wrong")
    name = line.partition(" ")[0]
    file.write_text("\n".join(line if old.startswith(name) else old for old in file.read_text().split("\n")))
    with pytest.raises(StudyFileError, match=r"\[machine\] needs two texts"):
        plan_of(tmp_path, 'transport = "simulated", machine = "wrong.toml", ranks = 8')


@pytest.mark.parametrize(
    ("between", "expected"),
    [
        ("nodes = [1, 16]", [(1, 4, None), (16, 64, None)]),
        ("nodes = 2, ranks_per_node = 3", [(2, 6, 3)]),
        ("nodes = 2, ranks = 5", [(2, 5, 3)]),
        ("ranks = 64", [(None, 64, None)]),
    ],
)
def test_nodes_give_the_ranks(tmp_path: Path, between: str, expected: list[tuple[object, ...]]) -> None:
    plan = plan_of(tmp_path, f'transport = "simulated", {CRAY}, {between}')
    assert [layout(cell) for cell in plan.cells] == expected
    assert [nodes_of(cell, LauncherChoice()) for cell in plan.cells] == [1] * len(expected)  # of real ones


@pytest.mark.parametrize(
    ("between", "message"),
    [
        (
            "ranks = 65",
            "s.toml:4: machine 'cray' has 16 nodes, so at most 64 ranks with 4 on each node; 65 are too many",
        ),
        ("nodes = 17", "at most 64 ranks"),
        ("nodes = 2, ranks = 9, ranks_per_node = 2", "9 ranks with 2 on each node do not make 2 nodes"),
    ],
)
def test_a_layout_that_the_machine_lacks_is_refused(tmp_path: Path, between: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        plan_of(tmp_path, f'transport = "simulated", {CRAY}, {between}')


def test_one_launch_is_enough_without_noise_and_controls(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, f'transport = ["threads", "simulated"], {CRAY}, ranks = [2, 4]')
    launches = {(cell.program, cell.between["transport"]): cell.launch_settings.launches for cell in plan.cells}
    assert launches == {("control", "threads"): 3, ("halo", "threads"): 3, ("halo", "simulated"): 1}
    assert [cell.between.get("machine") for cell in plan.cells if cell.between["transport"] == "threads"] == [None] * 4


def test_a_block_may_ask_for_more_seeds(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, f'transport = "simulated", {CRAY}, ranks = 2', "launches = 2\n")
    assert [cell.launch_settings.launches for cell in plan.cells] == [2]


def test_conditions_name_machines(tmp_path: Path) -> None:
    both = 'transport = "simulated", machine = ["../machines/cray.toml", "../machines/ether.toml"], nodes = [1, 16]'
    plan = plan_of(tmp_path, both, "exclude = [\"machine == 'ether' and nodes > 1\"]\n")
    assert [(cell.between["machine"], cell.between["nodes"]) for cell in plan.cells] == [
        ("cray", 1), ("cray", 16), ("ether", 1),
    ]  # fmt: skip


def test_the_stored_copy_of_a_study_file_finds_its_machines(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, f'transport = "simulated", {CRAY}, ranks = 8')
    target = Target(Store(tmp_path / "store"), "s", "t", "day")
    store_study_file(plan, target)
    (copy,) = stored_study_files(target)
    again = make_plan(load(copy))
    assert [cell.cell_id for cell in again.cells] == [cell.cell_id for cell in plan.cells]
    write_machine(tmp_path / "machines" / "cray.toml", "cray").write_text("[machine]\n")
    assert again.cells[0].machine is not None
    assert make_plan(load(copy)).cells[0].machine == again.cells[0].machine
