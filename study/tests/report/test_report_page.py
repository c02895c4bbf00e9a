"""The page is one well-formed file that contains its data, for any names in the data."""

from __future__ import annotations

import base64
import csv
import gzip
import io
import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from longshore_study.report import downloads
from longshore_study.report.facts import Facts, gather_facts
from longshore_study.report.page import build_page
from longshore_study.store.selection import sides
from report_data import (
    GUIDELINES,
    checked_guideline,
    compared_halobench,
    with_levels,
    write_failure,
    write_halobench,
    write_study,
)
from report_tree import Tag, parse

NOW = datetime(2026, 1, 6, 12, 30, tzinfo=UTC)
HOSTILE = """<script>alert("x")</script> & 'quotes' " onload="x"""


@pytest.fixture(scope="module")
def solo(tmp_path_factory: pytest.TempPathFactory) -> Facts:
    store = write_study(tmp_path_factory.mktemp("solo"))
    write_failure(store)
    return gather_facts(sides(store, ["quick"]), None, {"quick": GUIDELINES})


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Facts:
    store = write_halobench(tmp_path_factory.mktemp("compared"))
    return gather_facts(sides(store, ["reference", "new"]), compared_halobench(), {"new": GUIDELINES})


def page(facts: Facts) -> Tag:
    return parse(build_page(facts, NOW))


def data_of(link: Tag) -> str:
    kind, _, encoded = link.attributes["href"].partition(";base64,")
    assert kind.startswith("data:")
    return base64.b64decode(encoded, validate=True).decode()


def test_a_comparison_has_all_sections_in_reading_order(compared: Facts) -> None:
    found = [s.attributes["id"] for s in page(compared).all("section")]
    assert found == [
        "verdict", "ratios", "fastest", "figures", "guidelines", "drift", "missing", "provenance", "methods", "data",
    ]  # fmt: skip


def test_one_tag_alone_has_winners_and_no_ratios(solo: Facts) -> None:
    tree = page(solo)
    ids = [s.attributes["id"] for s in tree.all("section")]
    assert "ratios" not in ids
    assert "fastest" in ids
    section = tree.one("section", id="verdict")
    assert re.search(
        r"reach [56]\d % \(gather\) to 9\d % \(stream\) of the speed of memory copy from main memory\.",
        section.one("p", "verdict").text,
    )
    rows = {row.one("th").text: row for row in section.one("tbody").all("tr")}
    patterns = ("Stream", "Gather", "Halo exchange")
    assert set(rows) == {f"{pattern} {transport}" for pattern in patterns for transport in ("threads", "mpi")}
    # The gather moves 12 GB/s (16 bytes per request), and memory copy 20 GB/s, with 2 % of noise.
    assert re.search(r"1[12]\.\d GB/s(5[89]|6[0-3]) %direct", rows["Gather threads"].text)
    bar, copy = rows["Gather threads"].one("rect", "bar"), rows["Gather threads"].one("line", "bound")
    shown = float(rows["Gather threads"].one(class_="c-share").text.split()[0]) / 100
    assert bar.fraction("width") / copy.fraction("x1") == pytest.approx(shown, abs=0.006)


def test_the_verdict_names_counts_and_the_worst_row(compared: Facts) -> None:
    section = page(compared).one("section", id="verdict")
    assert "4 of 8 figures regressed beyond the margin of 5 %" in section.text
    assert "persistent: bandwidth per process 17.5 times lower (6997 → 401 MiB/s" in section.text
    tiles = {t.one(class_="word").text: t.one("b").text for t in section.all("li", "tile")}
    assert tiles == {"regressed": "4", "improved": "0", "inconclusive": "1", "same": "3"}


def test_the_contents_lead_to_every_section_with_a_heading(compared: Facts, solo: Facts) -> None:
    for tree in (page(compared), page(solo)):
        headed = {s.attributes["id"] for s in tree.all("section") if s.all("h2")}
        assert {a.attributes["href"] for a in tree.one("nav").all("a")} == {f"#{i}" for i in headed}
        assert len(headed) > 5


def test_ids_are_unique_and_references_stay_inside_the_file(compared: Facts, solo: Facts) -> None:
    for tree in (page(compared), page(solo)):
        ids = [t.attributes["id"] for t in tree.walk() if "id" in t.attributes]
        assert len(ids) == len(set(ids))
        references = [
            t.attributes[k] for t in tree.walk() for k in ("href", "src", "action", "data") if k in t.attributes
        ]
        assert len(references) > 30
        for reference in references:
            assert reference.startswith("data:") or (reference.startswith("#") and reference[1:] in ids), reference
        style = tree.one("style").text
        assert "url(" not in style
        assert "@import" not in style


def test_the_policy_forbids_loading_and_allows_only_the_page_own_script(compared: Facts) -> None:
    tree = page(compared)
    policy = tree.one("meta", http_equiv="Content-Security-Policy").attributes["content"]
    assert "default-src 'none'" in policy
    assert "script-src 'sha256-" in policy
    assert len(tree.all("script")) == 1


