"""`compare STUDY --factor NAME`: the levels of one factor, each against the first."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import pytest

from longshore_study.base.errors import LongshoreError, UsageError
from longshore_study.cli.command_line import main
from longshore_study.store.launch_store import Store
from stored_launches import control, halo, json_of, simulate, store_launch

MODES = {"waitall": 1000.0, "sendrecv": 800.0}
BTL = "OMPI_MCA_btl"
VADER, TCP = {BTL: "vader,self"}, {BTL: "tcp,self"}


def fill(
    store: Store, name: str, speeds: list[tuple[Any, float]], launches: int = 6, tag: str = "t", **fixed: Any
) -> None:
    """Launches in turns of each level of the factor, in one session, with a noise of 1 %. The
    control cells of a level are as fast or slow as the level."""
    generator = random.Random(3)
    for index in range(launches):
        for k, (level, speed) in enumerate(speeds):
            cell = {"program": "halo", "ranks": 2, **fixed, name: level}
            when = f"2030-01-01T00:{len(speeds) * index + k:02}:00"
            noisy = [halo(mode, value * speed * generator.gauss(1, 0.01)) for mode, value in MODES.items()]
            store_launch(store, tag, "day", noisy, index, cell, started=when)
            control_cell = cell | {"program": "control"}
            noisy = [control("copy", 10.0 * speed * generator.gauss(1, 0.01))]
            store_launch(store, tag, "day", noisy, index, control_cell, started=when)


def keep_study_file(store: Store, text: str) -> None:
    """Stores the study file beside all launches, and names it in their envelopes."""
    for path in store.path.rglob("*.jsonl"):
        path.write_text(path.read_text().replace('"study":"s"', '"study":"s","study_file":{"digest":"d"}', 1))
        (path.parent / "study-d.toml").write_text(text)


def compare(store: Store, capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    capsys.readouterr()
    status = main(["--store", str(store.path), "compare", "s", *arguments, "--json"])
    return status, json_of(capsys.readouterr().out)


def verdicts(comparison: Mapping[str, Any]) -> set[tuple[str, str]]:
    return {(row["variant"]["mode"], row["verdict"]) for row in comparison["rows"]}


@pytest.mark.parametrize("factor", [BTL, "environment"])
def test_a_variable_of_the_environment_is_a_factor(
    factor: str, results: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    """One session in turns tells the levels apart, and the controls, which the variable slows down
    too, take nothing out of the ratio."""
    fill(results, "environment", [(VADER, 1.0), (TCP, 0.5)])
    status, found = compare(results, capsys, "--factor", factor, "--baseline", "vader,self")
    assert (status, found["factor"], found["baseline"]) == (1, factor, "vader,self")
    [comparison] = found["comparisons"]
    assert (comparison["reference"], comparison["new"]) == ("vader,self", "tcp,self")
    assert verdicts(comparison) == {("waitall", "regressed"), ("sendrecv", "regressed")}
    assert all(row["ratio"] == pytest.approx(0.5, rel=0.02) and row["design"] for row in comparison["rows"])
    assert all(BTL not in row["between"].get("environment", {}) for row in comparison["rows"])


def test_each_level_is_compared_with_the_first_of_the_study_file(
    results: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(results, "stack", [("zen", 1.0), ("ompi", 1.0), ("mpich", 0.5)])
    between = '[{ stack = "zen" }, { stack = ["ompi", "mpich"] }]'
    keep_study_file(results, f'[[pattern]]\nprogram = "halo"\nbetween = {between}\n')
    status, found = compare(results, capsys, "--factor", "stack")
    assert (status, found["baseline"]) == (1, "zen")
    assert [comparison["new"] for comparison in found["comparisons"]] == ["ompi", "mpich"]
    same, regressed = found["comparisons"]
    assert {word for _, word in verdicts(same)} == {"same"}
    assert {word for _, word in verdicts(regressed)} == {"regressed"}
    status, found = compare(results, capsys, "--factor", "stack", "--where", "stack != 'mpich'")
    assert (status, [comparison["new"] for comparison in found["comparisons"]]) == (0, ["ompi"])


def test_more_than_two_levels_have_a_column_each(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    fill(results, "stack", [("ompi", 1.0), ("mpich", 0.5), ("zen", 1.0)])
    words = ["--store", str(results.path), "compare", "s", "--factor", "stack", "--baseline", "ompi"]
    assert main(words) == 1
    text = capsys.readouterr().out
    [head] = [line.split() for line in text.splitlines() if line.startswith("mode")]
    assert head == ["mode", "ompi", "mpich", "zen"]
    [line] = [line.split() for line in text.splitlines() if line.startswith("waitall")]
    assert float(line[1]) == pytest.approx(1000, rel=0.02)
    assert float(line[2]) == pytest.approx(0.5, rel=0.02)
    assert float(line[4]) == pytest.approx(1.0, rel=0.02)
    assert (line[3], line[5]) == ("regressed", "same")
    assert "mpich against ompi: regressed" in text
    assert "zen against ompi: same" in text
    assert main([*words, "--verbose"]) == 1
    assert capsys.readouterr().out.count("95 % interval") >= 2


def test_levels_that_are_numbers_stand_in_their_order(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    fill(results, "ranks", [(16, 1.0), (4, 1.0), (2, 1.0)])
    _, found = compare(results, capsys, "--factor", "ranks")
    assert (found["baseline"], [c["new"] for c in found["comparisons"]]) == ("2", ["4", "16"])


def test_levels_of_one_launch_are_compared_within_it(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    """Launches differ by a factor of three, the two modes of each launch by 20 %."""
    generator = random.Random(5)
    for index in range(5):
        speed = generator.uniform(0.5, 1.5)
        noisy = [halo(mode, value * speed * generator.gauss(1, 0.01)) for mode, value in MODES.items()]
        store_launch(results, "t", "day", noisy, index)
    status, found = compare(results, capsys, "--factor", "mode", "--baseline", "waitall")
    [row] = found["comparisons"][0]["rows"]
    assert (status, row["verdict"], row["variant"]) == (1, "regressed", {})
    assert row["ratio"] == pytest.approx(0.8, rel=0.02)
    assert 0.76 < row["interval"][0] < row["interval"][1] < 0.84


def test_rows_of_one_level_alone_are_left_out_and_failed_ones_are_not(
    results: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(results, "transport", [("mpi", 1.0), ("threads", 1.0)])
    store_launch(results, "t", "day", [halo("neighbor", 9.0)], 7, {"program": "halo", "ranks": 2, "transport": "mpi"})
    status, found = compare(results, capsys, "--factor", "transport")
    assert (status, len(found["comparisons"][0]["rows"])) == (0, 2)
    for path in results.path.rglob("*.jsonl"):
        if '"transport":"threads"' in (text := path.read_text()):
            path.write_text(text.replace('"exit_status":0', '"exit_status":3', 1))
    status, found = compare(results, capsys, "--factor", "transport")
    assert (status, {word for _, word in verdicts(found["comparisons"][0])}) == (3, {"failed"})


def test_simulated_machines_are_compared_exactly(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    for machine, bandwidth in (("cray", 10.0), ("slow", 5.0)):
        simulate(results, "t", [halo("waitall", bandwidth)], machine=machine)
    status, found = compare(results, capsys, "--factor", "machine", "--baseline", "slow")
    [row] = found["comparisons"][0]["rows"]
    assert (status, row["ratio"], row["verdict"]) == (0, pytest.approx(2.0), "improved")


def test_sessions_of_several_tags_stay_apart(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    fill(results, "transport", [("mpi", 1.0), ("threads", 0.5)], tag="a")
    fill(results, "transport", [("mpi", 10.0), ("threads", 5.0)], tag="b")
    status, found = compare(results, capsys, "--factor", "transport")
    assert status == 1
    assert [row["sessions"] for row in found["comparisons"][0]["rows"]] == [[2, 2], [2, 2]]


def test_the_tables_fit_into_100_columns(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    shared: dict[str, Any] = {f"shared_factor_{k}": "level" for k in range(9)}
    fill(results, "environment", [({}, 1.0), (VADER, 1.0), (TCP, 0.5)], **shared)
    assert main(["--store", str(results.path), "compare", "s", "--factor", BTL]) == 1
    printed = capsys.readouterr().out
    assert "vader,self against unchanged: same" in printed
    assert "tcp,self against unchanged: regressed" in printed
    assert max(map(len, printed.splitlines())) <= 100


def test_environments_of_several_variables_are_named_in_full(
    results: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(results, "environment", [({}, 1.0), ({"A": "1", "B": "2"}, 1.0)])
    _, found = compare(results, capsys, "--factor", "environment")
    assert (found["baseline"], found["comparisons"][0]["new"]) == ("unchanged", "A=1 B=2")
    with pytest.raises(LongshoreError, match="the levels of A differ in environment, too; --ignore FACTOR"):
        raise_error(["--store", str(results.path), "compare", "s", "--factor", "A"])


@pytest.mark.parametrize(("arguments", "message"), [
    (["--factor", "transprot"], "unknown factor 'transprot'; did you mean 'transport'"),
    (["--factor", "transport", "--baseline", "mpj"], "transport has no level 'mpj'; did you mean 'mpi'"),
    (["--factor", "ranks"], "has one level of ranks: 2"),
    (["t", "--baseline", "mpi"], "add --factor NAME"),
    (["t", "--factor", "transport"], "remove 't' or --factor"),
    ([], "are required: NEW, or --factor NAME"),
])  # fmt: skip
def test_what_cannot_be_compared_is_named(arguments: list[str], message: str, results: Store) -> None:
    fill(results, "transport", [("mpi", 1.0), ("threads", 1.0)], launches=2)
    with pytest.raises(UsageError, match=message.replace("?", r"\?")):
        raise_error(["--store", str(results.path), "compare", "s", *arguments])


def raise_error(arguments: list[str]) -> None:
    from longshore_study.cli.command_line import dispatch  # noqa: PLC0415 - main prints the error instead

    dispatch(arguments)
