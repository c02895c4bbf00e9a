"""Importers of other people's programs: outputs as real versions print them, written by hand from
that form."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from longshore_study.base.errors import LongshoreError
from longshore_study.cli.command_line import main
from longshore_study.importers import formats
from longshore_study.importers.imported import Imported, MetricChoice, Options
from longshore_study.store.launch_store import Store
from printed_outputs import BALE_JSON, CARTEX, ISX_LOG, ISX_SCREEN, OSU


def read(name: str, text: str, **options: Any) -> list[Imported]:
    return formats.read_text(name, "file.out", text, Options(**options))


def one(name: str, text: str, **options: Any) -> Imported:
    (found,) = read(name, text, **options)
    return found


def results(found: Imported, kind: str = "result") -> list[dict[str, Any]]:
    return [record for record in map(json.loads, found.lines) if record["record"] == kind]


def figures(found: Imported, metric: str) -> list[float]:
    return [result["metrics"][metric]["value"] for result in results(found)]


def refused(name: str, text: str, **options: Any) -> str:
    with pytest.raises(LongshoreError) as raised:
        read(name, text, **options)
    message = str(raised.value)
    assert message.startswith("file.out")
    assert "\n" not in message
    return message


STREAM = """\
-------------------------------------------------------------
STREAM version $Revision: 5.10 $
-------------------------------------------------------------
This system uses 8 bytes per array element.
-------------------------------------------------------------
Array size = 10000000 (elements), Offset = 0 (elements)
Memory per array = 76.3 MiB (= 0.1 GiB).
Total memory required = 228.9 MiB (= 0.2 GiB).
Each kernel will be executed 10 times.
 The *best* time for each kernel (excluding the first iteration)
 will be used to compute the reported bandwidth.
-------------------------------------------------------------
Number of Threads requested = 4
Number of Threads counted = 4
-------------------------------------------------------------
Your clock granularity/precision appears to be 1 microseconds.
Each test below will take on the order of 9000 microseconds.
   (= 9000 clock ticks)
Increase the size of the arrays if this shows that
you are not getting at least 20 clock ticks per test.
-------------------------------------------------------------
Function    Best Rate MB/s  Avg time     Min time     Max time
Copy:           16000.0     0.012500     0.010000     0.014000
Scale:          15238.1     0.011000     0.010500     0.011500
Add:            19200.0     0.013000     0.012500     0.013500
Triad:          20000.0     0.015000     0.012000     0.016000
-------------------------------------------------------------
Solution Validates: avg error less than 1.000000e-13 on all three arrays
-------------------------------------------------------------
"""


def test_stream_has_its_best_rate_as_ours() -> None:
    found = one("stream", STREAM)
    assert figures(found, "best_bandwidth") == pytest.approx([16.0, 15.2381, 19.2, 20.0])
    triad = results(found)[3]
    assert triad["variant"] == {"kernel": "triad", "scope": "ep", "type": "double", "elements": 10000000}
    assert triad["metrics"]["mean_bandwidth"]["value"] == pytest.approx(16.0)
    assert triad["original"] == {"name": "Best Rate", "value": 20000.0, "unit": "MB/s"}
    assert all(result["verified"] for result in results(found))
    assert found.cell == {"program": "stream", "nodes": 1, "ranks": 1, "tasks_per_node": 4}


def test_stream_in_its_mpi_form_is_per_node() -> None:
    text = STREAM.replace(
        "Array size = 10000000 (elements), Offset = 0 (elements)",
        "Total Aggregate Array size = 10000000 (elements)\nData is distributed across 8 MPI ranks\n"
        "   Array size per MPI rank = 1250000 (elements)",
    ).replace("Number of Threads counted = 4", "Number of Threads counted for rank 0 = 2")
    found = one("stream", text, ranks_per_node=4)
    assert found.cell == {"program": "stream", "nodes": 2, "ranks": 8, "tasks_per_node": 8}
    assert "give --ranks-per-node" in refused("stream", text)
    assert figures(found, "best_bandwidth") == pytest.approx([8.0, 7.61905, 9.6, 10.0])
    assert results(found)[0]["variant"]["elements"] == 1250000
    assert results(found)[0]["original"]["value"] == 16000.0


def test_stream_that_is_cut_edited_or_wrong() -> None:
    assert "without Triad" in refused("stream", STREAM[: STREAM.index("Triad")])
    assert "before the validation of its results" in refused("stream", STREAM[: STREAM.index("Solution")])
    assert "was the file edited?" in refused("stream", STREAM.replace("16000.0 ", "26000.0 "))
    average = re.sub(r"(Copy: +[0-9.]+ +)[0-9.]+", r"\g<1>9.000000", STREAM)
    assert "times in the order smallest, average, largest" in refused("stream", average)
    wrong = STREAM.replace("Solution Validates: avg", "Failed Validation on array a[], AvgRelAbsErr > epsilon; avg")
    assert not any(result["verified"] for result in results(one("stream", wrong)))
    assert len(read("stream", STREAM + STREAM)) == 2


STREAM_OLD = """\
-------------------------------------------------------------
STREAM version $Revision: 5.9 $
-------------------------------------------------------------
This system uses 8 bytes per DOUBLE PRECISION word.
-------------------------------------------------------------
Array size = 20000000, Offset = 0
Total memory required = 457.8 MB.
Each test is run 10 times, but only
the *best* time for each is used.
-------------------------------------------------------------
Number of Threads requested = 8
-------------------------------------------------------------
Printing one line per active thread....
-------------------------------------------------------------
Function      Rate (MB/s)   Avg time     Min time     Max time
Copy:       27562.6219       0.0117       0.0116       0.0118
Scale:      26890.7563       0.0120       0.0119       0.0121
Add:        28915.6627       0.0167       0.0166       0.0168
Triad:      28742.5150       0.0168       0.0167       0.0169
-------------------------------------------------------------
Solution Validates
-------------------------------------------------------------
"""
STREAM_FORTRAN = """\
 ----------------------------------------------
 STREAM Version $Revision: 5.6 $
 ----------------------------------------------
 Array size =    2000000
 Offset     =          0
 The total memory requirement is   45 MB
 You are running each test  10 times
 --
 The *best* time for each test is used
 *EXCLUDING* the first and last iterations
 ----------------------------------------------
 Number of Threads =            4
 ----------------------------------------------
Function     Rate (MB/s)  Avg time   Min time  Max time
Copy:       20000.0000      0.0017      0.0016      0.0018
Scale:      19000.0000      0.0018      0.0017      0.0019
Add:        24000.0000      0.0021      0.0020      0.0022
Triad:      23000.0000      0.0022      0.0021      0.0023
 ----------------------------------------------------
 Solution Validates!
 ----------------------------------------------------
