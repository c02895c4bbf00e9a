"""Sessions that are killed at any moment, and two sessions at once: no recorded launch is lost, and
no incomplete launch is read. Real processes are killed at random moments (the seed is fixed, the
timing is not)."""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from longshore_study.base.errors import LongshoreError
from longshore_study.execution import session_lock
from longshore_study.store import launch_store
from longshore_study.store.launch_store import Store
from longshore_study.store.records import dump, end_record
from started_programs import write_bench
from stored_launches import halo

WRITERS_KILLED = 200
WORKERS = 2
WAIT_SECONDS = 300

# Forks a writer for each delay. The writer stores launches as large as real launches as fast as it
# can, and reports each stored launch. After the delay, counted from the first launch, the writer is
# killed. `run` stores launches by the same call. Forks are used because 200 starts take long.
WRITERS = """
import json, os, signal, sys, time
from longshore_study.store.launch_store import Store
store, begin, delays = Store(sys.argv[1]), int(sys.argv[2]), json.loads(sys.argv[3])
sample = '{"record":"sample","pattern":"halo","variant":{"mode":"waitall"},"seconds":{"max":1.0}}'
for turn, delay in enumerate(delays):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        for number in range((begin + turn) * 100000, (begin + turn + 1) * 100000):
            envelope = {"study": "s", "tag": "t", "session": "a", "cell": {"program": "halo"}, "cell_id": "c",
                        "launch_index": number, "exit_status": 0}
            lines = ['{"record":"launch","schema":1}', *[sample] * 400, '{"record":"end","status":"ok"}']
            store.write_launch(envelope, lines)
            os.write(writing, b"%d\\n" % number)
    os.close(writing)
    with os.fdopen(reading) as said:
        print(said.readline(), end="")
        time.sleep(delay)
        os.kill(child, signal.SIGKILL)
        print("".join(line for line in said if line.endswith("\\n")), end="")
    os.waitpid(child, 0)
"""


def killed_writers(path: Path, begin: int, delays: list[float]) -> list[int]:
    """The launches that the writers reported as stored before they were killed."""
    words = [sys.executable, "-c", WRITERS, str(path), str(begin), json.dumps(delays)]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=WAIT_SECONDS)
    return [int(line) for line in done.stdout.splitlines()]


@pytest.mark.thorough
def test_killed_writers_lose_no_stored_launch_and_leave_no_partial_launch(tmp_path: Path) -> None:
    generator = random.Random(5)
    delays = [generator.uniform(0.0, 0.02) for _ in range(WRITERS_KILLED)]

    def kill_in_turn(worker: int) -> list[int]:
        return killed_writers(tmp_path / "results", worker * 1000, delays[worker::WORKERS])

    with ThreadPoolExecutor(WORKERS) as pool:
        said = [number for part in pool.map(kill_in_turn, range(WORKERS)) for number in part]
    results = Store(tmp_path / "results")
    launches = list(results.launches(samples=True))
    assert [launch.problem for launch in launches if launch.problem] == []
    assert all(len(launch.samples) == 400 for launch in launches)
    stored = [launch.launch_index for launch in launches]
    assert len(stored) == len(set(stored))
    assert set(said) <= set(stored), "what was said to be stored is there"
    assert len(set(stored) - set(said)) <= WRITERS_KILLED, (
        "at most one more of each: it was killed before it could say so"
    )
    assert len(said) > WRITERS_KILLED
    folder = results.session_path("s", "t", "a")
    left = list(folder.glob(".*"))
    assert left, "some were killed while they wrote, or this test shows nothing"
    with session_lock.session_lock(folder, "a"):
        assert [path.name for path in folder.glob(".*") if not path.name.startswith(".running")] == []


def test_a_writer_that_writes_in_place_is_detected(tmp_path: Path) -> None:
    """The injected fault: a file that grows under its own name is read although it is
    incomplete."""
    folder = Store(tmp_path).session_path("s", "t", "a")
    folder.mkdir(parents=True)
    whole = [
        dump({"record": "study", "schema": 1, "study": "s", "tag": "t", "session": "a", "cell": {}}),
        dump(halo("m", 1.0)),
    ]
    text = "\n".join([*whole, dump(end_record())]) + "\n"
    for size in range(len(text) - 1):
        (folder / "x.jsonl").write_text(text[:size])
        (launch,) = Store(tmp_path).launches()
        assert launch.problem is not None, text[:size]


