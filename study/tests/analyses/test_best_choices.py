"""The best choice for each pattern: its bound, the result of auto, and the next commands."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from longshore_study.analyses.best_choices import BestChoice, best_choices
from longshore_study.analyses.winners import ranked_variants
from longshore_study.cli.command_line import main, parser_of
from longshore_study.metrics.launch_metrics import measure
from longshore_study.output.next_commands import next_commands
from longshore_study.patterns import PATTERNS
from longshore_study.report.bounds import bound_for, bounds_text
from longshore_study.report.facts import gather_facts
from longshore_study.report.page import build_page
from longshore_study.store import records
from longshore_study.store.launch_store import Store
from longshore_study.store.selection import sides
from report_data import HEADER, envelope, header_of, result
from report_tree import parse

BUSY = (1.0, 0.4, 0.7)
"""The speed of the machine in each of three launches; it varies more than the strategies differ."""
GATHER = {"operation": "gather", "requests": 1000, "table": 100}


def launch(
    store: Store, found: Sequence[dict[str, Any]], *, index: int, session: str = "s", nodes: int = 1, **cell: Any
) -> None:
    """A launch of the study q, whose file is studies/q.toml."""
    factors = {"program": found[0]["pattern"], "transport": "threads", "ranks": 2, "environment": {}} | cell
    head = envelope("q", "q", session, factors, index=index)
    asked = [name for name in ("strategy", "requests", "table") if name in found[0]["variant"]]
    head |= {"within": {name: [found[0]["variant"][name]] for name in asked}, "study_file": {"path": "studies/q.toml"}}
    header = header_of(factors) | {"nodes": nodes, "launch": f"{session}-{index}-{factors}"}
    store.write_launch(head, [records.dump(one) for one in (header, *found, records.end_record())])


def gathers(store: Store, figures: Mapping[str, float], *, took: str = "agp", **more: Any) -> None:
    """Three launches that measured all strategies, each at another speed of the machine."""
    for index, speed in enumerate(BUSY):
        found = []
        for place, (strategy, figure) in enumerate(figures.items()):
            value = figure * speed * (1 + 0.001 * ((index + place) % 3))
            one = result("gather", GATHER | {"strategy": strategy}, "injection_bandwidth", value, "GB/s")
            found.append(one | ({"chosen": {"strategy": took, "hops": None}} if strategy == "auto" else {}))
        launch(store, found, index=index, **more)


def copies(store: Store, figure: float, **more: Any) -> None:
    for index, speed in enumerate(BUSY):
        launch(store, [result("control", {"kernel": "copy"}, "bandwidth", figure * speed, "GB/s")], index=index, **more)


def answered(store: Store) -> list[BestChoice]:
    return best_choices(ranked_variants(measure(store.launches("q")).figures))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def test_each_place_and_transport_has_a_best_choice(store: Store) -> None:
    gathers(store, {"direct": 9.0, "agp": 5.0})
    gathers(store, {"direct": 4.0, "agp": 8.0}, transport="mpi")
    gathers(store, {"agp": 1.0, "exstack": 3.0}, transport="mpi", ranks_per_node=1, nodes=2)
    gathers(store, {"agp": 1.0, "exstack": 2.0}, transport="mpi", ranks=8, nodes=2)
    assert {(one.where, one.problem): one.name for one in answered(store)} == {
        ("one node, threads", "ranks 2"): "direct",
        ("one node, mpi", "ranks 2"): "agp",
        ("2 virtual nodes, mpi", "ranks 2"): "exstack",
        ("2 nodes, mpi", "ranks 8"): "exstack",
    }


def test_noise_common_to_a_launch_does_not_hide_the_winner(store: Store) -> None:
    """The figures of launches overlap, but the ratio within each launch is the same."""
    gathers(store, {"direct": 9.0, "agp": 8.0, "exstack": 8.999})
    (answer,) = answered(store)
    assert (answer.name, answer.within_noise, answer.others) == ("direct", ("exstack",), 2)
    assert answer.within_noise_text == "exstack"


def test_only_the_first_of_many_within_noise_are_named(store: Store) -> None:
    gathers(store, {f"s{i}": 5.0 for i in range(7)})
    (answer,) = answered(store)
    assert len(answer.within_noise) == 6
    assert answer.within_noise_text.endswith("; 3 more")


def test_auto_is_judged_against_the_best_fixed_level(store: Store) -> None:
    gathers(store, {"direct": 10.0, "agp": 4.0, "auto": 9.0}, took="direct")
    (answer,) = answered(store)
    assert answer.auto is not None
    assert answer.auto.share == pytest.approx(0.9, abs=0.01)
    assert not answer.auto.is_within_noise
    assert answer.auto.text == "auto chose direct: 90 % of the best fixed strategy"


def test_auto_that_wins_is_judged_too(store: Store) -> None:
    gathers(store, {"agp": 4.0, "auto": 8.0}, took="exstack")
    (answer,) = answered(store)
    assert answer.name == "auto"
    assert answer.auto is not None
    assert answer.auto.text == "auto chose exstack: 200 % of the best fixed strategy"


def test_auto_within_noise_says_so_and_auto_alone_is_not_judged(store: Store) -> None:
    gathers(store, {"direct": 10.0, "auto": 9.999}, took="direct")
    gathers(store, {"auto": 1.0}, transport="mpi")
    near, alone = answered(store)
    assert near.auto is not None
    assert near.auto.text == "auto chose direct: 100 % of the best fixed strategy, within noise"
    assert near.auto.short_text == "100%~ (direct)"
    assert alone.auto is None
    assert alone.within_noise_text == "no other was measured"


def test_an_automatic_algorithm_is_judged_within_its_mode(store: Store) -> None:
    for index, speed in enumerate(BUSY):
        figures = {
            ("standard", "direct"): 90.0 + index,
            ("standard", "waitall"): 20.0,
            ("staged", "waitall"): 40.0 - index,
            ("auto", "waitall"): 38.0,
        }
        found = []
        for (algorithm, mode), value in figures.items():
            one = result("halo", {"algorithm": algorithm, "mode": mode}, "process_bandwidth", value * speed, "MiB/s")
            found.append(one | ({"algorithm": "staged"} if algorithm == "auto" else {}))
        launch(store, found, index=index)
    (answer,) = answered(store)
    assert answer.name == "standard + direct"
    assert answer.auto is not None
    assert answer.auto.share == pytest.approx(38 / 39, abs=0.01)
    assert "auto chose staged" in answer.auto.text


@pytest.mark.parametrize("chosen", [None, "direct", {}, {"strategy": 3}])
def test_a_record_without_the_choice_of_auto_is_read(store: Store, chosen: object) -> None:
    found = [
        result("gather", GATHER | {"strategy": name}, "injection_bandwidth", 1.0, "GB/s") for name in ("auto", "agp")
    ]
    launch(store, [one | {"chosen": chosen} for one in found], index=0)
    (answer,) = answered(store)
    assert answer.auto is not None
    assert answer.auto.text.startswith("auto chose a choice of its own")


def test_the_bound_is_shown_or_its_absence(store: Store) -> None:
    gathers(store, {"direct": 2.0})
    gathers(store, {"direct": 2.0}, transport="mpi")
    gathers(store, {"direct": 4.0}, transport="shmem")
    copies(store, 12.0)
    copies(store, 3.0, transport="shmem")
    assert {one.where.split(", ")[1]: one.bound_text for one in answered(store)} == {
        "threads": "17%", "mpi": "no bound", "shmem": "134% (in cache?)",
    }  # fmt: skip


def commands(store: Store, **more: Any) -> list[str]:
    return [line for line, _ in next_commands(answered(store), store.launches("q"), **more)]


def test_the_next_commands_can_be_typed(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gathers(store, {"agp": 4.0, "direct": 8.0, "auto": 7.0}, took="direct")
    gathers(store, {"agp": 9.0}, transport="mpi")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    monkeypatch.delenv("LONGSHORE_STORE", raising=False)
    (tmp_path / "studies").mkdir()
    (tmp_path / "studies" / "q.toml").write_text("")
    found = commands(store)
    assert found[0] == "longshore-bench gather --ranks 2 --strategy direct,auto --requests 1000 --table 100"
    program, pattern, *options = shlex.split(found[0])
    assert program == "longshore-bench"
    assert {name.removeprefix("--") for name in options[::2]} <= {"ranks", *PATTERNS[pattern].factors}
    own = f"--store {shlex.quote(str(store.path))}"
    assert f"longshore run studies/q.toml --session s2 {own}" in found
    for line in found[1:]:
        program, verb, *rest = shlex.split(line)
        assert program == "longshore"
        parser_of(verb)[0].parse_checked(rest)
    for verb in ("show", "report", "init"):
        (line,) = [line for line in found if line.startswith(f"longshore {verb} ")]
        assert main(shlex.split(line)[1:]) == 0
    assert (tmp_path / "report.html").is_file()
    assert "what to type next" in capsys.readouterr().out


def test_the_session_to_measure_next_is_a_new_one(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for session in ("monday", "s3"):
        gathers(store, {"agp": 4.0}, session=session)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "studies").mkdir()
    (tmp_path / "studies" / "q.toml").write_text("")
    newest = list(store.launches("q", "q", "s3"))
    typed = [line for line, _ in next_commands(answered(store), newest)]
    assert any("--session s4 " in line for line in typed)


def test_the_command_just_typed_is_not_repeated(store: Store) -> None:
    gathers(store, {"agp": 4.0})
    assert any(line.startswith("longshore show q --winners") for line in commands(store))
    assert not any(line.startswith("longshore show") for line in commands(store, shown_by="show"))


def test_a_study_whose_file_is_elsewhere_is_not_run_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    gathers(store, {"agp": 4.0})
    monkeypatch.chdir(store.path)
    assert not any("q.toml" in line for line in commands(store))


def test_a_shell_without_our_environment_enters_it_first(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gathers(store, {"agp": 4.0})
    (tmp_path / "my venv" / "bin").mkdir(parents=True)
    (tmp_path / "my venv" / "bin" / "activate").write_text("")
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "my venv"))
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    monkeypatch.chdir(tmp_path)
    assert commands(store)[0] == ". 'my venv/bin/activate'"
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "my venv"))
    assert commands(store)[0].startswith("longshore-bench")


def test_imported_figures_have_no_next_commands(store: Store) -> None:
    one = result("gather", GATHER | {"strategy": "agp"}, "injection_bandwidth", 1.0, "GB/s")
    head = envelope("q", "q", "s", {"program": "gather", "transport": "mpi", "ranks": 2}) | {"source": "import bale"}
    store.write_launch(head, [records.dump(record) for record in (HEADER, one, records.end_record())])
    assert commands(store) == []


def test_the_report_begins_with_the_best_choices(store: Store) -> None:
    gathers(store, {"agp": 4.0, "direct": 8.0, "auto": 7.0}, took="direct")
    gathers(store, {"agp": 1.0, "exstack": 3.0}, transport="mpi", ranks_per_node=1, nodes=2)
    copies(store, 20.0)
    section = parse(build_page(gather_facts(sides(store, ["q"])))).one("section", id="verdict")
    rows = {row.one("th").text: row for row in section.one("tbody").all("tr")}
    assert set(rows) == {"Gather one node, threads", "Gather 2 virtual nodes, mpi"}
    threads = rows["Gather one node, threads"]
    assert threads.one("td", "c-choice").one("b").text == "direct"
    assert "auto chose direct: 8" in threads.text
    assert "40 %" in threads.one("td", "c-share").text.replace("\u202f", " ")
    assert "no bound" in rows["Gather 2 virtual nodes, mpi"].one("td", "c-share").text
    typed = [code.text for code in section.one("dl", "commands").all("code")]
    assert any(line.startswith("longshore-bench gather --ranks 2 --strategy direct,auto") for line in typed)


def test_a_report_with_speeds_by_size_names_the_bound_and_the_cause_of_a_low_share(store: Store) -> None:
    """200 GB/s at the size of the data. Main memory, which has 1 GB/s, bounds nothing here."""
    speeds = [{"bytes": 2000, "copy": 200.0, "neighbour_copy": 20.0}, {"bytes": 10**9, "copy": 1.0}]
    copy = result("control", {"kernel": "copy"}, "bandwidth", 1.0, "GB/s") | {"speeds": speeds}
    launch(store, [copy], index=0)
    facts: dict[str, dict[str, float]] = {"traffic": {"messages": 4, "payload_bytes": 2000}}
    facts["cache_line_seconds"] = {"median": 1e-9, "p10": 1e-9, "p90": 1e-9}
    ghosts = result("ghost", {"mesh": "band", "strategy": "direct", "fields": 1}, "ghost_bandwidth", 10.0, "GB/s")
    launch(store, [ghosts | facts], index=0)
    page_facts = gather_facts(sides(store, ["q"]))
    section = parse(build_page(page_facts)).one("section", id="verdict")
    assert section.one("p", "verdict").text.endswith("of what the memory of this machine allows where their data lie.")
    assert section.one("td", "c-share").text.replace("\u202f", " ") == "10 % lines"
    assert "“Lines”: at least half" in section.text
    assert "“Signals”" not in section.text
    bound = bound_for(page_facts, page_facts.of_pattern("ghost"))
    assert bound is not None
    assert bound.value == pytest.approx(100.0)  # each byte is read and written
    assert bounds_text([bound]) == "the measured memory copy at the size of the data, here 100 GB/s"


def test_a_report_names_the_network_between_nodes_or_that_it_was_not_measured(store: Store) -> None:
    ghosts = result("ghost", {"mesh": "band", "strategy": "direct", "fields": 1}, "ghost_bandwidth", 10.0, "GB/s")
    traffic = {"messages": 4, "payload_bytes": 2000, "wire_bytes": 2000, "offnode_bytes": 1000}
    launch(store, [ghosts | {"traffic": traffic}], index=0, nodes=2)
    copy = result("control", {"kernel": "copy"}, "bandwidth", 1.0, "GB/s")
    launch(store, [copy | {"speeds": [{"bytes": 1000, "copy": 200.0}]}], index=0, nodes=2)
    section = parse(build_page(gather_facts(sides(store, ["q"])))).one("section", id="verdict")
    assert section.one("p", "verdict").text.endswith("The network was not measured with them.")
    assert "No bound: these launches did not measure the network" in section.text
    launch(store, [copy | {"speeds": [{"bytes": 1000, "copy": 200.0, "network": 20.0}]}], index=0, nodes=2)
    page_facts = gather_facts(sides(store, ["q"]))
    section = parse(build_page(page_facts)).one("section", id="verdict")
    assert section.one("p", "verdict").text.endswith("where their data lie, and its network between nodes.")
    assert section.one("td", "c-share").text.replace("\u202f", " ") == "25 %"
    bound = bound_for(page_facts, page_facts.of_pattern("ghost"))
    assert bound is not None
    assert bounds_text([bound]).endswith("data, between nodes also the measured network, here 40.0 GB/s")


def test_a_report_of_several_tags_has_no_next_commands(store: Store) -> None:
    gathers(store, {"agp": 4.0})
    head = envelope("q", "other", "s", {"program": "gather", "transport": "threads", "ranks": 2})
    one = result("gather", GATHER | {"strategy": "agp"}, "injection_bandwidth", 1.0, "GB/s")
    store.write_launch(head, [records.dump(record) for record in (HEADER, one, records.end_record())])
    section = parse(build_page(gather_facts(sides(store, ["q", "other"])))).one("section", id="verdict")
    assert not section.all("dl", "commands")
