"""The plots of the page as files for a paper."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from longshore_study.cli.command_line import main
from longshore_study.report.facts import Facts, gather_facts
from longshore_study.report.marks import SHAPES
from longshore_study.report.markup import element
from longshore_study.report.page import sections_of
from longshore_study.report.paper_plots import PaperPlot, paper_plots
from longshore_study.store.selection import sides
from report_data import compared_halobench, write_halobench, write_study
from stored_launches import import_published_images, json_of

paper_figure = pytest.importorskip("longshore_study.report.paper_figure", reason="matplotlib is not installed")

RATIOS = "ratios-halo-exchange-bandwidth-per-process-mib-s"


@pytest.fixture
def facts(tmp_path: Path) -> Facts:
    store = write_halobench(tmp_path / "images")
    return gather_facts(sides(store, ["reference", "new"]), compared_halobench())


def named(facts: Facts) -> dict[str, PaperPlot]:
    return {plot.name: plot for plot in paper_plots(sections_of(facts))}


def symbols(axes: Any) -> list[Any]:
    return [line for line in axes.lines if line.get_marker() not in ("None", "") and len(line.get_xdata())]


def test_ratios_are_at_their_places_on_the_axis(facts: Facts) -> None:
    (axes,) = paper_figure.figure(named(facts)[RATIOS]).axes
    ticks = {label.get_text(): label.xy[0] for label in axes.texts if re.fullmatch(r"[\d.]+", label.get_text())}
    assert {"0.1", "1"} <= ticks.keys()
    rows = {label.get_text(): label.xy[1] for label in axes.texts}

    def symbol_x(name: str) -> float:
        nearest = min(symbols(axes), key=lambda symbol: abs(symbol.get_ydata()[0] - rows[name]))
        return float(nearest.get_xdata()[0])

    def ratio(x: float) -> float:
        return float(10 ** ((x - ticks["1"]) / (ticks["1"] - ticks["0.1"])))

    assert ratio(symbol_x("persistent")) == pytest.approx(1 / 17.45, rel=0.05)
    assert ratio(symbol_x("waitall")) == pytest.approx(1.0, rel=0.05)
    assert {"regressed", "inconclusive", "same"} <= {text.get_text() for text in axes.get_legend().get_texts()}, (
        "the legend names verdicts, because colour is not enough"
    )


def test_every_plot_of_the_page_is_a_figure_with_its_marks_inside(tmp_path: Path) -> None:
    quick = gather_facts(sides(write_study(tmp_path / "quick"), ["quick"]))
    plots = named(quick)
    for title in ("halo-width", "launches-as-dots", "drift"):
        assert any(title in name for name in plots), sorted(plots)
    for name, plot in plots.items():
        (axes,) = paper_figure.figure(plot).axes
        assert axes.lines, name
        rows = axes.get_ylim()[0]
        for symbol in symbols(axes):
            assert all(-0.01 <= x <= 1.01 for x in symbol.get_xdata())
            assert all(-0.01 <= y <= rows + 0.01 for y in symbol.get_ydata())


def test_an_svg_file_is_as_wide_as_a_column_and_has_texts(facts: Facts, tmp_path: Path) -> None:
    content = paper_figure.file_content(named(facts)[RATIOS], "svg")
    assert content == paper_figure.file_content(named(facts)[RATIOS], "svg"), "the same plot gives the same bytes"
    root = ET.fromstring(content)  # noqa: S314 - written by this package
    assert "persistent" in {node.text for node in root.iter() if node.tag.endswith("}text")}
    quick = named(gather_facts(sides(write_study(tmp_path / "quick"), ["quick"])))
    chart = next(plot for name, plot in quick.items() if "halo-width" in name)
    root = ET.fromstring(paper_figure.file_content(chart, "svg"))  # noqa: S314
    assert 230 < float(root.attrib["viewBox"].split()[2]) < 275


def test_a_pdf_holds_the_texts_of_the_plot(facts: Facts, tmp_path: Path) -> None:
    data = paper_figure.file_content(named(facts)[RATIOS], "pdf")
    assert data.startswith(b"%PDF-1.4")
    assert data == paper_figure.file_content(named(facts)[RATIOS], "pdf"), "the same plot gives the same bytes"
    if reader := shutil.which("pdftotext"):
        path = tmp_path / "f.pdf"
        path.write_bytes(data)
        read = subprocess.run([reader, str(path), "-"], capture_output=True, text=True, check=True)
        assert "persistent" in read.stdout
        assert read.stderr == ""


@pytest.mark.parametrize("file_format", ["pdf", "svg"])
def test_any_text_can_be_written_to_a_file(file_format: str) -> None:
    text = "a)(\\ $x$ \u00d7 10\u207b\u2076 \x1b[31m \u2207 <&> \n"
    chart = element("svg", element("text", text, x="10%", y="50%"), class_="chart")
    assert paper_figure.file_content(PaperPlot("odd", text, chart, None), file_format)


def test_every_symbol_of_the_page_has_a_marker() -> None:
    assert paper_figure.MARKERS.keys() == SHAPES.keys()
    assert paper_figure.palette()["ink"] == "#1a1d21"


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
    assert main([*command, "--figure", RATIOS, "-o", "x.PDF"]) == 0
    assert Path("x.PDF").read_bytes().startswith(b"%PDF-1.4")
    assert main([*command, "--figure", RATIOS, "-o", "x.png"]) == 64
    assert main([*command, "--figure", "ratio"]) == 64
    assert "--figures" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "longshore_study.report.paper_figure", None)
    assert main([*command, "--figure", RATIOS]) == 3
    assert "pip install 'study/[figures]'" in capsys.readouterr().err
    assert not Path("report.html").exists()
