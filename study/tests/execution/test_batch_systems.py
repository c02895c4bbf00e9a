"""Batch systems that are not installed here. Stand-ins for qsub, qstat and flux accept the same
options and run the script of a job in a shell, so that jobs really run. test_slurm.py uses a real
Slurm."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from longshore_study.base.durations import clock, parse_duration
from longshore_study.execution import batch_systems
from longshore_study.execution.batch_systems import ENDED, UNKNOWN, JobRequest
from longshore_study.store.launch_store import Store
from started_programs import longshore, write_bench

STUDY = """
[study]
name = "small; touch broken"
launches = 2
repetitions = 2

[[pattern]]
program = "sort"
between = {{ transport = "mpi", ranks = [2, 4], nodes = 1 }}

[launcher]
kind = "{kind}"
time_limit = "10m"
modules = []
options = ["--queue=a b", "$(touch broken)"]
"""
# The stand-ins run the script immediately and answer with the name of the job.
QSUB = """#!/bin/sh
for word in "$@"; do script=$word; done
printf '%s\\n' "$@" > {folder}/submitted.txt
PBS_JOBID=7.server PBS_NODEFILE=/dev/null sh "$script" > {folder}/job.log 2>&1
echo 7.server
"""
FLUX = """#!/bin/sh
case $1 in
batch)
  for word in "$@"; do script=$word; done
  printf '%s\\n' "$@" > {folder}/submitted.txt
  FLUX_URI=local:///x sh "$script" > {folder}/job.log 2>&1
  echo f2oLkTLb ;;
run) # flux run [-N nodes] -n ranks [-c cores] program...
  shift
  while [ "${{1#-}}" != "$1" ]; do shift 2; done
  FLUX_TASK_RANK=0 exec "$@" ;;
jobs) echo INACTIVE ;;
esac
"""
MPIRUN = """#!/bin/sh
if [ "$1" = --version ]; then echo 'HYDRA build details: Version: 4.2'; exit 0; fi
while [ "${1#-}" != "$1" ]; do shift 2; done
exec "$@"
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = tmp_path / "it's a folder"
    (folder / "bin").mkdir(parents=True)
    quoted = "'" + str(folder).replace("'", "'\\''") + "'"
    programs = {
        "qsub": QSUB.format(folder=quoted),
        "qstat": "#!/bin/sh\necho qstat: Unknown Job Id 7.server >&2\nexit 153\n",
        "flux": FLUX.format(folder=quoted),
        "mpirun": MPIRUN,
    }
    for name, text in programs.items():
        path = folder / "bin" / name
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
    write_bench(folder / "bin" / "longshore-bench")
    return folder


def call(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    path = f"{place / 'bin'}:{os.environ['PATH']}"
    return longshore(place, *words, PATH=path, LONGSHORE_BENCH=str(place / "bin" / "longshore-bench"))


@pytest.mark.parametrize(
    ("kind", "job", "launcher"), [("pbs-batch", "7.server", "mpirun"), ("flux-batch", "f2oLkTLb", "flux")]
)
def test_a_job_runs_the_session_and_no_shell_sees_what_users_wrote(
    place: Path, kind: str, job: str, launcher: str
) -> None:
    (place / "study.toml").write_text(STUDY.format(kind=kind), encoding="utf-8")
    words = ("run", "study.toml", "--session", "s $(touch broken)", "--tag", "`touch broken`")
    dry = call(place, *words, "--dry-run")
    assert dry.returncode == 0, dry.stderr
    assert not (place / "submitted.txt").exists()
    done = call(place, *words)
    assert done.returncode == 0, done.stderr
    assert f"job {job} submitted: 1 nodes for 00:10:00" in done.stdout
    launches = list(Store(place / "longshore-results").launches())
    log = (place / "job.log").read_text()
    assert len(launches) == 8, log
    assert all(launch.problem is None for launch in launches)
    assert {launch.tag for launch in launches} == {"`touch broken`"}
    assert {Path(launch.envelope["command"][0]).name for launch in launches} == {launcher}
    assert not list(place.rglob("broken"))
    submitted = (place / "submitted.txt").read_text()
    assert "--queue=a b\n$(touch broken)\n" in submitted, "options are single words"
    status = json.loads(call(place, "status", "--json").stdout)
    assert status["sessions"][0]["jobs"][0]["state"] == ENDED


def request(**more: Any) -> JobRequest:
    return JobRequest(
        **{"name": "ls-x", "nodes": 4, "seconds": 5400, "script": Path("/j.sh"), "output": Path("/j.out"), **more}
    )


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (
            "slurm-batch",
            ["sbatch", "--nodes=4", "--time=01:30:00", "--dependency=afterany:6", "--output=/j.out"],
        ),
        (
            "pbs-batch",
            ["qsub", "select=4:ncpus=64:mpiprocs=64", "walltime=01:30:00", "depend=afterany:6", "/j.out", "/j.sh"],
        ),
        ("flux-batch", ["flux", "batch", "--nodes=4", "--time-limit=5400s", "--dependency=afterany:6", "/j.sh"]),
    ],
)
def test_the_commands_of_each_batch_system(kind: str, words: list[str]) -> None:
    argv = batch_systems.SYSTEMS[kind].submission(request(after="6", max_ranks_per_node=64))
    assert [word for word in words if word not in argv] == []
    assert argv[-1] == "/j.sh"