"""


def test_stream_of_before_prints_four_decimals_of_its_times() -> None:
    found = one("stream", STREAM_OLD)
    assert figures(found, "best_bandwidth") == pytest.approx([27.5626, 26.8908, 28.9157, 28.7425], rel=1e-5)
    assert found.cell["tasks_per_node"] == 8
    assert results(found)[0]["variant"]["elements"] == 20000000
    fortran = one("stream", STREAM_FORTRAN)
    assert figures(fortran, "best_bandwidth") == [20.0, 19.0, 24.0, 23.0]
    assert fortran.cell["tasks_per_node"] == 4
    assert "was the file edited?" in refused("stream", STREAM_OLD.replace("27562.6219", "37562.6219"))
    # Times of zero are not imported.
    short = one("stream", STREAM_OLD.replace("0.0117       0.0116       0.0118", "0.0000       0.0000       0.0001"))
    assert results(short)[0]["metrics"].keys() == {"best_bandwidth"}
    assert "a rate above 0" in refused("stream", STREAM.replace("0.012500     0.010000", "0.012500     0.000000"))


CHAPEL_STREAM = """\
$ ./stream -nl 16
Number of Locales = 16
Tasks per locale = 36
Problem size = 6871947673
Bytes per array = 54975581384
Total memory required (GB) = 153.6
Number of trials = 10

Validation: SUCCESS
Execution time:
  tot = 0.81
  avg = 0.081
  min = 0.0794
Performance (GB/s) = 2077.15
"""
CHAPEL_EP = """\
$ ./stream-ep -nl 4
Problem size = 4000000 (2**21.93)
Bytes per array = 32000000
Total memory required (GB) = 0.09
Number of trials = 10

Validation: SUCCESS
Execution time:
  max (seconds) = 0.0101
  avg (seconds) = 0.0100
  min (seconds) = 0.0099
Performance (GB/s):
  max = 2.4242
  avg = 2.4
  min = 2.3762
"""


def test_chapel_stream_is_per_node() -> None:
    found = one("chapel-stream", CHAPEL_STREAM)
    assert figures(found, "best_bandwidth") == [pytest.approx(2077.15 / 16)]
    assert found.cell == {"program": "chapel-stream", "nodes": 16, "tasks_per_node": 36}
    (result,) = results(found)
    assert result["variant"]["scope"] == "global"
    assert result["original"]["value"] == 2077.15
    each = one("chapel-stream", CHAPEL_EP)
    assert figures(each, "best_bandwidth") == [2.3762]
    assert results(each)[0]["variant"] == {"scope": "ep", "kernel": "triad", "type": "double", "elements": 1000000}
    assert "the number of locales is unknown" in refused(
        "chapel-stream", CHAPEL_EP.replace("$ ./stream-ep -nl 4\n", "")
    )
    assert "cut short" in refused("chapel-stream", CHAPEL_STREAM[: CHAPEL_STREAM.index("Performance")])


def test_isx_of_the_screen_has_the_means_and_of_the_log_our_definition_too() -> None:
    found = one("isx", ISX_SCREEN)
    assert figures(found, "total_seconds") == [0.25]
    assert figures(found, "exchange_seconds") == [0.06]
    assert "keys_per_second" not in results(found)[0]["metrics"]
    both = one("isx", ISX_SCREEN + ISX_LOG)
    assert both.cell == {"program": "isx", "transport": "shmem", "ranks": 2}
    # Slowest PE of each iteration: 0.2, 0.3, 0.4; its median is 0.3.
    assert figures(both, "keys_per_second") == [pytest.approx(2000 / 0.3)]
    assert figures(both, "total_seconds") == [pytest.approx(0.25)]
    assert figures(both, "exchange_seconds") == [pytest.approx(0.06)]
    assert [s["seconds"]["max"] for s in results(both, "sample")] == [0.2, 0.3, 0.4]
    (result,) = results(both)
    assert result["variant"] == {
        "keys": 1000, "exchange": "put", "scaling": "weak", "max_key": 268435456, "order": "round-robin",
    }  # fmt: skip
    assert result["phases"] == {"exchange": 0.1, "sort": 0.005}
    mpi = one("isx", ISX_LOG.replace("SHMEM", "MPI"))
    assert results(mpi)[0]["variant"]["exchange"] == "alltoallv"


def test_isx_that_is_cut_or_wrong() -> None:
    assert "5 lines of times, but 2 PEs and 3 iterations need 6" in refused(
        "isx", ISX_LOG.replace("0.400000\t0.100000\t500\t0.006000\t\n", "")
    )
    assert "Average total time" in refused("isx", ISX_SCREEN[: ISX_SCREEN.index("Average")])
    wrong = one("isx", ISX_SCREEN.replace("WEAK Scaling!", "WEAK Scaling!\nRank 1 Failed Verification!"))
    assert results(wrong)[0]["verified"] is False


ISX_MPI = ISX_SCREEN.replace("ISx v1.1", "ISx MPI 2 sided v1.1")
ISX_MPI_LOG = ISX_LOG.replace("SHMEM", "MPI").replace("LOCAL_SORT", "COMPUTE_OFFSETS")


@pytest.mark.parametrize(
    ("heading", "transport", "exchange"),
    [
        ("ISx v1.1", "shmem", "put"),
        ("ISx v1.0 ", "shmem", "put"),
        ("ISx MPI 2 sided v1.1", "mpi", "alltoallv"),
        ("ISx MPI two-sided v1.3", "mpi", "alltoallv"),
        ("ISx MPI 1 sided v1.1", "mpi", "rma"),
        ("ISx MPI v1.0 ", "mpi", None),
    ],
)
def test_isx_says_in_its_heading_over_what_it_runs(heading: str, transport: str, exchange: str | None) -> None:
    found = one("isx", ISX_SCREEN.replace("ISx v1.1", heading))
    assert (found.cell["transport"], results(found)[0]["variant"].get("exchange")) == (transport, exchange)
    assert "use 'longshore import isx file.out ...'" in refused("bale", ISX_SCREEN.replace("ISx v1.1", heading))


def test_isx_over_mpi_without_counts_to_exchange_is_the_one_sided_one() -> None:
    screen = ISX_SCREEN.replace("ISx v1.1", "ISx MPI v1.0 ")
    assert results(one("isx", screen + ISX_MPI_LOG))[0]["variant"]["exchange"] == "rma"
    counted = ISX_MPI_LOG.replace("ATA_KEYS_COUNTS", "ATA_COUNTS (sec)")
    assert results(one("isx", screen + counted))[0]["variant"]["exchange"] == "alltoallv"


def test_isx_1_3_prints_least_and_most_beside_its_averages() -> None:
    text = ISX_SCREEN.replace(": 0.250000 seconds", " seconds average: 0.250000, min: 0.100000, max: 0.400000")
    text = text.replace(": 0.060000 seconds", " seconds average: 0.060000, min: 0.010000, max: 0.100000")
    assert figures(one("isx", text), "total_seconds") == [0.25]
    assert figures(one("isx", text), "exchange_seconds") == [0.06]
    latin = ISX_LOG.replace("Round Robin", "Fancy Latin Square").replace("Max_Key ", "  Max Key Value: ")
    assert results(one("isx", text + latin))[0]["variant"]["order"] == "latin-square"


def test_each_run_of_isx_in_a_file_is_a_launch() -> None:
    second = ISX_SCREEN.replace("0.250000", "0.350000")
    assert [figures(run, "total_seconds") for run in read("isx", ISX_SCREEN + second)] == [[0.25], [0.35]]
    both = read("isx", ISX_SCREEN + ISX_LOG + "srun: done\n" + ISX_SCREEN + ISX_LOG)
    assert ["keys_per_second" in results(run)[0]["metrics"] for run in both] == [True, True]
    rows = ISX_LOG[ISX_LOG.index("0.100000") :]
    assert len(read("isx", ISX_LOG + rows)) == 2, "a log is appended to"
    assert len(read("isx", ISX_SCREEN + ISX_LOG + rows)) == 1, "the screen says of which run it is"
    assert "do not alternate" in refused("isx", ISX_SCREEN + ISX_SCREEN + ISX_LOG)


def test_screen_and_log_of_different_isx_runs_are_refused() -> None:
    assert "different runs: the mean of TOTAL is 0.250000 s in the log, 0.260000 s on the screen" in refused(
        "isx", ISX_SCREEN.replace("0.250000", "0.260000") + ISX_LOG
    )
    assert "different runs: keys 2000 on the screen, 1000 in the log" in refused(
        "isx", ISX_SCREEN.replace("PE: 1000", "PE: 2000") + ISX_LOG
    )


def test_a_log_of_isx_over_mpi_that_repeats_one_line_is_not_measured_from() -> None:
    head = ISX_MPI_LOG[: ISX_MPI_LOG.index("0.100000")]
    log = head + "0.1\t0.01\t500\t0.001\t\n" * 6 + "0.2\t0.02\t500\t0.001\t\n" * 6
    found = one("isx", ISX_MPI + log)
    assert figures(found, "total_seconds") == [0.25]
    assert "keys_per_second" not in results(found)[0]["metrics"]
    assert "a bug of ISx 1.1" in found.warnings[0]
    assert "import the screen output" in refused("isx", log)


def test_isx_cut_before_its_last_line_is_refused_or_marked() -> None:
    cut = ISX_SCREEN[: ISX_SCREEN.index(" seconds\n", ISX_SCREEN.index("all2all"))]
    assert "ends without 'Average all2all time (per PE)'; --partial" in refused("isx", cut)
    assert one("isx", cut, partial=True).why_incomplete is not None


CHAPEL_ISX = """\
scaling mode = weakISO
total keys = 8000
keys per bucket = 1000
maxKeyVal = 65536 (2**16)
bucketWidth = 8192 (2**13)
numTrials = 2
numBuckets = 8

