"""The recommended length of launches, for simulated launches whose best length is known."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from longshore_study.cli.command_line import main
from longshore_study.planning.launch_length import Advice, advise, advise_of
from longshore_study.planning.plan import make_plan
from longshore_study.store.launch_store import Launch, Store, read_launch
from longshore_study.study_file.reader import load
from stored_launches import json_of, store_launch

OPERATIONS = 100
STUDY = """[study]
name = "s"
launches = 16
repetitions = {repetitions}
[[pattern]]
program = "halo"
within = {{ mode = ["waitall", "persistent"] }}
between = {{ transport = "mpi", ranks = 2 }}
"""


@dataclass(frozen=True)
class Machine:
    """Standard deviations of launches, of repetitions, and of spells of `lasting` repetitions; and
    the costs of a launch."""

    launch: float = 0.0
    repetition: float = 0.0
    spell: float = 0.0
    lasting: int = 1
    start_seconds: float = 1.0
    repetition_seconds: float = 0.01


def logs_of(machine: Machine, generator: random.Random, repetitions: int) -> list[float]:
    own, spell, logs = generator.gauss(0, machine.launch), 0.0, []
    for repetition in range(repetitions):
        if repetition % machine.lasting == 0:
            spell = generator.gauss(0, machine.spell)
        logs.append(own + spell + generator.gauss(0, machine.repetition))
    return logs


def launches_of(store: Store, machine: Machine, repetitions: int, launches: int = 16, **more: Any) -> list[Launch]:
    generator = random.Random(f"{machine}")
    modes = ("waitall", "persistent")
    operation = machine.repetition_seconds / OPERATIONS / len(modes)
    paths = []
    for index in range(launches):
        records: list[dict[str, Any]] = []
        for mode in modes:
            logs = logs_of(machine, generator, repetitions)
            about = {"pattern": "halo", "variant": {"mode": mode}}
            records += [
                {"record": "sample", **about, "repetition": k, "seconds": {"max": operation * math.exp(log)}}
                for k, log in enumerate(logs)
            ]
            records.append({
                "record": "result", **about, "repetitions": repetitions, "iterations": OPERATIONS,
                "seconds": {"median": operation}, "metrics": {},
            })  # fmt: skip
        seconds = machine.start_seconds + repetitions * machine.repetition_seconds
        started = f"2026-01-01T00:00:{index:02d}Z"
        paths.append(store_launch(store, "t", "s", records, index, seconds=seconds, started=started, **more))
    return [read_launch(path) for path in paths]


def advice_on(tmp_path: Path, machine: Machine, repetitions: int) -> Advice:
    found = advise(launches_of(Store(tmp_path), machine, repetitions), repetitions)
    assert found is not None
    return found


def test_noise_between_launches_needs_more_launches_not_longer_ones(tmp_path: Path) -> None:
    found = advice_on(tmp_path, Machine(launch=0.05, repetition=0.01), 400)
    assert found.best.repetitions <= 50
    assert found.best.seconds == pytest.approx(1 + 0.01 * found.best.repetitions, rel=0.05)
    assert found.now.seconds == pytest.approx(5, rel=0.01)
    assert found.time < 0.5
    assert found.now.spread == pytest.approx(0.05, rel=0.3)


@pytest.mark.parametrize("lasting", [1, 10])
def test_noise_within_launches_needs_longer_launches(tmp_path: Path, lasting: int) -> None:
    found = advice_on(tmp_path, Machine(spell=0.2, lasting=lasting, repetition=0.01, repetition_seconds=0.002), 40)
    assert found.best.repetitions > 40
    assert not found.best.measured
    assert found.time < 0.8


def test_the_predicted_spread_of_shorter_launches_is_right(tmp_path: Path) -> None:
    machine = Machine(launch=0.03, spell=0.08, lasting=8, repetition=0.02)
    curve = {one.repetitions: one.spread for one in advice_on(tmp_path / "long", machine, 160).curve}
    for repetitions in (80, 40, 20):
        shorter = advice_on(tmp_path / str(repetitions), machine, repetitions)
        assert curve[repetitions] == pytest.approx(shorter.now.spread, rel=0.35)


@pytest.mark.parametrize(
    "unfit",
    [
        lambda store: launches_of(store, Machine(launch=0.1), 40, launches=8),
        lambda store: launches_of(store, Machine(launch=0.1), 8),
        lambda store: launches_of(store, Machine(), 40),
        lambda store: launches_of(store, Machine(launch=0.1), 40, exit_status=1),
    ],
    ids=["few launches", "few repetitions", "no noise", "failed"],
)
def test_without_enough_launches_there_is_no_advice(tmp_path: Path, unfit: Callable[[Store], list[Launch]]) -> None:
    found = unfit(Store(tmp_path))
    repetitions = found[0].results[0]["repetitions"]
    assert advise(found, repetitions) is None
    assert advise(found, repetitions + 1) is None
    assert advise_of([], 40) is None


def test_plan_tells(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = tmp_path / "s.toml"
    study.write_text(STUDY.format(repetitions=100))
    words = ["--store", str(tmp_path / "r"), "plan", str(study)]
    assert main([*words, "--json"]) == 0
    assert json_of(capsys.readouterr().out)["launch_lengths"] == []
    cell = next(cell for cell in make_plan(load(str(study))).cells if cell.program == "halo")
    machine = Machine(launch=0.05, repetition=0.01)
    launches_of(Store(tmp_path / "r"), machine, 100, cell=cell.factors, cell_id=cell.cell_id)
    assert main([*words, "--json"]) == 0
    (length,) = json_of(capsys.readouterr().out)["launch_lengths"]
    assert length["repetitions"] == 100
    assert [one["repetitions"] for one in length["curve"] if not one["measured"]] == [200, 400]
    assert main(words) == 0
    best = length["best_repetitions"]
    told = capsys.readouterr().out
    assert "launches of 100 repetitions are too long: more launches of" in told
    assert f"launches of {best} would detect the same in {length['time_for_the_same']:.0%} of the time" in told
    study.write_text(STUDY.format(repetitions=best))
    assert main(words) == 0
    assert "too long" not in capsys.readouterr().out
    assert json.dumps(length)
