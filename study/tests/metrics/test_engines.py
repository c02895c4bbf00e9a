"""Summaries of engines from records, as a table and in the report; missing values stay missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from longshore_study.cli.command_line import main
from longshore_study.metrics.engines import EngineSummary, engine_summaries
from longshore_study.report.engines import engines_section
from longshore_study.report.facts import Facts, gather_facts
from longshore_study.report.markup import to_text
from longshore_study.report.page import build_page
from longshore_study.store.launch_store import Store
from longshore_study.store.selection import sides
from report_data import result
from report_tree import Tag, parse
from stored_launches import json_of, store_launch

MILLISECONDS = 1e-3


def hop(direction: str, number: int, messages: float, fill: float | None) -> dict[str, Any]:
    return {
        "direction": direction, "hop": number, "messages": messages, "partial": 2.0, "fill": fill,
        "items": 100 * messages, "payload_bytes": 1000 * messages, "wire_bytes": 1250 * messages,
        "offnode_bytes": 500 * messages, "refusals": 7,
    }  # fmt: skip


def engine(scale: float = 1.0, *, p99: float | None = 4e-5) -> dict[str, Any]:
    """An operation of 10 ms, including 3 ms of waiting for a slot and 1 ms of waiting for items.
    Requests take two hops, replies take one hop."""
    return {
        "repetitions": 5, "operations": 10, "seconds": 10 * MILLISECONDS * scale,
        "waited_seconds": {
            "slot": {"mean": 3 * MILLISECONDS * scale, "max": 1.0},
            "arrival": {"mean": MILLISECONDS * scale, "max": 1.0},
        },
        "latency_seconds": {
            "requests": {"samples": 3, "p50": 1e-5, "p90": 2e-5, "p99": p99},
            "replies": {"samples": 0, "p50": None, "p90": None, "p99": None},
        },
        "hops": [hop("requests", 1, 40 * scale, 0.5), hop("requests", 2, 20, 0.75), hop("replies", 1, 0, None)],
    }  # fmt: skip


def gather(strategy: str, told: object) -> dict[str, Any]:
    record = result("gather", {"operation": "gather", "strategy": strategy}, "injection_bandwidth", 1.0, "GB/s")
    return record if told is None else record | {"engine": told}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Three launches of two strategies with engines and one without."""
    store = Store(tmp_path)
    for index, scale in enumerate((1.0, 2.0, 9.0)):
        results = [gather("conveyor", engine(scale)), gather("exstack", engine()), gather("agp", None)]
        store_launch(store, "t", "day", results, index, {"program": "gather", "ranks": 4})
    return store


def summaries(store: Store) -> dict[str, EngineSummary]:
    return {str(summary.factors["strategy"]): summary for summary in engine_summaries(store.launches())}


def test_a_summary_has_the_medians_over_launches(store: Store) -> None:
    found = summaries(store)
    assert set(found) == {"conveyor", "exstack"}
    conveyor = found["conveyor"]
    assert conveyor.launches == 3
    assert conveyor.factors["ranks"] == 4
    assert (conveyor.seconds, conveyor.slot_wait_seconds, conveyor.arrival_wait_seconds) == pytest.approx(
        (0.02, 0.006, 0.002)
    )
    assert conveyor.working_seconds == pytest.approx(0.012)
    assert [(one.direction, one.hop, one.fill) for one in conveyor.hops] == [
        ("requests", 1, 0.5), ("requests", 2, 0.75), ("replies", 1, None),
    ]  # fmt: skip
    assert conveyor.hops[0].numbers["messages"] == 80
    assert conveyor.hops[0].wire_per_payload == pytest.approx(1.25)
    assert conveyor.hops[2].wire_per_payload is None
    assert conveyor.latency["requests"].seconds["p99"] == pytest.approx(4e-5)
    assert conveyor.latency["requests"].samples == 9
    assert conveyor.latency["replies"].seconds == {}


@pytest.mark.parametrize(
    "told",
    [7, {}, {"seconds": "long"}, {"seconds": True}, [1]],
)
def test_a_malformed_engine_member_is_left_out(tmp_path: Path, told: object) -> None:
    store = Store(tmp_path)
    store_launch(store, "t", "day", [gather("conveyor", told)])
    assert engine_summaries(store.launches()) == []


