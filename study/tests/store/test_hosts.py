"""Conditions on `host` select launches by the hosts that they ran on."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from longshore_study.base.errors import LongshoreError, UsageError
from longshore_study.base.expression import parse
from longshore_study.cli.command_line import main
from longshore_study.store.hosts import on_hosts
from longshore_study.store.launch_store import Launch, Store
from simulated_launches import halo, launch
from stored_launches import halo as stored_halo
from stored_launches import json_of, store_launch


def launches(placements: Sequence[Sequence[str]]) -> list[Launch]:
    return [launch("new", "a", index, [halo("waitall", 0.0)], hosts=hosts) for index, hosts in enumerate(placements)]


PLACED = [("n1", "n2"), ("n2", "n3"), ("n3",), ()]
"""Of four launches, the last without recorded hosts."""


@pytest.mark.parametrize(
    ("condition", "chosen"),
    [
        ("host == 'n2'", [0, 1]),
        ("'n2' == host", [0, 1]),
        ("'n2' in host", [0, 1]),
        ("host != 'n2'", [2, 3]),
        ("not host == 'n2'", [2, 3]),
        ("'n2' not in host", [2, 3]),
        ("host in ['n1', 'n3']", [0, 1, 2]),
        ("host not in ['n1', 'n3']", [3]),
        ("host == 'n2' and host == 'n3'", [1]),
        ("host == 'n1' or host == 'n3' and host != 'n2'", [0, 2]),
        ("mode == 'waitall' and host == 'n1'", [0]),
    ],
)
def test_a_launch_meets_a_condition_by_one_of_its_hosts(condition: str, chosen: list[int]) -> None:
    (kept,), rest = on_hosts([launches(PLACED)], parse(condition))
    assert [one.launch_index for one in kept] == chosen
    assert (rest is not None) == ("mode" in condition)
    assert rest is None or (rest.matches({"mode": "waitall"}) and not rest.matches({"mode": "sendrecv"}))


@pytest.mark.parametrize(
    ("condition", "error", "message"),
    [
        ("host == 'n8'", UsageError, "no launch ran on the host 'n8'.*known: n1, n2, n3"),
        ("host in ['n1', 'node']", UsageError, "no launch ran on the host 'node'"),
        ("host == 'n1' or mode == 'waitall'", UsageError, "joins host and mode; only 'and'"),
        ("host == 'n1' and host == 'n3'", LongshoreError, "leaves no launch; its hosts: n1, n2, n3"),
        ("host", UsageError, "compare it with a value"),
    ],
)
def test_a_condition_without_sense_is_refused(condition: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        on_hosts([launches(PLACED)], parse(condition))


def test_launches_without_recorded_hosts_are_an_error() -> None:
    with pytest.raises(LongshoreError, match="no recorded hosts"):
        on_hosts([launches([(), ()])], parse("host != 'n1'"))


def test_the_side_without_a_launch_on_the_host_is_named() -> None:
    with pytest.raises(LongshoreError, match="leaves no launch of the new side; its hosts: n2"):
        on_hosts([launches([("n1",)]), launches([("n2",)])], parse("host == 'n1'"))


def test_a_factor_of_the_study_keeps_the_name_host() -> None:
    own = [launch("new", "a", 0, [halo("waitall", 0.0)], cell={"host": "login"}, hosts=("n1",))]
    (kept,), rest = on_hosts([own], condition := parse("host == 'login'"))
    assert (kept, rest) == (own, condition)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """The new state is as fast as the old one, except on n3."""
    store, noise = Store(tmp_path / "store"), random.Random(1)
    for tag, slow in (("old", 1.0), ("new", 0.5)):
        for session in "abc":
            for index, hosts in enumerate([("n1", "n2"), ("n2", "n3"), ("n1",)]):
                value = 1000 * (1 + noise.gauss(0, 0.001)) * (slow if "n3" in hosts else 1.0)
                results = [stored_halo(mode, value) for mode in ("waitall", "sendrecv")]
                store_launch(store, tag, session, results, index, hosts=hosts)
    return store


def test_every_command_with_where_selects_hosts(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    def answer(*words: str) -> tuple[int, str]:
        status = main(["--store", str(store.path), *words])
        return status, capsys.readouterr().out

    on_n3 = ("--where", "host == 'n3' and mode == 'waitall'")
    off_n3 = ("--where", "host != 'n3'")
    (row,) = json_of(answer("show", "new", *on_n3, "--json")[1])["rows"][:1]
    assert row["launches"] == 1  # of a session
    assert len(answer("export", "new", *on_n3)[1].splitlines()) == 1 + 3  # of three sessions
    assert answer("compare", "old", "new")[0] != 0
    assert answer("compare", "old", "new", *off_n3)[0] == 0
    (compared,) = json_of(answer("compare", "old", "new", *on_n3, "--json")[1])["rows"]
    assert compared["ratio"] == pytest.approx(0.5, rel=0.01)
    assert "no change" in answer("attribute", "old", "new", *off_n3)[1]
    (history,) = json_of(answer("history", "new", *on_n3, "--json")[1])["rows"]
    assert history["points"][0]["value"] == pytest.approx(500, rel=0.01)
    for words in (("show", "new"), ("compare", "new", "--factor", "mode")):
        assert answer(*words, "--where", "host == 'n7'")[0] == 64
