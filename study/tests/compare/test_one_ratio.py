"""All outputs show the same ratio: it lies within its interval and has a label."""

from __future__ import annotations

import base64
import csv
import html
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from longshore_study.cli.command_line import main
from longshore_study.store.launch_store import Store
from random_studies import every_ratio, fill

RatioIntervals = Iterator[tuple[float, tuple[float, float]]]
VERDICT = "regressed|improved|same|inconclusive|untestable|invalid"
LINE = re.compile(rf"(\d\S*) +(\d\S*) to (\d\S*) +(?:{VERDICT})")
SENTENCE = re.compile(r"ratio(?: of \w+)? (\d\S*), 95 % interval (\d\S*) to (\d[^\s,;)]*)")
CELL = re.compile(r'<b>([\d.]+)</b> <span class="interval-text">\[([\d.]+), ([\d.]+)\]')
SEEDS = range(18)
QUICK_SEEDS = 6


@pytest.fixture(
    params=[pytest.param(seed, marks=pytest.mark.thorough if seed >= QUICK_SEEDS else ()) for seed in SEEDS]
)
def study(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    fill(Store(tmp_path / "results"), request.param)
    return tmp_path


def printed(capsys: pytest.CaptureFixture[str], study: Path, *arguments: str) -> str:
    capsys.readouterr()
    assert main(["--store", str(study / "results"), *arguments]) in (0, 1, 2, 3), arguments
    return capsys.readouterr().out


def document(capsys: pytest.CaptureFixture[str], study: Path, *arguments: str) -> dict[str, Any]:
    return dict(json.loads(printed(capsys, study, *arguments, "--json")))


def check(ratios: RatioIntervals, what: str) -> int:
    """Checks that every ratio lies within its interval; returns their number."""
    number = 0
    for number, (ratio, (low, high)) in enumerate(ratios, 1):  # noqa: B007 - counted
        assert low <= ratio <= high, what
    return number


def in_text(pattern: re.Pattern[str], text: str) -> RatioIntervals:
    for match in pattern.finditer(text):
        ratio, low, high = (float(one) for one in match.groups())
        yield ratio, (low, high)


def test_documents_have_every_ratio_within_its_interval(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compared = document(capsys, study, "compare", "old", "new", "--metric", "all")
    assert check(every_ratio(compared), "compare") or {row["verdict"] for row in compared["rows"]} == {"untestable"}
    for row in compared["rows"]:
        assert row["raw"]["ratio"] == pytest.approx(row["new"] / row["reference"]), (
            "the raw ratio is that of the two figures"
        )
        differs = row["ratio"] != pytest.approx(row["raw"]["ratio"], rel=1e-9)
        assert not differs or "without" in row["ratio_is"]
    out = str(study / "confirm.toml")
    check(every_ratio(document(capsys, study, "attribute", "old", "new", "-o", out)), "attribute")
    assert check(every_ratio(document(capsys, study, "guidelines", "new")), "guidelines")
    check(every_ratio(document(capsys, study, "history")), "history")


def test_tables_have_every_ratio_within_its_interval(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = document(capsys, study, "compare", "old", "new")["rows"]
    text = printed(capsys, study, "compare", "old", "new")
    assert check(in_text(LINE, text), text) == sum(row["interval"] is not None for row in rows)
    check(in_text(SENTENCE, text), text)
    assert "figures: geometric mean over sessions" in text
    assert ("raw ratio: new / reference" in text) == any("without" in row["ratio_is"] for row in rows)
    attributed = printed(capsys, study, "attribute", "old", "new", "-o", str(study / "confirm.toml"))
    check(in_text(SENTENCE, attributed), attributed)
    text = printed(capsys, study, "history")
    check(in_text(SENTENCE, text), text)


def test_exports_have_the_same_ratios(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = document(capsys, study, "compare", "old", "new")["rows"]
    call = ("export", "--compare", "old", "new")
    lines = list(csv.DictReader(io.StringIO(printed(capsys, study, *call))))
    assert [float(line["ratio"]) for line in lines] == [row["ratio"] for row in rows]
    assert [line["ratio_is"] for line in lines] == [row["ratio_is"] for row in rows]
    for line in lines:
        for ratio, low, high in (("ratio", "low", "high"), ("raw_ratio", "raw_low", "raw_high")):
            assert not line[low] or float(line[low]) <= float(line[ratio]) <= float(line[high])
    table = printed(capsys, study, *call, "--format", "markdown").splitlines()
    names, *cells = ([one.strip().replace("\\", "") for one in line.strip("|").split("|")] for line in table)
    for row in (dict(zip(names, line, strict=True)) for line in cells[1:]):
        assert not row["low"] or float(row["low"]) <= float(row["ratio"]) <= float(row["high"])
    assert ("ratio_is" in names) == any("without" in row["ratio_is"] for row in rows), (
        "a table without the common shift states it"
    )


def test_the_page_has_the_same_ratios(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compared = document(capsys, study, "compare", "old", "new")
    page = study / "report.html"
    printed(capsys, study, "report", "--compare", "old", "new", "-o", str(page))
    text = html.unescape(page.read_text(encoding="utf-8"))
    judged = [row for row in compared["rows"] if row["interval"]]
    assert check(in_text(CELL, text), "cells of the page") == len(judged)
    assert check(in_text(SENTENCE, text), "texts of the page") >= len(judged)
    data = {name: base64.b64decode(code) for code, name in re.findall(r'base64,([^"]+)" download="([^"]+)"', text)}
    assert json.loads(data["report.json"])["comparison"]["rows"] == compared["rows"]
    check(every_ratio(json.loads(data["report.json"])), "report.json")
    for line in csv.DictReader(io.StringIO(data["comparison.csv"].decode())):
        low, high = line["interval_low"], line["interval_high"]
        assert not low or float(low) <= float(line["ratio"]) <= float(high)
        assert line["ratio_is"]
    for kind in {row["ratio_is"] for row in compared["rows"]}:
        assert kind in text


def test_random_studies_have_raw_and_judged_ratios_that_differ(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without such studies the tests above would check nothing."""
    kinds, designs, lower = set(), set(), 0
    for seed in SEEDS:
        fill(Store(tmp_path / str(seed) / "results"), seed)
        rows = document(capsys, tmp_path / str(seed), "compare", "old", "new", "--metric", "all")["rows"]
        kinds |= {row["ratio_is"] for row in rows}
        designs |= {row["design"] for row in rows}
        lower += any(row["better"] == "lower" for row in rows)
    plain = "new / reference"
    assert {plain, f"{plain}, without the common shift", f"{plain}, without the pulse"} <= kinds
    assert f"{plain}, without the common shift and the pulse" in kinds
    assert designs == {"paired", "unpaired", "stratified"}
    assert lower == len(SEEDS)
