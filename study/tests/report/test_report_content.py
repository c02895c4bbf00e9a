"""The texts of the page: winners, bounds, missing results, provenance, numbers."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from longshore_study.base import texts
from longshore_study.compare.differences import differing
from longshore_study.metrics.launch_metrics import measure
from longshore_study.report.bounds import bound_for
from longshore_study.report.coverage import absences
from longshore_study.report.facts import Facts, gather_facts
from longshore_study.report.fastest import fastest
from longshore_study.report.labels import naming
from longshore_study.report.markup import to_text
from longshore_study.report.provenance import provenance_section, recorded_properties, unrecorded
from longshore_study.store import records
from longshore_study.store.launch_store import Store
from longshore_study.store.selection import sides
from report_data import (
    HEADER,
    envelope,
    header_of,
    result,
    write_failure,
    write_halobench,
    write_study,
)
from report_tree import parse


def store_launch(
    store: Store,
    results: list[dict[str, Any]],
    *,
    tag: str = "t",
    index: int = 0,
    header: dict[str, Any] | None = None,
    **cell: Any,
) -> None:
    factors = {"transport": "mpi", "ranks": 4} | cell
    lines = [records.dump(r) for r in (header or header_of(factors), *results, records.end_record())]
    store.write_launch(envelope("s", tag, "day", factors, index=index, position=index), lines)


def gather(strategy: str, value: float) -> dict[str, Any]:
    return result("gather", {"strategy": strategy, "requests": 100}, "injection_bandwidth", value, "GB/s")


def facts_of(store: Store, *tags: str) -> Facts:
    return gather_facts(sides(store, list(tags)))


def test_a_winner_is_close_when_a_launch_of_the_runner_up_was_as_good(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store_launch(store, [gather("a", 10.0), gather("b", 8.0)], index=0)
    store_launch(store, [gather("a", 12.0), gather("b", 9.9)], index=1)
    won = fastest(facts_of(store, "t"))
    assert [(w.name, w.runner_up_name, w.separated) for w in won] == [("a", "b", True)]
    assert won[0].lead == pytest.approx(11 / 8.95)
    store_launch(store, [gather("a", 11.0), gather("b", 10.5)], index=2)
    assert [w.separated for w in fastest(facts_of(store, "t"))] == [False]


def test_sizes_are_problems_and_strategies_are_choices(tmp_path: Path) -> None:
    won = fastest(facts_of(write_study(tmp_path), "quick"))
    halo = [w for w in won if w.best.pattern == "halo"]
    assert sorted(w.problem for w in halo) == sorted(f"fields {f}, halo {h}" for f in (1, 8) for h in (1, 2, 3))
    assert {w.name.split(",")[0] for w in halo} == {"channel"}
    ranked = facts_of(write_study(tmp_path), "quick").ranked["quick"]
    contestants = Counter(str(entry.work) for entry in ranked if entry.pattern == "halo")
    assert set(contestants.values()) == {4}, "channel on two transports, persistent and waitall on one"


def test_a_figure_above_its_bound_is_listed_and_never_wins(tmp_path: Path) -> None:
    store = Store(tmp_path)
    copy = result("control", {"kernel": "copy"}, "bandwidth", 10.0, "GB/s")
    stream = [
        result("stream", {"tasks": name}, "bandwidth", value, "GB/s")
        for name, value in (("serial", 9.0), ("cheat", 90.0))
    ]
    store_launch(store, [copy, *stream])
    facts = facts_of(store, "t")
    assert [w.best.how["tasks"] for w in fastest(facts)] == ["serial"]
    invalid = [a for a in absences(facts) if a.kind == "invalid?"]
    assert [a.reason for a in invalid] == ["more than 1.5 times the memory copy of the same launch, 10 GB/s"]


def test_controls_of_the_session_bound_figures_of_uncached_data(tmp_path: Path) -> None:
    """Control cells are separate launches. Cached data may be faster than memory copy."""
    store = Store(tmp_path)
    store_launch(store, [result("control", {"kernel": "copy"}, "bandwidth", 10.0, "GB/s")], program="control")
    large = result("stream", {"elements": 10**8}, "bandwidth", 90.0, "GB/s")
    cached = result("stream", {"elements": 10**3}, "bandwidth", 90.0, "GB/s")
    cached["seconds"] = {"median": 1e-6}
    store_launch(store, [large, cached], program="stream")
    store_launch(store, [result("stream", {"elements": 7}, "bandwidth", 90.0, "GB/s")], program="stream", ranks=99)
    figures = measure(store.launches(), metrics=["all"]).figures
    doubts = {f.key.variant.get("elements"): f.why_implausible for f in figures if f.key.pattern == "stream"}
    assert doubts == {
        10**8: "more than 1.5 times the memory copy of the same session, 10 GB/s", 10**3: None, 7: None,
    }  # fmt: skip


def test_the_bound_of_a_process_is_its_share_of_the_node(tmp_path: Path) -> None:
    store = Store(tmp_path)
    copy = result("control", {"kernel": "copy"}, "bandwidth", 8.0, "GB/s")
    store_launch(
        store, [copy, result("halo", {"mode": "waitall"}, "process_bandwidth", 100.0, "MiB/s"), gather("a", 1.0)]
    )
    facts = facts_of(store, "t")
    halo = bound_for(facts, facts.of_pattern("halo"))
    assert halo is not None
    assert halo.value == pytest.approx(8e9 / 2**20 / 4 / 2)
    node = bound_for(facts, facts.of_pattern("gather"))
    assert node is not None
    assert node.value == pytest.approx(8)
    assert bound_for(facts, [f for f in facts.figures if f.unit == "us"]) is None


def test_skips_with_one_reason_share_a_line_and_failures_are_listed(tmp_path: Path) -> None:
    store = write_study(tmp_path)
    write_failure(store)
    found = absences(facts_of(store, "quick"))
    assert [(a.kind, a.variants) for a in found] == [("failed", 1), ("skipped", 12)]
    assert "rank 3 died" in found[0].reason
    assert found[1].reason == "needs MPI"
    assert "waitall, persistent" in found[1].variant or "persistent, waitall" in found[1].variant
    assert "halo 1, 2, 3" in found[1].variant


def test_variants_that_one_tag_lacks_are_listed_without_a_comparison(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store_launch(store, [gather("a", 1.0), gather("b", 2.0)], tag="one")
    store_launch(store, [gather("a", 1.0)], tag="two")
    missing = [a for a in absences(facts_of(store, "one", "two")) if a.kind == "missing"]
    assert [(a.side, "b" in a.variant.split(", ")) for a in missing] == [("two", True)]


def test_provenance_shows_differences_but_not_values_of_each_launch(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for tag, kernel in (("old", "6.1.0"), ("new", "6.9.9")):
        for index in range(2):
            noise = {"resolution_seconds": (15 + index + 5 * (tag == "new")) * 1e-11}
            header = HEADER | {"system": HEADER["system"] | {"kernel": kernel}, "clock": noise}
            store_launch(store, [gather("a", 1.0)], tag=tag, index=index, header=header)
    facts = facts_of(store, "old", "new")
    found = recorded_properties(facts)
    assert list(differing([side.launches for side in facts.stored_sides])) == ["system: kernel"]
    assert found["system: kernel"] == (("6.1.0",), ("6.9.9",))
    assert found["environment: OMPI_MCA_btl"] == (("self,vader",),) * 2
    assert "clock: resolution seconds" in found
    assert not any("seed" in key or key == "launch" for key in found)


def test_command_lines_are_listed_once_without_options_of_each_launch(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for seed in (1, 2):
        head = envelope("s", "t", "day", {}, index=seed)
        head["command"] = ["bench", "--seed", str(seed), "--ranks", "2", "--json", f"records-{seed}"]
        lines = [records.dump(r) for r in (HEADER, gather("a", 1.0), records.end_record())]
        store.write_launch(head, lines)
    commands = parse(to_text(provenance_section(facts_of(store, "t")))).one("ul", "commands")
    assert [item.text for item in commands.all("li")] == ["bench --ranks 2"]


def test_missing_parts_of_the_setup_are_named(tmp_path: Path) -> None:
    assert unrecorded(facts_of(write_study(tmp_path / "a"), "quick")) == []
    assert unrecorded(facts_of(write_halobench(tmp_path / "b"), "new"))[:3] == ["host", "CPU", "kernel"]


def test_only_varying_factors_name_a_row() -> None:
    names = naming([{"mode": "waitall", "ranks": 4, "halo": 1}, {"mode": "direct", "ranks": 4, "halo": 2}])
    assert names.text({"mode": "waitall", "ranks": 4, "halo": 1}) == "waitall, halo 1"
    assert names.constant_text == "ranks 4"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0572, "0.0572"),
        (31.25, "31.2"),
        (999.6, "1000"),
        (13115.2, "13 115"),
        (1.25e9, "1.25·10⁹"),
        (0, "0"),
        (None, "–"),
    ],
)
def test_figures_have_three_digits(value: float | None, shown: str) -> None:
    assert texts.figure(value).replace("\u202f", " ") == shown


def test_ratios_in_words_are_percentages_or_factors() -> None:
    def plain(text: str) -> str:
        return text.replace("\u202f", " ")

    assert plain(texts.ratio_in_words(1 / 17.46)) == "17.5 times lower"
    assert plain(texts.ratio_in_words(1.034)) == "3.4 % higher"
    assert plain(texts.change(0.94)) == "−6.0 %"
    assert plain(texts.change(0.99996)) == "0.0 %"
    assert plain(texts.change(17.46)) == "×17.5"
    assert texts.ratio(1.0214) == "1.021"
    assert plain(texts.share(0.05)) == "5 %"
    assert plain(texts.share(0.873)) == "87 %"
