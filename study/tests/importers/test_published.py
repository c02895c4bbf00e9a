"""The published outputs, from the files as they were printed to the verdicts: what README promises
first."""

from __future__ import annotations

from pathlib import Path

import pytest

from longshore_study.cli.command_line import main
from stored_launches import PUBLISHED, import_published_images, json_of

STORE = "store"


@pytest.fixture
def images(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    import_published_images(tmp_path / STORE)
    capsys.readouterr()
    return str(tmp_path / STORE)


def test_the_new_image_has_lost_what_it_lost_and_nothing_else(images: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--store", images, "compare", "reference", "new", "--json"]) == 1
    document = json_of(capsys.readouterr().out)
    rows = {row["variant"]["mode"]: row for row in document["rows"]}
    assert document["schema"] == 1
    assert document["verdict"] == "regressed"
    assert rows["persistent"]["verdict"] == "regressed"
    assert rows["persistent"]["ratio"] == pytest.approx(1 / 17.45, rel=0.01)
    for mode in ("sendrecv", "isend-recv", "pairwise"):
        assert rows[mode]["verdict"] == "regressed"
        assert 1.6 < 1 / rows[mode]["ratio"] < 2.0
    for mode in ("redblack", "irecv-send", "waitall", "neighbor"):
        assert rows[mode]["verdict"] in ("same", "inconclusive")
    assert rows["persistent"] | {
        "metric": "process_bandwidth", "unit": "MiB/s", "sessions": [2, 2], "pattern": "halo",
        "variant": {"mode": "persistent", "algorithm": "faces", "contiguous": 10000},
    } == rows["persistent"]  # fmt: skip
    assert rows["persistent"]["interval"][0] < 0.0573 < rows["persistent"]["interval"][1]
    assert document["common_shift"]["removed"] is False


def test_without_a_reference_persistent_is_found_broken(images: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--store", images, "guidelines", "new", "--json"]) == 1
    rows = json_of(capsys.readouterr().out)["rows"]
    broken = [row for row in rows if row["holds"] is False]
    assert [row["faster"] for row in broken] == [{"mode": "persistent"}]
    assert broken[0]["than"] == {"mode": "waitall"}
    assert 28 < broken[0]["times_slower"] < 33
    assert broken[0]["ratio"] == pytest.approx(1 / broken[0]["times_slower"])


def test_one_session_per_side_shows_the_effect_and_judges_nothing(
    images: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for tag, file in (("old", "production-reference.out"), ("now", "production-new-image.out")):
        path = PUBLISHED / "halobench" / file
        main(["--store", images, "import", "halobench", str(path), "--tag", tag, "--session", "p", "--study", "one"])
    capsys.readouterr()
    assert main(["--store", images, "compare", "old", "now", "--json"]) == 2
    rows = json_of(capsys.readouterr().out)["rows"]
    assert {row["verdict"] for row in rows} == {"untestable"}
    assert min(row["ratio"] for row in rows) < 0.06
    assert all(row["interval"] is None and row["warnings"] for row in rows)


def test_bale_and_chapel_stand_in_one_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = str(tmp_path / STORE)
    folder = PUBLISHED / "indexgather"
    for name in ("bale", "chapel-ig"):
        files = sorted(map(str, folder.glob(f"{name.split('-')[0]}*.out")))
        assert len(files) == (2 if name == "bale" else 6)
        assert main(["--store", store, "import", name, *files, "--tag", name]) == 0
    capsys.readouterr()
    assert main(["--store", store, "show", "--json"]) == 0
    rows = json_of(capsys.readouterr().out)["rows"]
    assert len(rows) == 2 * 4 + 6 * 2
    found = {
        (row["tag"], row["between"]["nodes"], row["variant"]["distribution"], row["variant"].get("indexing"),
         row["variant"]["strategy"]): row["metrics"]["injection_bandwidth"]
        for row in rows
    }  # fmt: skip
    assert found["bale", 16, "cyclic", None, "exstack"] == {
        "value": 2.885, "unit": "GB/s", "better": "higher", "per": "node",
    }  # fmt: skip
    assert found["bale", 256, "cyclic", None, "conveyor"]["value"] == 1.340
    assert found["chapel-ig", 16, "cyclic", None, "aggregator"]["value"] == 1.791
    assert found["chapel-ig", 256, "block", None, "agp"]["value"] == 0.790
    assert found["chapel-ig", 16, "block", "optimised", "aggregator"]["value"] == 3.025

    assert main(["--store", store, "show"]) == 0
    table = capsys.readouterr().out
    assert table.count("gather: injection_bandwidth") == 1
    for line in ("exstack", "aggregator", "optimised", "cyclic", "block", "GB/s", "36"):
        assert line in table


def test_the_comparison_reads_well(images: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["--store", images, "compare", "reference", "new"])
    text = " ".join(capsys.readouterr().out.split())
    assert "new against reference: regressed (4 regressed, 4 inconclusive; margin 5 %)" in text
    assert "mode persistent is 17.5 times slower" in text
    assert "ranks 128" in text, "no figure without its layout"
    main(["--store", images, "guidelines", "new"])
    assert "broken: halo mode persistent is 30.2 times slower than mode waitall" in capsys.readouterr().out
