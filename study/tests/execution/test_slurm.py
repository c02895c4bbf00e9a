"""Studies under a real Slurm: munged, slurmctld and two slurmd on this machine, with jobs that
really run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import slurm_cluster
from longshore_study.store.launch_store import Store
from started_programs import own_environment, write_bench

WHY_NOT = slurm_cluster.why_not()
pytestmark = [pytest.mark.slurm, pytest.mark.skipif(WHY_NOT is not None, reason=WHY_NOT or "")]

STUDY = """
[study]
name = "small"
launches = 2
repetitions = 2
timeout_seconds = 60

[[pattern]]
program = "sort"
within = {{ exchange = ["put", "alltoallv"] }}
between = {{ transport = "mpi", ranks = [2, 4], nodes = [1, 2] }}
exclude = ["ranks == 2 and nodes == 2"]

[[pattern]]
program = "stream"
between = {{ transport = "threads", ranks = 2 }}

[[external]]
name = "who"
command = ["sh", "-c", "echo host=$(hostname) rate: $SLURM_PROCID.5; sleep 0", "it's; quoted $HOME"]
format = "regex"
pattern = 'host=(?P<host>\\S+) rate: (?P<value>[0-9.]+)'
figure = "rate"
unit = "1/s"
launch = true
between = {{ ranks = 2, nodes = 2 }}

