"""The section of hosts in the report: launches by the hosts that they ran on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from longshore_study.cli.command_line import main
from longshore_study.store.launch_store import Store
from stored_launches import halo, store_launch


def page(folder: Path, placements: Sequence[Sequence[str]]) -> str:
    """The report of two tags with a launch of each placement; those on n3 take twice the time."""
    store = Store(folder / "store")
    for tag in ("old", "new"):
        for index, hosts in enumerate(placements):
            results = [halo("waitall", (500.0 if "n3" in hosts else 1000.0) + index)]
            store_launch(store, tag, "a", results, index, hosts=hosts)
    main(["--store", str(store.path), "report", "--compare", "old", "new", "-o", str(folder / "page.html")])
    return (folder / "page.html").read_text(encoding="utf-8")


def test_a_slow_host_has_a_row_with_its_launches(tmp_path: Path) -> None:
    text = page(tmp_path, [("n1", "n2"), ("n3",), ("n1",)])
    assert "Launches by host" in text
    # The geometric mean of 1000, 501 and 1002 is 794.8.
    assert "n3: old median 0.63 over 1 launch; new median 0.63 over 1 launch" in text
    assert "n1: old median 1.26 over 2 launches" in text
    assert "always used together" not in text


def test_hosts_that_are_always_together_share_a_row(tmp_path: Path) -> None:
    text = page(tmp_path, [("n1", "n2"), ("n3", "n4")])
    assert "n3, n4: old median" in text
    assert "always used together" in text


def test_the_section_needs_launches_on_different_hosts(tmp_path: Path) -> None:
    assert "Launches by host" not in page(tmp_path / "same", [("n1", "n2")] * 2)
    assert "Launches by host" not in page(tmp_path / "none", [(), ()])
