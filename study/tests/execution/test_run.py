"""Sessions as users run them: the real `longshore` process, a stand-in for longshore-bench, real
signals. After a failure or a stop, the tests check the recorded launches, the repeated launches and
the exit status."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest

from longshore_study.cli.command_line import main
from longshore_study.execution.launch_runner import error_line
from longshore_study.execution.session_folder import Target, store_study_file, stored_study_files
from longshore_study.host.mpi import find_mpi
from longshore_study.planning.plan import make_plan
from longshore_study.store.launch_store import Launch, Store
from longshore_study.study_file.reader import load, loads
from started_programs import write_bench

STUDY = """
[study]
name = "small"
launches = 2
repetitions = 2
timeout_seconds = 30

[[pattern]]
program = "sort"
within = { exchange = ["put", "alltoallv"] }
between = { transport = "threads", ranks = [1, 2] }

[[pattern]]
program = "stream"
between = { transport = "threads", ranks = 2 }
"""
WAIT_SECONDS = 300
PLANNED = 10  # (2 sort + 1 stream + 2 control cells) x 2 launches


@dataclass
class Place:
    """A folder with a study, a stand-in program, and a log of all starts of the program."""

    folder: Path
    study: Path
    bench: Path
    log: Path

    @property
    def store(self) -> Store:
        return Store(self.folder / "longshore-results")

    def environment(self, more: Mapping[str, str]) -> dict[str, str]:
        mine = {"LONGSHORE_BENCH": str(self.bench), "FAKE_BENCH_LOG": str(self.log), **more}
        return {**{k: v for k, v in os.environ.items() if not k.startswith(("LONGSHORE", "FAKE"))}, **mine}

    def start(self, *words: str, **more: str) -> subprocess.Popen[str]:
        before = signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests themselves may run under nohup
        try:
            return subprocess.Popen(
                [sys.executable, "-m", "longshore_study", *words],
                cwd=self.folder,
                env=self.environment(more),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        finally:
            signal.signal(signal.SIGHUP, before)

    def call(self, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
        process = self.start(*words, **more)
        out, err = process.communicate(timeout=WAIT_SECONDS)
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    def run(self, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
        return self.call("run", "study.toml", "--session", "s", *words, **more)

    def launches(self) -> list[Launch]:
        return list(self.store.launches("small", "small", "s"))

    def started(self) -> list[str]:
        return self.log.read_text(encoding="utf-8").splitlines() if self.log.exists() else []

    def hanging(self) -> int:
        """Ranks that have their own process group and ignore SIGTERM."""
        log = self.log.with_name(self.log.name + ".hangs")
        return log.read_text(encoding="utf-8").count("\n") if log.exists() else 0


@pytest.fixture
def place(tmp_path: Path) -> Place:
    bench = write_bench(tmp_path / "bin" / "longshore-bench")
    study = tmp_path / "study.toml"
    study.write_text(STUDY, encoding="utf-8")
    return Place(tmp_path, study, bench, tmp_path / "starts.log")


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


def processes_naming(text: str) -> list[str]:
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (
                (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
                if entry.name.isdigit()
                else ""
            )
        except OSError:
            continue
        if text in words and "fake_bench" in words:
            found.append(words)
    return found


def test_a_session_records_every_launch_once_in_the_planned_order(place: Place) -> None:
    done = place.run()
    assert done.returncode == 0, done.stderr
    launches = place.launches()
    assert len(launches) == PLANNED
    assert all(launch.problem is None and launch.complete for launch in launches)
    order = [launch.key for launch in make_plan(load(place.study)).order("s")]
    by_position = sorted(launches, key=lambda launch: launch.position or 0)
    assert [(launch.cell_id, launch.launch_index) for launch in by_position] == order
    starts = [launch.envelope["started"] for launch in by_position]
    assert starts == sorted(starts)
    assert {launch.cell["program"] for launch in launches} == {"sort", "stream", "control"}
    envelope = launches[0].envelope
    assert envelope["command"][0] == str(place.bench)
    assert {"seconds", "binding", "study_file", "margin", "within"} <= envelope.keys()
    again = place.run()
    assert (again.returncode, "nothing to do" in again.stdout) == (0, True)
    assert len(place.started()) == PLANNED
    assert not list(place.folder.glob("longshore-results/*/*/*/.*"))  # no scratch files are left


def test_a_log_gets_a_line_per_launch(place: Place) -> None:
    lines = [line for line in place.run().stderr.splitlines() if not line.startswith("warning: load average")]
    assert lines[0].startswith("small, tag small, session s: 10 launches to run")
    assert len(lines) == 1 + PLANNED
    assert all("recorded" in line and line.endswith(" left") for line in lines[1:])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_launch_at_hand_and_loses_nothing(place: Place, number: signal.Signals) -> None:
    process = place.start("run", "study.toml", "--session", "s", FAKE_BENCH="sort@2=hang")
    wait_for(lambda: place.hanging() > 0)
    process.send_signal(number)
    out, err = process.communicate(timeout=WAIT_SECONDS)
    assert process.returncode == 128 + number
    last = err.splitlines()[-1]
    recorded = len(place.launches())
    assert last == (
        f"longshore: stopped by {number.name}; {recorded} launches recorded, {PLANNED - recorded} left; "
        "continue with: longshore run study.toml --tag small --session s"
    )
    assert "Traceback" not in out + err
    assert not processes_naming(str(place.folder))
    assert 0 < recorded < PLANNED
    assert all(launch.problem is None for launch in place.launches())
    assert place.run().returncode == 0
    assert len(place.launches()) == PLANNED
    assert len(place.started()) == PLANNED + 1  # only the ended launch ran twice


def test_sigint_counts_in_the_background_and_sighup_does_not_under_nohup(place: Place) -> None:
    """A shell without job control starts background programs with SIGINT ignored; nohup ignores
    SIGHUP."""
    code = (
        "import signal, sys\n"
        "for number in (signal.SIGINT, signal.SIGHUP): signal.signal(number, signal.SIG_IGN)\n"
        "from longshore_study import cli\n"
        "sys.exit(cli.main(['run', 'study.toml', '--session', 's']))\n"
    )
    environment = place.environment({"FAKE_BENCH": "sort@2=hang"})
    process = subprocess.Popen([sys.executable, "-c", code], cwd=place.folder, env=environment, stderr=subprocess.PIPE)
    wait_for(lambda: place.hanging() > 0)
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGINT)  # with SIGHUP counted, the status would be 129
    process.communicate(timeout=WAIT_SECONDS)
    assert process.returncode == 130
    assert not processes_naming(str(place.folder))


def test_a_second_signal_changes_nothing(place: Place) -> None:
    """Ten signals have the same effect, even while Python is ending."""
    process = place.start("run", "study.toml", "--session", "s", FAKE_BENCH="*@1=hang")
    wait_for(lambda: bool(place.started()))
    until = time.monotonic() + WAIT_SECONDS
    while process.poll() is None and time.monotonic() < until:
        process.send_signal(signal.SIGINT)
        time.sleep(0.005)
    _, err = process.communicate(timeout=WAIT_SECONDS)
    assert process.returncode == 130, err
    assert len([line for line in err.splitlines() if not line.startswith("warning: load average")]) == 2
    assert not processes_naming(str(place.folder))


def test_after_kill_9_the_program_has_ended_and_the_session_continues(place: Place) -> None:
    process = place.start("run", "study.toml", "--session", "s", FAKE_BENCH="stream@2=hang")
    wait_for(lambda: place.hanging() > 0)
    process.kill()
    process.communicate(timeout=WAIT_SECONDS)
    # The kernel ends the program. The test must end a rank that ignores SIGTERM.
    wait_for(lambda: len(processes_naming(str(place.folder))) <= 1)
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and str(place.folder) in _command_line(entry):
            os.kill(int(entry.name), signal.SIGKILL)
    recorded = len(place.launches())
    assert 0 < recorded < PLANNED
    assert len(list(place.folder.glob("longshore-results/*/*/*/.launch.*"))) == 1  # only the files that kill -9 leaves
    resumed = place.call("resume")
    assert resumed.returncode == 0, resumed.stderr
    assert f"{PLANNED - recorded} launches to run, {recorded} recorded before" in resumed.stderr
    assert len(place.launches()) == PLANNED
    assert not list(place.folder.glob("longshore-results/*/*/*/.*"))


def _command_line(entry: Path) -> str:
    try:
        words = (entry / "cmdline").read_bytes().decode("utf-8", "replace")
    except OSError:
        return ""
    return words if "fake_bench" in words else ""


@pytest.mark.parametrize(
    ("action", "status", "words"),
    [
        ("fail", 3, "rank 1 waited 5 s for rank 0 in barrier"),
        ("die", 137, "SIGKILL"),
        ("wrong", 1, "exit status 1"),
        ("truncate", 0, "cut short"),
        ("garbage", 0, "not a record"),
        ("silent", 0, "no records"),
    ],
)
def test_a_failed_launch_is_recorded_and_the_study_continues(
    place: Place, action: str, status: int, words: str
) -> None:
    done = place.run(FAKE_BENCH=f"sort@2={action}")
    assert done.returncode == 1
    assert len(place.started()) == PLANNED
    bad = [launch for launch in place.launches() if launch.problem]
    assert len(place.launches()) == PLANNED
    assert [launch.cell["program"] for launch in bad] == ["sort", "sort"]
    assert {launch.exit_status for launch in bad} == {status}
    failures = [line for line in done.stderr.splitlines() if "FAILED" in line]
    assert len(failures) == 2
    assert all(words in line for line in failures)
    assert "2 FAILED" in done.stdout
    last_line = done.stdout.splitlines()[-1]
    assert last_line.startswith("the first failure: sort threads ")
    assert words in last_line
    tail = bad[0].envelope["stderr_tail"]
    assert len(tail) < 2 or tail[-1] != tail[-2]


def test_a_failed_launch_is_run_again_only_when_asked_to(place: Place) -> None:
    assert place.run(FAKE_BENCH="sort@2=wrong").returncode == 1
    left_alone = place.run()
    assert (left_alone.returncode, len(place.started())) == (1, PLANNED)
    assert "2 failed before" in left_alone.stdout
    assert left_alone.stdout.splitlines()[-1].startswith("the first failure: ")
    status = place.call("status").stdout
    assert "2 FAILED ('longshore resume --retry-failed' runs them again)" in status
    assert "none missing" not in status
    resumed = place.call("resume")
    assert resumed.returncode == 3
    assert "have run, 2 of them failed; 'longshore resume --retry-failed' runs these again" in resumed.stderr
    retried = place.run("--retry-failed")
    assert (retried.returncode, len(place.started())) == (0, PLANNED + 2)
    assert len(place.launches()) == PLANNED + 2  # the failures stay recorded
    assert place.run().returncode == 0


def test_a_hanging_launch_is_ended_at_its_time_limit(place: Place) -> None:
    place.study.write_text(STUDY.replace("timeout_seconds = 30", "timeout_seconds = 2"), encoding="utf-8")
    done = place.run(FAKE_BENCH="stream@2=hang")
    assert done.returncode == 1
    assert "FAILED, ended after 2 s (timeout_seconds)" in done.stderr
    bad = [launch for launch in place.launches() if launch.problem]
    assert [(launch.exit_status, launch.envelope["timed_out"]) for launch in bad] == [(124, True)]
    assert not processes_naming(str(place.folder))


def test_a_cell_with_nothing_to_run_is_not_a_failure(place: Place) -> None:
    done = place.run(FAKE_BENCH="sort=skip")
    assert done.returncode == 0, done.stderr
    assert "nothing to run here (not on this transport)" in done.stderr
    status = place.call("status")
    assert "4 with nothing to run" in status.stdout
    assert "FAILED" not in status.stdout


def test_after_a_full_disk_the_session_continues(place: Place) -> None:
    (place.folder / "longshore-results").write_text("in the way", encoding="utf-8")
    done = place.run()
    assert done.returncode == 3
    assert len(done.stderr.splitlines()) == 1
    (place.folder / "longshore-results").unlink()
    code = (
        "import sys, errno\n"
        "from longshore_study import cli\n"
        "from longshore_study.store import launch_store\n"
        "write, count = launch_store._write_beside_and_rename, []\n"
        "def full(folder, stem, content):\n"
        "    count.append(1)\n"
        "    if len(count) > 4:\n"
        "        (folder / ('.' + stem + '.tmp')).write_bytes(content[:10])\n"
        "        (folder / ('.' + stem + '.tmp')).unlink()\n"
        "        raise OSError(errno.ENOSPC, 'No space left on device')\n"
        "    return write(folder, stem, content)\n"
        "launch_store._write_beside_and_rename = full\n"
        "sys.exit(cli.main(['run', 'study.toml', '--session', 's']))\n"
    )
    stopped = subprocess.run(
        [sys.executable, "-c", code],
        cwd=place.folder,
        env=place.environment({}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert stopped.returncode == 3
    last = stopped.stderr.splitlines()[-1]
    assert "No space left on device" in last
    assert "then continue with: longshore run study.toml --tag small --session s" in last
    assert len(place.launches()) == 4
    assert place.run().returncode == 0
    assert len(place.launches()) == PLANNED


def test_a_larger_study_file_adds_launches(place: Place) -> None:
    assert place.run().returncode == 0
    place.study.write_text(STUDY.replace("launches = 2", "launches = 3"), encoding="utf-8")
    status = place.call("status", "study.toml", "-v")
    assert "10 recorded of 15, 5 missing" in status.stdout
    assert place.run().returncode == 0
    assert len(place.launches()) == 15
    place.study.write_text(STUDY.replace('"put", "alltoallv"', '"put"'), encoding="utf-8")
    assert "that the study file no longer contains" in place.call("status", "study.toml").stdout


def test_the_commands_are_printed_without_the_program_too(place: Place) -> None:
    place.bench.unlink()
    plain = {"LONGSHORE_BENCH": "", "PATH": "/nowhere"}
    code = (
        "import sys\n"
        "from longshore_study import cli\n"
        "sys.argv[0] = sys.executable = '/nowhere/longshore'\n"
        "sys.exit(cli.main(['run', 'study.toml', '--session', 's', *sys.argv[1:]]))\n"
    )

    def called(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", code, *words], cwd=place.folder, env=place.environment(plain),
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    dry = called("--dry-run")
    assert dry.returncode == 0, dry.stderr
    assert len(dry.stdout.splitlines()) == PLANNED
    assert all(line.startswith("longshore-bench ") for line in dry.stdout.splitlines())
    assert called().returncode == 3, "to run, it is needed"


LAYERS = """
[study]
name = "layers"
launches = 2
repetitions = 1