[launcher]
{launcher}
"""
BATCH = 'kind = "slurm-batch"\ntime_limit = "{limit}"\n'
CELLS = 3 + 3 + 1 + 1 + 1  # sort, its controls, stream, its control, the external program
PLANNED = 2 * CELLS
WAIT_SECONDS = 600
BUILD = Path(os.environ.get("LONGSHORE_BUILD") or Path(__file__).parents[3] / "build" / "test")
REAL_BENCH = BUILD / "bench" / "longshore-bench"


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with slurm_cluster.cluster(tmp_path_factory.mktemp("slurm")) as environment:
        yield environment


class Place:
    """A folder with a study, in which `longshore` runs under Slurm."""

    def __init__(self, folder: Path, slurm: dict[str, str]) -> None:
        self.folder = folder
        # srun sets SLURM_PROCID, but the stand-in reads PMI_RANK.
        bench = write_bench(folder / "longshore-bench", "PMI_RANK=${SLURM_PROCID:-0} ")
        own = {"LONGSHORE_BENCH": str(bench), "FAKE_BENCH_LOG": str(folder / "starts.log")}
        self.environment = own_environment() | slurm | own

    def write(self, launcher: str, launches: int = 2) -> None:
        text = STUDY.format(launcher=launcher).replace("launches = 2", f"launches = {launches}")
        (self.folder / "study.toml").write_text(text, encoding="utf-8")

    def call(self, *words: str, before: tuple[str, ...] = (), **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*before, sys.executable, "-m", "longshore_study", *words],
            cwd=self.folder, env={**self.environment, **more}, timeout=WAIT_SECONDS,
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    def run(self, *words: str, before: tuple[str, ...] = (), **more: str) -> subprocess.CompletedProcess[str]:
        return self.call("run", "study.toml", "--session", "s", *words, before=before, **more)

    def recorded(self, tag: str = "small") -> list[Any]:
        return list(Store(self.folder / "longshore-results").launches("small", tag, "s"))

    def job_output(self) -> str:
        return "\n".join(path.read_text() for path in sorted(self.folder.glob("longshore-results/*/*/*/job-*.out")))

    def wait_for_jobs(self) -> None:
        deadline = time.monotonic() + WAIT_SECONDS
        while subprocess.run(
            ["squeue", "-h"], env=self.environment, capture_output=True, text=True, check=True
        ).stdout.strip():
            assert time.monotonic() < deadline, "the job did not end in time"
            time.sleep(0.2)


@pytest.fixture
def place(tmp_path: Path, slurm: dict[str, str]) -> Place:
    return Place(tmp_path, slurm)


def test_srun_starts_every_launch_as_a_step_of_the_allocation(place: Place) -> None:
    place.write('kind = "srun"', launches=1)
    outside = place.run()
    assert outside.returncode == 3
    assert "no Slurm allocation" in outside.stderr
    done = place.run(before=("salloc", "-Q", "-N2", "--exclusive"))
    assert done.returncode == 0, done.stderr
    launches = place.recorded()
    assert len(launches) == CELLS
    assert all(launch.problem is None for launch in launches), [launch.problem for launch in launches]
    assert {launch.envelope["launcher"] for launch in launches} == {"srun"}
    (four,) = {
        tuple(launch.envelope["command"][1:7])
        for launch in launches
        if launch.cell["program"] == "sort" and launch.cell["ranks"] == 4 and launch.cell["nodes"] == 2
    }
    assert four == ("-N", "2", "-n", "4", "--ntasks-per-node", "2")
    hosts = {
        result["variant"]["host"] for launch in launches if launch.cell["program"] == "who" for result in launch.results
    }
    assert hosts == {"n0", "n1"}, "the external program ran on both nodes"


def test_a_job_runs_the_whole_session(place: Place) -> None:
    tag = ("--tag", "img:1")  # the name of its folder has a %, which Slurm would expand
    place.write(BATCH.format(limit="5m"))
    dry = place.run("--dry-run", *tag)
    assert dry.returncode == 0, dry.stderr
    assert "sbatch --parsable --job-name=ls-small --nodes=2 --time=00:05:00 --exclusive" in dry.stdout
    assert "srun -N 2 -n 4" in dry.stdout
    assert not place.recorded("img:1")
    submitted = place.run("--json", *tag)
    assert submitted.returncode == 0, submitted.stderr
    (job,) = json.loads(submitted.stdout)["jobs"]
    again = place.run(*tag)
    assert (again.returncode, f"job {job['id']} of session s is" in again.stderr) == (3, True), again.stderr
    status = place.call("status", "--json")
    assert json.loads(status.stdout)["sessions"][0]["jobs"][0]["id"] == job["id"]
    place.wait_for_jobs()
    launches = place.recorded("img:1")
    assert len(launches) == PLANNED, place.job_output()
    assert all(launch.problem is None for launch in launches)
    assert f"{PLANNED} launches recorded" in place.job_output()
    assert "nothing to do" in place.run(*tag).stdout
    assert "ended" in place.call("status").stdout


def test_a_job_stops_before_its_time_limit_and_the_next_one_continues(place: Place) -> None:
    """18 launches of more than a second do not fit into 10 s. Two successive jobs run more of
    them."""
    place.write(BATCH.format(limit="12s") + "jobs = 3\n")
    done = place.run(FAKE_BENCH_SECONDS="0.7")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("submitted") == 3
    place.wait_for_jobs()
    output = place.job_output()
    launches = place.recorded()
    assert all(launch.problem is None for launch in launches), "what was cut off by the limit is not recorded"
    assert "stopped by the time limit" in output
    assert output.count(" launches to run") >= 2, "a later job went on"
    assert "stopped by SIG" not in output, "it stopped by itself, before Slurm ended it"
    keys = [(launch.cell_id, launch.launch_index) for launch in launches]
    assert len(keys) == len(set(keys)) > 0
    if len(launches) < PLANNED:
        place.write(BATCH.format(limit="5m"))
        assert place.run().returncode == 0
        place.wait_for_jobs()
    assert len(place.recorded()) == PLANNED


def test_a_job_for_each_number_of_nodes_and_both_at_once(place: Place) -> None:
    place.write(BATCH.format(limit="5m") + 'one_job_per = "nodes"\n', launches=1)
    done = place.run("--json")
    assert done.returncode == 0, done.stderr
    jobs = json.loads(done.stdout)["jobs"]
    assert [job["nodes"] for job in jobs] == [1, 2]
    place.wait_for_jobs()
    assert len(place.recorded()) == CELLS, place.job_output()
    by_job = {
        (launch.envelope["command"][2] if "-N" in launch.envelope["command"] else "1") for launch in place.recorded()
    }
    assert by_job == {"1", "2"}


def test_a_refusal_by_slurm_is_an_error_of_one_line(place: Place) -> None:
    place.write(BATCH.format(limit="5m") + 'options = ["--partition=nowhere; touch broken"]\n')
    done = place.run()
    assert done.returncode == 3
    assert "sbatch refused the job" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not (place.folder / "broken").exists()


def test_a_job_that_is_cancelled_leaves_whole_launches(place: Place) -> None:
    place.write(BATCH.format(limit="5m"))
    job = json.loads(place.run("--json", FAKE_BENCH_SECONDS="0.5").stdout)["jobs"][0]["id"]
    deadline = time.monotonic() + WAIT_SECONDS
    while len(place.recorded()) < 2:
        assert time.monotonic() < deadline, place.job_output()
        time.sleep(0.2)
    subprocess.run(["scancel", "--batch", "--signal=TERM", job], env=place.environment, check=True)
    place.wait_for_jobs()
    launches = place.recorded()
    assert 2 <= len(launches) < PLANNED
    assert all(launch.problem is None for launch in launches)
    assert "stopped by SIGTERM" in place.job_output()
    assert place.run().returncode == 0
    place.wait_for_jobs()
    assert len(place.recorded()) == PLANNED, place.job_output()


@pytest.mark.skipif(not REAL_BENCH.exists(), reason="longshore-bench is not built (make build)")
def test_the_real_program_runs_over_two_nodes(place: Place) -> None:
    """The record shows that ranks on two hosts communicate."""
    text = """
[study]
name = "small"
launches = 1
repetitions = 2
[[pattern]]
program = "halo"
within = { algorithm = "faces", mode = "waitall", contiguous = 1000 }
between = { transport = "mpi", ranks = 2, nodes = 2, environment = { OMPI_MCA_mpi_yield_when_idle = "1" } }
[launcher]
kind = "slurm-batch"
time_limit = "5m"
"""
    (place.folder / "study.toml").write_text(text, encoding="utf-8")
    done = place.run("--bench", str(REAL_BENCH))
    assert done.returncode == 0, done.stderr
    place.wait_for_jobs()
    launches = place.recorded()
    assert [launch.problem for launch in launches] == [None, None], place.job_output()
    for launch in launches:
        assert launch.header is not None
        assert (launch.header["nodes"], sorted(launch.header["hosts"])) == (2, ["n0", "n1"])
