"""`longshore guard` from the command line: weeks of a stand-in for longshore-bench, one line, one
file and a status each."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from longshore_study.analyses import guard
from longshore_study.cli.command_line import main
from longshore_study.store.launch_store import Store, process_namespace
from started_programs import write_bench

STUDY = """
[study]
name = "weekly"
launches = 1
repetitions = 1

[[pattern]]
program = "halo"
within = { mode = ["waitall", "channel"] }
between = { transport = "threads", ranks = 2 }
"""
Guard = Callable[..., tuple[int, str]]


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Guard:
    """Calls `longshore guard`. Returns its status and its line."""
    bench = write_bench(tmp_path / "longshore-bench")
    (tmp_path / "study.toml").write_text(STUDY, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LONGSHORE_STORE", raising=False)
    monkeypatch.setenv("LONGSHORE_BENCH", str(bench))
    monkeypatch.setenv("FAKE_BENCH_COUNT", str(tmp_path / "count"))
    monkeypatch.setenv("FAKE_BENCH_SLOW", "OMPI_MCA_slow=yes waitall")

    def call(*words: str) -> tuple[int, str]:
        capsys.readouterr()
        status = main(["guard", "study.toml", *words])
        lines = capsys.readouterr().out.splitlines()
        assert len(lines) == 1, lines
        return status, lines[0]

    return call


def sessions() -> list[str]:
    return sorted({session for _, _, session in Store("longshore-results").names()})


def test_weeks_from_the_first_to_a_confirmed_and_accepted_slowdown(
    call: Guard, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for week in range(1, guard.MIN_SESSIONS + 1):
        status, line = call("--session", f"w{week}")
        assert status == 2
        assert line.startswith(f"weekly w{week}: cannot tell: {week} of the 4 good sessions")
    status, line = call("--session", "w5")
    assert (status, line.partition(";")[0]) == (0, "weekly w5: unchanged: 2 figures against the last 4 sessions")

    monkeypatch.setenv("OMPI_MCA_slow", "yes")
    for slow_week, confirmed_by in (("w6", "w6-confirm"), ("w7", "w6")):
        status, line = call("--session", slow_week)
        assert status == 1
        assert line.startswith(f"weekly {slow_week}: regressed: halo mode waitall ")
        assert line.endswith(f" times slower than the last 5 sessions, confirmed by session {confirmed_by}")
        page = Path("guard.html").read_text(encoding="utf-8")
        assert "regressed beyond the margin" in page
    assert sessions() == ["w1", "w2", "w3", "w4", "w5", "w6", "w6-confirm", "w7"]
    starts = Path("count").stat().st_size
    assert call("--session", "w7") == (status, line), "the same command measures nothing twice"
    assert Path("count").stat().st_size == starts

    assert call("--accept") == (
        0, "weekly: accepted: the reference begins with session w6; it has 2 of the 4 sessions that it needs"
    )  # fmt: skip
    assert main(["guard", "study.toml", "--accept"]) == 3
    assert "the newest session w7 is accepted" in capsys.readouterr().err
    status, line = call("--session", "w8")
    assert (status, "3 of the 4 good sessions" in line) == (2, True)


def test_a_slowdown_that_is_gone_at_once_is_no_regression(
    call: Guard, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for week in range(1, guard.MIN_SESSIONS + 1):
        call("--session", f"w{week}")
    monkeypatch.setenv("OMPI_MCA_slow", "yes")
    assert main(["run", "study.toml", "--session", "w5"]) == 0
    monkeypatch.delenv("OMPI_MCA_slow")
    status, line = call("--session", "w5", "-o", str(tmp_path / "page.html"))
    assert status == 0
    assert line.endswith("than the last 4 sessions in this session, but not in session w5-confirm")
    assert "“w5-confirm” against “last 4 sessions”" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_failed_launches_are_no_verdict_and_no_reference(call: Guard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_BENCH", "halo=fail")
    call("--session", "w1")
    status, line = call("--session", "w2")
    assert status == 2
    assert "0 of the 4 good sessions" in line
    assert "this session does not count: 1 launch failed" in line
    assert "not counted: 1 session before (the last: 1 launch failed)" in line
    monkeypatch.delenv("FAKE_BENCH")
    assert "1 of the 4 good sessions" in call("--session", "w2", "--retry-failed")[1]


def test_sessions_of_other_factors_are_no_reference(call: Guard) -> None:
    for week in range(1, guard.MIN_SESSIONS + 1):
        call("--session", f"w{week}")
    Path("study.toml").write_text(STUDY.replace("ranks = 2", "ranks = 3"), encoding="utf-8")
    status, line = call("--session", "w5")
    assert (status, "1 of the 4 good sessions" in line) == (2, True)
    assert "not counted: 4 sessions before" in line


def test_launches_that_are_left_are_named_with_the_command_that_continues(
    call: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LONGSHORE_STORE", "elsewhere")  # a fact that the command need not repeat
    monkeypatch.setenv("FAKE_BENCH", "*=hang")
    status, line = call("--session", "a b", "--stop-after", "1s")
    assert status == 75
    assert line == (
        "weekly a b: cannot tell: 2 launches of session a b are not recorded yet; then type: "
        "longshore guard study.toml --session 'a b'"
    )
    monkeypatch.delenv("FAKE_BENCH")
    assert "1 of the 4 good sessions" in call("--session", "a b")[1]


def test_a_session_that_another_process_measures_is_no_verdict(call: Guard) -> None:
    folder = Store("longshore-results").session_path("weekly", "weekly", "w1")
    folder.mkdir(parents=True)
    lock = folder / ".running.elsewhere.1.tmp"
    lock.write_text('{"host": "elsewhere", "pid": 1, "part": ""}', encoding="utf-8")
    assert not lock.name.startswith(f".running.{process_namespace()}.")
    status, line = call("--session", "w1")
    assert status == 2
    assert line.startswith("weekly w1: cannot tell: session w1 is being run by process 1 on elsewhere")


@pytest.mark.usefixtures("call")
def test_the_result_as_json_has_the_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["guard", "study.toml", "--session", "w1", "--json"]) == 2
    document = json.loads(capsys.readouterr().out)
    assert (document["verdict"], document["session"], document["report"]) == ("cannot tell", "w1", "guard.html")
    assert document["subject"].startswith("weekly w1: cannot tell: 1 of the 4")


@pytest.mark.usefixtures("call")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--sessions", "3"], "a reference has 4 sessions or more"),
        (["--session", "w1-confirm"], "guard gives names that end with -confirm itself"),
        (["--confirm-after", "soon"], "'soon' is not a duration"),
        (["-o", "nowhere/page.html"], "there is no folder nowhere"),
        (["--tag", ""], "the tag needs a name"),
    ],
)
def test_wrong_options_measure_nothing(capsys: pytest.CaptureFixture[str], words: list[str], message: str) -> None:
    assert main(["guard", "study.toml", *words]) == 64
    assert message in capsys.readouterr().err
    assert not Path("count").exists()
