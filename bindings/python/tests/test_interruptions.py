"""Ctrl-C ends a wait, and forked processes cannot use the team of their parent."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from typing import Any

import longshore
import numpy as np
import pytest
from test_mpi import start


def test_an_interrupt_ends_a_wait() -> None:
    """Rank 0 waits in the main thread. Rank 1 arrives after the interrupt, or after the time
    limit."""
    waiting, interrupted = threading.Event(), threading.Event()
    limit_seconds = 120

    def main(team: longshore.Team) -> None:
        if team.rank == 1:
            waiting.wait(limit_seconds)
            time.sleep(0.2)
            os.kill(os.getpid(), signal.SIGINT)
            assert interrupted.wait(limit_seconds), "the interrupt came only after the wait"
        try:
            waiting.set()
            team.barrier()
        except KeyboardInterrupt:
            interrupted.set()
            raise

    with pytest.raises(KeyboardInterrupt):
        longshore.run(main, 2)
    assert longshore.run(lambda team: team.allreduce(1), 2) == 2


def test_repr_of_a_team_works_in_other_threads() -> None:
    shown: list[str] = []

    def main(team: longshore.Team) -> None:
        thread = threading.Thread(target=lambda: shown.append(repr(team)))
        thread.start()
        thread.join()

    longshore.run(main, 1)
    assert shown == ["<longshore.Team: rank 0 of 1, of another thread>"]


def in_child(queue: Any, use: Any) -> None:
    try:
        queue.put(use())
    except longshore.UsageError as error:
        queue.put(str(error))


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_process_can_use_only_a_team_of_one_rank() -> None:
    processes = multiprocessing.get_context("fork")
    table = longshore.Table(None, 4, "int64")
    table.local[:] = 7 * np.arange(4)

    def ask(use: Any) -> Any:
        queue = processes.SimpleQueue()
        child = processes.Process(target=in_child, args=(queue, use))
        child.start()
        answer = queue.get()
        child.join()
        return answer

    # A team of one rank depends on no other process.
    assert ask(lambda: longshore.gather(table, np.array([3]), strategy="direct").tolist()) == [21]
    for ranks in (2, 20):  # 20 threads take turns to wait for the GIL
        assert "forked" in longshore.run(lambda team: ask(team.barrier) if team.rank == 0 else None, ranks)


@pytest.mark.thorough
def test_a_forked_process_leaves_mpi_to_its_parent() -> None:
    done = start("forks")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("all right after a fork") == done.stdout.count("the child was refused") > 1
