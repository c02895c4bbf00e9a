"""The ranking of variants, and their share of the bound of the machine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from longshore_study.analyses.winners import RankedVariant, ranked_variants
from longshore_study.base.errors import UsageError
from longshore_study.cli.command_line import main
from longshore_study.metrics.launch_metrics import measure
from longshore_study.metrics.memory_bound import MemorySpeeds, share_of_bound
from longshore_study.output.winner_table import render
from longshore_study.store.launch_store import Store

METRIC = {
    "stream": "bandwidth",
    "gather": "injection_bandwidth",
    "halo": "process_bandwidth",
    "sort": "keys_per_second",
    "ghost": "ghost_bandwidth",
}


def put(
    store: Store,
    pattern: str,
    variant: Mapping[str, Any],
    value: float,
    *,
    index: int = 0,
    session: str = "s",
    **more: Any,
) -> None:
    cell = {"program": pattern, "transport": more.get("transport", "threads"), "ranks": 2, "environment": {}}
    cell |= {name: more[name] for name in ("nodes", "stack") if name in more}
    facts: dict[str, Any] = {
        name: more[name] for name in ("speeds", "traffic", "seconds", "cache_line_seconds", "metrics") if name in more
    }
    facts |= {"exchange": more["chosen"]} if "chosen" in more else {}
    metric = METRIC.get(pattern, "bandwidth")
    result = {
        "record": "result",
        "pattern": pattern,
        "variant": dict(variant),
        "verified": more.get("verified", True),
        "metrics": {metric: {"value": value, "unit": "GB/s", "better": "higher"}},
        **facts,
    }
    envelope = {"study": "q", "tag": more.get("tag", "q"), "session": session, "cell": cell, "launch_index": index}
    envelope["exit_status"] = 0
    lines = [
        {"record": "launch", "schema": 1, "ranks": 2},
        result,
        {"record": "end", "status": "ok"},
    ]
    store.write_launch({**envelope, "within": dict(variant)}, [json.dumps(line) for line in lines])


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def ranked(store: Store) -> list[RankedVariant]:
    return ranked_variants(measure(store.launches("q")).figures)


def test_variants_compete_only_over_the_same_work(store: Store) -> None:
    for strategy, small, large in (("agp", 1.0, 9.0), ("exstack", 3.0, 4.0)):
        put(store, "gather", {"strategy": strategy, "requests": 10}, small)
        put(store, "gather", {"strategy": strategy, "requests": 1000}, large)
    put(store, "gather", {"strategy": "agp", "requests": 10}, 5.0, transport="mpi")
    found = {(e.work["requests"], e.how["strategy"], e.how["transport"]): e.rank for e in ranked(store)}
    assert found == {
        (10, "agp", "mpi"): 1,
        (10, "exstack", "threads"): 2,
        (10, "agp", "threads"): 3,
        (1000, "agp", "threads"): 1,
        (1000, "exstack", "threads"): 2,
    }


def test_one_node_does_not_win_against_two(store: Store) -> None:
    for nodes, value in ((1, 9.0), (2, 4.0)):
        put(store, "gather", {"strategy": "agp", "requests": 100}, value, transport="mpi", nodes=nodes)
    assert [(entry.work["nodes"], entry.rank) for entry in ranked(store)] == [(1, 1), (2, 1)]


def test_a_figure_is_the_median_of_launches_and_ties_are_marked(store: Store) -> None:
    for index, (agp, direct, exstack) in enumerate([(10.0, 8.0, 1.9), (12.0, 11.0, 2.0), (11.0, 9.9, 2.1)]):
        put(store, "gather", {"strategy": "agp"}, agp, index=index)
        put(store, "gather", {"strategy": "direct"}, direct, index=index)
        put(store, "gather", {"strategy": "exstack"}, exstack, index=index)
    found = ranked(store)
    assert [(e.how["strategy"], e.value, e.is_within_noise) for e in found] == [
        ("agp", 11.0, False),
        ("direct", 9.9, True),
        ("exstack", 2.0, False),
    ]
    assert found[0].spread == pytest.approx(2.0 / 11.0)


def test_a_wrong_result_never_wins(store: Store) -> None:
    put(store, "sort", {"exchange": "put"}, 1.0)
    put(store, "sort", {"exchange": "rma"}, 100.0, verified=False)
    assert [e.how["exchange"] for e in ranked(store)] == ["put"]


def test_the_bound_is_the_copy_of_the_same_launching_and_session(store: Store) -> None:
    copy = {"kernel": "copy"}
    put(store, "control", copy, 20.0)
    put(store, "control", copy, 10.0, transport="mpi")
    put(store, "control", copy, 40.0, session="later")
    put(store, "control", copy, 50.0, transport="mpi", stack="mpich")
    put(store, "stream", {"kernel": "triad"}, 10.0)
    put(store, "stream", {"kernel": "triad"}, 10.0, transport="mpi")
    put(store, "stream", {"kernel": "copy"}, 10.0, transport="mpi", stack="mpich")
    put(store, "stream", {"kernel": "add"}, 10.0, session="later")
    put(store, "stream", {"kernel": "scale"}, 10.0, session="without")
    shares = {(e.work["kernel"], e.how["transport"]): e.share for e in ranked(store)}
    assert shares == {
        ("triad", "threads"): 0.5,
        ("triad", "mpi"): 1.0,
        ("copy", "mpi"): 0.2,
        ("add", "threads"): 0.25,
        ("scale", "threads"): None,
    }


def moved_on_node(pattern: str, value: float, factors: dict[str, Any], nodes: int | None = None) -> float | None:
    """The GB/s of a node, as a share of a memory copy of 1 GB/s."""
    return share_of_bound(pattern, value, factors, nodes, MemorySpeeds(1.0, {}))


@pytest.mark.parametrize(
    ("pattern", "value", "factors", "moved"),
    [
        ("stream", 12.0, {}, 12.0),
        ("gather", 16.0, {}, 16.0),
        ("gather", 8.0, {"operation": "histogram"}, 8.0),
        ("halo", 1e9 / 2**20, {"ranks": 4}, 8.0),
        ("halo", 1e9 / 2**20, {"ranks": 4, "ranks_per_node": 2}, 4.0),
        ("halo", 1.0, {}, None),
        ("sort", 1e9, {}, 28.0),
        ("ghost", 8.0, {}, 16.0),
        ("ghost", 8.0, {"operation": "accumulate", "type": "int32"}, 24.0),
        ("unknown", 1.0, {}, None),
    ],
)
def test_bytes_are_counted_as_memory_copy_counts_them(
    pattern: str, value: float, factors: dict[str, Any], moved: float | None
) -> None:
    assert moved_on_node(pattern, value, factors) == (None if moved is None else pytest.approx(moved))


SPEEDS = [{"bytes": 1000, "copy": 100.0, "neighbour_copy": 20.0}, {"bytes": 10**8, "copy": 10.0}]
LINE = {"median": 1e-6, "p10": 1e-6, "p90": 1e-6}


@pytest.mark.parametrize(
    ("gigabytes", "messages", "word"),
    [
        (60.0, 200, ""),  # at least half of the bound
        (40.0, 0, "lines"),  # 40 of 20 GB/s, if all lines were a neighbour's
        (8.0, 0, "instructions"),
        (8.0, 1200, "signals"),  # 600 round trips of 1 us in 1 ms
        (8.0, 800, "instructions"),
        (12.0, 1400, "signals"),
        (16.0, 1400, "lines"),
        (120.0, 0, "noise"),
    ],
)
def test_a_low_share_has_its_cause_in_a_word(store: Store, gigabytes: float, messages: int, word: str) -> None:
    put(store, "control", {"kernel": "copy"}, 9.0, nodes=1, speeds=SPEEDS)
    facts: dict[str, Any] = {
        "nodes": 1,
        "traffic": {"messages": messages, "payload_bytes": 1000},
        "seconds": {"median": 1e-3},
        "cache_line_seconds": LINE,
    }
    put(store, "ghost", {"mesh": "band"}, gigabytes / 2, **facts)
    (entry,) = ranked(store)
    assert entry.share == pytest.approx(gigabytes / 100)
    assert entry.share_remark == word
    assert not entry.of_main_memory
    for index, fast in ((1, 30.0), (2, gigabytes / 2)):
        put(store, "ghost", {"mesh": "band"}, fast, index=index, **facts)
    if gigabytes < 50:
        assert ranked(store)[0].share_remark == "noise", "one launch reached 60 %"


def test_between_nodes_and_in_older_records_a_low_share_has_no_cause(store: Store) -> None:
    facts: dict[str, Any] = {"traffic": {"messages": 2, "payload_bytes": 1000}, "seconds": {"median": 1e-3}}
    put(store, "control", {"kernel": "copy"}, 100.0, nodes=1)
    put(store, "control", {"kernel": "copy"}, 100.0, session="nodes", nodes=2, speeds=SPEEDS)
    put(store, "ghost", {"mesh": "band"}, 5.0, **facts, cache_line_seconds=LINE, nodes=1)
    put(store, "ghost", {"mesh": "band"}, 5.0, **facts, cache_line_seconds=LINE, session="nodes", nodes=2)
    found = ranked(store)
    assert [entry.share for entry in found] == pytest.approx([0.1, 0.1])
    assert [(entry.share_remark, entry.of_main_memory) for entry in found] == [("", True), ("", False)]


def between_nodes(store: Store, messages: int, session: str = "s", speeds: list[dict[str, float]] = SPEEDS) -> None:
    """Ghosts at 10 GB/s, half of which pass a network of 50 GB/s with a latency of 2 us."""
    put(store, "control", {"kernel": "copy"}, 9.0, nodes=2, speeds=speeds, session=session)
    latency = {"latency_us": {"value": 2.0, "unit": "us", "better": "lower"}}
    put(store, "control", {"kernel": "pingpong"}, 2.0, nodes=2, session=session, metrics=latency)
    traffic = {"messages": messages, "payload_bytes": 2000, "wire_bytes": 2000, "offnode_bytes": 1000}
    facts: dict[str, Any] = {"traffic": traffic, "seconds": {"median": 1e-3}}
    put(store, "ghost", {"mesh": "band"}, 10.0, nodes=2, session=session, **facts)


@pytest.mark.parametrize(
    ("messages", "neighbour_copy", "word"),
    [(0, 50.0, "instructions"), (996, 50.0, "instructions"), (1004, 50.0, "network"), (0, 38.0, "lines")],
)
def test_between_nodes_a_low_share_may_be_due_to_latencies(
    store: Store, messages: int, neighbour_copy: float, word: str
) -> None:
    """Of 1004 messages of two ranks, 251 of each go to the other node. They take 502 us of 1 ms."""
    speeds = {"bytes": 1000, "copy": 100.0, "network": 50.0, "neighbour_copy": neighbour_copy}
    between_nodes(store, messages, speeds=[speeds])
    (entry,) = ranked(store)
    assert entry.share == pytest.approx(0.2)
    assert entry.share_remark == word


def test_without_the_speed_of_the_network_a_figure_between_nodes_has_no_bound(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    between_nodes(store, 2)
    (entry,) = ranked(store)
    assert (entry.share, entry.share_remark) == (None, "")
    render(store, "q")
    assert "no bound: these launches did not measure the network; 'longshore run' does" in capsys.readouterr().out


def test_the_bound_of_auto_is_that_of_its_choice(store: Store) -> None:
    put(store, "control", {"kernel": "copy"}, 28.0)
    for chosen in ("put", "direct"):
        put(store, "sort", {"exchange": "auto", "key_type": "uint32", "meet": chosen}, 5e8, chosen=chosen)
    assert {entry.how["meet"]: entry.share for entry in ranked(store)} == {"put": 0.5, "direct": 0.5 * 5 / 7}


def test_the_tables_name_the_winner_the_bound_and_failures(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    put(store, "control", {"kernel": "copy"}, 20.0)
    put(store, "stream", {"kernel": "copy", "scope": "ep"}, 10.0)
    put(store, "stream", {"kernel": "copy", "scope": "global"}, 9.0)
    put(store, "sort", {"exchange": "put"}, 2e8)
    envelope = {
        "study": "q",
        "tag": "q",
        "session": "s",
        "cell": {"program": "halo"},
        "exit_status": 3,
        "stderr_tail": ["no"],
    }
    store.write_launch(envelope, [])
    render(store, "q")
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "winner ep 10.000 - 50%" in lines
    assert "global 9.000 - 45%" in lines
    assert "winner put 200.0 - 28%" in lines or "winner 200.0 - 28%" in lines
    assert any(line.startswith("of bound: bytes that the kernel reads and writes") for line in lines)
    assert any("20.000 GB/s read and written" in line for line in lines)
    assert any(line.startswith("1 launch failed") for line in lines)
    choose = lines[lines.index("which to choose") :]
    assert any(line.startswith("stream threads ep 10.000 GB/s 50% ") for line in choose)
    assert any(
        line.startswith("sort threads the only choice 200.0 10^6 GB/s 28% no other was measured") for line in choose
    )


def test_the_best_of_many_are_shown_and_all_when_asked_for(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    for index in range(10):
        put(store, "gather", {"strategy": f"s{index}"}, 10.0 - index)
    render(store, "q")
    short = capsys.readouterr().out
    assert "and 2 slower choices; -v shows all" in short
    assert " s8 " not in short
    render(store, "q", verbose=True)
    whole = capsys.readouterr().out
    assert " s9 " in whole
    assert "slower choices" not in whole


def test_the_newest_session_is_shown(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    put(store, "sort", {"exchange": "put"}, 1.0, session="old")
    put(store, "sort", {"exchange": "put"}, 3.0, session="new")
    render(store, "q")
    assert "session new" in capsys.readouterr().out
    render(store, "q", session="old")
    assert "session old" in capsys.readouterr().out
    with pytest.raises(UsageError, match="unknown tag or study 'unknown'"):
        render(store, "unknown")
    with pytest.raises(UsageError, match=r"unknown session of 'q' 'odl'; did you mean 'old'\?"):
        render(store, "q", session="odl")


def test_winners_are_those_of_one_tag(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    for tag, value in (("plain", 3e8), ("tcp", 1e8)):
        put(store, "sort", {"exchange": "put"}, value, tag=tag)
    for name, head, shown in (("plain", "q, tag plain, session s", 3e8), ("q", "q, tag tcp, session s", 1e8)):
        options = ["--store", str(store.path), "show", name, "--winners", "--session", "s"]
        assert main(options) == 0
        assert head in capsys.readouterr().out
        assert main([*options, "--json"]) == 0
        (row,) = json.loads(capsys.readouterr().out)["rows"]
        assert row["value"] == shown


def test_the_traffic_of_a_sort_depends_on_its_items_and_its_exchange() -> None:
    keys = moved_on_node("sort", 1e9, {"exchange": "put", "key_type": "uint32", "payload": 0})
    assert keys == 28
    assert moved_on_node("sort", 1e9, {"exchange": "put", "key_type": "uint64", "payload": 56}) == 64 * 7
    assert moved_on_node("sort", 1e9, {"exchange": "direct", "key_type": "uint8"}) == 5


def test_the_traffic_is_that_of_one_node() -> None:
    sort = {"exchange": "put", "key_type": "uint32"}
    assert moved_on_node("sort", 1e9, sort, nodes=2) == 14
    assert moved_on_node("sort", 1e9, {**sort, "ranks": 4, "ranks_per_node": 1}) == 7
    on_one_node = moved_on_node("halo", 100.0, {"ranks": 4})
    assert on_one_node is not None
    assert moved_on_node("halo", 100.0, {"ranks": 4}, nodes=2) == on_one_node / 2
    assert moved_on_node("halo", 100.0, {"ranks": 4, "ranks_per_node": 2}, nodes=2) == on_one_node / 2