Verification successful!

averages across locales of min across trials (min..max):
input = 0.001 (0.0009..0.0012)
exchange = 0.02 (0.015..0.03)
total = 0.05 (0.04..0.08)
"""


def test_chapel_isx() -> None:
    found = one("chapel-isx", CHAPEL_ISX, ranks_per_node=4)
    assert found.cell == {"program": "chapel-isx", "ranks": 8, "nodes": 2}
    assert figures(found, "keys_per_second") == [pytest.approx(8000 / 0.08)]
    assert figures(found, "total_seconds") == [0.05]
    (result,) = results(found)
    assert (result["variant"]["scaling"], result["verified"]) == ("weak-iso", True)
    assert result["phases"] == {"make": 0.001, "exchange": 0.02}
    assert "total" in refused("chapel-isx", CHAPEL_ISX[: CHAPEL_ISX.index("total = 0.05")])


OSU_ALLREDUCE = """\
# OSU MPI Allreduce Latency Test v7.3
# Datatype: MPI_INT.
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
4                      11.69              9.21             14.02        1000
8                      12.00              9.50             15.00        1000
"""
OSU_OLD = "# OSU MPI Latency Test v5.6.2\n# Size          Latency (us)\n0                       1.27\n8   1.30\n"
OSU_BARRIER = "# OSU MPI Barrier Latency Test v7.1\n# Avg Latency(us)\n             4.91\n"


def test_osu_has_a_row_per_size() -> None:
    found = one("osu", OSU, ranks=2)
    assert found.cell == {"program": "osu", "transport": "mpi", "ranks": 2}
    assert figures(found, "bandwidth_MBps") == [1.47, 23012.88]
    assert results(found)[1]["variant"] == {"test": "Bandwidth", "bytes": 4194304}
    reduce = one("osu", OSU_ALLREDUCE, ranks=4)
    assert figures(reduce, "latency_us") == [11.69, 12.0]
    assert figures(reduce, "max_latency_us") == [14.02, 15.0]
    assert results(reduce)[0]["iterations"] == 1000
    assert figures(one("osu", OSU_OLD), "latency_us") == [1.27, 1.3]
    barrier = one("osu", OSU_BARRIER, ranks=4)
    assert (figures(barrier, "latency_us"), results(barrier)[0]["variant"]) == ([4.91], {"test": "Barrier Latency"})
    assert len(read("osu", OSU + OSU_ALLREDUCE, ranks=4)) == 2
    assert "has no results" in refused("osu", OSU[: OSU.index("1  ")])
    assert "3 values below 2 columns" in refused("osu", OSU.replace("1.47", "1.47 9.9"))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("1.47", "nan", "file.out:6: 'nan' below Bandwidth (MB/s) is not a number"),
        ("23012.88", "inf", "file.out:7: 'inf' below"),
        ("1.47", "1.2.3", "'1.2.3' below"),
        ("1.47", "-", "'-' below"),
        ("4194304 ", "4.5 ", "'4.5' below Size is not a whole number"),
        ("4194304 ", "4" * 5000 + " ", "below Size is not a whole number"),
    ],
)
def test_a_line_of_a_table_is_a_figure_or_an_error(old: str, new: str, words: str) -> None:
    assert words in refused("osu", OSU.replace(old, new))


def test_osu_tells_windows_memories_and_starts_apart() -> None:
    text = """\
