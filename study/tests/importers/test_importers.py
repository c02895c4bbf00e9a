"""Importers of halobench, bale and Chapel's ig read outputs, or refuse them with file and line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from longshore_study.base.errors import LongshoreError
from longshore_study.importers import formats, run_texts
from longshore_study.importers.imported import Imported, Options
from stored_launches import PUBLISHED

HALO = (PUBLISHED / "halobench" / "production-reference.out").read_text()
BALE = (PUBLISHED / "indexgather" / "bale-shmem-16-nodes.out").read_text()
CHAPEL = (PUBLISHED / "indexgather" / "chapel-ig-block-rad-16-nodes.out").read_text()
STREAM = (PUBLISHED / "stream-chapel-1.12.csv").read_text()


def read(name: str, text: str, **options: Any) -> list[Imported]:
    return formats.read_text(name, "file.out", text, Options(**options))


def records_of(imported: Imported, kind: str = "result") -> list[dict[str, Any]]:
    return [record for record in map(json.loads, imported.lines) if record["record"] == kind]


def refused(name: str, text: str, **options: Any) -> str:
    with pytest.raises(LongshoreError) as raised:
        read(name, text, **options)
    assert str(raised.value).startswith("file.out")
    assert "\n" not in str(raised.value)
    return str(raised.value)


# halobench


def test_halobench_has_its_layout_its_modes_and_its_times() -> None:
    (found,) = read("halobench", HALO)
    assert found.cell == {"program": "halobench", "transport": "mpi", "ranks": 128, "grid": [8, 4, 4]}
    results = records_of(found)
    assert [r["variant"]["mode"] for r in results] == [
        "sendrecv", "redblack", "isend-recv", "irecv-send", "pairwise", "waitall", "persistent", "neighbor",
    ]  # fmt: skip
    first = results[0]
    assert first["variant"] == {"mode": "sendrecv", "algorithm": "faces", "contiguous": 10000}
    assert first["metrics"] == {"process_bandwidth": {"value": 6131.1761898540226, "unit": "MiB/s", "better": "higher"}}
    assert first["seconds"]["median"] == pytest.approx(7.466164e-5)
    assert first["traffic"] == {"messages": 6, "payload_bytes": 480000}
    assert first["aggregate"] is True
    (header,) = records_of(found, "launch")
    assert header["clock_resolution_seconds"] == pytest.approx(4.444e-10, rel=1e-3)
    assert json.loads(found.lines[-1]) == {"record": "end", "status": "ok"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("7.46616403933254014E-2", 0.0746616403933254), ("0.14058780597526646", 0.14058780597526646),
        ("1.5D-03", 1.5e-3),
        (".5", 0.5), ("5.", 5.0), ("-2e+3", -2000.0), ("1.25-100", 1.25e-100), ("1d0", 1.0),
    ],
)  # fmt: skip
def test_fortran_numbers(text: str, expected: float) -> None:
    assert run_texts.fortran_value(text) == expected


@pytest.mark.parametrize("text", ["******", "NaN", "Infinity", "", "1,5", "0x10", "1e999"])
def test_invalid_numbers_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"not a number|too large"):
        run_texts.fortran_value(text)


def test_numbers_of_another_compiler_and_wrapped_lines_are_read() -> None:
    text = HALO.replace("7.46616403933254014E-2 , bwidth", "0.746616403933254014D-01 ,\n bwidth")
    assert text != HALO
    (found,) = read("halobench", text)
    assert records_of(found)[0]["seconds"]["median"] == pytest.approx(7.466164e-5)


def test_several_runs_are_samples_and_their_median_is_the_figure() -> None:
    begin, end = HALO.index(" Sendrecv"), HALO.index(" Finished")
    body = HALO[begin:end]
    slow = body.replace(
        "7.46616403933254014E-2 , bwidth =  6131.1761898540226", "0.149323280786651 , bwidth =  3065.588095"
    )
    assert slow != body
    banner = (
        " -------------------------\n Benchmark run            {}  out of            3\n -------------------------\n\n"
    )
    text = HALO[:begin] + banner.format(1) + slow + banner.format(2) + body + banner.format(3) + body + HALO[end:]
    (found,) = read("halobench", text)
    first = records_of(found)[0]
    assert first["runs"] == 3
    assert first["metrics"]["process_bandwidth"]["value"] == pytest.approx(6131.176)
    times = [s["seconds"]["max"] for s in records_of(found, "sample") if s["variant"]["mode"] == "sendrecv"]
    assert times == pytest.approx([1.4932e-4, 7.4662e-5, 7.4662e-5], rel=1e-3)


def test_truncated_runs_are_not_accepted_as_complete() -> None:
    """Versions with several runs print 'Finished' after each run."""
    begin = HALO.index(" Sendrecv")
    body = HALO[begin:]
    first, second = (f" -----\n Benchmark run   {run}  out of   2\n -----\n\n" for run in (1, 2))
    whole = HALO[:begin] + first + body + second + body
    assert records_of(read("halobench", whole)[0])[0]["runs"] == 2
    assert "ends in run 1 of 2" in refused("halobench", HALO[:begin] + first + body)
    cut = whole[: whole.rindex(" Persistent")]
    assert "after 6 of 8 modes in run 2 of 2" in refused("halobench", cut)
    assert [r["runs"] for r in records_of(read("halobench", cut, partial=True)[0])] == [2] * 6 + [1] * 2


def test_a_file_of_two_runs_is_two_launches() -> None:
    assert len(read("halobench", HALO + HALO)) == 2


def test_a_skipped_mode_says_why() -> None:
    lines = HALO.splitlines()
    at = next(k for k, line in enumerate(lines) if "Redblack" in line)
    lines[at + 2] = " Redblack requires all process dimensions to be even\n Skipping this test"
    (found,) = read("halobench", "\n".join(lines))
    redblack = records_of(found)[1]
    assert redblack["skipped"] == "Redblack requires all process dimensions to be even"
    assert "metrics" not in redblack


def test_a_wrong_result_is_marked() -> None:
    text = HALO.replace("6131.1761898540226  MiB/s", "6131.1761898540226  MiB/s\n ERROR: halo data did not verify")
    (found,) = read("halobench", text)
    assert [r["verified"] for r in records_of(found)] == [False] + [True] * 7


def test_an_output_without_its_end_is_refused_or_marked() -> None:
    cut = HALO[: HALO.index(" Persistent")]
    message = refused("halobench", cut)
    assert message.startswith(f"file.out:{len(cut.rstrip().splitlines())}: ")
    assert "without 'Finished', after 6 of 8 modes; --partial imports the part that is there" in message
    (found,) = read("halobench", cut, partial=True)
    assert len(records_of(found)) == 6
    assert found.why_incomplete is not None


def test_a_line_cut_in_the_middle_is_refused_or_left_out() -> None:
    cut = HALO[: HALO.index(", bwidth =  6991")]
    assert "Finished" in refused("halobench", cut)
    assert len(records_of(read("halobench", cut, partial=True)[0])) == 6


def test_figures_that_contradict_each_other_are_refused() -> None:
    message = refused("halobench", HALO.replace("6131.176", "6231.176"))
    assert message.startswith("file.out:15: ")
    assert "does not agree" in message


@pytest.mark.parametrize("seconds", ["****************", "NaN", "-7.466E-2", "0.0"])
def test_impossible_times_are_refused(seconds: str) -> None:
    assert refused("halobench", HALO.replace("7.46616403933254014E-2", seconds)).startswith("file.out:15: ")


def test_a_grid_that_does_not_fit_is_refused() -> None:
    assert "[8, 4, 3]" in refused("halobench", HALO.replace("8 ,  4 ,  4", "8 ,  4 ,  3"))


# bale


def test_bale_has_its_strategies_in_gbps_per_node() -> None:
    (found,) = read("bale", BALE)
    assert found.cell == {"program": "bale", "transport": "shmem", "nodes": 16, "ranks": 576, "ranks_per_node": 36}
    results = records_of(found)
    assert {r["variant"]["strategy"]: r["metrics"]["injection_bandwidth"]["value"] for r in results} == {
        "agp": 0.243, "exstack": 2.885, "exstack2": 0.112, "conveyor": 1.697,
    }  # fmt: skip
    assert results[0]["pattern"] == "gather"
    assert results[0]["variant"] == {
        "operation": "gather", "strategy": "agp", "distribution": "cyclic", "requests": 10000000, "table": 10000,
        "buffer_items": 1024,
    }  # fmt: skip
    assert results[0]["seconds"] == {"median": 23.745}


def test_the_printed_figures_are_those_of_the_formula() -> None:
    for result in records_of(read("bale", BALE)[0]):
        computed = 16 * 10**7 * 36 / result["seconds"]["median"] / 1e9
        assert result["metrics"]["injection_bandwidth"]["value"] == pytest.approx(computed, abs=1.2e-3)


HISTO = """
***************************************************************
Bale Version 3.00 (UPC 201311): 2021-10-05.08:29
Running command on 72 PEs: ./histo -c 36 -n 1000000 -M 3
***************************************************************