def test_pbs_resources_of_the_user_replace_ours() -> None:
    argv = batch_systems.SYSTEMS["pbs-batch"].submission(request(options=("-l", "select=2:ncpus=64")))
    assert not [word for word in argv if word.startswith("select=4")]
    assert "select=2:ncpus=64" in argv


@pytest.mark.parametrize(
    ("kind", "answer", "expected"),
    [
        ("slurm-batch", "17\n", "17"), ("slurm-batch", "17;cluster\n", "17"),
        ("slurm-batch", "warning: x\n17\n", "17"),
        ("slurm-batch", "Submitted\n", None),
        ("pbs-batch", "123.pbs-server\n", "123.pbs-server"), ("pbs-batch", "123[].s\n", "123[].s"),
        ("pbs-batch", "", None),
        ("flux-batch", "ƒ2oLkTLb\n", "ƒ2oLkTLb"), ("flux-batch", "f2oLkTLb\n", "f2oLkTLb"),
    ],
)  # fmt: skip
def test_the_name_of_a_job_is_read_from_the_answer(kind: str, answer: str, expected: str | None) -> None:
    assert batch_systems.SYSTEMS[kind].job_id(answer) == expected


def test_a_command_that_is_missing_or_silent_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = batch_systems.run_command(["no-program-of-this-name"])
    assert missing == (127, "", "'no-program-of-this-name' was not found on this machine")
    monkeypatch.setattr(batch_systems, "answer_of", lambda _argv: None)
    assert "a job may be in the queue" in batch_systems.run_command(["sh"])[2]


@pytest.mark.parametrize(
    ("kind", "answer", "expected"),
    [
        ("slurm-batch", (0, "RUNNING\n", ""), "running"), ("slurm-batch", (0, "", ""), ENDED),
        ("slurm-batch", (1, "", "slurm_load_jobs error: Invalid job id specified\n"), ENDED),
        ("slurm-batch", (1, "", "slurm_load_jobs error: Socket timed out on send/recv operation\n"), UNKNOWN),
        ("slurm-batch", (127, "", "no answer"), UNKNOWN), ("slurm-batch", (1, "", ""), UNKNOWN),
        ("pbs-batch", (0, "Job Id: 1\n    job_state = Q\n", ""), "pending"),
        ("pbs-batch", (0, "    job_state = F\n", ""), ENDED), ("pbs-batch", (0, "a word\n", ""), UNKNOWN),
        ("pbs-batch", (153, "", "qstat: Unknown Job Id 7.server\n"), ENDED),
        ("pbs-batch", (35, "", "qstat: 7.server Job has finished, use -x or -H to obtain information\n"), ENDED),
        ("pbs-batch", (111, "", "Connection refused\nqstat: cannot connect to server\n"), UNKNOWN),
        ("flux-batch", (0, "SCHED\n", ""), "pending"), ("flux-batch", (0, "INACTIVE\n", ""), ENDED),
        ("flux-batch", (127, "", "'flux' was not found on this machine"), UNKNOWN),
    ],
)  # fmt: skip
def test_the_state_of_a_job_is_read_from_the_answer(
    monkeypatch: pytest.MonkeyPatch, kind: str, answer: tuple[int, str, str], expected: str
) -> None:
    monkeypatch.setattr(batch_systems, "run_command", lambda _argv: answer)
    state, why = batch_systems.state_of(batch_systems.SYSTEMS[kind], "7")
    assert (state, bool(why)) == (expected, expected == UNKNOWN)