# OSU MPI_Put-CUDA Latency Test v7.4
# Window creation: MPI_Win_create
# Synchronization: MPI_Win_fence
# Datatype: MPI_CHAR.
# Rank 0 Memory on DEVICE (D) and Rank 1 Memory on HOST (H)
# Size          Latency (us)
1                       1.65
"""
    told = results(one("osu", text))[0]["variant"]
    assert told["window_creation"] == "MPI_Win_create"
    assert told["synchronization"] == "MPI_Win_fence"
    assert told["memory"] == "D-H"
    start = one("osu", "# OSU MPI Init Test v7.4\nnprocs: 8, min: 210 ms, max: 240 ms, avg: 225 ms\n")
    assert start.cell["ranks"] == 8
    assert [figures(start, name) for name in ("init_ms", "min_init_ms", "max_init_ms")] == [[225.0], [210.0], [240.0]]
    assert next(iter(results(start)[0]["metrics"])) == "init_ms", "the first is the one that is judged"


OSU_TAILS = """\
# OSU MPI Multiple Bandwidth / Message Rate Test v7.4
# [ pairs: 2 ] [ window size: 64 ]
# Datatype: MPI_CHAR.
# Size                  MB/s          Messages/s        Validation P50 Tail BW(MB/s) P99 Tail BW(MB/s)
# HOST: allocated 16 bytes
1                      13.35         13350000.00              Pass             13.09             15.36
2                      29.45         14725000.00              Fail             30.08             37.37
"""


def test_columns_of_osu_may_be_one_blank_apart() -> None:
    first, second = results(one("osu", OSU_TAILS))
    assert {name: metric["value"] for name, metric in first["metrics"].items()} == {
        "bandwidth_MBps": 13.35, "messages_per_second": 13350000.0,
        "p50_bandwidth_MBps": 13.09, "p99_bandwidth_MBps": 15.36,
    }  # fmt: skip
    assert [first["verified"], second["verified"]] == [True, False]
    assert first["variant"] == {
        "test": "Multiple Bandwidth / Message Rate", "window": 64, "pairs": 2, "bytes": 1,
    }  # fmt: skip
    # osu_multi_lat names percentiles that it does not print.
    text = "# OSU MPI Multi Latency Test v7.4\n# Size   Avg Latency(us)  P50 Tail Lat(us)  P90 Tail Lat(us)\n"
    assert figures(one("osu", text + "1   3998.63\n2   3999.90\n", ranks=4), "latency_us") == [3998.63, 3999.9]
    assert "2 values below 4 columns" in refused("osu", text + "1   3998.63   1.00   2.00\n2   3999.90\n")


def test_osu_of_non_blocking_calls_has_all_its_columns() -> None:
    found = one(
        "osu",
        "# OSU MPI Non-blocking Barrier Latency Test v7.4\n# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait\n\n"
        "# Overall(us)  Compute(us)    Coll. Init(us)      MPI_Test(us)      MPI_Wait(us)    Pure Comm.(us)"
        "     Min Comm.(us)     Max Comm.(us)        Overlap(%)\n"
        "   9.00   8.00   7.00   6.00   5.00   4.00   3.00   2.00   1.00\n",
        ranks=4,
    )
    (result,) = results(found)
    assert list(result["metrics"]) == [
        "overall_us", "compute_us", "coll_init_us", "mpi_test_us", "mpi_wait_us", "pure_comm_us", "min_comm_us",
        "max_comm_us", "overlap_percent",
    ]  # fmt: skip
    assert [m["better"] for m in result["metrics"].values()] == ["lower"] * 8 + ["higher"]
    full = "# OSU MPI Gather Latency Test v7.4\n# Size  Avg Latency(us)  Transmit Size\n8   6.74   16\n"
    assert results(one("osu", full, ranks=4))[0]["variant"] == {
        "test": "Gather Latency",
        "bytes": 8,
        "transmit_bytes": 16,
    }


def test_osu_of_several_windows_has_a_figure_for_each() -> None:
    text = """\
# OSU MPI Multiple Bandwidth / Message Rate Test v7.4
# [ pairs: 2 ] [ window size: varied ]

# Uni-directional Bandwidth (MB/sec)
# Datatype: MPI_CHAR.
#                 1           2
1              0.24        0.54
2              0.72        1.02