[[pattern]]
program = "stream"
within = { tasks = ["serial", "tbb"], memory = ["calloc", "malloc"], stores = ["ordinary", "streaming"] }
between = { transport = "threads", ranks = [1, 2] }

[[step]]
name = "initial"
with = { memory = "calloc", stores = "ordinary" }
[[step]]
name = "malloc, not calloc"
with = { memory = "malloc" }
[[step]]
name = "streaming stores"
with = { stores = "streaming" }
"""


def test_a_study_with_steps_is_run_shown_and_reported(place: Place) -> None:
    place.study.write_text(LAYERS, encoding="utf-8")
    assert place.call("check", "study.toml").returncode == 0
    assert "stream threads 2 ranks" in place.call("plan", "study.toml").stdout
    done = place.run(FAKE_BENCH="stream/threads@2=fail")
    assert done.returncode == 1
    shown = place.call("show", "layers", "--steps", "--json")
    assert shown.returncode == 0, shown.stderr
    (table,) = json.loads(shown.stdout)["tables"]
    assert [(column["ranks"], column["tasks"]) for column in table["columns"]] == [
        (1, "serial"), (1, "tbb"), (2, "serial"), (2, "tbb"),
    ]  # fmt: skip
    first = [row for row in table["rows"] if row["column"]["tasks"] == "serial" and row["column"]["ranks"] == 1]
    # The figures of the stand-in are 10 / (1 + index in the cross product), and one of two launches
    # failed.
    assert [row["value"] for row in first] == pytest.approx([10 / 1, 10 / 3, 10 / 4])
    assert [row["launches"] for row in first] == [1, 1, 1]
    assert first[1]["gain"]["ratio"] == pytest.approx(1 / 3)
    scaling = json.loads(place.call("show", "layers", "--scaling", "--json").stdout)
    assert len(scaling["curves"]) == 8
    assert [curve["points"][1]["efficiency"] for curve in scaling["curves"]] == pytest.approx([0.5] * 8)
    assert place.call("report", "-o", "r.html").returncode == 0
    page = (place.folder / "r.html").read_text(encoding="utf-8")
    assert "What each step brought" in page
    assert "malloc, not calloc" in page


def test_the_studies_of_the_project_make_plans() -> None:
    studies = sorted((Path(__file__).parents[3] / "studies").glob("*.toml"))
    assert {path.stem for path in studies} >= {"quick", "stream-layers", "stream-sizes"}
    for path in studies:
        plan = make_plan(load(path))
        assert plan.launches_per_session > 0
    layers = load(studies[0].with_name("stream-layers.toml"))
    assert len(layers.steps) >= 5
    assert set(layers.steps[0].levels) == {"memory", "first_touch", "stores"}


def test_an_impossible_run_is_an_error_of_one_line(place: Place) -> None:
    cases = {
        ("run", "study.toml", "--bench", "/nowhere/bench"): (3, "'/nowhere/bench'"),
        ("run", "stduy.toml"): (64, "cannot read the study file stduy.toml"),
        ("run", "study.toml", "--tag", ""): (64, "the tag needs a name"),
        ("run", "study.toml", "--sesion", "a"): (64, "--session"),
        ("resume",): (3, "no session to resume"),
        ("status",): (3, "nothing is stored"),
        ("check", "stduy.toml"): (64, "stduy.toml"),
        ("plan", "stduy.toml"): (64, "stduy.toml"),
    }
    for words, (status, text) in cases.items():
        done = place.call(*words)
        assert (done.returncode, len(done.stderr.splitlines())) == (status, 1), (words, done.stderr)
        assert text in done.stderr
    assert not place.started()
    mpi = STUDY.replace('transport = "threads", ranks = [1, 2]', 'transport = "mpi", ranks = 2')
    place.study.write_text(mpi, encoding="utf-8")
    done = place.run("--mpirun", "/nowhere/mpirun")
    assert (done.returncode, "/nowhere/mpirun" in done.stderr, place.started()) == (3, True, [])
    place.study.write_text(mpi + '[launcher]\nkind = "srun"\n', encoding="utf-8")
    done = place.run()
    assert done.returncode == 3
    assert "no Slurm allocation" in done.stderr or "'srun' was not found" in done.stderr


@pytest.mark.thorough
def test_a_run_stops_within_its_time_limit_and_continues_later(place: Place) -> None:
    assert place.run("--stop-after", "soon").returncode == 64
    begun = time.monotonic()
    stopped = place.run("--json", "--stop-after", "6s", FAKE_BENCH_SECONDS="0.8", FAKE_BENCH="stream@2=hang")
    assert stopped.returncode == 75, stopped.stderr
    assert time.monotonic() - begun < 120
    recorded = len(place.launches())
    assert 0 < recorded < PLANNED
    assert all(launch.problem is None for launch in place.launches()), "what was ended is not recorded"
    assert f"{recorded} launches recorded, {PLANNED - recorded} left" in stopped.stderr.splitlines()[-1]
    answer = json.loads(stopped.stdout)
    assert (answer["stopped"], answer["recorded"], answer["left"]) == ("time", recorded, PLANNED - recorded)
    assert " 75 " in place.call("run", "--help").stdout
    assert not processes_naming(str(place.folder))
    assert place.run("--stop-after", "5m").returncode == 0
    assert len(place.launches()) == PLANNED


def test_a_launch_that_would_not_end_in_time_is_not_begun(place: Place) -> None:
    """The known duration of a cell counts: a launch of an hour does not start if half an hour is
    left."""
    assert place.run().returncode == 0
    for path in place.folder.glob("longshore-results/*/*/*/*.jsonl"):
        envelope, *records = path.read_text(encoding="utf-8").splitlines()
        slow = {**json.loads(envelope), "seconds": 3600.0}
        path.write_text("\n".join([json.dumps(slow), *records, ""]), encoding="utf-8")
    started = len(place.started())
    place.study.write_text(STUDY.replace("launches = 2", "launches = 3"), encoding="utf-8")
    stopped = place.run("--stop-after", "30m")
    assert (stopped.returncode, len(place.started())) == (75, started)
    assert "0 launches recorded, 5 left" in stopped.stderr


def test_a_wrong_program_is_recognised(place: Place) -> None:
    done = place.run("--bench", "/bin/true")
    assert done.returncode == 1
    assert done.stderr.count("it wrote no records; is it a longshore-bench?") == PLANNED


def test_a_dry_run_prints_the_commands_and_runs_none(place: Place) -> None:
    done = place.run("--dry-run")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert len(lines) == PLANNED
    assert {shlex.split(line)[0] for line in lines} == {str(place.bench)}
    assert not place.started()
    assert not (place.folder / "longshore-results").exists()


def test_run_and_status_speak_json(place: Place) -> None:
    answer = json.loads(place.run("--json", FAKE_BENCH="stream@1=fail").stdout)
    assert (answer["planned"], answer["recorded"], len(answer["failed"])) == (PLANNED, 9, 1)
    status = json.loads(place.call("status", "--json").stdout)["sessions"]
    assert [(s["recorded"], s["missing"], len(s["failed"])) for s in status] == [(9, 0, 1)]
    checked = json.loads(place.call("check", "study.toml", "--json").stdout)["files"]
    assert [(f["problems"], f["launches"]) for f in checked] == [([], PLANNED)]
    plan = json.loads(place.call("plan", "study.toml", "--json").stdout)
    assert plan["cells_with_known_seconds"] == 5
    assert plan["launches_per_session"] == PLANNED


def test_resume_takes_the_session_that_was_worked_on_last(place: Place) -> None:
    assert place.run().returncode == 0
    for session in ("older", "newer"):
        done = place.call("run", "study.toml", "--session", session, FAKE_BENCH="sort=fail")
        assert done.returncode == 1
        time.sleep(0.02)
    complete = place.call("resume")
    assert (complete.returncode, "3 stored sessions have run, 8 of them failed" in complete.stderr) == (3, True)
    resumed = place.call("resume", "--retry-failed")
    assert resumed.returncode == 0
    assert "session newer: 4 launches to run" in resumed.stderr
    assert place.call("resume", "--session", "older", "--retry-failed").returncode == 0


def test_resume_takes_names_and_says_that_a_session_is_complete(place: Place) -> None:
    assert place.run("--tag", "image").returncode == 0
    for names in ((), ("small",), ("image",), ("study.toml",), ("image", "--session", "s")):
        complete = place.call("resume", *names)
        assert (complete.returncode, complete.stderr) == (0, "")
        assert f"nothing to do: all {PLANNED} launches of session s are recorded" in complete.stdout
    assert json.loads(place.call("resume", "--json").stdout)["recorded_before"] == PLANNED
    (launch, *_) = Store(place.folder / "longshore-results").launches()
    launch.path.unlink()
    resumed = place.call("resume", "image")
    assert resumed.returncode == 0
    assert "1 launch to run" in resumed.stderr
    unknown = place.call("resume", "imgae")
    assert unknown.returncode == 64
    assert "unknown tag or study 'imgae'; did you mean 'image'?" in unknown.stderr
    assert "recorded of" in place.call("status", "image").stdout
    none = place.call("resume", "image", "--session", "t")
    assert (none.returncode, "no session of 'image' to resume" in none.stderr) == (3, True)


@pytest.mark.parametrize(
    "content",
    [b"\x00\xff", *(pytest.param(more, marks=pytest.mark.thorough) for more in (b"", b'{"record":"stu', b"[]\n"))],
)
def test_what_status_counts_adds_up_with_damaged_files(place: Place, content: bytes) -> None:
    assert place.run().returncode == 0
    first, second, *_ = place.launches()
    first.path.write_bytes(content)
    second.path.write_bytes(second.path.read_bytes()[:-30])
    (session,) = json.loads(place.call("status", "--json").stdout)["sessions"]
    assert [session[name] for name in ("planned", "recorded", "missing", "nothing_to_run")] == [PLANNED, 8, 0, 0]
    assert (len(session["failed"]), session["not_in_the_study_file"]) == (2, 0)
    assert f"8 recorded of {PLANNED}, 2 FAILED (" in place.call("status").stdout
    (place.folder / first.path.parent / "copied.jsonl").write_bytes(content)
    status = place.call("status").stdout
    assert f"8 recorded of {PLANNED}, 2 FAILED (" in status
    assert "besides 1 that the study file no longer contains, 1 of them FAILED" in status
    assert place.call("resume", "--retry-failed").returncode == 0
    assert f"{PLANNED} recorded of {PLANNED}, none missing" in place.call("status").stdout


def test_resume_uses_the_latest_version_of_the_study_file(tmp_path: Path) -> None:
    target = Target(Store(tmp_path), "small", "t", "s")
    texts = [STUDY, STUDY.replace("launches = 2", "launches = 4"), STUDY]
    for text in texts:
        store_study_file(make_plan(loads(text, "s.toml")), target)
        time.sleep(0.02)
    kept = stored_study_files(target)
    assert len(kept) == 2
    assert load(kept[0]).text == STUDY


def test_an_unreadable_study_file_copy_is_not_a_complete_session(place: Place) -> None:
    """Another version of the program may have written a copy with other keys."""
    assert place.run().returncode == 0
    (kept,) = place.folder.glob("longshore-results/*/*/*/study-*.toml")
    kept.write_text(STUDY.replace("[study]", '[study]\nfuture = "yes"'), encoding="utf-8")
    resumed = place.call("resume")
    assert resumed.returncode == 3
    assert "unknown key in [study]: 'future'" in resumed.stderr
    assert "'longshore resume STUDY.toml' continues" in resumed.stderr
    assert "complete" not in resumed.stderr


def test_names_with_invalid_utf_8_work(place: Place) -> None:
    """Names of folders and tags are bytes. The record of a launch must stay readable."""
    where = os.fsdecode(os.fsencode(place.folder) + b"/caf\xe9")
    tag = os.fsdecode(b"image \xfe")
    words = ("--store", where, "run", "study.toml", "--session", "s", "--tag", tag)
    assert place.call(*words).returncode == 0
    launches = list(Store(where).launches("small", tag))
    assert len(launches) == PLANNED
    assert not [launch.problem for launch in launches if launch.problem]
    again = place.call(*words)
    assert "nothing to do" in again.stdout, again.stderr
    for verb in (
        ("show", tag),
        ("export", "--format", "reframe"),
        ("export", "--json"),
        ("report", "-o", f"{where}/r.html"),
    ):
        done = place.call("--store", where, *verb)
        assert done.returncode == 0, done.stderr
    assert "10 recorded of 10" in place.call("--store", where, "status", "--tag", tag).stdout


def test_a_launch_that_fails_on_a_full_disk_is_not_recorded(
    place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A full disk cut off the records of a launch. After their removal, there would be space to
    record a failure, and all later launches would fail, too."""
    for name, value in place.environment({"FAKE_BENCH": "sort=truncate"}).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(place.folder)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(total=10**9, free=0))
    assert main(["run", "study.toml", "--session", "s"]) == 3
    assert "no space is left" in capsys.readouterr().err
    assert not [launch for launch in place.launches() if launch.problem]
    monkeypatch.undo()
    assert place.run().returncode == 0
    assert len(place.launches()) == PLANNED


