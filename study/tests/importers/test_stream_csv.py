"""The published table of STREAM by layer and step of the work: every figure read, every mistake
named with its line."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from longshore_study.base.errors import LongshoreError
from longshore_study.cli.command_line import main
from longshore_study.importers import formats
from stored_launches import PUBLISHED, json_of

FILE = PUBLISHED / "stream-chapel-1.12.csv"
HEADER = "stage,comm,tasks,stream_ep_GBps_1_locale\n"


def results(text: str) -> list[list[dict[str, Any]]]:
    runs = formats.read_text("stream-csv", "file.csv", text)
    return [[record for record in map(json.loads, run.lines) if record["record"] == "result"] for run in runs]


def refused(text: str) -> str:
    with pytest.raises(LongshoreError) as raised:
        formats.read_text("stream-csv", "file.csv", text)
    return str(raised.value)


def test_every_published_figure_is_read_with_its_layer() -> None:
    with FILE.open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    runs = formats.read_file("stream-csv", FILE)
    assert [run.cell["nodes"] for run in runs] == [1, 16]
    columns = ("stream_ep_GBps_1_locale", "stream_ep_GBps_per_node_16_locales")
    for column, found in zip(columns, results(FILE.read_text(encoding="utf-8")), strict=True):
        expected = {
            (line["stage"], line["comm"], line["tasks"], line["memory"]): float(line[column])
            for line in lines
            if line[column]
        }
        assert len(found) == len(expected) >= 35
        for one in found:
            variant = one["variant"]
            layer = (variant["step"], variant["transport"], variant["tasks"], variant.get("memory", ""))
            assert one["metrics"]["bandwidth"] == {"value": expected[layer], "unit": "GB/s", "better": "higher"}
            assert (variant["scope"], variant["kernel"], one["aggregate"]) == ("ep", "triad", True)
    stages = list(dict.fromkeys(line["stage"] for line in lines))
    assert [step["name"] for step in runs[0].steps] == stages
    assert len(stages) == 7


def test_comments_and_empty_lines_keep_the_numbers_of_the_others() -> None:
    text = "# from a talk\n\n" + HEADER + "initial,none,fifo,34\n# more\n"
    assert len(results(text)[0]) == 1
    assert refused(text + "later,none,fifo,fast\n").startswith("file.csv:6: stream_ep_GBps_1_locale: 'fast'")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (HEADER, "file.csv:1: the table has a header but no lines"),
        (HEADER + "initial,none,34\n", "file.csv:2: 3 values, but the header has 4 columns"),
        (HEADER + "initial,none,fifo,-1\n", "file.csv:2: stream_ep_GBps_1_locale: '-1' is not a bandwidth"),
        (HEADER + "initial,none,fifo,\n", "file.csv:2: the table has no results"),
        (HEADER + "initial,none,fifo,1\ninitial,none,fifo,2\n", "file.csv:3: a second result for the layer of line 2"),
        (HEADER + ",none,fifo,1\n", "file.csv:2: the line has no stage"),
        ("tasks,tasks,stream_ep_GBps_1_locale\na,b,1\n", "file.csv:1: each column needs its own name"),
        ("tasks,stream_ep_GBps_total\na,1\n", "file.csv:1: no column of results such as stream_ep_GBps_1_locale"),
        (HEADER + '"initial,none,fifo,1\n', "not CSV"),
    ],
)
def test_an_invalid_table_is_refused_with_its_line(text: str, said: str) -> None:
    assert said in refused(text)


def test_the_published_steps_are_shown_with_their_gains(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = str(tmp_path / "store")
    assert main(["--store", store, "import", "stream-csv", str(FILE), "--tag", "published"]) == 0
    capsys.readouterr()
    assert main(["--store", store, "show", "published", "--steps", "--json"]) == 0
    (table,) = json_of(capsys.readouterr().out)["tables"]
    assert (table["metric"], table["unit"], len(table["steps"])) == ("bandwidth", "GB/s", 7)
    assert len(table["columns"]) == 10 + 5
    rows = {
        (row["step"], row["column"]["nodes"], row["column"]["transport"], row["column"]["tasks"],
         row["column"].get("memory")): row
        for row in table["rows"]
    }  # fmt: skip
    assert len(rows) == 7 * 15
    row = rows["parallel-initialization", 1, "none", "qthreads", "cstdlib"]
    assert row["value"] == pytest.approx(66.0)
    assert row["against"] == "initial"
    assert row["gain"]["ratio"] == pytest.approx(66 / 35)
    assert row["gain"]["interval"] is None
    last = rows["processor-atomics", 16, "ugni", "qthreads", "tcmalloc"]
    assert last["gain"]["ratio"] == pytest.approx(74 / 55)
    assert last["gain_of_all_steps"]["ratio"] == pytest.approx(74 / 35)
    assert all(row["reason"] is None for row in rows.values())
    assert main(["--store", store, "show", "published", "--steps"]) == 0
    text = capsys.readouterr().out
    assert "66.0 x1.89" in text
    assert "no interval: one launch" in text


def test_a_layer_that_one_step_lacks_is_shown_as_not_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "t.csv"
    path.write_text(HEADER + "a,none,fifo,10\nb,none,fifo,\nc,none,fifo,30\nb,none,muxed,7\n", encoding="utf-8")
    assert main(["--store", str(tmp_path), "import", "stream-csv", str(path), "--tag", "t"]) == 0
    capsys.readouterr()
    assert main(["--store", str(tmp_path), "show", "--steps", "--json"]) == 0
    (table,) = json_of(capsys.readouterr().out)["tables"]
    rows = {(row["step"], row["column"]["tasks"]): row for row in table["rows"]}
    assert rows["b", "fifo"]["reason"] == rows["a", "muxed"]["reason"] == "not measured"
    assert rows["c", "fifo"]["against"] == "a"
    assert rows["c", "fifo"]["gain"]["ratio"] == pytest.approx(3.0)
