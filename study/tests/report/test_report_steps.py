"""The section of steps: figures with bars and gains, missing figures with reasons."""

from __future__ import annotations

from pathlib import Path

import pytest

from longshore_study.cli.command_line import main
from longshore_study.report.facts import Facts, gather_facts
from longshore_study.report.markup import to_text
from longshore_study.report.page import build_page
from longshore_study.report.steps import steps_section
from longshore_study.store.launch_store import Store
from longshore_study.store.selection import sides
from report_data import result
from report_tree import Tag, parse
from stored_launches import PUBLISHED, control, store_launch

STEPS = [{"name": name, "pattern": "stream", "levels": {"step": name}} for name in ("first", "second", "third")]
VALUES = {"first": (10.0, 8.0), "second": (15.0, 6.0), "third": (15.0, None)}


def section(facts: Facts) -> Tag:
    found = steps_section(facts)
    assert found is not None
    return parse(to_text(found))


@pytest.fixture
def facts(tmp_path: Path) -> Facts:
    """Two layers: "good" gains with the second step; "bad" loses and lacks the third step. Memory
    copy is 20 GB/s."""
    store = Store(tmp_path)
    for index, level in enumerate((0.98, 1.0, 1.02)):
        results = [control("copy", 20.0)]
        for name, values in VALUES.items():
            for tasks, value in zip(("good", "bad"), values, strict=True):
                variant = {"tasks": tasks, "step": name}
                if value is None:
                    results.append({"record": "result", "pattern": "stream", "variant": variant, "skipped": "no room"})
                else:
                    noise = level * (1.01 if index == 1 and name == "second" else 1.0)
                    results.append(result("stream", variant, "bandwidth", value * noise, "GB/s"))
        store_launch(store, "t", "day", results, index, {"program": "stream", "ranks": 2}, steps=STEPS)
    return gather_facts(sides(store, ["t"]))


def rows_of(facts: Facts) -> dict[str, list[Tag]]:
    return {row.one("th").text: row.all("td") for row in section(facts).one("tbody").all("tr")}


def test_a_row_per_step_has_figure_gain_and_interval(facts: Facts) -> None:
    rows = rows_of(facts)
    assert list(rows) == ["first", "second", "third", "all steps"]
    good, bad = rows["second"]
    assert good.text.startswith("15.0 ×1.50")
    assert bad.text.startswith("6.02 ×0.75")
    assert good.all("span", "interval-text")
    assert rows["third"][0].one("span", "gain").text.startswith("~×1.00") or "~" in rows["third"][0].text


def test_the_bar_ends_at_the_figure_and_shows_the_gain_or_loss(facts: Facts) -> None:
    rows = rows_of(facts)
    good, bad = rows["second"]
    # The scale ends at the bound, 20 GB/s.
    base, gained = good.one("rect", "base"), good.one("rect", "gained")
    assert base.fraction("width") == pytest.approx(10 / 20, abs=0.005)
    assert gained.fraction("x") == pytest.approx(base.fraction("width"))
    assert gained.fraction("x") + gained.fraction("width") == pytest.approx(15 / 20, abs=0.005)
    lost = bad.one("rect", "lost")
    assert (lost.fraction("x"), lost.fraction("width")) == pytest.approx((6 / 20, 2 / 20), abs=0.005)
    assert not bad.all("rect", "gained")
    assert good.one("line", "bound").fraction("x1") == pytest.approx(1.0)


def test_a_skipped_step_is_shown_with_its_reason(facts: Facts) -> None:
    page = section(facts)
    assert [cell.text for cell in page.all("td", "absent")] == ["skipped1"]
    assert [item.text for item in page.one("ol").all("li")] == ["skipped: no room"]
    assert len(page.one("tbody").all("td")) == 4 * 2


def test_without_steps_there_is_no_section(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store_launch(store, "t", "day", [result("stream", {"tasks": "a"}, "bandwidth", 1.0, "GB/s")])
    facts = gather_facts(sides(store, ["t"]))
    assert steps_section(facts) is None
    assert "What each step brought" not in build_page(facts)


def test_steps_that_cannot_be_read_are_reported(tmp_path: Path) -> None:
    store = Store(tmp_path)
    steps = [{"name": "first", "pattern": "stream", "levels": {"tasks": "a"}}, {"name": "second"}, 7]
    results = [result("stream", {"tasks": "a"}, "bandwidth", 1.0, "GB/s")]
    path = store_launch(store, "t", "day", results, steps=steps)
    page = section(gather_facts(sides(store, ["t"])))
    assert [row.one("th").text for row in page.one("tbody").all("tr")] == ["first"]
    assert [warning.text.partition(": ")[2] for warning in page.all("p", "warning")] == [
        "not a step, and not used: {'name': 'second'}", "not a step, and not used: 7",
    ]  # fmt: skip
    (path.parent / "study-abc.toml").write_text("[study]\nnam = 1\n", encoding="utf-8")
    store_launch(store, "u", "day", results, study_file={"digest": "abc"})
    moved = store.session_path("s", "u", "day") / "study-abc.toml"
    (path.parent / "study-abc.toml").rename(moved)
    told = section(gather_facts(sides(store, ["u"]))).text
    assert "the steps of s are not known" in told
    assert "nothing to run: a study needs at least one [[pattern]]" in told


def test_the_published_table_is_drawn_as_published(tmp_path: Path) -> None:
    main(["--store", str(tmp_path), "import", "stream-csv", str(PUBLISHED / "stream-chapel-1.12.csv"), "--tag", "p"])
    page = section(gather_facts(sides(Store(tmp_path), ["p"])))
    tables = page.all("table")
    assert [len(table.one("tbody").all("tr")) for table in tables] == [7 + 1, 7 + 1]
    assert [len(table.one("tbody").all("tr")[0].all("td")) for table in tables] == [10, 5]
    heads = [[cell.text for cell in row.all("th")] for row in tables[1].one("thead").all("tr")]
    assert heads[0] == ["transport", "gasnet-mpi", "gasnet-aries", "ugni", "reference"]
    assert heads[1] == ["tasks", "qthreads", "qthreads", "muxed", "qthreads", "hpcc-mpi-openmp"]
    last = [cell.text for cell in tables[1].one("tbody").all("tr")[6].all("td")]
    assert last == ["74.0 ×1.00", "35.0 ×1.00", "70.0 ×1.09", "74.0 ×1.35", "74.0 ×1.00"]
    assert "the data do not show how much launches differ" in page.text