# Message Rate Profile
#                 1           2
1         240665.20   538531.96
2         362420.61   511672.53
"""
    found = results(one("osu", text))
    assert [(r["variant"]["window"], r["variant"]["bytes"]) for r in found] == [(1, 1), (2, 1), (1, 2), (2, 2)]
    assert [r["metrics"]["bandwidth_MBps"]["value"] for r in found] == [0.24, 0.54, 0.72, 1.02]
    assert found[3]["metrics"]["messages_per_second"]["value"] == 511672.53


@pytest.mark.parametrize(
    ("heading", "test", "transport", "version"),
    [
        ("# OSU MPI Latency Test v5.6.2", "Latency", "mpi", "5.6.2"),
        ("# OSU MPI Multi Latency Test Test v7.5", "Multi Latency", "mpi", "7.5"),
        ("# OSU MPI Bandwidth Persistent Test v7.4", "Bandwidth Persistent", "mpi", "7.4"),
        ("# OSU MPI Partitioned Latency Test v7.5.1", "Partitioned Latency", "mpi", "7.5.1"),
        ("# OSU MPI_Get latency Test v7.4-ext", "MPI_Get latency", "mpi", "7.4-ext"),
        ("# OSU MPI-CUDA MANAGED Allreduce Latency Test v7.4", "MPI-CUDA MANAGED Allreduce Latency", "mpi", "7.4"),
        ("# OSU RCCL Broadcast Latency Test v7.3", "RCCL Broadcast Latency", "rccl", "7.3"),
        ("# OSU NCCL-CUDA Latency Test v7.3", "NCCL-CUDA Latency", "nccl", "7.3"),
        ("# OSU OpenSHMEM Put_nbi Test v5.7", "OpenSHMEM Put_nbi", "openshmem", "5.7"),
        ("# OSU UPC++ Async Copy (Get) Test v5.7", "UPC++ Async Copy (Get)", "upc++", "5.7"),
        ("# OMB Python MPI Latency Test", "MPI Latency", "mpi", None),
        ("# OSU MPI Latency Test", "Latency", "mpi", None),
    ],
)
def test_every_heading_of_osu_begins_a_run(heading: str, test: str, transport: str, version: str | None) -> None:
    for text in (
        f"{heading}\n# Size (B)        Latency (us)\n8   1.30\n",
        f"{heading}\n# Size   Latency (us)\n8  1.30\n",
    ):
        found = one("osu", text, ranks=2)
        assert results(found)[0]["variant"] == {"test": test, "bytes": 8}
        assert found.cell["transport"] == transport
        assert results(found, "launch")[0]["program"]["version"] == version
        assert figures(found, "latency_us") == [1.3]


def test_the_command_above_an_osu_table_tells_ranks_and_places_of_buffers() -> None:
    text = "# OSU MPI-CUDA Latency Test v7.5\n# Size   Latency (us)\n8   1.30\n"
    two = read("osu", f"$ mpirun -n 2 osu_latency -d cuda D D\n\n{text}$ mpirun -n 2 osu_latency -d cuda H D\n{text}")
    assert [results(found)[0]["variant"]["memory"] for found in two] == ["D-D", "H-D"]
    assert [found.cell["ranks"] for found in two] == [2, 2]
    assert "give --factor memory=D-D" in refused("osu", text)
    given = one("osu", text, factors={"memory": "D-H"})
    assert results(given)[0]["variant"] == {"test": "MPI-CUDA Latency", "bytes": 8, "memory": "D-H"}
    assert "memory is D-D in the output, not D-H as given" in refused(
        "osu", f"osu_latency -d cuda D D\n{text}", factors={"memory": "D-H"}
    )


def test_collectives_of_osu_need_their_number_of_ranks() -> None:
    assert "OSU does not print the number of ranks; give --ranks N" in refused("osu", OSU_ALLREDUCE)
    launched = "srun --ntasks=64 ./osu_allreduce -m 8\n" + OSU_ALLREDUCE
    assert one("osu", launched).cell["ranks"] == 64
    assert "the output is of 64 ranks, not of the 32 that were given" in refused("osu", launched, ranks=32)


def test_versions_of_osu_agree_in_the_factors_of_a_test() -> None:
    old = "# OSU MPI Latency Test v7.0\n# Size   Latency (us)\n8   1.30\n"
    new = "# OSU MPI Latency Test v7.5\n# Datatype: MPI_CHAR.\n# Size   Avg Latency(us)\n8   1.30\n"
    old_row, new_row = (results(one("osu", text))[0] for text in (old, new))
    assert old_row["variant"] == new_row["variant"]
    assert list(old_row["metrics"]) == list(new_row["metrics"])


def test_settings_above_an_osu_table_are_factors() -> None:
    text = (
        "# OSU MPI Multi-threaded Latency Test v7.4\n# Number of Sender threads: 1 \n"
        "# Number of Receiver threads: 4\n# Size  Latency (us)\n8   1.30\n"
    )
    assert results(one("osu", text))[0]["variant"] == {
        "test": "Multi-threaded Latency", "sender_threads": 1, "receiver_threads": 4, "bytes": 8,
    }  # fmt: skip
    atomics = "# OSU OpenSHMEM Atomic Operation Rate Test v7.4\n# Operation   Million ops/s   Latency (us)\n"
    (found,) = results(one("osu", atomics + "shmem_int_fadd          1.25            0.80\n"))
    assert found["variant"]["operation"] == "shmem_int_fadd"
    assert found["metrics"]["million_operations_per_second"]["value"] == 1.25


def test_a_heading_of_osu_that_is_printed_twice_is_one_run() -> None:
    assert len(read("osu", OSU_OLD[: OSU_OLD.index("\n") + 1] + OSU_OLD)) == 1
    assert len(read("osu", OSU_OLD + OSU_OLD)) == 2


def test_a_truncated_number_at_the_end_is_not_imported() -> None:
    torn = OSU[: OSU.rindex("2.88")]  # 2301 of 23012.88
    assert "the last line is cut at '2301'; --partial" in refused("osu", torn)
    assert figures(one("osu", torn, partial=True), "bandwidth_MBps") == [1.47]
    for cut in ("13.35     ", "13.35              P", "13.35              Pass             13.0"):
        assert refused("osu", OSU_TAILS[: OSU_TAILS.index(cut.split()[0])] + cut)
    whole = OSU.rstrip("\n")
    assert figures(one("osu", whole, partial=True), "bandwidth_MBps") == [1.47, 23012.88], "it only lacks its end"


def test_osu_says_itself_whether_its_results_were_right() -> None:
    text = OSU.replace("Bandwidth (MB/s)\n", "Bandwidth (MB/s)    Validation\n").replace("1.47", "1.47   Pass")
    found = one("osu", text.replace("23012.88", "23012.88   Fail"))
    assert [result["verified"] for result in results(found)] == [True, False]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("stream", STREAM.replace("16000.0 ", "1.2.3 "), "not a readable output of STREAM"),
        ("isx", ISX_LOG.replace("NUM_PES 2", "NUM_PES 0"), "NUM_PES is 0"),
        ("isx", ISX_LOG.replace("Num_Iters 3", "Num_Iters 0"), "Num_Iters is 0"),
        ("isx", ISX_LOG.replace("0.200000", "0.000000").replace("0.100000\t0.01", "0.000000\t0.01"), "TOTAL is 0"),
        ("isx", ISX_LOG.replace("0.001000", "0.0.1"), "not a readable output of"),
        ("isx", ISX_SCREEN.replace("0.250000", "1.2.3"), "not a readable output of"),
        ("isx", ISX_SCREEN.replace("0.250000", "0.000000"), "Average total time is 0"),
        ("chapel-stream", CHAPEL_STREAM.replace("Locales = 16", "Locales = 0"), "0 locales"),
    ],
)
def test_impossible_results_are_errors_of_one_line(name: str, text: str, words: str) -> None:
    assert words in refused(name, text)


IMB = """\
#----------------------------------------------------------------
#    Intel(R) MPI Benchmarks 2021.3, MPI-1 part
#----------------------------------------------------------------
# Date                  : Mon Dec 11 07:00:24 2023
# List of Benchmarks to run:
# PingPong
# Alltoall
#---------------------------------------------------
# Benchmarking PingPong
# #processes = 2
#---------------------------------------------------
       #bytes #repetitions      t[usec]   Mbytes/sec
            0         1000         1.66         0.00
      4194304           10       350.00     11983.73

#----------------------------------------------------------------
# Benchmarking Alltoall
# #processes = 2
# ( 2 additional processes waiting in MPI_Barrier)
#----------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            0         1000         0.07         0.08         0.07
            1         1000         0.65         6.07         3.36
#----------------------------------------------------------------
# Benchmarking Alltoall
# #processes = 4
#----------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            1         1000         0.95         7.07         4.36


# All processes entering MPI_Finalize
"""


def test_imb_has_a_row_per_table_and_size() -> None:
    found = one("imb", IMB)
    assert figures(found, "latency_us") == [1.66, 350.0, 0.07, 3.36, 4.36]
    assert ["bandwidth_MBps" in result["metrics"] for result in results(found)][:2] == [False, True], "none of 0 bytes"
    assert found.cell == {"program": "imb", "transport": "mpi", "ranks": 4}
    assert results(found)[1]["variant"] == {"test": "PingPong", "processes": 2, "bytes": 4194304}
    assert results(found)[1]["metrics"]["bandwidth_MBps"]["value"] == 11983.73
    assert results(found)[4]["variant"] == {"test": "Alltoall", "processes": 4, "bytes": 1}
    assert results(found)[1]["repetitions"] == 10
    cut = IMB[: IMB.index("# All processes")]
    assert "--partial" in refused("imb", cut)
    assert one("imb", cut, partial=True).why_incomplete is not None


def test_groups_of_imb_that_run_at_once_are_factors() -> None:
    text = IMB.replace(
        "Benchmarking PingPong\n# #processes = 2\n",
        """\