DASHES = "-" * 74
UNABLE = """mpirun was unable to launch the application as it could not access
or execute an executable:
Executable: /none
while attempting to start process rank 0.""".splitlines()


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["app: cannot open x", DASHES, "Primary job  terminated, but 1 process", "failed. More.", DASHES], "app:"),
        (
            [DASHES, *UNABLE, DASHES, "2 total processes failed to start"],
            "mpirun was unable to launch the application as it could not access or execute an executable: Executable: ",
        ),
        (["prterun has detected an attempt to run as root.", "Running as root is bad.", DASHES], "prterun has"),
        ([DASHES, "job 1 died.", DASHES, "the program's words", DASHES, "job 2 died.", DASHES], "the program's words"),
        (["one", "two", "---"], "two"),
        (["---"], "---"),
    ],
)
def test_the_error_line_of_a_launchers_output_is_found(lines: list[str], expected: str) -> None:
    assert error_line(lines).startswith(expected)


def test_init_writes_a_study_and_never_overwrites(place: Place) -> None:
    done = place.call("init", "mine.toml")
    assert done.returncode == 0
    assert load(place.folder / "mine.toml").name == "mine"
    before = (place.folder / "mine.toml").read_bytes()
    again = place.call("init", "mine.toml")
    assert (again.returncode, len(again.stderr.splitlines())) == (64, 1)
    assert (place.folder / "mine.toml").read_bytes() == before
    assert place.call("check", "mine.toml").returncode == 0