def test_two_stores_that_use_the_same_name_at_once_lose_nothing(tmp_path: Path) -> None:
    """Two hosts that do not see each other's marks run the same launches. Each launch of each host
    has a file."""
    code = (
        "import sys\n"
        "from longshore_study.store.launch_store import Store\n"
        "for number in range(60):\n"
        "    Store(sys.argv[1]).write_launch({'study': 's', 'tag': 't', 'session': 'a', 'cell': {}, 'exit_status': 0,\n"
        '        \'launch_index\': number, \'who\': sys.argv[2]}, [\'{"record":"end","status":"ok"}\'])\n'
    )
    writers = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path), str(k)]) for k in range(4)]
    assert [writer.wait(WAIT_SECONDS) for writer in writers] == [0] * 4
    launches = list(Store(tmp_path).launches())
    assert sorted((x.launch_index, x.envelope["who"]) for x in launches) == [
        (number, str(who)) for number in range(60) for who in range(4)
    ]


def test_without_hard_links_a_name_is_taken_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    envelope = {"study": "s", "tag": "t", "session": "a", "cell": {}, "exit_status": 0}
    Store(tmp_path).write_launch({**envelope, "n": 1}, [dump(end_record())])
    Store(tmp_path).write_launch({**envelope, "n": 2}, [dump(end_record())])
    assert sorted(launch.envelope["n"] for launch in Store(tmp_path).launches()) == [1, 2]
    assert not list(tmp_path.rglob(".*"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "session").mkdir()
    return tmp_path / "session"


def mark(folder: Path, where: str, process_id: int, part: str = "", age: float = 0.0) -> Path:
    path = folder / f".running.{where}.{process_id}.tmp"
    path.write_text(json.dumps({"host": where, "pid": process_id, "part": part}), encoding="utf-8")
    os.utime(path, (time.time() - age, time.time() - age))
    return path


def test_a_session_of_another_machine_is_refused_while_it_sends_heartbeats(folder: Path) -> None:
    other = mark(folder, "node7-1", 4321, age=30)
    with (
        pytest.raises(LongshoreError, match=r"process 4321 on node7-1 \(heartbeat 30 s ago"),
        session_lock.session_lock(folder, "a"),
    ):
        pass
    os.utime(other, (time.time() - 300, time.time() - 300))
    with session_lock.session_lock(folder, "a") as mine:
        mine.last_heartbeat = -1e9
        before = mine.file.stat().st_mtime_ns
        time.sleep(0.02)
        mine.heartbeat()
        assert mine.file.stat().st_mtime_ns > before
    assert [path.name for path in folder.iterdir()] == [other.name]


def test_a_mark_from_before_the_clock_was_set_back_is_dead(folder: Path) -> None:
    """A living process touches its mark again within seconds."""
    mark(folder, "node7-1", 4321, age=-7200)
    with session_lock.session_lock(folder, "a"):
        pass
    mark(folder, "node7-1", 4321, age=-2)  # of a machine whose clock is ahead
    with pytest.raises(LongshoreError, match="process 4321 on node7-1"), session_lock.session_lock(folder, "a"):
        pass


def test_a_job_waits_for_a_heartbeat_of_another_machine(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    other = mark(folder, "node7-1", 4321)
    monkeypatch.setattr(
        "longshore_study.execution.session_lock.time.sleep", lambda _: os.utime(other, (0, 0))
    )  # pretends that this time has passed
    with session_lock.session_lock(folder, "a", wait=True) as mine:  # the node of the other process has died
        assert mine.file.exists()
    assert capsys.readouterr().err.count("waiting for another heartbeat") == 1
    now = time.time()
    os.utime(other, (now - 30, now - 30))
    monkeypatch.setattr("longshore_study.execution.session_lock.time.sleep", lambda _: os.utime(other))
    with (
        pytest.raises(LongshoreError, match="process 4321 on node7-1"),
        session_lock.session_lock(folder, "a", wait=True),
    ):
        pass


def test_a_session_that_cannot_be_locked_is_an_error_of_one_line(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_words: object, **_more: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "write_text", refuse)
    with (
        pytest.raises(LongshoreError, match=r"cannot write to .*session: Permission denied"),
        session_lock.session_lock(folder, "a"),
    ):
        pass


def test_parts_of_a_session_run_at_once_but_not_beside_the_whole_session(folder: Path) -> None:
    mark(folder, "node7-1", 4321, part="4 nodes")
    with session_lock.session_lock(folder, "a", "16 nodes"):
        pass
    for part in ("4 nodes", ""):
        with pytest.raises(LongshoreError, match="is being run"), session_lock.session_lock(folder, "a", part):
            pass


def test_a_process_of_this_machine_is_looked_up(folder: Path) -> None:
    dead = subprocess.Popen(["true"])
    dead.wait()
    mark(folder, launch_store.process_namespace(), dead.pid)
    with session_lock.session_lock(folder, "a"):
        pass
    code = "import longshore_study.execution.session_lock, time; print(flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as living:
        try:
            assert living.stdout is not None
            living.stdout.readline()
            mark(folder, launch_store.process_namespace(), living.pid, age=10_000)
            with pytest.raises(LongshoreError, match=f"process {living.pid};"), session_lock.session_lock(folder, "a"):
                pass
        finally:
            living.send_signal(signal.SIGKILL)


def test_of_many_that_start_at_once_one_runs_at_a_time(folder: Path) -> None:
    code = (
        "import sys, time, pathlib\n"
        "from longshore_study.execution import session_lock\n"
        "from longshore_study.base.errors import LongshoreError\n"
        "print('ready', flush=True); sys.stdin.read()\n"
        "try:\n"
        "    with session_lock.session_lock(pathlib.Path(sys.argv[1]), 'a'):\n"
        "        print('in', time.time()); time.sleep(0.2); print('out', time.time())\n"
        "except LongshoreError as error:\n"
        "    print('refused')\n"
    )
    reading, writing = os.pipe()
    words = [sys.executable, "-c", code, str(folder)]
    started = [subprocess.Popen(words, stdin=reading, stdout=subprocess.PIPE, text=True) for _ in range(6)]
    os.close(reading)
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    os.close(writing)  # all processes wait for this
    said = [process.communicate(timeout=WAIT_SECONDS)[0].split() for process in started]
    times = sorted((float(words[1]), float(words[3])) for words in said if words[0] == "in")
    assert times, "at least one ran"
    assert all(earlier[1] <= later[0] for earlier, later in itertools.pairwise(times))
    assert sum(words[0] == "refused" for words in said) == 6 - len(times)


STUDY = """
[study]
name = "small"
launches = 25
repetitions = 2

[[pattern]]
program = "sort"
between = { transport = "threads", ranks = [1, 2] }
"""
PLANNED = 100
RUNS_KILLED = 9


@pytest.mark.thorough
def test_a_run_that_is_killed_repeatedly_completes(tmp_path: Path) -> None:
    """`longshore run` is killed with SIGKILL at random moments, from its start on. The same command
    continues each time."""
    (tmp_path / "study.toml").write_text(STUDY, encoding="utf-8")
    bench = write_bench(tmp_path / "longshore-bench")
    words = [sys.executable, "-m", "longshore_study", "run", "study.toml", "--session", "s", "--bench", str(bench)]
    generator = random.Random(6)
    store = Store(tmp_path / "longshore-results")
    recorded = 0
    for kill in range(RUNS_KILLED):
        early = kill % 3 == 0  # at any time; later kills wait for a recorded launch
        with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            while not early and process.poll() is None and len(list(store.launches())) == recorded:
                time.sleep(0.005)
            time.sleep(generator.uniform(0, 0.4 if early else 0.1))
            process.kill()
        assert process.returncode == -signal.SIGKILL, "it was to be killed before its end"
        launches = list(store.launches())
        assert len(launches) >= recorded, "nothing that was recorded is lost"
        recorded = len(launches)
        assert [launch.problem for launch in launches if launch.problem] == []
    assert RUNS_KILLED / 3 < recorded < PLANNED
    subprocess.run(words, cwd=tmp_path, stdout=subprocess.DEVNULL, check=True)
    launches = list(store.launches())
    keys = [(launch.cell_id, launch.launch_index) for launch in launches]
    assert len(keys) == len(set(keys)) == PLANNED
    assert not list(tmp_path.glob("longshore-results/*/*/*/.*"))