def test_text_of_the_data_never_becomes_markup(tmp_path: Path) -> None:
    store = write_halobench(tmp_path, HOSTILE, "new")
    comparison = compared_halobench(HOSTILE, "new")
    comparison.rows[0] = with_levels(comparison.rows[0], mode=HOSTILE, **{HOSTILE: 3})
    comparison.rows[1] = replace(comparison.rows[1], warnings=(HOSTILE,))
    text = build_page(gather_facts(sides(store, [HOSTILE, "new"]), comparison), NOW)
    tree = parse(text)
    assert len(tree.all("script")) == 1
    assert not [t for t in tree.walk() if "onload" in t.attributes]
    assert HOSTILE in tree.one("h1").text
    assert HOSTILE in tree.one("section", id="ratios").text
    assert "<script>alert" not in text


def test_hostile_tags_and_problems_of_launches_are_escaped_too(tmp_path: Path) -> None:
    store = write_study(tmp_path, study=HOSTILE, tag=HOSTILE, launches=2)
    write_failure(store, HOSTILE, HOSTILE)
    text = build_page(gather_facts(sides(store, [HOSTILE])), NOW)
    assert len(parse(text).all("script")) == 1
    assert "<script>alert" not in text


def test_the_downloads_hold_every_figure(solo: Facts, compared: Facts) -> None:
    links = {a.attributes["download"]: a for a in page(solo).one("section", id="data").all("a")}
    rows = list(csv.DictReader(io.StringIO(data_of(links["figures.csv"]))))
    assert len(rows) == len(solo.figures) == 5 * (14 + 11 + 12 + 9)
    direct = [r for r in rows if r["factor_strategy"] == "direct" and r["factor_transport"] == "threads"]
    expected = [
        f.value for f in solo.figures if f.factors.get("strategy") == "direct" and f.factors["transport"] == "threads"
    ]
    assert [float(r["value"]) for r in direct] == expected
    assert len(expected) == 5
    whole = json.loads(data_of(links["report.json"]))
    assert len(whole["figures"]) == len(rows)
    assert [rule["holds"] for rule in whole["guidelines"]["quick"]] == [False, True]
    links = {a.attributes["download"]: a for a in page(compared).one("section", id="data").all("a")}
    ratios = list(csv.DictReader(io.StringIO(data_of(links["comparison.csv"]))))
    assert {json.loads(r["variant"])["mode"]: r["verdict"] for r in ratios}["persistent"] == "regressed"
    assert json.loads(data_of(links["report.json"]))["comparison"]["verdict"] == "regressed"


def test_imported_figures_are_marked_as_aggregates(compared: Facts) -> None:
    tree = page(compared)
    assert "figures imported from halobench: aggregates only" in tree.one("header").text
    dots = tree.one("section", id="figures").all("use", "dot")
    assert len(dots) == 32
    assert all("open" in d.classes and "(imported aggregate)" in d.text for d in dots)


def test_an_empty_study_has_a_page(tmp_path: Path) -> None:
    store = write_study(tmp_path, launches=0)
    write_failure(store)
    tree = page(gather_facts(sides(store, ["quick"])))
    assert tree.one("p", "verdict").text == "No figure was measured."
    assert "rank 3 died" in tree.one("section", id="missing").text


def test_the_broken_guideline_is_first(compared: Facts) -> None:
    rows = page(compared).one("section", id="guidelines").one("tbody").all("tr")
    assert [r.one(class_="badge").text for r in rows] == ["✕ broken", "✓ holds"]
    assert "30.3 times slower" in rows[0].text


def test_of_two_broken_guidelines_the_worse_one_is_first(compared: Facts) -> None:
    rules = [GUIDELINES[1], checked_guideline("persistent", 0.5, "broken"), GUIDELINES[0]]
    rows = page(replace(compared, guidelines={"new": rules})).one("section", id="guidelines").one("tbody").all("tr")
    assert [row.all("td")[-1].text for row in rows] == ["30.3 times slower", "2.00 times slower", "2.0 % faster"]


def test_numbers_and_verdicts_do_not_depend_on_colour(compared: Facts) -> None:
    """Glyph and word in every row; a mark's shape differs by verdict."""
    section = page(compared).one("section", id="ratios")
    for row in section.one("tbody").all("tr"):
        badge = row.one(class_="badge").text
        glyph, word = badge.split(" ", 1)
        assert word == row.attributes["data-verdict"]
        assert glyph
    shapes = {r.attributes["data-verdict"]: r.one("use").attributes["href"] for r in section.one("tbody").all("tr")}
    assert len(set(shapes.values())) == len(shapes) == 3


def test_large_data_is_compressed(solo: Facts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "MAX_PLAIN_BYTES", 10_000)
    links = {a.attributes["download"]: a for a in page(solo).one("section", id="data").all("a")}
    assert set(links) == {"figures.csv.gz", "report.json.gz"}
    encoded = links["figures.csv.gz"].attributes["href"].partition(";base64,")[2]
    text = gzip.decompress(base64.b64decode(encoded)).decode()
    assert len(text.splitlines()) == 231
