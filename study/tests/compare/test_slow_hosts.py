"""Hosts that are slow are named, from launches of one cell and session on different hosts."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from longshore_study.attribution.association import attribute
from longshore_study.cli.command_line import main
from longshore_study.compare.comparison import CompareOptions, compare
from longshore_study.compare.slow_hosts import SlowHost, slow_hosts
from longshore_study.store.launch_store import Launch, Store
from longshore_study.store.selection import Side
from promised_rates import least, most
from simulated_launches import halo, launch
from stored_launches import halo as stored_halo
from stored_launches import json_of, store_launch

ONE = [("n1",), ("n2",), ("n3",), ("n4",)]
PAIRS = list(itertools.combinations(("n1", "n2", "n3", "n4"), 2))
ALL = [("n1", "n2", "n3", "n4")] * 4


def side(
    tag: str, placements: Sequence[Sequence[str]], slow: Mapping[str, float], seed: int = 1, disturbed: float = 0.0
) -> Side:
    """Four sessions, with a launch on each of the placements; `slow` has logarithms by host. Other
    programs slow down the share `disturbed` of the launches."""
    noise = random.Random(f"{tag} {seed}")
    launches: list[Launch] = []
    for session in "abcd":
        of_session = noise.gauss(0, 0.1)
        for index, hosts in enumerate(placements):
            log = of_session + min(slow.get(host, 0.0) for host in hosts) + noise.gauss(0, 0.02)
            log -= abs(noise.gauss(0, 0.3)) if noise.random() < disturbed else 0.0
            results = [halo(mode, log + noise.gauss(0, 0.01)) for mode in ("waitall", "sendrecv")]
            launches.append(launch(tag, session, index, results, hosts=hosts))
    return Side(tag, launches)


def found(placements: Sequence[Sequence[str]], slow: Mapping[str, float], margin: float = 0.05) -> list[SlowHost]:
    before, after = side("old", placements, {}), side("new", placements, slow)
    return slow_hosts(compare(before, after, CompareOptions(margin=margin)))


@pytest.mark.parametrize("placements", [ONE, PAIRS])
def test_the_slow_one_of_four_is_named(placements: Sequence[Sequence[str]]) -> None:
    (host,) = found(placements, {"n3": -math.log(1.5)})
    assert (host.side, host.host) == ("new", "n3")
    low, high = host.interval
    assert low < -math.log(1.5) < high
    assert host.launches == (4 * sum("n3" in hosts for hosts in placements), 4 * sum("n3" not in h for h in placements))


def test_two_slow_hosts_are_both_named_the_slowest_first() -> None:
    hosts = found(ONE, {"n2": -0.5, "n4": -0.7})
    assert [host.host for host in hosts] == ["n4", "n2"]


def test_hosts_that_are_always_used_together_are_named_together() -> None:
    (host,) = found([("n1", "n2"), ("n3", "n4"), ("n5", "n6")], {"n4": -0.5})
    assert host.host == "n3, n4"


def test_sessions_on_different_hosts_cannot_be_compared() -> None:
    # Session a on n1 and n2, session b on n3 and n4: what n3 is to n1, nothing tells.
    slow = {"n1": -1.0, "n2": -1.0, "n3": -0.5}
    before, after = side("old", ONE * 2, {}), side("new", ONE * 2, slow)
    kept = [
        launch
        for launch in after.launches
        if (launch.header or {})["hosts"][0] in ({"n1", "n2"} if launch.session in "ab" else {"n3", "n4"})
    ]
    hosts = slow_hosts(compare(before, Side("new", kept)))
    assert [host.host for host in hosts] == ["n3"]


def test_launches_that_all_use_the_same_hosts_cannot_tell() -> None:
    assert found(ALL, {"n3": -0.5}) == []


def test_a_host_within_the_margin_is_not_named() -> None:
    assert [host.host for host in found(ONE, {"n3": -0.15})] == ["n3"]
    assert found(ONE, {"n3": -0.15}, margin=0.3) == []


def test_equal_hosts_are_rarely_named() -> None:
    # In at most 5 % of the tables, if the margin does not matter: 12.5 of 250. The probability of
    # more than 45 is below 1e-9.
    named = 0
    for seed in range(250):
        sides = side("old", ONE, {}, seed), side("new", ONE, {}, seed)
        named += bool(slow_hosts(compare(*sides, CompareOptions(margin=1e-6))))
    assert named <= 45


def test_attribute_has_the_slow_host_of_a_regression() -> None:
    comparison = compare(side("old", ONE, {}), side("new", ONE, {"n3": -3.0}))
    assert [host.host for host in attribute(comparison).slow_hosts] == ["n3"]


def test_compare_and_attribute_say_which_host(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = Store(tmp_path / "store")
    for tag, seconds in (("old", 1.0), ("new", 0.4)):
        for session, (index, hosts) in itertools.product("abc", enumerate(ONE)):
            value = 1000.0 * (seconds if hosts == ("n3",) else 1.0) * (1 + 0.001 * index)
            store_launch(store, tag, session, [stored_halo("waitall", value)], index, hosts=hosts)
    for verb in ("compare", "attribute"):
        words = ["--store", str(store.path), verb, "old", "new"]
        main([*words, *(["-o", str(tmp_path / "confirm.toml")] if verb == "attribute" else [])])
        assert "host n3 is slow in new: ratio of speed 0.40" in capsys.readouterr().out
    main(["--store", str(store.path), "compare", "old", "new", "--json"])
    (host,) = json_of(capsys.readouterr().out)["slow_hosts"]
    assert (host["side"], host["host"], host["launches"]) == ("new", "n3", [3, 9])


EIGHT = [f"n{number}" for number in range(1, 9)]


def placed_at_random(tag: str, slow: Mapping[str, float], seed: int) -> Side:
    """Four sessions of eight launches, each on three of eight hosts and as slow as the slowest."""
    noise = random.Random(f"{tag} {seed}")
    return side(tag, [noise.sample(EIGHT, 3) for _ in range(8)], slow, seed)


def test_one_slow_host_of_eight_is_found_where_launches_are_as_slow_as_their_slowest_host() -> None:
    right = wrong = 0
    for seed in range(40):
        sides = placed_at_random("old", {}, seed), placed_at_random("new", {"n5": math.log(0.85)}, seed)
        hosts = [host.hosts for host in slow_hosts(compare(*sides))]
        right += ("n5",) in hosts
        wrong += any(names != ("n5",) for names in hosts)
    assert right >= 36
    assert wrong <= 4


def test_equal_hosts_that_share_launches_are_rarely_named() -> None:
    # At most 5 % of the tables, as above: 5 of 100. The probability of more than 20 is below 1e-6.
    sides = ((placed_at_random("old", {}, seed), placed_at_random("new", {}, seed)) for seed in range(100))
    assert sum(bool(slow_hosts(compare(*both, CompareOptions(margin=1e-6)))) for both in sides) <= 20


def test_disturbed_launches_do_not_name_their_host() -> None:
    # Without the permutation test, 38 comparisons of 150 name a host.
    named, placements = 0, [(name,) for name in EIGHT]
    for seed in range(150):
        before, after = (side(tag, placements, {}, seed, disturbed=0.1) for tag in ("old", "new"))
        named += bool(slow_hosts(compare(before, after)))
    assert named <= most(0.05, 150)


def test_a_slow_host_is_found_among_disturbed_launches() -> None:
    placements = [(name,) for name in EIGHT]
    sides = (
        (side("old", placements, {}, seed, disturbed=0.1), side("new", placements, {"n5": -0.5}, seed, disturbed=0.1))
        for seed in range(30)
    )
    assert sum(("n5",) in [host.hosts for host in slow_hosts(compare(*both))] for both in sides) >= least(0.8, 30)


def test_a_ring_of_pairs_names_its_slow_host() -> None:
    # Least squares alone cannot: faster and slower hosts by turns would explain every difference.
    ring = [(EIGHT[i], EIGHT[(i + 1) % 8]) for i in range(8)]
    assert [host.host for host in found(ring, {"n3": -0.2})] == ["n3"]


def test_a_change_between_different_hosts_may_come_from_the_hosts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store, noise = Store(tmp_path / "store"), random.Random(1)
    for tag, host, speed in (
        ("old", "n1", 1000.0),
        ("new", "n2", 700.0),
        ("same", "n2", 1000.0),
        ("here", "n1", 700.0),
    ):
        for session in "abc":
            store_launch(
                store, tag, session, [stored_halo("waitall", speed + noise.gauss(0, 1))], hosts=(host, f"{host}b")
            )

    def printed(verb: str, new: str) -> str:
        main(["--store", str(store.path), verb, "old", new, *(["-o", str(tmp_path / "c")] if verb[0] == "a" else [])])
        return capsys.readouterr().out

    for verb in ("compare", "attribute"):
        text = " ".join(printed(verb, "new").split())
        assert "old ran on n1, n1b, new ran on n2, n2b: the change may come from the hosts" in text
        assert "longshore run s.toml --tag new-on-same-hosts" in text
    assert "may come from the hosts" not in printed("compare", "same")  # nothing changed
    assert "may come from the hosts" not in printed("compare", "here")  # the hosts are the same
    main(["--store", str(store.path), "compare", "old", "new", "--json"])
    assert json_of(capsys.readouterr().out)["other_hosts"] == [["n1", "n1b"], ["n2", "n2b"]]
