"""The sections of simulated machines, and that no other section has simulated figures."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from longshore_study.compare.comparison import compare
from longshore_study.report import downloads
from longshore_study.report.facts import Facts, gather_facts
from longshore_study.report.page import build_page, sections_of
from longshore_study.report.paper_plots import paper_plots
from longshore_study.store.launch_store import Store
from longshore_study.store.records import metric, result_record
from longshore_study.store.selection import sides
from report_tree import Tag, parse
from stored_launches import simulate, store_launch

SECONDS = {"exstack": {1: 1.0, 2: 2.0, 4: 4.0}, "conveyor": {1: 3.0, 2: 3.0, 4: 3.0}}


def gather(strategy: str, seconds: float) -> dict[str, Any]:
    return result_record(
        "gather",
        {"strategy": strategy, "requests": 100},
        {"injection_bandwidth": metric(1.0 / seconds, "GB/s")},
        seconds={"median": seconds},
        verified=True,
    )


def fill(store: Store, tag: str, *, slower: float = 1.0, measured: bool = True) -> None:
    for machine, factor in (("cray", 1.0), ("ether", 10.0)):
        for nodes in (1, 2, 4):
            results = [gather(name, slower * factor * of[nodes]) for name, of in SECONDS.items()]
            simulate(store, tag, results, machine, program="gather", nodes=nodes, ranks=4 * nodes)
    cell = {"program": "gather", "transport": "mpi", "ranks": 4}
    for index in range(3 if measured else 0):
        store_launch(store, tag, "day", [gather("exstack", 1.1 + 0.01 * index)], index, cell)


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> Facts:
    store = Store(tmp_path_factory.mktemp("simulated"))
    fill(store, "t")
    return gather_facts(sides(store, ["t"]))


@pytest.fixture(scope="module")
def page(facts: Facts) -> Tag:
    return parse(build_page(facts))


def test_a_panel_per_machine_has_a_line_per_strategy_in_seconds(page: Tag) -> None:
    section = page.one("section", id="simulated")
    panels = section.all("figure", class_="panel")
    assert [panel.one("figcaption").text for panel in panels] == ["cray 1", "ether 1"]
    for panel, first in zip(
        panels, ("exstack, cray 1, 1.00 s on 1 node", "exstack, ether 1, 10.0 s on 1 node"), strict=True
    ):
        titles = [title.text for title in panel.all("title")]
        assert len(panel.all("g", class_="series")) == 2
        assert first in titles
        assert len(titles) == 6


def test_the_crossings_are_text(page: Tag) -> None:
    lines = [line.text for line in page.one("ul", class_="crossings").all("li")]
    assert lines == [
        "simulated on cray 1:exstack up to 2 nodes; conveyor from 4 nodes on",
        "simulated on ether 1:exstack up to 2 nodes; conveyor from 4 nodes on",
    ]


def test_measured_sections_have_no_simulated_figures(facts: Facts, page: Tag) -> None:
    assert {launch.simulated for launch in facts.launches} == {None}
    assert len(facts.launches) == 3
    for name in ("verdict", "fastest", "figures", "drift"):
        text = page.one("section", id=name).text
        assert "cray" not in text
        assert "conveyor" not in text
    assert not page.all("section", id="scaling")  # one measured layout


def test_predicted_and_measured_stand_side_by_side(page: Tag) -> None:
    section = page.one("section", id="simulated-and-measured")
    assert "1 of 2 predictions are within 25% of the measured time: 50% (gather 1 of 2)" in section.text
    ratios = [cell.text for cell in section.all("td", class_="c-share")]
    assert ratios == ["0.901", "9.009 (not close)"]


def test_every_launch_is_counted_and_every_figure_can_be_downloaded(facts: Facts, page: Tag) -> None:
    row = page.one("section", id="missing").all("tbody")[0].all("tr")[0]
    assert [cell.text for cell in row.all("td")][4:6] == ["9", "0"]
    rows = list(csv.DictReader(io.StringIO(downloads.figures_csv(downloads.figure_rows(facts)).decode())))
    assert {(row["factor_transport"], row["simulated"]) for row in rows} == {
        ("mpi", ""),
        ("simulated", "cray 1"),
        ("simulated", "ether 1"),
    }
    document = json.loads(downloads.report_json(facts, downloads.figure_rows(facts)))
    assert len(document["launches"]) == 9


def test_a_failed_simulated_launch_is_missing(tmp_path: Path) -> None:
    store = Store(tmp_path)
    fill(store, "t")
    cell = {"program": "gather", "transport": "simulated", "machine": "cray", "ranks": 999}
    store.write_launch(
        {"study": "s", "tag": "t", "session": "day", "cell": cell, "exit_status": 1, "stderr_tail": ["too many"]}, []
    )
    text = parse(build_page(gather_facts(sides(store, ["t"])))).one("section", id="missing").text
    assert "failedGathersimulated on cray 1: simulated, machine cray, 999 ranks" in text
    assert "too many" in text


def test_the_plots_of_machines_can_be_written_for_a_paper(facts: Facts) -> None:
    titles = [plot.title for plot in paper_plots(sections_of(facts))]
    assert sum("over nodes, simulated" in title for title in titles) == 2
    assert sum(title.startswith("Simulated and measured") for title in titles) == 2


@pytest.mark.parametrize("measured", [True, False])
def test_compared_tags_have_simulated_rows_of_their_own(tmp_path: Path, measured: bool) -> None:
    store = Store(tmp_path)
    fill(store, "old", measured=measured)
    fill(store, "new", slower=2.0, measured=measured)
    reference, new = sides(store, ["old", "new"])
    compared = compare(reference, new)
    facts = gather_facts([reference, new], compared)
    assert facts.comparison is not None
    assert {row.simulated for row in facts.comparison.rows} == ({None} if measured else {"cray 1", "ether 1"})
    assert len(facts.simulated_rows) == (12 if measured else 0)
    page = parse(build_page(facts))
    assert ("Compared, simulated" in page.text) == measured
    assert ("All figures are simulated" in page.one("section", id="verdict").text) != measured


def test_a_page_of_simulated_figures_alone(tmp_path: Path) -> None:
    store = Store(tmp_path)
    fill(store, "t", measured=False)
    page = parse(build_page(gather_facts(sides(store, ["t"]))))
    assert "All figures are simulated, on cray 1, ether 1." in page.one("section", id="verdict").text
    assert not page.all("section", id="simulated-and-measured")
