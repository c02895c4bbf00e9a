"""A small /dev/shm, as containers have it: variants that run alone also run in one launch, and the
error names /dev/shm and the option of the container."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence

import pytest
from bench_runs import BENCH
from test_failing_ranks import ENVIRONMENT, FAR_TOO_LONG_SECONDS, launcher, own_lines

SMALL = 'mount -t tmpfs -o size=48m tmpfs /dev/shm && exec "$@"'


def run(*words: str) -> subprocess.CompletedProcess[str]:
    def below_a_small_one(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["unshare", "--mount", "sh", "-c", SMALL, "sh", *command],
            env=ENVIRONMENT, capture_output=True, text=True, check=False, timeout=FAR_TOO_LONG_SECONDS,
        )  # fmt: skip

    if shutil.which("mpirun") is None or shutil.which("unshare") is None:
        pytest.skip("no mpirun, or no unshare, on this machine")
    if below_a_small_one(["true"]).returncode != 0:
        pytest.skip("this user may not mount another /dev/shm")
    return below_a_small_one([*launcher(2), str(BENCH), "gather", *words, "--repetitions", "1"])


def test_measurements_are_kept_only_while_they_hold_little_of_it() -> None:
    done = run("--requests", "1000", "--table", "1000000", "--strategy", "agp,exstack,exstack2,conveyor,direct")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("yes") == 5


def test_what_does_not_fit_names_the_remedy() -> None:
    done = run("--requests", "1000", "--table", "6000000", "--strategy", "agp")
    assert done.returncode == 3
    (line,) = own_lines(done)
    assert "out of memory" in line
    assert "shm has only 48 MiB, which a larger one would mend: docker run --shm-size=8g" in line
