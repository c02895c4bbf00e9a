"""Runs and teams: start, collectives, end, errors."""

from __future__ import annotations

import threading
import time

import longshore
import numpy as np
import pytest

RANKS = [1, 2, 3, 4, 7]


@pytest.mark.parametrize("ranks", RANKS)
def test_every_rank_runs_main_with_its_own_team(ranks: int) -> None:
    seen = [-1] * ranks

    def main(team: longshore.Team, mark: int) -> int:
        seen[team.rank] = team.size * mark
        team.barrier()
        return team.rank + mark

    assert longshore.run(main, ranks, args=(10,)) == 10
    assert seen == [10 * ranks] * ranks


@pytest.mark.parametrize("ranks", RANKS)
def test_collectives_of_numbers_and_arrays(ranks: int) -> None:
    def main(team: longshore.Team) -> None:
        assert team.allreduce(team.rank) == ranks * (ranks - 1) // 2
        assert team.allreduce(0.5 * team.rank, "max") == 0.5 * (ranks - 1)
        assert team.allreduce(np.int64(team.rank), "min") == 0
        if ranks > 1:
            for too_much in (2**63 - 1, np.full(2, -(2**63)), np.array([1, 2**62 + 1])):
                with pytest.raises(longshore.UsageError, match="does not fit 64 bits"):
                    team.allreduce(too_much)
        values = np.array([team.rank, 1], "int64")
        assert team.allreduce(values) is values
        assert values.tolist() == [ranks * (ranks - 1) // 2, ranks]
        last = ranks - 1
        assert team.reduce(team.rank, root=last) == (ranks * last // 2 if team.rank == last else None)
        assert team.reduce(0.5 * team.rank, "max") == (0.5 * last if team.rank == 0 else None)
        floats = np.array([1e16 / (team.rank + 1), 3.0 * team.rank])
        assert (team.reduce(floats, root=last) is floats) == (team.rank == last)
        in_order = np.array([1e16, 0.0])
        for r in range(1, ranks):
            in_order += [1e16 / (r + 1), 3.0 * r]
        mine = np.array([1e16 / (team.rank + 1), 3.0 * team.rank])
        assert (floats == (in_order if team.rank == last else mine)).all()
        if ranks > 1:
            whole = np.full(2, 2**62)
            with pytest.raises(longshore.UsageError, match="does not fit 64 bits"):
                team.reduce(whole)
            assert (whole == 2**62).all()
        sent = np.full((2, 3), float(team.rank))
        team.broadcast(sent, root=ranks - 1)
        assert (sent == ranks - 1).all()
        all_ranks = team.allgather(np.full(2, team.rank, "int16"))
        assert all_ranks.shape == (ranks, 2)
        assert (all_ranks[:, 0] == np.arange(ranks)).all()
        blocks = team.alltoall(10 * team.rank + np.arange(ranks))
        assert (blocks == 10 * np.arange(ranks) + team.rank).all()

    longshore.run(main, ranks)


def test_the_team_knows_its_rank_and_node() -> None:
    def main(team: longshore.Team) -> None:
        assert (team.transport, team.node_count, team.node_of(3), team.node) == ("threads", 2, 1, team.rank // 2)
        assert team.node_ranks == [0, 1] if team.rank < 2 else [2, 3]
        assert repr(team) == f"<longshore.Team: rank {team.rank} of 4, transport threads, node {team.rank // 2} of 2>"

    longshore.run(main, 4, ranks_per_node=2)


@pytest.mark.parametrize("failing", [0, 2])
def test_the_exception_of_one_rank_ends_the_run_and_is_raised(failing: int) -> None:
    ends: list[BaseException] = []

    class OwnError(Exception):
        pass

    def main(team: longshore.Team) -> None:
        table = longshore.Table(team, 100)
        if team.rank == failing:
            raise OwnError(f"rank {failing} says why")
        try:
            for _ in range(10):
                longshore.gather(table, np.arange(3), strategy="direct")
        except longshore.PeerFailedError as error:
            ends.append(error)
            raise

    with pytest.raises(OwnError, match=f"rank {failing} says why"):
        longshore.run(main, 3)
    assert len(ends) == 2
    assert f"rank {failing}" in str(ends[0])
    assert longshore.run(lambda team: team.size, 3) == 3


def test_other_threads_make_progress_while_a_rank_waits() -> None:
    """If barrier() held the GIL, the counting thread would stop and rank 1 would never arrive."""
    counted = [0]
    stop = threading.Event()

    def count() -> None:
        while not stop.is_set():
            counted[0] += 1

    def main(team: longshore.Team) -> int:
        if team.rank == 1:
            begin, end = counted[0], time.monotonic() + 0.2
            while time.monotonic() < end:
                time.sleep(0.01)
            team.barrier()
            return counted[0] - begin
        team.barrier()
        return 0

    thread = threading.Thread(target=count)
    thread.start()
    try:
        longshore.run(main, 2)
    finally:
        stop.set()
        thread.join()
    assert counted[0] > 1000


def test_a_reduced_number_has_one_type_on_all_ranks() -> None:
    def main(team: longshore.Team) -> None:
        assert team.allreduce(sum([]) if team.rank == 1 else 0.5) == 1.0
        whole = team.allreduce(team.rank)
        assert (whole, type(whole)) == (3, int)

    longshore.run(main, 3)


@pytest.mark.parametrize("odd_rank", [0, 2])
@pytest.mark.parametrize(
    ("call", "usual", "odd"),
    [
        ("allgather", np.zeros(3), np.zeros(3000)),
        ("allgather", np.zeros(3), np.zeros(3, "int64")),
        ("alltoall", np.zeros((3, 2)), np.zeros((3, 2000))),
        ("broadcast", np.zeros(3), np.zeros(3000)),
        ("allreduce", np.zeros(3), np.zeros(3000)),
        ("allreduce", np.zeros(3), np.zeros(3, "int64")),
        ("allreduce", np.zeros(0), 1),
        ("reduce", np.zeros(3), np.zeros(3000)),
    ],
)
def test_arrays_that_differ_between_ranks_are_refused_on_all(
    call: str, usual: object, odd: object, odd_rank: int
) -> None:
    refused: list[int] = []

    def main(team: longshore.Team) -> None:
        with pytest.raises(longshore.UsageError, match=f"{call}: .*all must give the same"):
            getattr(team, call)(odd if team.rank == odd_rank else usual)
        refused.append(team.rank)
        team.barrier()

    longshore.run(main, 3)
    assert sorted(refused) == [0, 1, 2]


def test_different_calls_and_roots_are_refused() -> None:
    def main(team: longshore.Team) -> None:
        with pytest.raises(longshore.UsageError, match="another collective"):
            (team.allgather if team.rank == 0 else team.broadcast)(np.zeros(2))
        with pytest.raises(longshore.UsageError, match="another root"):
            team.broadcast(np.zeros(2), root=team.rank)
        with pytest.raises(longshore.UsageError, match="another root"):
            team.reduce(1.0, root=team.rank)
        with pytest.raises(longshore.UsageError, match="reduce: root 2; ranks are 0 to 1"):
            team.reduce(1.0, root=2)

    longshore.run(main, 2)


def test_results_are_freed_when_the_end_of_a_rank_fails() -> None:
    """Other ranks notice the failure at their end. Their arrays are freed with the GIL."""

    def main(team: longshore.Team) -> object:
        kept.append(longshore.Table(team, 10))
        team.barrier()
        if team.rank == 1:
            raise RuntimeError("rank 1 says why")
        return np.zeros(3)

    for _ in range(20):
        kept: list[longshore.Table] = []
        with pytest.raises(RuntimeError, match="rank 1 says why"):
            longshore.run(main, 3)


def test_the_error_of_a_deadline_names_the_operation() -> None:
    given_up = threading.Event()

    def main(team: longshore.Team) -> None:
        if team.rank == 1:
            given_up.wait(60)  # a rank that runs past twice the deadline ends the process
            return
        try:
            team.barrier()
        finally:
            given_up.set()

    with pytest.raises(longshore.DeadlineError, match="barrier") as caught:
        longshore.run(main, 2, timeout_seconds=1)
    assert isinstance(caught.value, TimeoutError)


def test_a_team_belongs_to_its_thread_and_its_run() -> None:
    kept: list[longshore.Team] = []

    def main(team: longshore.Team) -> None:
        kept.append(team)
        team.barrier()
        if team.rank == 0:
            with pytest.raises(longshore.UsageError, match="another thread"):
                next(other for other in kept if other.rank == 1).barrier()
        team.barrier()

    longshore.run(main, 2)
    with pytest.raises(longshore.UsageError, match="has ended"):
        kept[0].barrier()
    assert repr(kept[0]).endswith("ended>")


def test_world_is_the_team_of_the_run_inside_and_of_one_rank_outside() -> None:
    assert (longshore.world().rank, longshore.world().size) == (0, 1)
    assert longshore.run(lambda _: longshore.world().size, 3) == 3
    assert longshore.world().size == 1


def test_the_error_of_a_wrong_argument_has_the_allowed_values() -> None:
    with pytest.raises(TypeError, match="main must be a function"):
        longshore.run(3)  # type: ignore[arg-type]
    with pytest.raises(longshore.UsageError, match="0 ranks"):
        longshore.run(lambda _: None, 0)
    with pytest.raises(longshore.UsageError, match="available: threads"):
        longshore.run(lambda _: None, transport="pigeons")
    with pytest.raises(longshore.UsageError, match="inside"):
        longshore.run(lambda _: longshore.run(lambda _: None, 1), 1)
    with pytest.raises(TypeError, match="mpi4py"):
        longshore.Team("no communicator")
    with pytest.raises(ValueError, match="allowed are sum, min, max"):
        longshore.world().allreduce(1, "product")
    with pytest.raises(TypeError, match=r"elements of type float32: allowed are int64, float64$"):
        longshore.world().allreduce(np.zeros(2, "float32"))
    with pytest.raises(TypeError, match="allreduce: a NumPy array of int64, float64 is needed, got list"):
        longshore.world().allreduce([1, 2])  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="a block for each rank"):
        longshore.world().alltoall(np.zeros(3))


def test_many_ranks_take_turns_to_wait_for_the_gil() -> None:
    def main(team: longshore.Team) -> int:
        for _ in range(3):
            team.barrier()
        return team.allreduce(team.rank)

    ranks = 200  # far more than may wait for the GIL at a time
    assert longshore.run(main, ranks) == ranks * (ranks - 1) // 2
    with pytest.raises(ZeroDivisionError):
        longshore.run(lambda team: 1 // (team.rank - 150), ranks)
    assert longshore.run(main, 2) == 1
