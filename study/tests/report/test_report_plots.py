"""The positions of marks in the plots of the page agree with the data."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from longshore_study.report.curves import curves, panels, size_factors, size_label
from longshore_study.report.drift import LaunchDeviation, launch_deviations, trend
from longshore_study.report.facts import Facts, gather_facts, median_value
from longshore_study.report.forest import forest_section, margin_band, ratio_scale
from longshore_study.report.heat_map import heat_map_section
from longshore_study.report.labels import split_by_work
from longshore_study.report.launch_dots import launch_dots, tooltip
from longshore_study.report.markup import Element, to_text
from longshore_study.report.scales import Scale, for_figures, log_around
from longshore_study.report.verdict_style import ratio_text
from longshore_study.store import records
from longshore_study.store.launch_store import Store
from longshore_study.store.selection import sides
from report_data import (
    COPY_GBPS,
    HALOBENCH,
    compared_halobench,
    envelope,
    estimate_of,
    header_of,
    result,
    with_levels,
    write_halobench,
    write_study,
)
from report_tree import Tag, parse


def tree_of(node: Element | None) -> Tag:
    assert node is not None
    return parse(to_text(node))


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Facts:
    return gather_facts(sides(write_study(tmp_path_factory.mktemp("quick")), ["quick"]))


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Facts:
    store = write_halobench(tmp_path_factory.mktemp("both"))
    return gather_facts(sides(store, ["reference", "new"]), compared_halobench())


def forest_rows() -> dict[str, Tag]:
    tree = tree_of(forest_section(Facts((), compared_halobench())))
    return {row.one("th").text: row for row in tree.one("tbody").all("tr")}


def test_the_persistent_row_lies_left_of_the_margin_band_and_waitall_inside() -> None:
    rows = forest_rows()
    assert len(rows) == 8
    band = rows["persistent"].one("rect", "margin")
    left, right = band.fraction("x"), band.fraction("x") + band.fraction("width")
    assert 0 < left < right < 1
    assert rows["persistent"].one("use").fraction("x") < left / 2
    assert left < rows["waitall"].one("use").fraction("x") < right
    unity = rows["waitall"].one("line", "unity").fraction("x1")
    assert unity == pytest.approx((left + right) / 2, abs=1e-3)


def test_forest_marks_and_intervals_are_at_their_ratios() -> None:
    comparison = compared_halobench()
    scale = ratio_scale(comparison)
    drawn = forest_rows()
    for row in comparison.rows:
        assert row.ratio is not None
        assert row.interval is not None
        tag = drawn[row.factors["mode"]]
        assert tag.one("use").fraction("x") == pytest.approx(scale.fraction(row.ratio), abs=1e-4)
        whisker = tag.one("line", "interval")
        assert whisker.fraction("x1") == pytest.approx(scale.fraction(row.interval[0]), abs=1e-4)
        assert whisker.fraction("x2") == pytest.approx(scale.fraction(row.interval[1]), abs=1e-4)


def test_forest_rows_begin_with_the_worst() -> None:
    names = list(forest_rows())
    assert names[:4] == ["persistent", "pairwise", "sendrecv", "isend-recv"]
    assert names[4] == "redblack"


def test_an_interval_beyond_the_axis_ends_in_an_arrow() -> None:
    comparison = compared_halobench()
    comparison.rows[6] = replace(comparison.rows[6], estimate=estimate_of(0.057, 1e9))
    tree = tree_of(forest_section(Facts((), comparison)))
    row = next(r for r in tree.one("tbody").all("tr") if r.one("th").text == "persistent")
    assert [t.text for t in row.all("text", "clipped")] == ["‹", "›"]
    whisker = row.one("line", "interval")
    assert (whisker.fraction("x1"), whisker.fraction("x2")) == (0, 1)


def test_rows_without_a_ratio_are_shown_without_a_mark() -> None:
    comparison = compared_halobench()
    comparison.rows[2] = replace(comparison.rows[2], verdict="missing", estimate=None, new=(), warnings=("not run",))
    tree = tree_of(forest_section(Facts((), comparison)))
    row = tree.one("tr", data_verdict="missing")
    assert not row.all("use")
    assert "not run" in row.text


def test_where_a_common_shift_was_removed_the_drawn_ratio_is_the_judged_one() -> None:
    row = replace(compared_halobench().rows[5], estimate=estimate_of(1.0, 1.02, raw=(0.8, 1.025)))
    assert row.interval == pytest.approx((1 / 1.02, 1.02))
    assert row.raw_interval == pytest.approx((0.8 / 1.025, 0.82))
    kind = "new / reference, without the common shift"
    assert ratio_text(row) == f"ratio 1.000, 95 % interval 0.980 to 1.020 ({kind}; raw ratio 0.800)"


def test_the_margin_band_is_as_wide_for_worse_as_for_better() -> None:
    low, high = margin_band(0.05)
    assert low * high == pytest.approx(1)
    assert high == 1.05


def test_every_launch_is_one_dot_at_its_figure(both: Facts) -> None:
    figures = both.of_pattern("halo")
    tree = tree_of(launch_dots(both, figures))
    scale = for_figures([f.value for f in figures])
    assert scale.logarithmic
    for row in tree.one("tbody").all("tr"):
        reference, new = HALOBENCH[row.one("th").text]
        drawn = sorted(d.fraction("x") for d in row.all("use", "dot"))
        expected = sorted(scale.fraction(v) for v in (*reference, *new))
        assert drawn == pytest.approx(expected, abs=1e-4)


def test_the_spread_of_a_dot_is_stated_in_the_unit_of_its_figure(both: Facts) -> None:
    dot = replace(both.of_pattern("halo")[0], value=4e7, unit="keys/s", spread=(0.5, 2.0), imported=False)
    assert tooltip(dot).endswith("40.0 million keys/s, repetitions p10–p90 20.0 million keys/s – 80.0 million keys/s")


def test_the_spread_follows_the_times_of_a_latency_and_is_inverse_for_a_rate(quick: Facts) -> None:
    latency = next(f for f in quick.figures if f.metric == "latency_us")
    rate = next(f for f in quick.figures if f.better == "higher" and f.spread)
    assert latency.spread is not None
    assert rate.spread is not None
    # report_data.py: the times of the repetitions have p10 at 0.98 and p90 at 1.04 of the median.
    assert latency.spread == pytest.approx((0.98, 1.04))
    assert rate.spread == pytest.approx((1 / 1.04, 1 / 0.98))


def test_the_reference_is_above_the_new_side_in_a_row(both: Facts) -> None:
    tree = tree_of(launch_dots(both, both.of_pattern("halo")))
    for row in tree.one("tbody").all("tr"):
        heights = {
            side: [d.fraction("y") for d in row.all("use", style)] for side, style in (("ref", "s1"), ("new", "s2"))
        }
        assert len(heights["ref"]) == len(heights["new"]) == 2
        assert max(heights["ref"]) < 0.5 < min(heights["new"])


def test_dots_stand_in_run_order_from_top_to_bottom(quick: Facts) -> None:
    figures = [f for f in quick.of_pattern("gather") if f.factors["strategy"] == "direct"]
    tree = tree_of(launch_dots(quick, figures))
    rows = tree.one("tbody").all("tr")
    assert len(rows) == 2
    for row in rows:
        dots = row.all("use", "dot")
        runs = [int(d.text.split("run ")[1].split(":")[0]) for d in dots]
        assert runs == sorted(runs)
        assert [d.fraction("y") for d in dots] == sorted(d.fraction("y") for d in dots)


def test_curves_join_the_medians_of_the_sizes_in_order(quick: Facts) -> None:
    halo = quick.of_pattern("halo")
    assert size_factors(halo) == ["halo", "fields"]
    drawn = panels(quick, halo, "halo")
    assert {p.title for p in drawn} == {f"{t}, fields {n}" for t in ("mpi", "threads") for n in (1, 8)}
    for panel in drawn:
        for series in panel.series:
            assert [p.size for p in series.points] == [1, 2, 3]
            assert all(p.low <= p.value <= p.high and p.launches == 5 for p in series.points)
            values = [p.value for p in series.points]
            assert values == sorted(values)  # 0.8, 0.9, 1.0 of the base, with 2 % of noise


def test_one_of_several_sizes_that_change_together_is_drawn(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for nodes in (1, 2, 4):
        cell = {"nodes": nodes, "ranks": 4 * nodes, "ranks_per_node": 4}
        gathered = result("gather", {"strategy": "agp"}, "injection_bandwidth", 1.0 / nodes, "GB/s")
        store.write_launch(
            envelope("s", "t", "day", cell),
            [records.dump(r) for r in (header_of(cell), gathered, records.end_record())],
        )
    facts = gather_facts(sides(store, ["t"]))
    figures = facts.of_pattern("gather")
    assert size_factors(figures) == ["nodes"]
    (panel,) = panels(facts, figures, "nodes")
    assert (panel.title, [p.size for p in panel.series[0].points]) == ("", [1, 2, 4])


def test_each_kind_of_work_has_its_own_table() -> None:
    faces: dict[str, Any] = {"mode": "persistent", "contiguous": 10}
    bare: dict[str, Any] = {"mode": "waitall", "contiguous": 10, "buffer_items": 3}
    domain: dict[str, Any] = {"mode": "channel", "domain": [4, 4, 4], "halo": 1, "fields": 1}
    part: dict[str, Any] = {"mode": "channel", "domain": [4, 4, 4]}
    assert split_by_work([faces, domain, bare, part], "halo", lambda factors: factors) == [
        [faces, bare],
        [domain, part],
    ]
    assert split_by_work([faces, domain], "unknown", lambda factors: factors) == [[faces, domain]]


def test_the_bound_is_drawn_at_the_measured_memory_copy(quick: Facts) -> None:
    stream = quick.of_pattern("stream")
    block = tree_of(curves(quick, stream)[0])
    charts = {f.one("figcaption").text: f for f in block.all("figure")}
    assert set(charts) == {"threads", "mpi"}
    copies = [f for f in quick.of_pattern("control") if f.factors["kernel"] == "copy"]
    copy = {t: median_value([f for f in copies if f.factors["transport"] == t]) for t in charts}
    scale = for_figures([*(f.value for f in stream), *copy.values()])
    for transport, chart in charts.items():
        assert copy[transport] == pytest.approx(COPY_GBPS, rel=0.05)
        for piece in chart.all("line", "bound"):
            assert piece.fraction("y1") == pytest.approx(1 - copy[transport] / scale.high, abs=1e-4)


def test_the_bound_of_a_process_falls_with_the_ranks(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for ranks in (2, 4):
        cell = {"transport": "mpi", "ranks": ranks}
        lines = [
            header_of(cell),
            result("control", {"kernel": "copy"}, "bandwidth", 20.0, "GB/s"),
            result("halo", {"mode": "waitall"}, "process_bandwidth", 2000.0, "MiB/s"),
            records.end_record(),
        ]
        store.write_launch(envelope("s", "t", "day", cell), [records.dump(r) for r in lines])
    facts = gather_facts(sides(store, ["t"]))
    halo = facts.of_pattern("halo")
    (panel,) = panels(facts, halo, "ranks")
    assert [size for size, _ in panel.bounds] == [2, 4]
    assert [b.value for _, b in panel.bounds] == pytest.approx([20e9 / 2**20 / 2 / ranks for ranks in (2, 4)])
    assert curves(facts, halo) == [], "curves over ranks are in the section of scaling"
    rows = tree_of(launch_dots(facts, halo)).one("tbody").all("tr")
    assert len({row.one("line", "bound").fraction("x1") for row in rows}) == 2


def test_large_powers_of_two_are_written_as_powers() -> None:
    assert [size_label([1024.0, 2.0**20])(size) for size in (1024.0, 2.0**20)] == ["2¹⁰", "2²⁰"]
    assert size_label([1000.0, 2.0**20])(2.0**20) == "1.05·10⁶"
    assert size_label([1.0, 8.0])(8.0) == "8"


def test_levels_that_are_not_numbers_are_not_joined(both: Facts) -> None:
    assert curves(both, both.of_pattern("halo")) == []


def test_drift_is_detected(tmp_path: Path) -> None:
    facts = gather_facts(sides(write_study(tmp_path, launches=6), ["quick"]))
    figures = facts.of_pattern("gather")
    deviations = launch_deviations(figures)
    assert [d.position for d in deviations] == list(range(12))
    steady = trend(deviations)
    assert steady is not None
    assert steady == pytest.approx(1, abs=0.03)
    slower = [LaunchDeviation(d.position, d.ratio * (1 - 0.02 * d.position), d.variants) for d in deviations]
    changed = trend(slower)
    assert changed is not None
    assert changed < 0.9
    assert trend(deviations[:8]) is None


def test_better_is_up_in_the_drift_of_a_latency(quick: Facts) -> None:
    """The launch with the highest latency is the worst."""
    figures = [f for f in quick.of_pattern("control") if f.metric == "latency_us" and f.factors["transport"] == "mpi"]
    worst = max(figures, key=lambda f: f.value)
    ratios = {d.position: d.ratio for d in launch_deviations(figures)}
    assert worst.position is not None
    assert ratios[worst.position] == min(ratios.values()) < 1


def test_the_heat_map_signs_every_cell() -> None:
    comparison = compared_halobench()
    rows = [with_levels(row, ranks=ranks) for row in comparison.rows for ranks in (2, 4)]
    tree = tree_of(heat_map_section(Facts((), replace(comparison, rows=rows))))
    cells = {row.one("th").text: [c.text for c in row.all("td")] for row in tree.one("tbody").all("tr")}
    assert cells["persistent"] == ["▼ ÷17.5", "▼ ÷17.5"]
    assert cells["waitall"] == ["0.0 %", "0.0 %"]
    assert cells["redblack"] == ["−12.2 %", "−12.2 %"]


def test_the_heat_map_knows_which_way_is_better() -> None:
    comparison = compared_halobench()
    row = comparison.rows[0]
    latency = replace(
        row,
        key=replace(row.key, metric="latency_us"),
        reference=tuple(replace(figure, better="lower") for figure in row.reference),
        verdict="regressed",
        estimate=estimate_of(0.5, 1.01),
    )
    rows = [with_levels(latency, mode=mode, ranks=ranks) for mode in ("a", "b") for ranks in (2, 4)]
    tree = tree_of(heat_map_section(Facts((), replace(comparison, rows=rows))))
    cells = tree.one("tbody").all("td")
    assert len(cells) == 4
    assert all(cell.classes == ["heat-worse-3"] and cell.text == "▼ +100.0 %" for cell in cells)


def test_scales_put_their_ends_at_zero_and_one() -> None:
    assert Scale(2, 6).fraction(4) == 0.5
    scale = Scale(1, 100, logarithmic=True)
    assert (scale.fraction(1), scale.fraction(10), scale.fraction(100)) == (0, 0.5, 1)
    assert scale.fraction(0) == -math.inf
    assert (scale.clipped(0), scale.clipped(1e9)) == (0, 1)


@pytest.mark.parametrize(("low", "high"), [(0.05, 1.1), (0.93, 1.07), (1, 2), (0.001, 3000), (380, 13000), (1e-9, 1e9)])
def test_labels_of_logarithmic_axes_never_touch(low: float, high: float) -> None:
    ticks = log_around([low, high]).ticks()
    for pixels, names in ((560, ("always", "wide")), (250, ("always",))):
        shown = [(t.fraction * pixels, len(t.label) * 7 / 2) for t in ticks if t.shown in names]
        assert len(shown) >= 2
        for (a, half_a), (b, half_b) in pairwise(shown):
            assert a + half_a < b - half_b


@pytest.mark.parametrize("values", [(1e308, 1e-5), (1.79e308, 1.7e308), (1.79e308, 5e-324), (5e-324, 1e-320)])
def test_any_range_of_doubles_has_an_axis(values: tuple[float, float]) -> None:
    for scale in (log_around(values), for_figures(values)):
        assert 0 <= scale.low < scale.high < math.inf
        ticks = scale.ticks()
        assert ticks
        assert all(0 <= tick.fraction <= 1 and tick.label for tick in ticks)


def test_of_crowded_labels_the_roundest_are_kept() -> None:
    scale = Scale(900, 70_000, logarithmic=True)
    ticks = scale.ticks_at([1000, 1024, 1100, 2000, 4000, 8000, 10_000, 16_000, 32_000, 64_000], lambda v: f"{v:.0f}")
    assert next(t.label for t in ticks if t.shown == "always") == "1000"
    assert {t.label: t.shown for t in ticks}["1024"] == "never"
    assert {t.label: t.shown for t in ticks}["10000"] == "always"
    for pixels, names in ((560, ("always", "wide")), (250, ("always",))):
        shown = [(t.fraction * pixels, len(t.label) * 7 / 2) for t in ticks if t.shown in names]
        assert 2 < len(shown) < len(ticks)
        assert all(a + half_a < b - half_b for (a, half_a), (b, half_b) in pairwise(shown))


def test_figures_that_span_decades_get_a_logarithmic_axis() -> None:
    assert for_figures([1, 100]).logarithmic
    assert not for_figures([50, 100]).logarithmic
    assert for_figures([50, 100]).low == 0
    assert for_figures([]).high > 0