def test_no_second_job_is_submitted_while_the_state_of_the_first_is_unknown(place: Path) -> None:
    (place / "study.toml").write_text(STUDY.format(kind="pbs-batch"), encoding="utf-8")
    (place / "bin" / "qsub").write_text("#!/bin/sh\necho x >> asked\necho 7.server\n", encoding="utf-8")
    words = ("run", "study.toml", "--session", "s")
    assert call(place, *words).returncode == 0
    (place / "bin" / "qstat").write_text("#!/bin/sh\necho Socket timed out >&2\nexit 1\n", encoding="utf-8")
    again = call(place, *words)
    assert again.returncode == 3
    assert "the state of job 7.server of session s is unknown (Socket timed out)" in again.stderr
    assert (place / "asked").read_text() == "x\n"
    assert "unknown (Socket timed out)" in call(place, "status").stdout
    (noted,) = place.glob("longshore-results/*/*/*/job-*.json")
    assert str(noted.relative_to(place)) in again.stderr
    noted.unlink()
    assert call(place, *words).returncode == 0


def test_status_reports_a_job_without_output(place: Path) -> None:
    (place / "study.toml").write_text(STUDY.format(kind="pbs-batch"), encoding="utf-8")
    (place / "bin" / "qsub").write_text("#!/bin/sh\necho 7.server\n", encoding="utf-8")
    assert call(place, "run", "study.toml", "--session", "s").returncode == 0
    assert "which does not exist" in call(place, "status").stdout
    (noted,) = place.glob("longshore-results/*/*/*/job-*.json")
    noted.with_suffix(".out").touch()
    assert "which does not exist" not in call(place, "status").stdout


def test_a_job_of_fewer_nodes_than_its_launches_need_is_refused(place: Path) -> None:
    text = STUDY.format(kind="slurm-batch").replace("nodes = 1 }", "nodes = [1, 2] }") + "nodes = 1\n"
    (place / "study.toml").write_text(text, encoding="utf-8")
    words = f"study.toml:{text.count(chr(10))}: [launcher] nodes = 1, but "
    for verb in (("check", "study.toml"), ("run", "study.toml", "--dry-run"), ("run", "study.toml")):
        done = call(place, *verb)
        assert (done.returncode, words in done.stderr, "needs 2" in done.stderr) == (64, True, True), done.stderr
    for enough in (text.replace("\nnodes = 1\n", "\nnodes = 2\n"), text + 'one_job_per = "nodes"\n'):
        (place / "study.toml").write_text(enough, encoding="utf-8")
        assert call(place, "check", "study.toml").returncode == 0


def test_slurm_fills_nothing_into_the_name_of_the_output() -> None:
    argv = batch_systems.SYSTEMS["slurm-batch"].submission(request(output=Path("/img%3A1/j.out")))
    assert "--output=/img%%3A1/j.out" in argv


def test_a_script_quotes_everything() -> None:
    variables = {"LONGSHORE_STACKS": "/s $(x)"}
    text = batch_systems.script_text(["longshore", "it's", "$HOME; x"], "/a b/$c", ["gcc/12; rm -r /"], variables)
    assert "export LONGSHORE_STACKS='/s $(x)'" in text
    folder_of_words = subprocess.run(["sh", "-n"], input=text, capture_output=True, text=True, check=False)
    assert folder_of_words.returncode == 0, folder_of_words.stderr
    assert "module load 'gcc/12; rm -r /'" in text
    assert "cd '/a b/$c'" in text
    assert """exec longshore 'it'"'"'s' '$HOME; x'""" in text


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", 90),
        ("45m", 2700),
        ("1h30m", 5400),
        ("2d", 172800),
        ("01:30:00", 5400),
        ("1-12:00:00", 129600),
        ("2 h", 7200),
    ],
)
def test_times_are_read_as_people_write_them(text: str, seconds: int) -> None:
    assert parse_duration(text) == seconds
    assert parse_duration(clock(seconds)) == seconds


@pytest.mark.parametrize("text", ["", "60", "0s", "-5m", "1h 30", "an hour", "1:2:3:4", "5m2h", "m"])
def test_invalid_durations_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a duration"):
        parse_duration(text)
