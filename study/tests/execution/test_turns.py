"""Sessions whose launches run in turns in two states of a machine."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from longshore_study.store.launch_store import Launch, Store
from started_programs import longshore, write_script

STUDY = """
[study]
name = "states"
launches = 3
[[external]]
name = "heat"
command = ["sh", "-c", "echo rate: 1{ranks}0 $SPEED"]
format = "regex"
pattern = 'rate: ([\\d.]+)'
figure = "rate"
unit = "GB/s"
better = "higher"
between = { ranks = [1, 2] }
"""
STATES = """
[states.old]
[states.new]
environment = { SPEED = "fast" }
commands = { heat = ["sh", "-c", "echo rate: 2{ranks}0 $SPEED"] }
"""


class Place:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.write(STATES)

    def write(self, states: str) -> None:
        (self.folder / "study.toml").write_text(STUDY + states, encoding="utf-8")

    def longshore(self, *words: str) -> subprocess.CompletedProcess[str]:
        return longshore(self.folder, *words)

    def launches(self) -> list[Launch]:
        """In the order of time."""
        launches = Store(self.folder / "longshore-results").launches()
        return sorted(launches, key=lambda launch: str(launch.envelope["started"]))


def key(launch: Launch) -> tuple[str, int]:
    return launch.cell_id, launch.launch_index


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_each_launch_runs_in_both_states_before_the_next_launch(place: Place) -> None:
    done = place.longshore("run", "study.toml", "--turns", "new", "old", "--session", "s")
    assert done.returncode == 0, done.stderr
    launches = place.launches()
    assert len(launches) == 12
    pairs = [launches[k : k + 2] for k in range(0, 12, 2)]
    assert all({launch.tag for launch in pair} == {"old", "new"} for pair in pairs)
    assert all(key(pair[0]) == key(pair[1]) for pair in pairs)
    assert len({pair[0].tag for pair in pairs}) == 2, "either state comes first in some pairs"
    assert "[ 1/12] " in done.stderr
    assert "new: heat 1 rank: recorded" in done.stderr
    compared = place.longshore("compare", "old", "new", "--json")
    rows = json.loads(compared.stdout)["rows"]
    assert {row["design"] for row in rows} == {"stratified"}
    assert all(row["ratio"] > 1.7 for row in rows)


def test_a_state_has_its_command_its_environment_and_its_launcher(place: Place) -> None:
    command = STUDY.replace("[[external]]", "[[external]]\nlaunch = true")
    (place.folder / "study.toml").write_text(command + STATES + 'launcher = { arguments = ["--of-state"] }\n')
    mpirun = write_script(place.folder / "mpirun")
    done = place.longshore("run", "study.toml", "--turns", "old", "new", "--dry-run", "--mpirun", str(mpirun))
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 12
    for line in lines:
        is_new = line.endswith("# new")
        assert is_new or line.endswith("# old")
        assert ("SPEED=fast" in line) == is_new
        assert ("--of-state" in line) == is_new
        assert ("rate: 2" in line) == is_new


def test_a_tag_alone_is_measured_in_its_state(place: Place) -> None:
    assert place.longshore("run", "study.toml", "--tag", "new").returncode == 0
    assert {launch.envelope["environment"]["SPEED"] for launch in place.launches()} == {"fast"}


def test_a_stopped_session_continues_in_turns_and_runs_no_launch_twice(place: Place) -> None:
    words = ("run", "study.toml", "--turns", "old", "new", "--session", "s")
    assert place.longshore(*words).returncode == 0
    order = [(launch.tag, key(launch)) for launch in place.launches()]
    for launch in place.launches()[5:]:
        launch.path.unlink()
    again = place.longshore("resume")
    assert again.returncode == 0, again.stderr
    assert [(launch.tag, key(launch)) for launch in place.launches()] == order
    assert "nothing to do" in place.longshore(*words).stdout


def test_a_state_that_fails_does_not_lose_the_other(place: Place) -> None:
    place.write(STATES.replace("echo rate: 2{ranks}0", "exit 7;"))
    done = place.longshore("run", "study.toml", "--turns", "old", "new", "--json")
    assert done.returncode == 1
    old, new = json.loads(done.stdout)["turns"]
    assert (old["tag"], old["recorded"], old["failed"]) == ("old", 6, [])
    assert (new["tag"], new["recorded"], len(new["failed"])) == ("new", 0, 6)


@pytest.mark.parametrize(
    ("words", "states", "message"),
    [
        (("--turns", "old", "nwe"), STATES, "has no state 'nwe'; did you mean 'new'?"),
        (("--turns", "old", "new"), "", "write what is different in this state as [states.old]"),
        (("--turns", "old", "old"), STATES, "needs two or more different tags"),
        (("--turns", "old"), STATES, "needs two or more different tags"),
        (("--turns", "old", "new", "--tag", "x"), STATES, "remove --tag"),
        (("--turns", "old", "new", "--bench", "sh"), STATES + 'bench = "sh"', "--bench: [states.new]"),
        (("--tag", "new"), STATES.replace("heat =", "heet ="), "no [[external]] is named 'heet'"),
        (("--tag", "new"), STATES.replace("{ranks}", "{rank}"), "'{rank}' in the command is not a factor of between"),
        (("--tag", "new"), "[states.new]\nbenhc = 'x'", "'benhc'"),
        (("--tag", "new"), "[states.new]\nlauncher = { kind = 'srun' }", "'kind'"),
        (("--tag", "new"), "[states]\nnew = 3", "'new' must be a table"),
    ],
)
def test_wrong_states_are_one_clear_line(place: Place, words: tuple[str, ...], states: str, message: str) -> None:
    place.write(states)
    done = place.longshore("run", "study.toml", *words)
    assert done.returncode == 64
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (place.folder / "longshore-results").exists()