def test_check_lists_every_mistake(place: Place) -> None:
    place.study.write_text(STUDY.replace("launches", "lanches").replace('"put"', '"putt"'), encoding="utf-8")
    done = place.call("check", "study.toml")
    assert done.returncode == 64
    assert [line.split(" ")[0] for line in done.stderr.splitlines()] == ["study.toml:4:", "study.toml:10:"]


@pytest.mark.skipif(find_mpi() is None, reason="no MPI launcher")
def test_mpi_ranks_are_launched_and_a_killed_one_is_a_failed_launch(place: Place) -> None:
    text = STUDY.replace('transport = "threads", ranks = [1, 2]', 'transport = "mpi", ranks = [2, 9]')
    place.study.write_text(text.replace("launches = 2", "launches = 1"), encoding="utf-8")
    done = place.run(FAKE_BENCH="sort/mpi=die")
    assert done.returncode == 1, done.stderr
    launches = place.launches()
    bad = [launch for launch in launches if launch.problem]
    assert len(launches) == 6
    assert {launch.cell["program"] for launch in bad} == {"sort"}
    assert not processes_naming(str(place.folder))
    controls = [
        launch for launch in launches if launch.cell == {**launch.cell, "program": "control", "transport": "mpi"}
    ]
    assert len(controls) == 2
    assert all(launch.problem is None for launch in controls)


