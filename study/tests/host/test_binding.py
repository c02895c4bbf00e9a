"""The doctor's checks of topology and binding, from the output of longshore-bench."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from longshore_study.cli import command_line
from longshore_study.host import binding
from longshore_study.host.doctor import OK, UNKNOWN, WARN
from started_programs import write_script

BOUND = {"ranks": "core", "ranks_by": "longshore", "cpus": "0-3", "most_bound_ranks": 4}
FREE = {"ranks": "none", "ranks_by": "none", "cpus": "0-3", "most_bound_ranks": None}
BY_LAUNCHER = {"ranks": "l3", "ranks_by": "launcher", "cpus": "0-1", "most_bound_ranks": None}


@pytest.mark.parametrize(
    ("seen", "ranks", "state", "words"),
    [
        (BOUND, None, OK, "one core of 0-3, by longshore, up to 4 ranks"),
        (BOUND, 4, OK, "by longshore"),
        (BOUND, 5, WARN, "none with 5 ranks"),
        (FREE, None, WARN, "LONGSHORE_PIN=0"),
        (BY_LAUNCHER, 2, OK, "within one l3 (0-1), by the launcher"),
        (None, None, UNKNOWN, "does not say"),
    ],
)
def test_the_binding_is_reported_with_advice(
    seen: dict[str, Any] | None, ranks: int | None, state: str, words: str
) -> None:
    finding = binding.binding(seen, ranks)
    assert (finding.state, words in finding.value) == (state, True), finding
    assert bool(finding.advice) == (state == WARN)


@pytest.mark.parametrize(
    ("seen", "state", "words"),
    [
        ({"description": "pack:1 numa:1 l3:1 core:4 pu:1", "why_little": None}, OK, "core:4"),
        ({"description": "core:4 pu:1", "why_little": "this build has no hwloc"}, WARN, "no hwloc"),
        ({"description": "uneven: 2 socket, 3 l3", "why_little": None}, WARN, "uneven"),
        (None, UNKNOWN, "does not say"),
    ],
)
def test_the_topology_is_reported(seen: dict[str, Any] | None, state: str, words: str) -> None:
    finding = binding.topology(seen)
    assert (finding.state, words in finding.value) == (state, True), finding


def program(folder: Path, text: str) -> str:
    return str(write_script(folder / "longshore-bench", text))


def test_a_program_that_answers_nothing_of_use_is_no_error(tmp_path: Path) -> None:
    assert binding.ask(str(tmp_path / "missing")) is None
    assert binding.ask(program(tmp_path, "exit 3")) is None
    assert binding.ask(program(tmp_path, "echo no JSON")) is None
    assert binding.ask(program(tmp_path, "echo '[]'")) is None
    assert [finding.state for finding in binding.topology_and_binding(None).values()] == [UNKNOWN]
    assert [finding.state for finding in binding.topology_and_binding({}).values()] == [UNKNOWN, UNKNOWN]


def test_the_doctor_asks_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    listing = {"topology": {"description": "pack:9 core:1 pu:1"}, "binding": BOUND}
    monkeypatch.setenv("LONGSHORE_BENCH", program(tmp_path, f"echo '{json.dumps(listing)}'"))
    assert command_line.main(["doctor", "--no-measure", "--json", "--ranks", "7"]) == 0
    found = {finding["check"]: finding for finding in json.loads(capsys.readouterr().out)["findings"]}
    assert found["topology"]["value"] == "pack:9 core:1 pu:1"
    assert found["binding"]["state"] == WARN
    monkeypatch.setenv("LONGSHORE_BENCH", str(tmp_path / "missing"))
    assert command_line.main(["doctor", "--no-measure", "--json"]) == 0
    found = {finding["check"]: finding for finding in json.loads(capsys.readouterr().out)["findings"]}
    assert found["topology"]["state"] == UNKNOWN
