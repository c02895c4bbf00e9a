"""Submits jobs to batch systems and queries their state. Commands are lists of words. Texts of
users reach a shell only as quoted words of the script of a job."""

import re
import shlex
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from longshore_study.base.durations import clock
from longshore_study.base.errors import LongshoreError
from longshore_study.host.answers import answer_of

ENDED = "ended"
"""The state of a job that the system no longer knows."""
UNKNOWN = "unknown"
"""The state of a job when the system cannot be queried. The job may be running."""
_GONE = re.compile(r"invalid job ?id|unknown job ?id|job has finished|jobid \S+ unknown", re.IGNORECASE)
"""Matches the errors of squeue, qstat and flux for a job that ended and is no longer listed."""


@dataclass(frozen=True)
class JobRequest:
    name: str
    nodes: int
    seconds: int
    script: Path
    output: Path
    after: str | None = None
    """The identifier of a job that must end first, with any result."""
    options: tuple[str, ...] = ()
    max_ranks_per_node: int = 1
    """The largest number of ranks per node among the launches of the job."""


@dataclass(frozen=True)
class BatchSystem:
    """One batch system: its commands, and how to read their answers."""

    kind: str
    submission: Callable[[JobRequest], list[str]]
    """Makes the command that submits a job."""
    job_id_line: str
    """The pattern of the line with the identifier of a submitted job."""
    query: tuple[str, ...]
    """The command that prints the state of a job. JOB stands for its identifier."""
    cancellation: tuple[str, ...]
    states: Mapping[str, str] = field(default_factory=dict)
    """Longshore's words for the states of this system."""
    state_pattern: str = r"(\S+)"
    """Finds the state in the answer to `query`."""

    def job_id(self, answer: str) -> str | None:
        found = re.search(self.job_id_line, answer, re.MULTILINE)
        return found[1] if found else None

    def state(self, answer: str) -> str:
        found = re.search(self.state_pattern, answer)
        return self.states.get(found[1].lower(), found[1].lower()) if found else UNKNOWN


def _sbatch(job: JobRequest) -> list[str]:
    after = [f"--dependency=afterany:{job.after}"] if job.after else []
    # Jobs are exclusive, because another job on the node would disturb the measurement.
    request = [f"--job-name={job.name}", f"--nodes={job.nodes}", f"--time={clock(job.seconds)}", "--exclusive"]
    # Slurm expands % in file names, and names of folders in the store can contain % (img%3A1).
    output = str(job.output).replace("%", "%%")
    return ["sbatch", "--parsable", *request, f"--output={output}", *after, *job.options, str(job.script)]


def _qsub(job: JobRequest) -> list[str]:
    request = ["-N", job.name[:15], "-V", "-j", "oe", "-o", str(job.output)]  # old versions allow 15 characters
    if not any(word.lstrip("-l").startswith(("select=", "nodes=")) for word in job.options):
        # By default, PBS gives each node one CPU, and one line in the list of nodes for mpirun.
        ranks = job.max_ranks_per_node
        request += ["-l", f"select={job.nodes}:ncpus={ranks}:mpiprocs={ranks}", "-l", "place=scatter:excl"]
    request += ["-l", f"walltime={clock(job.seconds)}"]
    after = ["-W", f"depend=afterany:{job.after}"] if job.after else []
    return ["qsub", *request, *after, *job.options, str(job.script)]


def _flux_batch(job: JobRequest) -> list[str]:
    after = [f"--dependency=afterany:{job.after}"] if job.after else []
    request = [f"--job-name={job.name}", f"--nodes={job.nodes}", "--exclusive", f"--time-limit={job.seconds}s"]
    return ["flux", "batch", *request, f"--output={job.output}", *after, *job.options, str(job.script)]


_ALL = (
    BatchSystem(
        "slurm-batch", _sbatch, r"^(\d+)(?:;.*)?$", ("squeue", "--noheader", "--format=%T", "--jobs=JOB"), ("scancel",)
    ),
    BatchSystem(
        "pbs-batch", _qsub, r"^(\d+(?:\[\])?(?:\.[\w.-]+)?)\s*$", ("qstat", "-f", "JOB"), ("qdel",),
        {"q": "pending", "w": "pending", "h": "pending", "r": "running", "e": "ending",
         "f": ENDED, "c": ENDED, "x": ENDED},
        r"job_state\s*=\s*(\w)",
    ),
    BatchSystem(
        "flux-batch", _flux_batch, r"^(ƒ\w+|f\w+|\d+)\s*$",
        ("flux", "jobs", "--no-header", "--format={state}", "JOB"), ("flux", "cancel"),
        {"run": "running", "depend": "pending", "priority": "pending", "sched": "pending", "inactive": ENDED},
    ),
)  # fmt: skip
SYSTEMS = {system.kind: system for system in _ALL}


def submit(system: BatchSystem, job: JobRequest) -> str:
    """Submits a job and returns its identifier. Raises LongshoreError if the system refuses it."""
    argv = system.submission(job)
    status, out, err = run_command(argv)
    job_id = system.job_id(out) if status == 0 else None
    if job_id is None:
        why = (err or out).strip().splitlines()
        raise LongshoreError(
            f"{argv[0]} refused the job: {why[-1] if why else f'exit status {status}'}; command: {shlex.join(argv)}"
        )
    return job_id


def state_of(system: BatchSystem, job_id: str) -> tuple[str, str]:
    """Returns the state of a job (pending, running, ended, or another word of the system) and an
    empty reason. If the query fails, returns UNKNOWN and the reason."""
    argv = [word.replace("JOB", job_id) for word in system.query]
    status, out, err = run_command(argv)
    if status and not _GONE.search(err):
        why = (err or out).strip().splitlines()
        return UNKNOWN, why[-1].strip() if why else f"{argv[0]}: exit status {status}"
    state = ENDED if status or not out.strip() else system.state(out)
    return state, f"{argv[0]} does not report its state" if state == UNKNOWN else ""


def run_command(argv: Sequence[str]) -> tuple[int, str, str]:
    """Exit status, stdout and stderr of a command; 127 if it cannot run or does not answer."""
    answer = answer_of(argv)
    if answer is None and shutil.which(argv[0]):
        return 127, "", f"'{argv[0]}' did not answer within a minute: a job may be in the queue all the same"
    if answer is None:
        return 127, "", f"'{argv[0]}' was not found on this machine"
    return answer.returncode, answer.stdout, answer.stderr


def script_text(command: Sequence[str], folder: str, modules: Sequence[str], environment: Mapping[str, str]) -> str:
    """The script of a job, which loads modules and then runs `command`. The script sets
    `environment`, because a site may pass no variables to jobs (SBATCH_EXPORT=none)."""
    # Only a login shell has `module`. If there are no modules, /bin/sh is faster.
    lines = ["#!/bin/bash -l" if modules else "#!/bin/sh", "# Written by longshore; 'longshore run' writes a new one."]
    lines += [f"module load {shlex.quote(name)} || exit 3" for name in modules]
    lines += [f"export {name}={shlex.quote(value)}" for name, value in environment.items()]
    lines += [f"cd {shlex.quote(folder)} || exit 3", f"exec {shlex.join(command)}"]
    return "\n".join(lines) + "\n"
