"""A program runs to its end, or is ended, and none of its processes stay."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from longshore_study.execution import child_process
from longshore_study.execution.child_process import ChildResult, Interrupted, Signals, members_of_session, run_child


def run(code: str, timeout: float = 300.0) -> ChildResult:
    with Signals() as signals:
        return run_child([sys.executable, "-S", "-c", code], os.environ, timeout, signals)


def test_output_and_the_end_of_errors_are_kept() -> None:
    result = run(
        "import sys; print('out' * 100000); [print('line', i, file=sys.stderr) for i in range(1000)]; sys.exit(5)"
    )
    assert result.exit_status == 5
    assert result.output == "out" * 100000 + "\n"
    assert result.stderr_tail[-1] == "line 999"
    assert len(result.stderr_tail) == 30
    assert not result.timed_out


def test_a_signal_that_ended_it_is_named() -> None:
    result = run("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    assert (result.exit_status, result.signal_name) == (139, "SIGSEGV")
    assert result.stderr_tail[-1] == "longshore: the program was ended by SIGSEGV"


def test_a_missing_program_has_exit_status_127() -> None:
    with Signals() as signals:
        result = run_child(["/nowhere/program"], os.environ, 300.0, signals)
    assert result.exit_status == 127
    assert "/nowhere/program cannot be started" in result.stderr_tail[0]


def test_invalid_utf_8_in_the_output_is_replaced() -> None:
    result = run("import sys; sys.stdout.buffer.write(b'\\xff\\xfe'); sys.stderr.buffer.write(b'\\xff')")
    assert result.exit_status == 0
    assert len(result.output) == 2


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_too_much_output_is_refused_even_after_the_end(monkeypatch: pytest.MonkeyPatch, stream: str) -> None:
    monkeypatch.setattr(child_process, "MAX_OUTPUT_BYTES", 2**20)
    monkeypatch.setattr(child_process, "_TICK_SECONDS", 20.0)  # the program ends before the first check
    result = run(f"import sys; sys.{stream}.write('x' * (2**20 + 1))")
    assert result.exit_status == 125
    assert "printed more than 1 MiB" in result.stderr_tail[-1]
    assert run(f"import sys; sys.{stream}.write('x' * 2**20)").exit_status == 0


def test_ranks_in_groups_of_their_own_are_ended_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "pids"

    def clock() -> float:
        """A clock that runs until all ranks have started, and then jumps beyond the time limit."""
        there = log.exists() and log.read_text(encoding="utf-8").count("\n") == 3
        return time_now() + (1000.0 if there else 0.0)

    time_now = time.monotonic
    monkeypatch.setattr(child_process, "time", SimpleNamespace(monotonic=clock, sleep=time.sleep))
    monkeypatch.setattr(child_process, "_TICK_SECONDS", 0.05)
    code = (
        "import os, signal, time\n"
        "for _ in range(3):\n"
        "    if os.fork() == 0:\n"
        "        os.setpgid(0, 0); signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        f"        open({str(log)!r}, 'a').write(f'{{os.getpid()}}\\n')\n"
        "        time.sleep(600)\n"
        "time.sleep(600)\n"
    )
    assert run(code).timed_out
    left = [int(line) for line in log.read_text(encoding="utf-8").split()]
    assert len(left) == 3
    for process in left:
        stat = Path("/proc", str(process), "stat")
        assert not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z"


def test_processes_left_by_a_finished_program_are_ended(tmp_path: Path) -> None:
    log = tmp_path / "pid"
    code = (
        "import os, time\n"
        "if os.fork() == 0:\n"
        f"    open({str(log)!r}, 'w').write(str(os.getpid())); time.sleep(600)\n"
        f"while not os.path.exists({str(log)!r}) or not os.path.getsize({str(log)!r}): time.sleep(0.01)\n"
    )
    assert run(code).exit_status == 0
    stat = Path("/proc", log.read_text(encoding="utf-8"), "stat")
    assert not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_interrupts_the_wait_at_once(number: signal.Signals) -> None:
    started = time.monotonic()
    with pytest.raises(Interrupted) as caught:
        run(f"import os, time; os.kill(os.getppid(), {number}); time.sleep(600)")
    assert caught.value.exit_status == 128 + number
    assert time.monotonic() - started < 120.0


def test_handlers_are_as_before_afterwards() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD)]
    run("pass")
    after = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD)]
    assert before == after


def test_a_session_s_members_are_found() -> None:
    assert os.getpid() in members_of_session(os.getsid(0))
    assert members_of_session(2**22 + 1) == []