Benchmarking Multi-PingPong
# ( 2 groups of 2 processes each running simultaneous )
# Group  0:     0    1
#
# Group  1:     2    3
#
""",
    )
    text = text.replace(
        "       #bytes #repetitions      t[usec]", "        Group       #bytes #repetitions      t[usec]"
    )
    text = text.replace(
        "            0         1000         1.66", "            1            0         1000         1.66"
    )
    text = text.replace("      4194304           10", "            0      4194304           10")
    found = one("imb", text)
    assert results(found)[0]["variant"] == {
        "test": "Multi-PingPong", "processes": 2, "groups": 2, "group": 1, "bytes": 0,
    }  # fmt: skip
    assert figures(found, "latency_us")[:2] == [1.66, 350.0]


def test_the_parts_of_imb_are_distinguished() -> None:
    for part, name in (
        ("MPI-RMA part", "rma"),
        ("MPI-2 part", "ext"),
        ("IMB-P2P part", "p2p"),
        ("MPI-NBC part", "nbc"),
    ):
        assert results(one("imb", IMB.replace("MPI-1 part", part)))[0]["variant"]["part"] == name
    update = one("imb", IMB.replace("Benchmarks 2021.3", "Benchmarks 2019 Update 6"))
    assert results(update, "launch")[0]["program"]["version"] == "2019 Update 6"
    old = one("imb", IMB.replace("Intel(R) MPI Benchmarks 2021.3", "Intel (R) MPI Benchmark Suite V3.2.4"))
    assert results(old, "launch")[0]["program"]["version"] == "3.2.4"
    double = IMB.replace("# PingPong\n", "# MPI_Datatype                   :   MPI_DOUBLE \n# PingPong\n", 1)
    assert results(one("imb", double))[0]["variant"]["datatype"] == "MPI_DOUBLE"


IMB_THREADS = """\
#------------------------------------------------------------------
#    Intel(R) MPI Benchmarks 2021.11, MT part
#------------------------------------------------------------------

#-----------------------------------------------------------------------------
# Benchmarking UniBandMT
# #processes = 2 (threads: 4)
# window_size = 64
#-----------------------------------------------------------------------------
       #bytes #repetitions  t_avg[usec]   Mbytes/sec      Msg/sec
           16            5         0.12       133.62      8380912
