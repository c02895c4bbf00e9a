"""`longshore history`: the order of sessions, known events, changes in words and JSON."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest

from longshore_study.base.errors import UsageError
from longshore_study.cli.command_line import main
from longshore_study.output.history_table import _BARS as BARS
from longshore_study.store.launch_store import Store
from longshore_study.study_file.events import load
from stored_launches import halo, import_published_images, json_of, store_launch


@pytest.fixture
def nightly(tmp_path: Path) -> Store:
    """Twenty nights. From the twelfth night on, persistent is 30 % slower. Sessions are not stored
    in the order of time."""
    store = Store(tmp_path / "results")
    generator = random.Random(8)
    nights = list(range(1, 21))
    generator.shuffle(nights)
    for night in nights:
        slow = 0.7 if night >= 12 else 1.0
        for index in range(2):
            results = [
                halo("persistent", 1000 * slow * generator.gauss(1, 0.01)),
                halo("waitall", 900 * generator.gauss(1, 0.01)),
            ]
            started = f"2026-03-{night:02d}T0{index}:00:00Z"
            store_launch(store, "nightly", f"run {100 - night}", results, index, started=started)
    return store


def history(store: Store, capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["--store", str(store.path), "history", "--json", *arguments]) == 0
    return {row["variant"]["mode"]: row for row in json_of(capsys.readouterr().out)["rows"]}


def test_the_night_of_a_change_is_found(nightly: Store, capsys: pytest.CaptureFixture[str]) -> None:
    rows = history(nightly, capsys)
    points = rows["persistent"]["points"]
    assert [point["when"][:10] for point in points] == [f"2026-03-{night:02d}" for night in range(1, 21)]
    (change,) = rows["persistent"]["changes"]
    assert change["between"][1]["session"] == "run 88"
    assert (change["kind"], change["verdict"], change["known"]) == ("step", "regressed", False)
    assert change["interval"][0] < 0.7 < change["interval"][1]
    assert rows["waitall"]["changes"] == []
    assert main(["--store", str(nightly.path), "history"]) == 0
    text = capsys.readouterr().out
    assert "2026-03-12, between sessions run 89 and run 88 (tag nightly): halo mode persistent became" in text
    assert "no known event" in text


def test_the_exit_status_tells_a_change_for_the_worse(nightly: Store, tmp_path: Path) -> None:
    command = ["--store", str(nightly.path), "history", "--exit-status"]
    assert main(command) == 1
    assert main([*command, "--where", "mode == 'waitall'"]) == 0
    few = Store(tmp_path / "few")
    for night in range(3):
        store_launch(few, "nightly", str(night), [halo("waitall", 900.0 + night)])
    assert main(["--store", str(few.path), "history", "--exit-status"]) == 2


def test_known_events_are_tested_first_and_named(nightly: Store, capsys: pytest.CaptureFixture[str]) -> None:
    (nightly.path / "events.toml").write_text(
        '[[event]]\ndate = 2026-03-12\ntext = "new MPI"\nfactors = { mode = "persistent" }\n'
        '[[event]]\ndate = 2026-03-05T01:00:00\ntext = "new switch"\n'
    )
    (change,) = history(nightly, capsys)["persistent"]["changes"]
    assert (change["known"], change["events"]) == (True, ["new MPI"])
    main(["--store", str(nightly.path), "history", "--where", "mode == 'persistent'"])
    assert "after: new MPI" in capsys.readouterr().out


def test_consecutive_tags_are_events(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import_published_images(tmp_path / "results")
    rows = history(Store(tmp_path / "results"), capsys, "reference", "new")
    changed = {mode: row["changes"] for mode, row in rows.items() if row["changes"]}
    assert set(changed) == {"persistent", "sendrecv", "isend-recv", "pairwise"}
    assert changed["persistent"][0]["events"] == ["tag new begins"]


def test_sessions_of_the_same_name_are_shown_with_their_tag(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = Store(tmp_path / "results")
    generator = random.Random(3)
    for place, (tag, night) in enumerate((tag, night) for tag in ("old", "new") for night in range(10)):
        figure = halo("waitall", (500 if tag == "new" and night >= 3 else 1000) * generator.gauss(1, 0.01))
        started = f"2026-03-{place + 1:02d}T00:00:00Z"
        store_launch(store, tag, f"{night}" if night == 3 else f"{tag}{night}", [figure], started=started)
    assert main(["--store", str(store.path), "history"]) == 0
    text = capsys.readouterr().out
    assert "at 3 of tag new (step)" in text
    assert "between sessions new2 and 3 (tag new)" in text


def test_a_noise_above_a_hundred_per_cent_is_a_number(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = Store(tmp_path / "results")
    generator = random.Random(4)
    for night in range(12):
        figure = halo("waitall", 1000 * 10 ** generator.uniform(-1, 1))
        store_launch(store, "t", f"{night:02d}", [figure], started=f"2026-03-{night + 1:02d}T00:00:00Z")
    assert main(["--store", str(store.path), "history"]) == 0
    text = capsys.readouterr().out
    assert "e+" not in text
    assert re.search(r"\b\d{3} %", text)


def test_rows_that_change_together_share_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = Store(tmp_path / "results")
    generator = random.Random(2)
    for night in range(14):
        results = [
            halo(f"m{k}", 1000 * ((0.5 if k < 8 else 1.5) if night >= 7 else 1.0) * generator.gauss(1, 0.01))
            for k in range(10)
        ]
        store_launch(store, "t", f"{night:02d}", results, started=f"2026-03-{night + 1:02d}T00:00:00Z")
    assert main(["--store", str(store.path), "history"]) == 0
    text = capsys.readouterr().out
    assert "10 rows changed together (8 worse, 2 better; -v lists them), the most: 2026-03-08" in text
    assert text.count("became") == 1
    assert main(["--store", str(store.path), "history", "-v"]) == 0
    assert capsys.readouterr().out.count("became") == 10


def test_bars_show_a_step_and_no_noise(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The bars of a row with a noise of 1 % stay at one height, or beside it."""
    store = Store(tmp_path / "results")
    generator = random.Random(2)
    for night in range(14):
        speeds = {"quiet": 1000.0, "step": 500.0 if night >= 7 else 1000.0}
        results = [halo(mode, speed * generator.gauss(1, 0.01)) for mode, speed in speeds.items()]
        store_launch(store, "t", f"{night:02d}", results, started=f"2026-03-{night + 1:02d}T00:00:00Z")
    assert main(["--store", str(store.path), "history"]) == 0
    lines = capsys.readouterr().out.splitlines()
    quiet, step = (
        "".join(mark for mark in line if mark in BARS) for mode in speeds for line in lines if line.startswith(mode)
    )
    heights = [BARS.index(bar) for bar in quiet]
    assert max(heights) - min(heights) <= 2
    assert {*step[:7]} <= {"▇", "█"}
    assert {*step[7:]} <= {"▁", "▂"}


