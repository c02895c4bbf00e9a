"""The command import: stored launches, refused files, and that a mistake stores nothing."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from longshore_study.cli.command_line import main
from longshore_study.importers import formats
from longshore_study.importers.imported import MetricChoice, Options
from longshore_study.store.launch_store import Store
from stored_launches import PUBLISHED, json_of

HALO = PUBLISHED / "halobench" / "production-reference.out"


def run(store: Path, *arguments: str) -> int:
    return main(["--store", str(store), "import", *arguments])


def test_a_file_becomes_a_launch(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, "halobench", str(HALO), "--tag", "old", "--session", "p") == 0
    assert "8 figures stored in halobench, tag old, session p" in capsys.readouterr().out
    (launch,) = Store(tmp_path).launches("halobench", "old", "p")
    assert launch.problem is None
    assert launch.imported
    assert launch.source == "import halobench"
    assert launch.envelope["imported_from"] == HALO.name


def test_importing_twice_does_not_count_twice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(tmp_path, "halobench", str(HALO), "--tag", "old", "--session", "p")
    assert run(tmp_path, "halobench", str(HALO), "--tag", "old", "--session", "p", "--json") == 0
    assert "is the same as a launch of session 'p'" in capsys.readouterr().out
    assert len(list(Store(tmp_path).launches())) == 1
    assert run(tmp_path, "halobench", str(HALO), "--tag", "another") == 0
    assert len(list(Store(tmp_path).launches())) == 2


def test_equal_text_of_another_file_or_day_is_another_launch(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(tmp_path / "store", "halobench", str(HALO), "--tag", "t", "--session", "p")
    copy = tmp_path / "copy.out"
    copy.write_bytes(HALO.read_bytes())
    capsys.readouterr()
    assert run(tmp_path / "store", "halobench", str(copy), "--tag", "t", "--session", "p") == 0
    assert "run 1 has the figures of a launch of session 'p', to the last digit" in capsys.readouterr().out
    assert run(tmp_path / "store", "halobench", str(HALO), "--tag", "t", "--session", "q") == 0
    assert [launch.session for launch in Store(tmp_path / "store").launches()] == ["p", "p", "q"]


def test_a_file_may_have_several_figures_for_several_patterns(tmp_path: Path) -> None:
    file = tmp_path / "two.out"
    file.write_text("rate: 11.25 GB/s latency: 4.5 us\n", encoding="utf-8")
    for figure, unit in (("rate", "GB/s"), ("latency", "us"), ("rate", "GB/s")):
        words = ("--pattern", rf"{figure}: (\S+)", "--figure", figure, "--unit", unit)
        assert run(tmp_path / "store", "regex", str(file), "--tag", "t", "--session", "p", *words) == 0
    metrics = [launch.results[0]["metrics"] for launch in Store(tmp_path / "store").launches()]
    assert sorted(value["value"] for metric in metrics for value in metric.values()) == [4.5, 11.25]


def test_units_of_one_figure_are_converted_or_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def store(tag: str, rate: str, *more: str) -> int:
        file = tmp_path / f"{tag}.out"
        file.write_text(f"rate: {rate}\n", encoding="utf-8")
        words = ("--tag", tag, "--pattern", r"rate: (\S+)", "--figure", "rate", *more)
        return run(tmp_path / "store", "regex", str(file), *words)

    assert store("a", "11.25", "--unit", "GB/s") == 0
    assert store("b", "11250", "--unit", "MB/s") == 0
    capsys.readouterr()
    main(["--store", str(tmp_path / "store"), "compare", "a", "b", "--json"])
    [row] = json_of(capsys.readouterr().out)["rows"]
    assert row["ratio"] == pytest.approx(1.0)
    for unit, better in (("us", "higher"), ("GB/s", "lower")):
        assert store("c", "11.25", "--unit", unit, "--better", better) == 64
        assert "give it another --figure or --study" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--session", "--study", "--tag"])
def test_an_empty_name_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str) -> None:
    assert run(tmp_path, "halobench", str(HALO), "--tag", "old", option, "") == 64
    assert "needs a name; it is empty" in capsys.readouterr().err
    assert not list(Store(tmp_path).launches())


def test_a_bad_file_among_good_ones_stores_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "bad.out"
    bad.write_text(HALO.read_text()[:900])
    store = tmp_path / "store"
    assert run(store, "halobench", str(HALO), str(bad), "--tag", "old") == 3
    error = capsys.readouterr().err
    assert f"{bad}:" in error
    assert "--partial" in error
    assert not store.exists()


def test_a_partial_file_is_marked_wherever_it_is_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "bad.out"
    bad.write_text(HALO.read_text()[:900])
    store = tmp_path / "store"
    assert run(store, "halobench", str(bad), "--tag", "old", "--partial") == 0
    assert "stored as partial" in capsys.readouterr().out
    assert main(["--store", str(store), "show"]) == 0
    assert "partial (halobench's output ends without 'Finished'" in capsys.readouterr().out
    run(store, "halobench", str(HALO), "--tag", "new")
    capsys.readouterr()
    assert main(["--store", str(store), "compare", "new", "old", "--json"]) == 3
    document = json_of(capsys.readouterr().out)
    assert any("partial" in problem for problem in document["problems"])
    assert "missing" in {row["verdict"] for row in document["rows"]}


def test_two_files_of_one_cell_are_two_launches_of_one_session(tmp_path: Path) -> None:
    other = PUBLISHED / "halobench" / "tds-reference.out"
    run(tmp_path, "halobench", str(HALO), str(other), "--tag", "old", "--session", "p", "--study", "mine")
    launches = list(Store(tmp_path).launches("mine", "old", "p"))
    assert [launch.launch_index for launch in launches] in ([0, 1], [1, 0])


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("halobench", str(HALO)), 64),
        (("halobnech", str(HALO), "--tag", "t"), 64),
        (("halobench", "--tag", "t"), 64),
        (("halobench", str(HALO), "--tag", ""), 64),
        (("bale", str(HALO), "--tag", "t"), 3),
        (("bale", str(HALO), "--tag", "t", "--ranks-per-node", "0"), 64),
        (("halobench", "/nowhere.out", "--tag", "t"), 3),
    ],
)
def test_mistakes_are_one_line_with_their_status(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], status: int
) -> None:
    assert run(tmp_path / "store", *arguments) == status
    assert len(capsys.readouterr().err.strip().splitlines()) == 1
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize(("more", "program"), [((), "rate"), (("--study", "app"), "app"), (("--name", "ig"), "ig")])
def test_a_program_is_named_after_no_file_and_so_two_tags_can_be_compared(
    tmp_path: Path, more: tuple[str, ...], program: str
) -> None:
    for tag, figure in (("a", "5.0"), ("b", "6.0")):
        for form, text in (("regex", f"rate: {figure}"), ("json", f'{{"rate": {figure}}}')):
            path = tmp_path / tag / f"out.{form}"
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
            where = ("--pattern", "rate: ([0-9.]+)") if form == "regex" else ("--path", "rate")
            words = (form, str(path), "--tag", tag, *where, "--figure", "rate", "--unit", "GB/s", *more)
            assert run(tmp_path / "store", *words) == 0
    launches = list(Store(tmp_path / "store").launches())
    assert {launch.cell["program"] for launch in launches} == {program}
    assert {launch.results[0]["pattern"] for launch in launches} == {program}
    assert {launch.envelope["imported_from"] for launch in launches} == {"out.regex", "out.json"}


def test_a_table_names_its_benchmarks_and_a_zero_figure_is_no_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = """\
# OSU MPI Non-blocking Allreduce Latency Test v7.4
# Size           Overall(us)       Compute(us)    Pure Comm.(us)        Overlap(%)
4                       9.14              3.74              3.32              0.00
# OSU MPI Non-blocking Bcast Latency Test v7.4
# Size           Overall(us)       Compute(us)    Pure Comm.(us)        Overlap(%)
8                       8.53              3.49              3.12             12.00
"""
    (tmp_path / "osu.out").write_text(text, encoding="utf-8")
    assert run(tmp_path / "store", "osu", str(tmp_path / "osu.out"), "--tag", "t", "--ranks", "4") == 0
    assert "1 figure stored" in capsys.readouterr().out
    assert main(["--store", str(tmp_path / "store"), "show"]) == 0
    output = capsys.readouterr().out
    assert "failed" not in output
    assert "no figure of 1 variant: skipped: a figure of 0 has no ratio" in output
    assert output.splitlines()[1].split()[0] == "test"


def test_pipes_are_read_once_and_identified_by_their_content(tmp_path: Path) -> None:
    """`longshore import regex <(zcat a.gz) ...`, and again with other figures."""
    for figure in ("5.0", "6.0", "6.0"):
        reading, writing = os.pipe()
        os.write(writing, f"rate: {figure}\n".encode())
        os.close(writing)
        words = ("--tag", "t", "--pattern", "rate: ([0-9.]+)", "--figure", "rate", "--unit", "GB/s")
        assert run(tmp_path / "store", "regex", f"/dev/fd/{reading}", *words) == 0
        os.close(reading)
    values = [launch.results[0]["metrics"]["rate"]["value"] for launch in Store(tmp_path / "store").launches()]
    assert sorted(values) == [5.0, 6.0]
    assert run(tmp_path / "store", "osu", "/dev/zero", "--tag", "t") == 3  # it has no end


def test_many_figures_of_a_document_take_linear_time(tmp_path: Path) -> None:
    rows = [{"name": f"n{row}", "same": "x", "rate": 1.0} | ({"odd": "y"} if row else {}) for row in range(20_000)]
    path = tmp_path / "many.json"
    path.write_text(json.dumps({"results": rows}), encoding="utf-8")
    metric = MetricChoice("rate", "GB/s", "higher", path="results[*].rate")
    begun = time.process_time()
    (found,) = formats.read_file("json", path, Options(metric=metric))
    assert time.process_time() - begun < 20  # a set of all names for each name took minutes
    first, second = (json.loads(line)["variant"] for line in found.lines[1:3])
    assert (first, second) == ({"name": "n0"}, {"name": "n1", "odd": "y"})


def test_a_run_that_stands_twice_in_a_file_is_one_launch(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    twice = tmp_path / "twice.out"
    twice.write_text(HALO.read_text() * 2)
    assert run(tmp_path / "store", "halobench", str(twice), str(HALO), "--tag", "old") == 0
    assert capsys.readouterr().out.count("is the same as run 1") == 1
    assert len(list(Store(tmp_path / "store").launches())) == 2


def test_two_runs_may_agree_in_one_short_figure(tmp_path: Path) -> None:
    barrier = tmp_path / "barrier.out"
    barrier.write_text("# OSU MPI Barrier Latency Test v7.1\n# Avg Latency(us)\n             4.91\n" * 2)
    assert run(tmp_path / "store", "osu", str(barrier), "--tag", "t", "--ranks", "4") == 0
    assert len(list(Store(tmp_path / "store").launches())) == 2


def test_runs_are_read_in_the_order_of_their_files(tmp_path: Path) -> None:
    for attempt in range(8):  # the identity of a run depends on the folder of its file; the order must not
        folder = tmp_path / f"{attempt}"
        folder.mkdir()
        values = [f"{value}.5" for value in (7, 3, 9, 1)]
        files = [folder / name for name in "zyab"]
        for file, value in zip(files, values, strict=True):
            file.write_text(f"rate: {value} GB/s\n", encoding="utf-8")
        words = ("--pattern", r"rate: (\S+)", "--figure", "rate", "--unit", "GB/s", "--tag", "t", "--session", "p")
        for part in (files[:2], files[2:]):
            assert run(folder / "store", "regex", *map(str, part), *words) == 0
        read = [launch.results[0]["metrics"]["rate"]["value"] for launch in Store(folder / "store").launches()]
        assert read == [7.5, 3.5, 9.5, 1.5]
