"""The store: whole files or none, any name, nothing dropped in silence, samples only when asked
for."""

from __future__ import annotations

import errno
import os
import tracemalloc
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from longshore_study.base.errors import LongshoreError, UsageError
from longshore_study.metrics.launch_metrics import measure
from longshore_study.store import launch_store, records
from longshore_study.store.launch_store import Store
from stored_launches import halo, store_launch

SAMPLE = {"record": "sample", "pattern": "halo", "variant": {"mode": "m"}, "repetition": 0, "seconds": {"max": 1.0}}


def test_stored_launches_are_read_back(results: Store) -> None:
    store_launch(results, "t", "monday", [SAMPLE, halo("waitall", 100.0)], index=3, position=5)
    (launch,) = results.launches()
    assert (launch.study, launch.tag, launch.session, launch.launch_index, launch.position) == (
        "s",
        "t",
        "monday",
        3,
        5,
    )
    assert launch.complete
    assert launch.problem is None
    assert launch.header == {"record": "launch", "schema": 1}
    assert launch.results == [halo("waitall", 100.0)]
    assert launch.samples == []
    assert launch.cell == {"program": "halo", "ranks": 2}


def test_samples_are_read_when_asked_for(results: Store) -> None:
    store_launch(results, "t", "s", [SAMPLE, SAMPLE])
    (launch,) = results.launches(samples=True)
    assert launch.samples == [SAMPLE, SAMPLE]