def test_a_change_names_the_ranks_that_tell_rows_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = Store(tmp_path / "results")
    generator = random.Random(2)
    for night in range(12):
        for ranks in (2, 4):
            speed = 1000 * (0.5 if ranks == 4 and night >= 6 else 1.0) * generator.gauss(1, 0.01)
            when = f"2026-03-{night + 1:02d}T00:00:00Z"
            store_launch(store, "t", f"{night:02d}", [halo("x", speed)], cell={"ranks": ranks}, started=when)
    assert main(["--store", str(store.path), "history"]) == 0
    assert "(tag t): halo ranks 4 became 2" in capsys.readouterr().out


def test_a_latency_that_grows_is_worse(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = Store(tmp_path / "results")
    generator = random.Random(1)
    for night in range(12):
        value = (2.0 if night >= 6 else 1.0) * generator.gauss(1, 0.01)
        metrics = {"latency_us": {"value": value, "unit": "us", "better": "lower"}}
        result = {"record": "result", "pattern": "halo", "variant": {"mode": "x"}, "metrics": metrics}
        store_launch(store, "t", f"{night:02d}", [result], started=f"2026-03-{night + 1:02d}T00:00:00Z")
    (change,) = history(store, capsys)["x"]["changes"]
    assert change["verdict"] == "regressed"
    assert change["ratio"] == pytest.approx(2.0, rel=0.05)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[event]]\ndate = = 5\n", "events.toml:2: not valid TOML at column 8"),
        ("[[event]]\ntext = " + "9" * 5000, "events.toml: not valid TOML"),
        ('[[event]]\ndate = "soon"\ntext = "x"\n', "events.toml:2: 'date' must be a day"),
        ("[[event]]\ndate = 2026-01-01\n", "'text' is missing; it describes the event"),
        (
            '[[event]]\ndate = 2026-01-01\ntext = "x"\nfactor = {}\n',
            "events.toml:4: unknown key in [[event]]: 'factor'",
        ),
        ("[[event]\n", "not valid TOML"),
        ("[event]\n", "write [[event]], not [event]"),
    ],
)
def test_mistakes_in_events_are_reported_with_their_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "events.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=r".") as caught:
        load(path)
    assert message in str(caught.value)


def test_misspelt_names_are_reported(nightly: Store, capsys: pytest.CaptureFixture[str]) -> None:
    file = nightly.path / "events.toml"
    file.write_text('[[event]]\ndate = 2026-03-01\ntext = "x"\nfactors = { mod = "persistent" }\n')
    capsys.readouterr()
    assert main(["--store", str(nightly.path), "history"]) == 0
    said = "the event of 2026-03-01 affects no row: no row has a factor 'mod'; did you mean 'mode'?"
    assert f"warning: {said}" in capsys.readouterr().out
    assert main(["--store", str(nightly.path), "history", "--json"]) == 0
    assert json_of(capsys.readouterr().out)["problems"] == [said]
    # A factor of a pattern that has no rows causes no warning.
    file.write_text('[[event]]\ndate = 2026-03-01\ntext = "x"\nfactors = { "buffer-items" = 64 }\n')
    assert main(["--store", str(nightly.path), "history"]) == 0
    assert "touches nothing" not in capsys.readouterr().out
    assert main(["--store", str(nightly.path), "history", "--metric", "process_bandwith"]) == 64
    assert "unknown figure 'process_bandwith'; did you mean 'process_bandwidth'?" in capsys.readouterr().err


def test_an_empty_history_is_an_error(nightly: Store, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--store", str(nightly.path), "history", "--where", "mode == 'channel'"]) == 3
    assert "no row has mode 'channel' (known: persistent, waitall)" in capsys.readouterr().err
    assert main(["--store", str(nightly.path), "history", "nightli"]) == 64
    assert "did you mean 'nightly'?" in capsys.readouterr().err