@pytest.mark.skipif(find_mpi() is None, reason="no MPI launcher")
def test_ctrl_c_ends_all_ranks_of_an_mpi_launch(place: Place) -> None:
    text = STUDY.replace('transport = "threads", ranks = [1, 2]', 'transport = "mpi", ranks = 2')
    place.study.write_text(text, encoding="utf-8")
    process = place.start("run", "study.toml", "--session", "s", FAKE_BENCH="sort/mpi=hang")
    wait_for(lambda: place.hanging() == 2)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=WAIT_SECONDS)
    assert process.returncode == 130
    assert "stopped by SIGINT" in err.splitlines()[-1]
    assert not processes_naming(str(place.folder))


def test_a_second_run_of_the_same_session_is_refused(place: Place) -> None:
    first = place.start("run", "study.toml", "--session", "s", FAKE_BENCH="stream@2=hang")
    wait_for(lambda: place.hanging() > 0)
    second = place.run()
    other = place.call("run", "study.toml", "--session", "other")
    first.send_signal(signal.SIGINT)
    first.communicate(timeout=WAIT_SECONDS)
    assert (second.returncode, f"being run by process {first.pid}" in second.stderr) == (3, True), second.stderr
    assert other.returncode == 0
    assert place.run().returncode == 0


def test_a_reader_who_leaves_does_not_end_the_study(place: Place) -> None:
    words = [sys.executable, "-m", "longshore_study", "run", "study.toml", "--session", "s"]
    process = subprocess.Popen(words, cwd=place.folder, env=place.environment({}), stderr=subprocess.PIPE)
    assert process.stderr is not None
    process.stderr.read(1)
    process.stderr.close()
    assert process.wait(timeout=WAIT_SECONDS) == 0
    assert len(place.launches()) == PLANNED


