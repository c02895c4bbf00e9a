"""The command `longshore report`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from longshore_study.cli.command_line import main
from longshore_study.store.launch_store import Store
from report_data import write_failure, write_study
from report_tree import parse
from stored_launches import halo, store_launch

PUBLISHED = Path(__file__).parents[1] / "data" / "published" / "halobench"


@pytest.fixture
def published(tmp_path: Path) -> list[str]:
    """The four published outputs, imported as in the README."""
    store = ["--store", str(tmp_path / "store")]
    for image, tag in (("reference", "reference"), ("new-image", "new")):
        for system in ("production", "tds"):
            file = str(PUBLISHED / f"{system}-{image}.out")
            assert main(["import", "halobench", file, "--tag", tag, "--session", system, *store]) == 0
    return store


def test_the_published_images_are_judged(
    published: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "images.html"
    capsys.readouterr()
    assert main(["report", "--compare", "reference", "new", "-o", str(output), *published]) == 0
    assert capsys.readouterr().out == f"{output}: regressed\n"
    tree = parse(output.read_text(encoding="utf-8"))
    rows = {r.one("th").text: r for r in tree.one("section", id="ratios").one("tbody").all("tr")}
    regressed = {name for name, row in rows.items() if row.attributes["data-verdict"] == "regressed"}
    assert regressed == {"persistent", "sendrecv", "isend-recv", "pairwise"}
    band = rows["persistent"].one("rect", "margin")
    assert rows["persistent"].one("use").fraction("x") < band.fraction("x")
    assert "17.5 times lower" in tree.one("section", id="verdict").text
    guideline = tree.one("section", id="guidelines").one("tbody").all("tr")[0].text
    assert "broken" in guideline
    assert "30.2 times slower" in guideline


def test_a_report_is_not_written_under_the_name_of_another_format(
    published: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", "-o", str(tmp_path / "report.pdf"), *published]) == 64
    assert "end in '.pdf'" in capsys.readouterr().err
    assert not (tmp_path / "report.pdf").exists()


def test_all_tags_are_described_without_a_judgement(published: list[str], tmp_path: Path) -> None:
    output = tmp_path / "all.html"
    assert main(["report", "halobench", "-o", str(output), *published]) == 0
    tree = parse(output.read_text(encoding="utf-8"))
    assert not tree.all("section", id="ratios")
    assert "Nothing is judged here" in tree.one("section", id="verdict").text
    assert len(tree.one("section", id="figures").all("use", "dot")) == 32


@pytest.mark.parametrize("comparison", [[], ["--compare", "reference", "new"]])
def test_a_condition_selects_the_rows(published: list[str], tmp_path: Path, comparison: list[str]) -> None:
    output = tmp_path / "one.html"
    assert main(["report", *comparison, "-o", str(output), "--where", "mode == 'persistent'", *published]) == 0
    page = output.read_text(encoding="utf-8")
    assert "persistent" in page
    assert "pairwise" not in page
    for condition, status in (("metric == 'process_bandwidth'", 0), ("metric == 'speed'", 3), ("colour == 'red'", 64)):
        assert main(["report", "-o", str(output), "--where", condition, *published]) == status
        assert main(["show", "--where", condition, *published]) == status


def test_json_names_the_file(published: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "r.html"
    capsys.readouterr()
    assert main(["report", "--compare", "reference", "new", "-o", str(output), "--json", *published]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["verdict"] == "regressed"
    assert summary["sides"] == ["reference", "new"]
    assert Path(summary["file"]).stat().st_size == summary["bytes"]


def test_two_studies_are_compared_as_a_whole(tmp_path: Path) -> None:
    store = ["--store", str(tmp_path / "store")]
    write_study(tmp_path / "store", study="monday", tag="a", launches=3)
    write_study(tmp_path / "store", study="tuesday", tag="b", launches=3, seed=2)
    output = tmp_path / "two.html"
    assert main(["report", "--compare", "monday", "tuesday", "-o", str(output), *store]) == 0
    tree = parse(output.read_text(encoding="utf-8"))
    rows = tree.one("section", id="ratios").all("tr", data_verdict="missing")
    assert rows == []
    assert tree.one("h1").text == "tuesday against monday"


def test_only_the_named_studies_are_shown(tmp_path: Path) -> None:
    store = write_study(tmp_path / "store", study="one", tag="x", launches=1)
    write_study(tmp_path / "store", study="other", tag="y", launches=1)
    write_failure(store, "other", "y")
    output = tmp_path / "one.html"
    assert main(["report", "one", "-o", str(output), "--store", str(tmp_path / "store")]) == 0
    text = output.read_text(encoding="utf-8")
    assert "rank 3 died" not in text
    assert "other" not in parse(text).one("h1").text


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["report", "--compare", "reference", "newest"], 64, "unknown tag 'newest'"),
        (["report", "halobensh"], 64, "halobench"),
        (["report", "-o", "/nowhere/r.html"], 3, "cannot write /nowhere/r.html"),
        (["report", "--compare", "reference", "new", "--margin", "7"], 64, "margin"),
    ],
)
def test_mistakes_are_one_line(
    published: list[str], capsys: pytest.CaptureFixture[str], arguments: list[str], status: int, message: str
) -> None:
    capsys.readouterr()
    assert main([*arguments, *published]) == status
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_an_empty_store_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "--store", str(tmp_path / "none"), "-o", str(tmp_path / "r.html")]) == 3
    assert "nothing is stored" in capsys.readouterr().err
    assert not (tmp_path / "r.html").exists()


def test_without_a_choice_no_choice_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = halo("waitall", 10.0) | {"variant": {}}
    store_launch(Store(tmp_path / "store"), "t", "a", [result], cell={"program": "halo"})
    assert main(["report", "-o", str(tmp_path / "one.html"), "--store", str(tmp_path / "store")]) == 0
    assert "10.0 MiB/s. Memory copy was not measured with them." in capsys.readouterr().out


def test_imported_figures_are_not_called_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = tmp_path / "app.out"
    text.write_text("copy rate: 5 GB/s\nadd rate: 6 GB/s\n", encoding="utf-8")
    store, output = ["--store", str(tmp_path / "store")], tmp_path / "app.html"
    where = ["--pattern", r"^(?P<what>\w+) rate: (?P<value>[0-9.]+)", "--figure", "rate", "--unit", "GB/s"]
    assert main(["import", "regex", str(text), "--tag", "t", "--name", "app", *where, *store]) == 0
    capsys.readouterr()
    assert main(["report", "-o", str(output), *store]) == 0
    assert "2 figures measured" in capsys.readouterr().out
    assert "app" in parse(output.read_text(encoding="utf-8")).one("section", id="verdict").text
