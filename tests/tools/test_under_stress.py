"""tools/under_stress sets the environment it promises, counts passes, and leaves no process."""

from __future__ import annotations

import os
import pwd
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from repository import REPOSITORY

TOOL = REPOSITORY / "tools" / "under_stress"
# Prints the environment of a command: SIGINT, umask, the number of busy processes, folders.
ASK = """
import os, signal
from pathlib import Path
umask = os.umask(0)
busy = Path(f"/proc/{os.getppid()}/task/{os.getppid()}/children").read_text().split()
home = os.environ.get("HOME")
try:
    (Path(home or "/nowhere") / f"longshore-{os.getpid()}").touch()
    written = True
except OSError:
    written = False
print(signal.getsignal(signal.SIGINT) == signal.SIG_IGN, oct(umask), len(busy) - 1, " " in os.environ["TMPDIR"])
print(home is not None and os.access(home, os.R_OK | os.X_OK) and not written)
"""


@pytest.fixture(autouse=True)
def folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A killed tool leaves its folder behind, here in the folder of the test."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))


def under_stress(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, TOOL, *words], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("home", "read_only"), [("read-only", "True"), ("none", "False")])
def test_a_command_gets_the_promised_environment(home: str, read_only: str) -> None:
    done = under_stress("--busy", "2", "--times", "1", "--home", home, "--", sys.executable, "-c", ASK)
    assert done.returncode == 0, done.stderr
    first, second, run, passed = done.stdout.splitlines()
    assert (first, second) == ("True 0o77 2 True", read_only)
    assert run.startswith("under_stress: run 1 of 1: exit status 0 after ")
    assert passed == "under_stress: passed 1 of 1 times, beside 2 busy processes"


def test_runs_that_fail_are_counted(tmp_path: Path) -> None:
    words = (
        "--busy",
        "0",
        "--times",
        "3",
        "--",
        "sh",
        "-c",
        f"echo >>'{tmp_path}/runs'; test $(wc -l <'{tmp_path}/runs') = 2",
    )
    done = under_stress(*words)
    assert done.returncode == 1
    assert [line.split(" after ")[0] for line in done.stdout.splitlines()[:-1]] == [
        f"under_stress: run {number} of 3: exit status {status}" for number, status in ((1, 1), (2, 0), (3, 1))
    ]
    assert done.stdout.splitlines()[-1] == "under_stress: passed 1 of 3 times, beside 0 busy processes"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_no_busy_process_outlives_the_tool(number: signal.Signals) -> None:
    words = [sys.executable, str(TOOL), "--busy", "3", "--", "sh", "-c", "echo $$; exec sleep 600"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        command = int(process.stdout.readline())
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="utf-8").split()
        busy = [os.pidfd_open(int(child)) for child in children if int(child) != command]
        assert len(busy) == 3
        process.send_signal(number)
        try:
            for one in busy:
                assert select.select([one], [], [], 120)[0], "it is still busy"
                os.close(one)
        finally:
            if number == signal.SIGKILL:  # a killed tool cannot end the command
                os.kill(command, signal.SIGKILL)
    assert process.returncode in (-number, 128 + number)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can run as another user")
def test_another_user_runs_in_a_separate_clone() -> None:
    nobody = pwd.getpwnam("nobody")
    command = "id -u; git rev-parse --show-toplevel; test -w README.md"
    done = under_stress("--busy", "0", "--times", "1", "--user", "nobody", "--", "sh", "-c", command)
    assert done.returncode == 0, done.stderr
    user, folder = done.stdout.splitlines()[:2]
    assert user == str(nobody.pw_uid)
    assert Path(folder) != REPOSITORY
    assert not Path(folder).exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--times", "0"), "at least 1 run is needed"),
        (("--busy", "many"), "'many' is no whole number"),
        (("--user", "no-such-user"), "there is no user 'no-such-user'"),
    ],
)
def test_a_usage_error_names_the_value(words: tuple[str, ...], told: str) -> None:
    done = under_stress(*words)
    assert done.returncode == 2
    assert told in done.stderr
