"""The sections of history and of associations."""

from __future__ import annotations

import random
from pathlib import Path

from longshore_study.cli.command_line import main
from longshore_study.store.launch_store import Store
from report_tree import Tag, parse
from stored_launches import halo, import_published_images, store_launch


def page(store: Path, *arguments: str) -> Tag:
    path = store.parent / "r.html"
    assert main(["--store", str(store), "report", "-o", str(path), *arguments]) == 0
    return parse(path.read_text())


def test_steps_are_drawn_with_their_levels_and_named(tmp_path: Path) -> None:
    store = Store(tmp_path / "results")
    generator = random.Random(8)
    for night in range(1, 21):
        slow = 0.7 if night >= 12 else 1.0
        results = [halo("persistent", 1000 * slow * generator.gauss(1, 0.01)), halo("waitall", generator.gauss(9, 0.1))]
        store_launch(store, "t", f"{night}", results, started=f"2026-03-{night:02d}T00:00:00Z")
    (store.path / "events.toml").write_text('[[event]]\ndate = 2026-03-12\ntext = "new <MPI>"\n')
    history = page(store.path).one("section", id="history")
    (told,) = history.one("ul", "changes").all("li")
    assert "persistent" in told.text
    assert "after: new <MPI>" in told.text
    panels = history.all("figure", "panel")
    changed = next(panel for panel in panels if "persistent" in panel.one("figcaption").text)
    levels = changed.all("line", "median")
    assert len(levels) == 2
    assert levels[1].fraction("y1") > levels[0].fraction("y1"), "slower is lower"
    assert len(changed.all("use")) == 20
    assert len(changed.all("line", "bound")) == 1


def test_few_sessions_are_no_history(tmp_path: Path) -> None:
    import_published_images(tmp_path / "results")
    root = page(tmp_path / "results", "--compare", "reference", "new")
    assert not root.all("section", id="history")
    associated = root.one("section", id="associated")
    first, second = associated.all("li")
    assert "17.5 times worse" in first.text
    assert "mode == 'persistent'" in first.text
    assert "isend-recv" in second.text
    assert "cause" in associated.all("p")[0].text
    assert "is the cause" not in associated.text