def test_an_external_program_runs_in_the_same_study(place: Place) -> None:
    published = Path(__file__).parents[1] / "data" / "published"
    reader = "import pathlib, sys; print(pathlib.Path(sys.argv[1]).read_text())"
    outputs = {
        "halobench": published / "halobench" / "production-{image}.out",
        "wrong": published / "indexgather" / "bale-shmem-16-nodes.out",
    }
    for name, path in outputs.items():
        block = (
            f'[[external]]\nname = "{name}"\nformat = "halobench"\nlaunches = 1\n'
            f"command = {json.dumps([sys.executable, '-c', reader, str(path)])}\n"
            'between = { image = ["reference", "new-image"], ranks = 128 }\n'
        )
        place.study.write_text(place.study.read_text(encoding="utf-8") + block, encoding="utf-8")
    done = place.run()
    assert done.returncode == 1
    launches = place.launches()
    assert len(launches) == PLANNED + 4
    read = {str(launch.cell["image"]): launch for launch in launches if launch.cell["program"] == "halobench"}
    assert sorted(read) == ["new-image", "reference"]
    assert all(launch.imported and launch.problem is None and len(launch.results) == 8 for launch in read.values())
    wrong = [launch for launch in launches if launch.cell["program"] == "wrong"]
    assert len(wrong) == 2
    assert all(launch.problem for launch in wrong)
    assert [line for line in done.stderr.splitlines() if "FAILED" in line and "bale" in line]