num_updates_total: 72000000
num_updates_per_pe: 1000000
table_size_per_pe: 10000
Standard options:
----------------------------------------------------
buf_cnt (buffer size)    (-b): 512
seed                     (-s): 122222
cores_per_node           (-c): 36
Models Mask              (-M): 3

       AGP:    2.880 seconds     0.100 GB/s injection bandwidth
   Exstack:    0.288 seconds     1.000 GB/s injection bandwidth
"""


def test_histo_is_a_histogram_of_eight_bytes() -> None:
    (found,) = read("bale", HISTO)
    assert found.cell["transport"] == "upc"
    first = records_of(found)[0]
    assert first["variant"]["operation"] == "histogram"
    assert first["variant"]["buffer_items"] == 512
    assert first["traffic"]["payload_bytes"] == 8 * 10**6 * 36
    assert [r["variant"]["strategy"] for r in records_of(found)] == ["agp", "exstack"], "the mask asked for two"


def test_bale_without_its_last_strategy_is_refused_or_marked() -> None:
    cut = BALE[: BALE.index("  Conveyor")]
    assert "ends without conveyor; --partial" in refused("bale", cut)
    (found,) = read("bale", cut, partial=True)
    assert found.why_incomplete == "bale's output ends without conveyor"
    assert len(records_of(found)) == 3


def test_bale_without_cores_per_node_needs_them() -> None:
    text = BALE.replace("(-c): 36", "(-c): 0").replace("0.243 GB/s", "0.000 GB/s")
    assert "give --ranks-per-node N" in refused("bale", text)
    (found,) = read("bale", text, ranks_per_node=36)
    assert records_of(found)[0]["metrics"]["injection_bandwidth"]["value"] == pytest.approx(0.24258, rel=1e-4)
    assert found.cell["nodes"] == 16


def test_bale_that_failed_is_marked() -> None:
    (found,) = read("bale", BALE + "YOU FAILED!!!!\n")
    assert {r["verified"] for r in records_of(found)} == {False}
    assert found.warnings


def test_bale_edited_is_refused() -> None:
    assert "does not agree" in refused("bale", BALE.replace("2.885 GB/s", "3.885 GB/s"))


def test_another_app_of_bale_is_refused_by_name() -> None:
    assert "there is no importer for bale's app 'topo' (known: ig, histo)" in refused(
        "bale", BALE.replace("bin/ig", "bin/topo")
    )


# Chapel


@pytest.mark.parametrize(
    ("program", "table"),
    [
        ("ig", {"distribution": "cyclic"}),
        ("ig-block", {"distribution": "block"}),
        ("ig-block-rad", {"distribution": "block", "indexing": "optimised"}),
    ],
)
@pytest.mark.parametrize("nodes", [16, 256])
def test_the_name_of_chapels_program_gives_the_distribution(program: str, table: dict[str, str], nodes: int) -> None:
    text = (PUBLISHED / "indexgather" / f"chapel-{program}-{nodes}-nodes.out").read_text()
    (found,) = read("chapel-ig", text)
    assert found.cell == {"program": "chapel-ig", "transport": "chapel", "nodes": nodes, "tasks_per_node": 36}
    results = records_of(found)
    assert [r["variant"]["strategy"] for r in results] == ["agp", "aggregator"]
    for result in results:
        assert {k: result["variant"][k] for k in ("distribution", "indexing") if k in result["variant"]} == table


def test_chapel_without_its_last_line_is_refused_or_marked() -> None:
    cut = CHAPEL[: CHAPEL.index("       AGG")]
    assert "ends without AGG" in refused("chapel-ig", cut)
    assert read("chapel-ig", cut, partial=True)[0].why_incomplete is not None


def test_chapel_needs_its_command_line() -> None:
    assert "no command line" in refused("chapel-ig", "\n".join(CHAPEL.splitlines()[1:]))
    assert "lacks -nl" in refused("chapel-ig", CHAPEL.replace("-nl 16 ", ""))
    assert "unknown program 'ig-cyc'" in refused("chapel-ig", CHAPEL.replace("ig-block-rad", "ig-cyc"))


# all


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("halobench", BALE, "this is the output of bale, not of halobench; use 'longshore import bale file.out ...'"),
        ("bale", CHAPEL, "use 'longshore import chapel-ig file.out ...'"),
        ("chapel-ig", HALO, "use 'longshore import halobench file.out ...'"),
        ("halobench", "STREAM version $Revision: 5.10 $", "the output of STREAM"),
        ("bale", '{"record":"launch","schema":1}', "longshore-bench"),
        ("halobench", "slurmstepd: error: *** JOB 1 CANCELLED ***", "nothing in it is typical of one"),
        ("halobench", "", "empty; the run wrote nothing"),
        ("bale", " \n\n", "empty; the run wrote nothing"),
    ],
)
def test_the_output_of_another_program_is_named(name: str, text: str, said: str) -> None:
    assert said in refused(name, text)


def test_every_published_output_is_recognised_by_its_own_importer_alone() -> None:
    texts = {"halobench": HALO, "bale": BALE, "chapel-ig": CHAPEL, "stream-csv": STREAM}
    for owner, text in texts.items():
        for name in texts:
            if name == owner:
                assert read(name, text)
            else:
                refused(name, text)


def test_a_prologue_and_windows_line_ends_do_not_matter() -> None:
    for name, text in (("halobench", HALO), ("bale", BALE), ("chapel-ig", CHAPEL)):
        noisy = "\ufeffmodule: loading...\n" + text
        assert len(records_of(read(name, noisy.replace("\n", "\r\n"))[0])) == len(records_of(read(name, text)[0]))


def test_bytes_that_are_no_text_are_named_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "x.out"
    path.write_bytes(b"one\ntwo \xff\n")
    with pytest.raises(LongshoreError, match=r"x\.out:2: byte 0xff is not UTF-8 text"):
        formats.read_file("halobench", path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(LongshoreError, match=r"nothing\.out"):
        formats.read_file("halobench", tmp_path / "nothing.out")


@pytest.mark.parametrize("name", ["halobench", "bale", "chapel-ig", "stream-csv"])
def test_an_output_cut_anywhere_is_read_or_refused_in_one_line(name: str) -> None:
    text = {"halobench": HALO, "bale": BALE, "chapel-ig": CHAPEL, "stream-csv": STREAM}[name]
    taken = 0
    for length in range(0, len(text), 7):
        for partial in (False, True):
            problem = ""
            try:
                read(name, text[:length], partial=partial)
                taken += 1
            except LongshoreError as error:
                problem = str(error)
            assert "\n" not in problem
    assert taken > 0