"""


def test_imb_mt_says_its_threads_and_not_when_it_ends() -> None:
    (result,) = results(one("imb", IMB_THREADS))
    assert result["variant"] == {
        "test": "UniBandMT", "processes": 2, "threads": 4, "window": 64, "part": "mt", "bytes": 16,
    }  # fmt: skip
    assert len(read("imb", IMB_THREADS + IMB_THREADS)) == 2
    assert "in the middle of a line" in refused("imb", IMB_THREADS[:-4])


def test_sizes_that_imb_left_out_do_not_end_its_table() -> None:
    left_out = "            2 int-overflow; The production rank*size caused int overflow;\n"
    line = "            1         1000         0.65         6.07         3.36\n"
    found = results(one("imb", IMB.replace(line, left_out + line)))
    assert len(found) == len(results(one("imb", IMB))) + 1
    [skipped] = [result for result in found if result.get("skipped")]
    assert skipped["skipped"] == "int-overflow; The production rank*size caused int overflow;"
    assert skipped["variant"]["bytes"] == 2
    checked = IMB.replace("t_avg[usec]\n", "t_avg[usec]      defects\n").replace(
        "         3.36\n", "         3.36         1.00\n"
    )
    checked = checked.replace("         0.07\n", "         0.07         0.00\n").replace(
        "         4.36\n", "         4.36         0.00\n"
    )
    assert [r.get("verified") for r in results(one("imb", checked))] == [None, None, True, False, True]


def test_ranks_of_imb_are_those_of_the_launch() -> None:
    """PingPong runs on two ranks while all other ranks wait."""
    text = IMB[
        : IMB.index("#----------------------------------------------------------------\n# Benchmarking Alltoall")
    ]
    text = text.replace("= 2\n", "= 2\n# ( 6 additional processes waiting in MPI_Barrier)\n")
    assert one("imb", text + "# All processes entering MPI_Finalize\n").cell["ranks"] == 8


def test_a_line_of_imb_is_a_figure_or_an_error() -> None:
    assert "'nan' below t[usec] is not a number" in refused("imb", IMB.replace("1.66", "nan "))
    assert "'.' below t[usec] is not a number" in refused("imb", IMB.replace("1.66", ".   "))
    late = IMB.replace(
        "      4194304           10       350.00     11983.73", "      4194304 time-out.; Time limit is over"
    )
    skipped = [
        (result["variant"]["bytes"], result["skipped"]) for result in results(one("imb", late)) if "skipped" in result
    ]
    assert skipped == [(4194304, "time-out.; Time limit is over")]


def test_a_buffer_that_imb_found_wrong_is_not_verified() -> None:
    wrong = "7: Error Alltoall,size = 1,sample #0\nProcess 7: Got invalid buffer:\n"
    line = "            1         1000         0.65         6.07         3.36\n"
    found = results(one("imb", IMB.replace(line, wrong + line)))
    assert [r["variant"]["bytes"] for r in found if r.get("verified") is False] == [1]
    late = results(one("imb", IMB + "15: Error PingPong\n"))  # without a size, all of the benchmark
    assert [r.get("verified") is False for r in late] == [r["variant"]["test"] == "PingPong" for r in late]


def test_imb_that_ended_before_its_first_table_says_so() -> None:
    assert "the run ended before its first table" in refused("imb", IMB[: IMB.index("# Benchmarking")])


def test_grids_of_imb_p2p_are_rows_of_their_own() -> None:
    text = IMB.replace("# Benchmarking Alltoall", "# Benchmarking Stencil2D (4 x 2)")
    assert {r["variant"].get("grid") for r in results(one("imb", text))} == {None, "4x2"}


def test_cartex_has_our_exchange_bandwidth() -> None:
    found = one("cartex", CARTEX, ranks_per_node=64)
    assert found.cell == {"program": "cartex", "transport": "mpi", "ranks": 1728, "nodes": 27, "ranks_per_node": 64}
    assert figures(found, "exchange_bandwidth") == [5000.0]
    (result,) = results(found)
    assert result["variant"] == {
        "domain": [64, 64, 64], "halo": 1, "fields": 8, "grid": [12, 12, 12], "placement": "cart",
    }  # fmt: skip
    assert result["repetitions"] == 10000
    assert "was the file edited?" in refused("cartex", CARTEX.replace("5.00000000e+03", "6.00000000e+03"))
    assert results(one("cartex", "check failed!!!!!!!!! expected 3 but found 4\n" + CARTEX))[0]["verified"] is False
    assert "ends without 'tp. max (GB/s)'" in refused("cartex", CARTEX[: CARTEX.index("tp. max")])


def test_agi_is_the_former_name_of_agp_in_bale() -> None:
    old = one("bale", BALE_JSON.replace('"AGP"', '"AGI"'), ranks_per_node=2)
    assert results(old) == [
        {**result, "original": {**result["original"], "name": result["original"]["name"].replace("AGP", "AGI")}}
        for result in results(one("bale", BALE_JSON, ranks_per_node=2))
    ]


def test_json_of_bale_that_was_killed_has_the_strategies_that_ended() -> None:
    cut = BALE_JSON[: BALE_JSON.rindex('"0.04')]
    assert "--partial" in refused("bale", cut, ranks_per_node=2)
    found = one("bale", cut, ranks_per_node=2, partial=True)
    assert [result["variant"]["strategy"] for result in results(found)] == ["agp"]
    assert found.why_incomplete is not None


def test_bale_in_json_has_the_bandwidth_of_its_seconds() -> None:
    found = one("bale", BALE_JSON, ranks_per_node=2)
    assert figures(found, "injection_bandwidth") == [pytest.approx(16 * 1e6 * 2 / s / 1e9) for s in (0.8, 0.04)]
    assert [r["variant"]["strategy"] for r in results(found)] == ["agp", "conveyor"]
    assert found.cell["nodes"] == 2
    assert "--ranks-per-node" in refused("bale", BALE_JSON)
    assert "is cut short" in refused("bale", BALE_JSON[: BALE_JSON.index("Conveyor")], ranks_per_node=2)
    assert "'0'" in refused("bale", BALE_JSON.replace("0.800000", "0"), ranks_per_node=2)


RATE = MetricChoice("rate", "GB/s", "higher", expression=r"^(?P<test>\w+): (?P<value>\S+) GB/s")


def test_a_regular_expression_names_factors_and_the_figure() -> None:
    text = "copy: 10.0 GB/s\nadd: 20 GB/s\ncopy: 14.0 GB/s\nnoise\ncopy: 12 GB/s\n"
    found = one("regex", text, metric=RATE)
    assert [(r["variant"], r["repetitions"]) for r in results(found)] == [({"test": "copy"}, 3), ({"test": "add"}, 1)]
    assert figures(found, "rate") == [12.0, 20.0]
    assert "nothing in the output matches" in refused("regex", "none\n", metric=RATE)
    assert refused("regex", "copy: fast GB/s\n", metric=RATE).startswith("file.out:1: 'fast' is not a number")


def test_a_regular_expression_without_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("longshore_study.importers.regex.MAX_SECONDS", 0.3)
    choice = MetricChoice("x", "s", "lower", expression=r"((?:a+)+)$")
    assert "the search for the pattern took more than" in refused("regex", "a" * 200 + "b", metric=choice)


DOCUMENT = {
    "machine": "m",
    "results": [
        {"name": "copy", "rate": 1.5, "unit": "GB/s"},
        {"name": "add", "rate": "2.5", "unit": "GB/s"},
    ],
    "sizes": {"8": {"us": 1.0}, "16": {"us": 2.0}},
}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("results[*].rate", [({"name": "copy"}, 1.5), ({"name": "add"}, 2.5)]),
        ("results[-1].rate", [({}, 2.5)]),
        ("$.results.*.rate", [({"name": "copy"}, 1.5), ({"name": "add"}, 2.5)]),
        ('sizes."16".us', [({}, 2.0)]),
        ("sizes[*].us", [({"place": "8"}, 1.0), ({"place": "16"}, 2.0)]),
    ],
)
def test_a_json_path_leads_to_figures(path: str, expected: list[tuple[dict[str, Any], float]]) -> None:
    choice = MetricChoice("rate", "GB/s", "higher", path=path)
    found = one("json", json.dumps(DOCUMENT), metric=choice)
    assert list(zip([r["variant"] for r in results(found)], figures(found, "rate"), strict=True)) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[" * 100_000, "nested too deeply"),
        ('{"a": NaN}', "NaN is not a number"),
        ("{", "not JSON"),
        ('{"rate": 1.0}\n{"rate": 2.0}\n', "not JSON: Extra data; for one document per line, join them first"),
        ('{"a": true}', "not a number"),
        ('{"b": 1}', "nothing at the path"),
        ('{"a": 1e999}', "not a number"),
        ('{"a": ' + "9" * 5000 + "}", "not JSON"),
    ],
)
def test_hostile_json_is_one_line(text: str, words: str) -> None:
    assert words in refused("json", text, metric=MetricChoice("x", "s", "lower", path="a"))


@pytest.mark.parametrize("figure", ["0", "-5.0", "0.00"])
def test_a_figure_that_its_unit_cannot_have_is_refused(figure: str) -> None:
    assert "not possible" in refused("regex", f"copy: {figure} GB/s\n", metric=RATE)
    assert "not possible" in refused("json", f'{{"a": {figure}}}', metric=MetricChoice("x", "s", "lower", path="a"))
    percent = MetricChoice("overlap", "%", "higher", path="a")
    assert figures(one("json", f'{{"a": {figure}}}', metric=percent), "overlap") == [float(figure)]
    assert "'-1.47' below Bandwidth (MB/s) is negative" in refused("osu", OSU.replace("1.47", "-1.47"))


def test_any_output_is_imported_from_the_command_line(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "any.out"
    file.write_text("copy: 10.0 GB/s\n")
    store = tmp_path / "results"
    common = ["--store", str(store), "import", "regex", str(file), "--tag", "t"]
    assert main([*common, "--pattern", r"(\w+) (", "--figure", "rate", "--unit", "GB/s"]) == 64
    assert "--pattern is not a regular expression" in capsys.readouterr().err
    assert main([*common, "--figure", "rate", "--unit", "GB/s"]) == 64
    assert main([*common, "--pattern", RATE.expression or "", "--figure", "rate", "--unit", "GB/s"]) == 0
    (launch,) = Store(store).launches()
    assert launch.imported
    assert launch.results[0]["metrics"]["rate"] == {"value": 10.0, "unit": "GB/s", "better": "higher"}
    assert main(["--store", str(store), "show"]) == 0


@pytest.mark.parametrize(
    ("text", "whose"),
    [(STREAM, "stream"), (OSU, "osu"), (IMB, "imb"), (ISX_SCREEN, "isx"), (CHAPEL_ISX, "chapel-isx"),
     (CHAPEL_EP, "chapel-stream"), (CARTEX, "cartex"), (BALE_JSON, "bale")],
)  # fmt: skip
def test_a_file_of_another_program_is_known(text: str, whose: str) -> None:
    message = refused("halobench", text)
    assert f"use 'longshore import {whose} file.out ...'" in message


@pytest.mark.parametrize("label", ["0: ", " 3:", "[1,0]<stdout>:", "[0] "])
def test_labels_of_launchers_are_removed(label: str) -> None:
    for name, text in (("osu", OSU), ("imb", IMB), ("isx", ISX_SCREEN), ("stream", STREAM), ("osu", OSU_OLD)):
        labelled = "".join(f"{label}{line}\n" for line in text.splitlines())
        assert results(one(name, labelled)) == results(one(name, text))


def test_labels_within_lines_and_colours_are_removed() -> None:
    mixed = OSU.replace("1.47", "[prterun-n1@1,0]<stdout>: \x1b[32m1.47\x1b[0m")
    assert results(one("osu", mixed)) == results(one("osu", OSU))
    assert figures(one("regex", "copy: \x1b[1m5.0\x1b[0m GB/s\n", metric=RATE), "rate") == [5.0]


@pytest.mark.parametrize("name", [n for n, form in formats.FORMATS.items() if form.signature])
@pytest.mark.parametrize(
    "junk", ["\x00\x01\x02", "a" * 1_000_000, "{" * 100_000, "<script>alert(1)</script>", "\x1b]0;x\x07"]
)
def test_junk_is_refused_in_one_line(name: str, junk: str) -> None:
    assert "nothing in it is typical of one" in refused(name, junk)


BABELSTREAM = """\
BabelStream
Version: 5.0
Implementation: OpenMP
Running kernels 100 times
Precision: double
Array size: 268.4 MB (=0.3 GB)
Total size: 805.3 MB (=0.8 GB)
Init: 0.07 s (=11504.1 MBytes/sec)
Read: 0.09 s (=8947.8 MBytes/sec)
Function    MBytes/sec  Min (sec)   Max         Average
Copy        26843.546   0.02000     0.03000     0.02500
Mul         26843.546   0.02000     0.03000     0.02500
Add         40265.318   0.02000     0.03000     0.02500
Triad       40265.318   0.02000     0.03000     0.02500
Dot         53687.091   0.01000     0.02000     0.01250
"""
BABELSTREAM_CSV = """\
phase,n_elements,sizeof,max_mbytes_per_sec,runtime
Init,33554432,4,11504.1,0.07
Read,33554432,4,8947.8,0.09
function,num_times,n_elements,sizeof,max_mibytes_per_sec,min_runtime,max_runtime,avg_runtime
Copy,50,33554432,4,12800,0.02,0.03,0.025
Mul,50,33554432,4,12800,0.02,0.03,0.025
Add,50,33554432,4,19200,0.02,0.03,0.025
Triad,50,33554432,4,19200,0.02,0.03,0.025
Dot,50,33554432,4,12800,0.02,0.03,0.025
"""


def test_babelstream_is_read_printed_and_as_csv() -> None:
    printed = one("babelstream", BABELSTREAM)
    assert printed.cell == {"program": "babelstream", "nodes": 1, "ranks": 1, "implementation": "OpenMP"}
    assert [result["variant"]["kernel"] for result in results(printed)] == ["copy", "scale", "add", "triad", "dot"]
    assert results(printed)[0]["variant"]["array"] == "268.4 MB"
    assert figures(printed, "best_bandwidth")[2] == pytest.approx(40.265318)
    assert figures(printed, "mean_bandwidth")[4] == pytest.approx(53.687091 * 0.8)
    assert {(result["repetitions"], result["verified"]) for result in results(printed)} == {(100, None)}
    table = one("babelstream", BABELSTREAM_CSV)
    assert results(table)[1]["variant"] == {"kernel": "scale", "scope": "ep", "type": "float", "elements": 33554432}
    assert figures(table, "best_bandwidth")[0] == pytest.approx(12800 * 2**20 / 1e9)
    wrong = one("babelstream", BABELSTREAM + "Validation failed on sum. Error 0.1\n")
    assert {result["verified"] for result in results(wrong)} == {False}
    assert [len(results(run)) for run in read("babelstream", BABELSTREAM * 2)] == [5, 5]


def test_a_single_kernel_of_babelstream_is_a_whole_run() -> None:
    head = BABELSTREAM.partition("Function")[0].replace("Running kernels", "Running triad")
    triad = head + "--------------------------------\nRuntime (seconds): 2.01327\nBandwidth (GiB/s):  40.000\n"
    (rate,) = figures(one("babelstream", triad), "mean_bandwidth")
    assert rate == pytest.approx(40 * 2**30 / 1e9)
    head_of_csv = "function,num_times,n_elements,sizeof,"
    (rate,) = figures(
        one("babelstream", f"{head_of_csv}gbytes_per_sec,runtime\nTriad,100,1024,8,40,0.00006\n"), "mean_bandwidth"
    )
    assert rate == 40
    nstream = (
        f"{head_of_csv}max_mbytes_per_sec,min_runtime,max_runtime,avg_runtime\nNstream,9,1024,8,1e4,1e-6,3e-6,2e-6\n"
    )
    assert figures(one("babelstream", nstream), "mean_bandwidth") == [5]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("Dot  ", "#Dot ", "ends without Dot; --partial imports"),
        (
            "40265.318   0.02000     0.03000",
            "40265.318   0.04000     0.03000",
            "this line needs a rate above 0, and times",
        ),
        ("26843.546", "nan", "'nan' below MBytes/sec is not a number"),
        ("MBytes/sec  Min", "Bytes/sec  Min", "'Bytes/sec' is not one of MBytes/sec"),
    ],
)
def test_a_wrong_output_of_babelstream_is_refused(old: str, new: str, told: str) -> None:
    assert told in refused("babelstream", BABELSTREAM.replace(old, new))


def test_the_first_halobench_is_read() -> None:
    seconds = {"Sendrecv": 0.15, "Waitall": 0.1, "Redblack": 0.2}
    data = 8 * 10000 * 6 / 2**20
    text = f"""
 Simple haloswap benchmark
 -------------------------

 Running on            8  process(es)
 Process grid is (           2 ,            2 ,            2 )
 Buffer size is        10000

 Total amount of halo data =   {data}       MiB

 Number of repetitions =         1000
 Clock resolution is   1.0000000000000000E-003 , usecs
"""
    for mode, time in seconds.items():
        text += f"\n {mode}\n --------\n {mode} time =  {time} , IO rate =  {1000 * data / time} MiB/s\n"
    found = one("halobench", text + "\n Finished\n --------\n")
    assert [result["variant"]["mode"] for result in results(found)] == ["sendrecv", "waitall", "redblack"]
    assert results(found)[0]["variant"]["contiguous"] == 10000
    assert figures(found, "process_bandwidth") == pytest.approx([1000 * data / time for time in seconds.values()])
    assert "ends without 'Finished', after 3 of 8 modes" in refused("halobench", text)
