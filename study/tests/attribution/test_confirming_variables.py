"""Finds the cause if it is a variable of the environment: a study runs in two states, the change is
attributed, and the written confirming study runs. A stand-in for longshore-bench reads the
variable."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from longshore_study.cli.command_line import main
from longshore_study.study_file.reader import StudyFileError, load, loads
from started_programs import write_bench
from stored_launches import json_of

STUDY = """
[study]
name = "exchange"
launches = 2
repetitions = 2
[[pattern]]
program = "halo"
within = { mode = ["waitall", "persistent", "direct"] }
between = { transport = "threads", ranks = 2 }
"""
BTL, SHARED = "OMPI_MCA_btl", "LONGSHORE_MPI_SHARED"
Variables = dict[str, str]
thorough = partial(pytest.param, marks=pytest.mark.thorough)


@dataclass
class Place:
    """A folder with a store in which studies run."""

    folder: Path
    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]

    def call(self, *words: str) -> tuple[int, str]:
        self.capsys.readouterr()
        status = main(["--store", str(self.folder / "results"), *words])
        return status, self.capsys.readouterr().out

    def run(self, file: str, tag: str, state: Variables) -> None:
        for name in (BTL, SHARED, "STATE"):
            self.monkeypatch.delenv(name, raising=False)
        for name, value in state.items():
            self.monkeypatch.setenv(name, value)
        for session in ("monday", "tuesday"):
            assert self.call("run", str(self.folder / file), "--tag", tag, "--session", session)[0] == 0
        for name in state:
            self.monkeypatch.delenv(name)

    def attributed(self, old: Variables, new: Variables) -> Path:
        """Runs the study in two states; returns the confirming study."""
        (self.folder / "study.toml").write_text(STUDY, encoding="utf-8")
        self.run("study.toml", "old", old)
        self.run("study.toml", "new", new)
        confirm = self.folder / "confirm.toml"
        self.call("attribute", "old", "new", "-o", str(confirm))
        confirm.write_text(confirm.read_text().replace("launches = 5", "launches = 2"), encoding="utf-8")
        return confirm

    def confirmed(self, before: Variables, after: Variables) -> tuple[int, dict[str, Any]]:
        self.run("confirm.toml", "before", before)
        self.run("confirm.toml", "after", after)
        confirm = str(self.folder / "confirm.toml")
        status, out = self.call("attribute", "before", "after", "--confirm", confirm, "--json")
        return status, json_of(out)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Place:
    bench = write_bench(tmp_path / "longshore-bench")
    for name in [name for name in os.environ if name.startswith(("LONGSHORE", "OMPI_MCA_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("LONGSHORE_BENCH", str(bench))
    monkeypatch.setenv("FAKE_BENCH_COUNT", str(tmp_path / "starts"))
    monkeypatch.chdir(tmp_path)
    return Place(tmp_path, monkeypatch, capsys)


@pytest.mark.parametrize(
    ("old", "new", "slow"),
    [
        pytest.param({}, {BTL: "tcp,self"}, f"{BTL}=tcp,self waitall,persistent", id="set"),
        thorough({BTL: "vader,self"}, {}, f"{BTL}= waitall,persistent", id="unset"),
        thorough({BTL: "vader,self"}, {BTL: "tcp,self"}, f"{BTL}=tcp,self waitall,persistent", id="other value"),
        thorough({}, {SHARED: "0"}, f"{SHARED}=0 direct", id="longshore"),
        thorough({BTL: "tcp,self"}, {}, f"{BTL}=tcp,self *", id="all rows, improved"),
    ],
)
def test_a_variable_is_confirmed_as_the_cause(place: Place, old: Variables, new: Variables, slow: str) -> None:
    place.monkeypatch.setenv("FAKE_BENCH_SLOW", slow)
    study = load(place.attributed(old, new))
    assert study.hypothesis is not None
    names = {*old, *new}
    assert study.hypothesis.environment == {name: old.get(name) for name in names}
    assert study.hypothesis.new_environment == {name: new.get(name) for name in names}
    status, document = place.confirmed(old, new)
    assert (status, document["verdict"]) == (0, "confirmed")
    effects = document["variables"]["effects"]
    assert [(found["side"], found["verdict"]) for found in effects] == [("before", "confirmed"), ("after", "confirmed")]
    for found in effects:
        low, high = found["interval"]
        assert low <= found["ratio"] <= high
        assert found["ratio"] == pytest.approx(10.0 if slow.endswith("*") else 0.1, rel=0.1)
    first, *others = place.call("attribute", "before", "after", "--confirm", "confirm.toml")[1].splitlines()
    assert first.startswith("confirmed: ")
    assert next(iter(names)) in first
    # All lines have the same unit and direction.
    assert not any(word in line for line in others for word in ("slower", "faster", "times"))
    assert all("ratio of speed" in line for line in others)


@pytest.mark.thorough
def test_an_unchanged_state_gives_the_same_verdict(place: Place) -> None:
    """The confirming study sets the variable itself, so its two tags may be measured in one
    state."""
    place.monkeypatch.setenv("FAKE_BENCH_SLOW", f"{BTL}=tcp,self waitall,persistent")
    place.attributed({}, {BTL: "tcp,self"})
    status, document = place.confirmed({}, {})
    assert (status, document["verdict"], document["levels_verdict"]) == (0, "confirmed", "refuted")


@pytest.mark.parametrize(("modes", "status", "verdict"), [thorough("waitall", 0, "confirmed"), ("*", 1, "refuted")])
def test_a_variable_that_changed_beside_the_cause_is_not_blamed(
    place: Place, modes: str, status: int, verdict: str
) -> None:
    place.monkeypatch.setenv("FAKE_BENCH_SLOW", f"STATE=new {modes}")
    place.attributed({BTL: "a", "STATE": "old"}, {BTL: "b", "STATE": "new"})
    found, document = place.confirmed({BTL: "a", "STATE": "old"}, {BTL: "b", "STATE": "new"})
    assert (found, document["verdict"]) == (status, verdict)
    assert document["variables_verdict"] != "confirmed"
    lines = place.call("attribute", "before", "after", "--confirm", "confirm.toml")[1].splitlines()
    assert lines[0].startswith("confirmed: mode == 'waitall' is" if modes == "waitall" else f"refuted: {BTL}=b instead")


def test_an_environment_unsets_a_variable(place: Place) -> None:
    (place.folder / "study.toml").write_text(
        STUDY.replace("ranks = 2", f'ranks = 2, environment = [{{}}, {{ unset = ["{BTL}"] }}]'), encoding="utf-8"
    )
    place.monkeypatch.setenv("FAKE_BENCH_SLOW", f"{BTL}=x *")
    place.monkeypatch.setenv(BTL, "x")
    status, out = place.call("run", "study.toml", "--dry-run")
    assert status == 0
    assert f"env -u {BTL} " in out
    assert place.call("run", "study.toml", "--session", "s")[0] == 0
    status, out = place.call("show", "--json")
    values = {
        BTL in row["between"]["environment"]: row["metrics"]["process_bandwidth"]["value"]
        for row in json_of(out)["rows"]
        if row["pattern"] == "halo" and row["variant"]["mode"] == "direct"
    }
    assert values[True] == pytest.approx(10 * values[False], rel=0.1)
    assert f"no {BTL}" in place.call("show")[1]


@pytest.mark.parametrize(
    ("level", "message"),
    [
        ('{ unset = ["A B"] }', "environment: 'A B' in 'unset' is not the name of a variable"),
        ('{ A = "1", unset = ["A"] }', "environment: 'A' is both set and in 'unset'; remove one of the two"),
        ("{ A = [1] }", "environment: 'A' needs a valid name and one value"),
    ],
)
def test_an_environment_that_makes_no_sense_is_an_error(level: str, message: str) -> None:
    with pytest.raises(StudyFileError) as caught:
        loads(STUDY.replace("ranks = 2", f"ranks = 2, environment = [{level}]"), "s.toml")
    assert any(message in problem for problem in caught.value.problems), caught.value.problems