def test_samples_cost_no_parsing(results: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand launches of sixteen variants and thirty repetitions: what is parsed is what is
    shown."""
    parsed = []
    check = records.check

    def counting(record: Mapping[str, Any], path: Path | str, line_number: int | None = None) -> None:
        parsed.append(line_number)
        check(record, path, line_number)

    launch = [SAMPLE] * 480 + [halo(f"m{k}", 100.0 + k) for k in range(16)]
    path = store_launch(results, "t", "s", launch)
    content = path.read_bytes()
    for copy in range(1, 1000):
        (path.parent / f"copy-{copy:03d}.jsonl").write_bytes(content)
    monkeypatch.setattr(records, "check", counting)
    assert sum(len(stored.results) for stored in results.launches()) == 16_000
    assert len(parsed) == 1000 * (1 + 1 + 16 + 1), "envelope, launch, results, end"


def test_reading_a_store_holds_one_launch_at_a_time(results: Store) -> None:
    """Memory is bounded by the largest launch, not by their number, also where samples are asked
    for."""
    for index in range(24):
        store_launch(results, "t", "s", [SAMPLE] * 1000, index=index)
    peaks = []
    for few in (4, 24):
        tracemalloc.start()
        launches = results.launches(samples=True)
        assert sum(len(launch.samples) for launch, _ in zip(launches, range(few), strict=False)) == few * 1000
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]


def test_a_compared_result_takes_little_memory(results: Store) -> None:
    """What docs/reference/commands.md promises: some kilobytes each, whatever else the launches
    hold."""
    measured_peaks = []
    for launches, first in ((10, 0), (40, 10)):
        for index in range(first, launches):
            store_launch(
                results, "t", "s", [SAMPLE] * 200 + [halo(f"m{mode}", 100.0) for mode in range(50)], index=index
            )
        tracemalloc.start()
        assert len(measure(list(results.launches())).figures) == 50 * launches
        measured_peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert measured_peaks[1] - measured_peaks[0] < 4096 * 50 * 30


@pytest.mark.parametrize(
    "name",
    [
        "..",
        ".",
        "a/b",
        " ",
        "µ-bench",
        "new\nline",
        "%2F",
        "x" * 400,
        "a" * 199 + "/",
        "nul\0",
        "byte \udcff",
        "Ж" * 40,
    ],
)
def test_any_text_is_a_name(results: Store, name: str) -> None:
    path = store_launch(results, name, name, [], study=name)
    assert results.path in path.parents
    assert path.resolve().is_relative_to(results.path.resolve())
    (launch,) = results.launches(name, name, name)
    assert (launch.study, launch.tag, launch.session) == (name, name, name)
    assert launch.problem is None
    assert results.names() == [(name, name, name)]


def test_different_names_get_different_folders(results: Store) -> None:
    names = ["a/b", "a%2Fb", "a_b", "x" * 400, "x" * 401, ".a", "%2Ea"]
    for name in names:
        store_launch(results, name, "s", [])
    assert [len(list(results.launches(tag=name))) for name in names] == [1] * len(names)


def test_an_empty_name_is_refused(results: Store) -> None:
    with pytest.raises(UsageError, match="the tag needs a name"):
        store_launch(results, "", "s", [])


def test_nothing_half_written_is_left(results: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(LongshoreError, match="No space left on device; free space or choose another --store"):
        store_launch(results, "t", "s", [halo("waitall", 1.0)])
    monkeypatch.undo()
    assert list(results.launches()) == []
    assert [path for path in results.path.rglob("*") if path.is_file()] == []


def test_the_same_launch_is_stored_once_and_a_repeated_one_beside_it(results: Store) -> None:
    first = store_launch(results, "t", "s", [halo("waitall", 1.0)])
    assert store_launch(results, "t", "s", [halo("waitall", 1.0)]) == first
    second = store_launch(results, "t", "s", [halo("waitall", 2.0)])
    assert second != first
    assert len(list(results.launches())) == 2


def test_a_truncated_file_is_shown_with_its_last_line(results: Store) -> None:
    path = store_launch(results, "t", "s", [halo("waitall", 1.0)], end=False)
    (launch,) = results.launches()
    assert not launch.complete
    assert launch.problem == f"{path}:3: truncated (no 'end' record follows)"
    assert len(launch.results) == 1


@pytest.mark.parametrize("cut", [1, 40, 90])
def test_a_file_cut_within_a_line_is_shown(results: Store, cut: int) -> None:
    path = store_launch(results, "t", "s", [halo("waitall", 1.0), halo("sendrecv", 1.0)])
    path.write_bytes(path.read_bytes()[: -len('{"record":"end","status":"ok"}\n') - cut])
    (launch,) = results.launches()
    assert launch.problem is not None
    assert launch.problem.startswith(f"{path}:4: ")
    assert len(launch.results) == (2 if cut == 1 else 1)


def test_a_sample_cut_within_its_line_is_found_though_samples_are_skipped(results: Store) -> None:
    path = store_launch(results, "t", "s", [SAMPLE], end=False)
    path.write_bytes(path.read_bytes()[:-10])
    (launch,) = results.launches()
    assert launch.problem is not None
    assert f"{path}:3: not a JSON record" in launch.problem


@pytest.mark.parametrize(
    "content",
    [b"", b"\n", b"\x00\xff\xfe", b"hello\n", b'{"record":"end","status":"ok"}\n', b'{"record":"study","schema":1}\n'],
)
def test_an_unreadable_file_is_yielded_under_the_names_of_its_folders(results: Store, content: bytes) -> None:
    folder = results.session_path("my study", "a/b", "s")
    folder.mkdir(parents=True)
    (folder / "x.jsonl").write_bytes(content)
    (launch,) = results.launches()
    assert (launch.study, launch.tag, launch.session) == ("my study", "a/b", "s")
    assert launch.problem is not None
    assert f"{folder / 'x.jsonl'}:1: " in launch.problem


def test_a_malformed_line_is_named_and_what_precedes_it_is_kept(results: Store) -> None:
    path = store_launch(results, "t", "s", [halo("waitall", 1.0), halo("sendrecv", 1.0)])
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*lines[:3], "{oops\n", *lines[4:]]))
    (launch,) = results.launches()
    assert launch.problem is not None
    assert launch.problem.startswith(f"{path}:4: not a JSON record")
    assert len(launch.results) == 1


def test_a_newer_schema_is_named(results: Store) -> None:
    path = store_launch(results, "t", "s", [])
    path.write_text(path.read_text().replace('"schema":1', '"schema":2'))
    (launch,) = results.launches()
    assert launch.problem is not None
    assert "schema 2 is not known to this version" in launch.problem


def test_a_failed_launch_says_how(results: Store) -> None:
    store_launch(results, "t", "s", [], exit_status=3, stderr_tail=["...", "rank 2 died"], end=False)
    (launch,) = results.launches()
    assert launch.problem is not None
    assert "failed with exit status 3: rank 2 died" in launch.problem


def test_the_error_of_a_program_is_quoted(results: Store) -> None:
    path = store_launch(results, "t", "s", [], end=False)
    end = {"record": "end", "status": "failed", "error": {"kind": "timeout", "message": "rank 1 waited for rank 0"}}
    with path.open("a") as file:
        file.write(records.dump(end) + "\n")
    (launch,) = results.launches()
    assert launch.complete
    assert launch.problem == f"{path}:3: ended with status 'failed': rank 1 waited for rank 0"


def test_a_launch_in_which_nothing_could_run_is_no_failure(results: Store) -> None:
    skipped = {"record": "result", "pattern": "halo", "variant": {"mode": "rma"}, "skipped": "not on threads"}
    store_launch(results, "t", "s", [skipped], exit_status=2)
    store_launch(results, "t", "s", [], index=1, exit_status=2, end=False)
    assert [launch.problem is None for launch in results.launches()] == [True, False]


def test_recorded_launches_are_listed_by_cell_and_index(results: Store) -> None:
    cell = launch_store.cell_id({"program": "halo", "ranks": 2})
    store_launch(results, "t", "s", [], index=0, exit_status=3)
    store_launch(results, "t", "s", [], index=1)
    assert results.cells_done("s", "t", "s") == {(cell, 0): False, (cell, 1): True}
    store_launch(results, "t", "s", [], index=0)
    assert results.cells_done("s", "t", "s") == {(cell, 0): True, (cell, 1): True}


def test_the_cell_id_does_not_depend_on_the_order_of_factors() -> None:
    assert launch_store.cell_id({"a": 1, "b": {"x": [2]}}) == launch_store.cell_id({"b": {"x": [2]}, "a": 1})
    assert launch_store.cell_id({"a": 1}) != launch_store.cell_id({"a": "1"})


def test_a_store_that_is_a_file_is_an_error_of_one_line(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("")
    with pytest.raises(LongshoreError, match=r"file: cannot be read \(Not a directory\)"):
        Store(path).names()
    with pytest.raises(LongshoreError, match="cannot store a launch"):
        store_launch(Store(path), "t", "s", [])


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_an_unreadable_folder_is_a_launch_with_a_problem(
    results: Store, monkeypatch: pytest.MonkeyPatch, depth: int
) -> None:
    store_launch(results, "t", "s", [halo("waitall", 1.0)], study="a")
    store_launch(results, "u", "s", [halo("waitall", 1.0)], study="b")
    locked = results.path.joinpath(*("b", "u", "s")[:depth])
    scandir = os.scandir

    def refusing(folder: Path) -> Any:  # root may read every folder, so permissions do not test this
        if folder == locked:
            raise PermissionError(errno.EACCES, "Permission denied")
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", refusing)
    good, bad = results.launches()
    assert (good.study, good.problem) == ("a", None)
    assert (bad.study, bad.tag, bad.session) == (*("b", "u", "s")[:depth], "?", "?")[:3]
    assert bad.problem == f"{locked}: cannot be read (Permission denied)"
    assert len(list(results.launches("a"))) == 1
    assert results.names() == [("a", "t", "s")]


def test_names_come_from_the_folders(results: Store) -> None:
    store_launch(results, "new", "b/c", [], study="z")
    store_launch(results, "old", "a", [], study="y")
    assert results.names() == [("y", "old", "a"), ("z", "new", "b/c")]
    assert Store(results.path / "nowhere").names() == []
