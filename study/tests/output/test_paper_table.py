"""`export --for paper`: medians with intervals, by chosen rows and columns."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from longshore_study.cli.command_line import main
from longshore_study.store.launch_store import Store
from stored_launches import control, halo, store_launch


@pytest.fixture
def store(tmp_path: Path) -> Store:
    results = Store(tmp_path / "results")
    generator = random.Random(1)
    for ranks in (16, 4, 2):
        for index in range(7):
            cell = {"program": "halo", "ranks": ranks, "environment": {"A_B": "x_y"}}
            figures = [halo(mode, 1000.0 / ranks * generator.gauss(1, 0.01)) for mode in ("wait_all", "direct")]
            store_launch(results, "t", "day", figures, index, cell)
            store_launch(results, "t", "day", [control("copy", 9.0)], index, cell | {"program": "control"})
    return results


def export(store: Store, capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    capsys.readouterr()
    status = main(["--store", str(store.path), "export", *arguments])
    return status, capsys.readouterr().out


def test_a_table_has_the_chosen_rows_and_columns(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    status, text = export(store, capsys, "t", "--for", "paper", "--row", "mode", "--col", "ranks")
    assert status == 0
    lines = text.splitlines()
    assert lines[0] == r"% needs \usepackage{booktabs}"
    assert lines[1].startswith("% halo: median over launches [95 % interval")
    assert lines[2:4] == [r"\begin{tabular}{lrrr}", r"\toprule"]
    assert lines[4] == r"& \multicolumn{3}{c}{process bandwidth (MiB/s per rank)} \\"
    assert lines[5:8] == [r"\cmidrule(lr){2-4}", r"mode & ranks 2 & ranks 4 & ranks 16 \\", r"\midrule"]
    assert lines[10:] == [r"\bottomrule", r"\end{tabular}"]
    for line, mode in zip(lines[8:10], (r"wait\_all", "direct"), strict=True):
        name, *cells = line.removesuffix(r" \\").split(" & ")
        assert name == mode
        for cell, value in zip(cells, (500.0, 250.0, 62.5), strict=True):
            found = re.fullmatch(r"([\d.]+) \[([\d.]+), ([\d.]+)\]", cell)
            assert found, cell
            middle, low, high = map(float, found.groups())
            assert low <= middle <= high
            assert middle == pytest.approx(value, rel=0.02)


def test_tags_stand_in_the_order_of_the_command_line(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    cell = {"program": "halo", "ranks": 4, "environment": {"A_B": "x_y"}}
    store_launch(store, "a", "day", [halo("direct", 9.0)], 0, cell)
    for names in (["t", "a"], ["a", "t"]):
        condition = "ranks == 4 and mode == 'direct'"
        _, text = export(store, capsys, *names, "--for", "paper", "--col", "tag", "--where", condition)
        assert f"tag {names[0]} & tag {names[1]} " in text


def test_few_launches_have_their_range(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    few = Store(tmp_path)
    for index, bandwidth in enumerate((3.0, 1.0, 2.0)):
        store_launch(few, "t", "day", [halo("direct", bandwidth)], index)
    _, text = export(few, capsys, "--for", "paper", "--format", "markdown")
    assert "2 [1, 3]" in text.replace("\\", "")


def test_a_condition_selects_rows_of_every_export(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    _, text = export(store, capsys, "--for", "paper", "--where", "ranks == 4", "--format", "markdown")
    head, _, names, rule, *rows = text.splitlines()
    assert head.startswith("process bandwidth (MiB/s per rank); halo: median over launches")
    assert names == r"| mode | process bandwidth (MiB/s per rank) |"
    assert rule == "| --- | --- |"
    assert len(rows) == 2
    _, figures = export(store, capsys, "--where", "ranks == 4 and mode == 'direct'")
    assert len(figures.splitlines()) == 8
    assert export(store, capsys, "--where", "rank == 4")[0] == 64


def test_what_makes_no_table_is_named(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, message in (
        (["--for", "paper", "--row", "mode"], "halo: ranks varies, too: add --row ranks, or fix it by --where"),
        (["--for", "paper", "--row", "mod"], "unknown factor 'mod'; did you mean 'mode'"),
        (["--for", "paper", "--samples"], "without --samples"),
        (["--row", "mode"], "belong to --for paper"),
    ):
        assert main(["--store", str(store.path), "export", *arguments]) == 64
        assert message in capsys.readouterr().err


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not there")
def test_latex_compiles_a_table(store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, text = export(store, capsys, "--for", "paper", "--col", "ranks")
    page = r"\documentclass{article}\usepackage{booktabs}\begin{document}" + "\n" + text + r"\end{document}"
    (tmp_path / "page.tex").write_text(page)
    done = subprocess.run(["pdflatex", "-halt-on-error", "page.tex"], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout
