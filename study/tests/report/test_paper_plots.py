"""The plots of the page as files for a paper."""

from __future__ import annotations

import importlib.util
import math
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from longshore_study.base.errors import LongshoreError
from longshore_study.cli.command_line import main
from longshore_study.report.drawing import Drawing, Line, Symbol, Text, outline, palette, text_width
from longshore_study.report.facts import Facts, gather_facts
from longshore_study.report.marks import SHAPES
from longshore_study.report.page import sections_of
from longshore_study.report.paper_plots import PaperPlot, paper_plots
from longshore_study.report.pdf_file import pdf
from longshore_study.report.svg_file import svg
from longshore_study.store.selection import sides
from report_data import compared_halobench, write_halobench, write_study
from stored_launches import import_published_images, json_of

RATIOS = "ratios-halo-exchange-bandwidth-per-process-mib-s"


@pytest.fixture
def facts(tmp_path: Path) -> Facts:
    store = write_halobench(tmp_path / "images")
    return gather_facts(sides(store, ["reference", "new"]), compared_halobench())


def named(facts: Facts) -> dict[str, PaperPlot]:
    return {plot.name: plot for plot in paper_plots(sections_of(facts))}


def texts(drawing: Drawing) -> list[str]:
    return [mark.text for mark in drawing.marks if isinstance(mark, Text)]


def test_ratios_are_at_their_places_on_the_axis(facts: Facts) -> None:
    drawing = named(facts)[RATIOS].drawing
    labels = [mark for mark in drawing.marks if isinstance(mark, Text)]
    ticks = {label.text: label.x for label in labels if re.fullmatch(r"[\d.]+", label.text)}
    assert {"0.1", "1"} <= ticks.keys()
    rows = {label.text: label.y for label in labels if label.text in ("persistent", "waitall")}
    symbols = [mark for mark in drawing.marks if isinstance(mark, Symbol)]

    def symbol_x(name: str) -> float:
        nearest = min(symbols, key=lambda symbol: abs(symbol.points[0][1] - rows[name]))
        return sum(x for x, _ in nearest.points) / len(nearest.points)

    def ratio(x: float) -> float:
        return float(10 ** ((x - ticks["1"]) / (ticks["1"] - ticks["0.1"])))

    assert ratio(symbol_x("persistent")) == pytest.approx(1 / 17.45, rel=0.05)
    assert ratio(symbol_x("waitall")) == pytest.approx(1.0, rel=0.05)
    assert {"regressed", "inconclusive", "same"} <= set(texts(drawing)), (
        "the legend names verdicts, because colour is not enough"
    )


def test_every_plot_of_the_page_is_a_figure_with_its_marks_inside(tmp_path: Path) -> None:
    quick = gather_facts(sides(write_study(tmp_path / "quick"), ["quick"]))
    plots = named(quick)
    for title in ("halo-width", "launches-as-dots", "drift"):
        assert any(title in name for name in plots), sorted(plots)
    for name, plot in plots.items():
        width, height = plot.drawing.width + 1, plot.drawing.height + 1
        assert any(isinstance(mark, Symbol | Line) for mark in plot.drawing.marks), name
        for mark in plot.drawing.marks:
            if isinstance(mark, Symbol):
                assert all(-1 <= x <= width and -1 <= y <= height for x, y in mark.points)


def test_an_svg_file_needs_no_other_file(facts: Facts) -> None:
    text = svg(named(facts)[RATIOS].drawing)
    root = ET.fromstring(text)  # noqa: S314 - written by this package
    assert "class=" not in text
    assert "%" not in text
    marks = [node for node in root.iter() if node.tag.endswith(("polygon", "circle"))]
    assert len(marks) >= 8
    assert float(root.attrib["viewBox"].split()[2]) == pytest.approx(named(facts)[RATIOS].drawing.width, abs=0.01)


def test_a_pdf_holds_the_texts_of_the_drawing(facts: Facts, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    drawing = named(facts)[RATIOS].drawing
    data = pdf(drawing)
    assert data.startswith(b"%PDF-1.4")
    assert data == pdf(drawing), "the same drawing gives the same bytes"
    if reader := shutil.which("pdftotext"):
        path = tmp_path / "f.pdf"
        path.write_bytes(data)
        read = subprocess.run([reader, str(path), "-"], capture_output=True, text=True, check=True)
        assert "persistent" in read.stdout
        assert read.stderr == ""


def test_any_text_can_be_written_to_a_pdf() -> None:
    pytest.importorskip("matplotlib")
    text = "a)(\\ $x$ \u00d7 10\u207b\u2076 \x1b[31m \u2207 \n"
    assert pdf(Drawing(100, 20, (Text(1, 10, text),))).startswith(b"%PDF")


def test_a_missing_matplotlib_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(LongshoreError, match="matplotlib"):
        pdf(Drawing(100, 20, ()))


def test_a_wide_text_has_more_room() -> None:
    assert text_width("WWW", 10) > text_width("iii", 10)


def test_symbols_are_closed_outlines() -> None:
    for name, path in SHAPES.items():
        if name != "circle":
            corners = outline(path)
            assert len(corners) >= 3
            assert all(math.hypot(x, y) < 8 for x, y in corners), name
    assert palette()["ink"] == pytest.approx((0x1A / 255, 0x1D / 255, 0x21 / 255))


def test_figures_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = str(tmp_path / "results")
    import_published_images(Path(store))
    command = ["--store", store, "report", "--compare", "reference", "new"]
    capsys.readouterr()
    assert main([*command, "--figures", "--json"]) == 0
    assert RATIOS in [plot["name"] for plot in json_of(capsys.readouterr().out)["figures"]]
    assert main([*command, "--figure", RATIOS]) == 0
    assert Path(f"{RATIOS}.svg").read_text().startswith("<?xml")
    if importlib.util.find_spec("matplotlib"):
        assert main([*command, "--figure", RATIOS, "-o", "x.PDF"]) == 0
        assert Path("x.PDF").read_bytes().startswith(b"%PDF-1.4")
    assert main([*command, "--figure", RATIOS, "-o", "x.png"]) == 64
    assert main([*command, "--figure", "ratio"]) == 64
    assert "--figures" in capsys.readouterr().err
    assert not Path("report.html").exists()
