"""Whatever a stored file has become, every verb that reads it ends with a status and no
traceback."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from longshore_study.cli.command_line import main
from longshore_study.store.launch_store import Store
from stored_launches import control, halo, sort_with_model, store_launch

ODD: list[Any] = [None, True, -1, 1.5, 1e400, "", "x", [], [1], {}, {"a": {"b": []}}]
VERBS = (
    ["show"],
    ["show", "--json"],
    ["show", "--means"],
    ["show", "--model"],
    ["show", "--counters"],
    ["compare", "old", "new"],
    ["guidelines", "new"],
    ["export"],
    ["export", "--samples"],
)


@pytest.fixture
def results(tmp_path: Path) -> Store:
    store = Store(tmp_path / "results")
    sample = {
        "record": "sample",
        "pattern": "halo",
        "variant": {"mode": "waitall"},
        "repetition": 0,
        "seconds": {"max": 1.0},
    }
    for tag in ("old", "new"):
        for session in ("a", "b"):
            figures = [
                halo("waitall", 100.0 + ord(session)),
                halo("persistent", 50.0 + ord(session) / 3),
                control("copy", 9.0),
                *sort_with_model("put", 1e-3),
            ]
            more: dict[str, Any] = {
                "started": "2030-01-01T00:00:00",
                "position": 1,
                "margin": 0.05,
                "stderr_tail": ["x"],
            }
            more |= {"bound": {"injection_GBps_per_node": 25}, "study_file": {"path": "p", "digest": "d"}}
            store_launch(store, tag, session, [sample, *figures], **more)
    return store


def changed(value: Any, generator: random.Random) -> Iterator[Any]:
    """Copies of the value, in each of which a different member is replaced by an odd value."""
    if isinstance(value, dict):
        for key in value:
            if key == "record":
                continue
            yield {k: v for k, v in value.items() if k != key}
            yield from (value | {key: odd} for odd in generator.sample(ODD, 2))
            for inner in changed(value[key], generator):
                yield value | {key: inner}
    elif isinstance(value, list) and value:
        for inner in changed(value[0], generator):
            yield [inner, *value[1:]]


def run_every_verb(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    for verb in VERBS:
        status = main(["--store", str(store.path), *verb])
        assert status in (0, 1, 2, 3, 64), verb
    capsys.readouterr()


@pytest.mark.thorough
def test_any_value_may_have_become_any_other(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    generator = random.Random(3)
    path = min((results.path / "s" / "new" / "a").glob("*.jsonl"))
    original = path.read_text()
    lines = original.splitlines()
    tried = 0
    for place, line in enumerate(lines):
        for record in changed(json.loads(line), generator):
            path.write_text("\n".join([*lines[:place], json.dumps(record), *lines[place + 1 :]]) + "\n")
            run_every_verb(results, capsys)
            tried += 1
    assert tried > 100


@pytest.mark.thorough
def test_any_byte_may_be_lost(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    generator = random.Random(4)
    path = min((results.path / "s" / "new" / "a").glob("*.jsonl"))
    original = path.read_bytes()
    for _ in range(60):
        begin = generator.randrange(len(original))
        path.write_bytes(
            original[:begin]
            + generator.choice([b"", b"\n", b"\xff", b"}"])
            + original[begin + generator.randrange(9) :]
        )
        run_every_verb(results, capsys)
    for size in range(0, len(original), 97):
        path.write_bytes(original[:size])
        run_every_verb(results, capsys)
        assert main(["--store", str(results.path), "show"]) == 3, "what is cut short is never fine"
    capsys.readouterr()