def test_a_damaged_part_is_missing_and_the_rest_is_read(tmp_path: Path) -> None:
    store = Store(tmp_path)
    told = engine(p99=None) | {
        "waited_seconds": None,
        "hops": [7, {"direction": "requests"}, hop("requests", 1, 3, 0.1)],
    }
    told["hops"][2]["wire_bytes"] = None
    store_launch(store, "t", "day", [gather("conveyor", told)])
    (summary,) = engine_summaries(store.launches())
    assert (summary.slot_wait_seconds, summary.arrival_wait_seconds, summary.working_seconds) == pytest.approx(
        (0.0, 0.0, 0.01)
    )
    assert len(summary.hops) == 1
    assert summary.hops[0].wire_per_payload is None
    assert set(summary.latency["requests"].seconds) == {"p50", "p90"}


def test_a_failed_launch_is_left_out(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store_launch(store, "t", "day", [gather("conveyor", engine())], end=False)
    assert engine_summaries(store.launches()) == []


@pytest.mark.usefixtures("store")
def test_show_prints_hops_and_times(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--store", str(tmp_path), "show", "t", "--engines"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["conveyor", "requests", "1", "80.000", "2.000", "50.0%", "1.250", "0.0400", "7.000"] in lines
    assert ["conveyor", "replies", "1", "0", "2.000", "-", "-", "0", "7.000"] in lines
    assert ["exstack", "10.000", "60%", "30%", "10%", "requests", "10.000", "20.000", "40.000"] in lines


@pytest.mark.usefixtures("store")
def test_show_prints_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--store", str(tmp_path), "show", "--engines", "--json"]) == 0
    rows = json_of(capsys.readouterr().out)["rows"]
    assert [row["factors"]["strategy"] for row in rows] == ["conveyor", "exstack"]
    assert rows[0]["waited_seconds"] == {"slot": pytest.approx(0.006), "arrival": pytest.approx(0.002)}
    assert rows[0]["latency_seconds"]["replies"] == {"samples": 0, "p50": None, "p90": None, "p99": None}
    assert rows[0]["hops"][1]["messages"] == 20


def test_show_without_engines_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store_launch(Store(tmp_path), "t", "day", [gather("agp", None)])
    assert main(["--store", str(tmp_path), "show", "--engines"]) == 3
    assert "has data of aggregation engines" in capsys.readouterr().err
    assert main(["--store", str(tmp_path), "show", "--engines", "--sessions"]) == 64


def section(facts: Facts) -> Tag:
    found = engines_section(facts)
    assert found is not None
    return parse(to_text(found))


def test_the_bars_of_the_report_are_shares_of_the_time(store: Store) -> None:
    page = section(gather_facts(sides(store, ["t"])))
    rows = page.one("table", "strips").one("tbody").all("tr")
    assert [row.one("th").text for row in rows] == ["conveyor", "exstack"]
    for row in rows:
        bars = row.one("svg").all("rect")
        assert [bar.fraction("width") for bar in bars] == pytest.approx([0.6, 0.3, 0.1])
        assert [bar.fraction("x") for bar in bars] == pytest.approx([0.0, 0.6, 0.9])
        assert [cell.text for cell in row.all("td", "c-share")] == ["60 %", "30 %", "10 %"]
    assert [row.one("td", "c-median").text for row in rows] == ["20.0 ms", "10.0 ms"]
    assert len(page.one("ul", "legend").all("li")) == 3


def test_the_report_has_a_row_per_hop_and_latencies_per_direction(store: Store) -> None:
    page = section(gather_facts(sides(store, ["t"])))
    rows = page.one("table", "plain").one("tbody").all("tr")
    assert len(rows) == 2 * 3
    first = rows[0].all("td")
    assert [cell.text for cell in first] == [
        "requests", "1", "80.0", "50 %", "1.250", "0.0400", "7.00", "10.0 µs", "20.0 µs", "40.0 µs",
    ]  # fmt: skip
    assert first[7].attributes["rowspan"] == "2"
    assert [cell.text for cell in rows[2].all("td")][:5] == ["replies", "1", "0", "–", "–"]
    assert [cell.text for cell in rows[2].all("td")][7:] == ["–", "–", "–"]


def test_without_engines_there_is_no_section(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store_launch(store, "t", "day", [gather("agp", None)])
    facts = gather_facts(sides(store, ["t"]))
    assert engines_section(facts) is None
    assert "What the engines did" not in build_page(facts)


def test_the_section_is_part_of_the_page(store: Store) -> None:
    page = parse(build_page(gather_facts(sides(store, ["t"]))))
    assert page.one("section", id="engines").one("h2").text == "What the engines did"
