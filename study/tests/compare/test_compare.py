"""Comparisons from stored launches to verdicts and exit status: designs, controls, bounds and
missing data."""

from __future__ import annotations

import datetime as dt
import itertools
import random
import re
from pathlib import Path
from typing import Any

import pytest

from longshore_study.base.errors import UsageError
from longshore_study.cli.command_line import main
from longshore_study.compare.common_shift import CommonShift
from longshore_study.compare.comparison import Comparison, parse_margin
from longshore_study.compare.judged_row import JudgedRow
from longshore_study.metrics.launch_metrics import Key
from longshore_study.output.compare_table import reason
from longshore_study.stats.verdict import Judgement
from longshore_study.store.launch_store import Store
from longshore_study.store.selection import Side
from stored_launches import control, halo, json_of, store_launch

MODES = ("waitall", "sendrecv", "persistent", "neighbor")


def fill(  # noqa: PLR0917 - tests name what they vary
    store: Store,
    tag: str,
    sessions: tuple[str, ...],
    factors: dict[str, float] | None = None,
    seed: int = 1,
    launches: int = 3,
    controls: dict[str, float] | None = None,
    **more: Any,
) -> None:
    """Stores launches with 1 % noise around 1000 MiB/s times a factor per mode."""
    generator = random.Random(f"{tag} {sessions} {seed}")
    for session in sessions:
        for index in range(launches):
            results = [halo(m, 1000.0 * (factors or {}).get(m, 1.0) * generator.gauss(1, 0.01)) for m in MODES]
            results += [control(k, 10.0 * v * generator.gauss(1, 0.01)) for k, v in (controls or {}).items()]
            store_launch(store, tag, session, results, index, **more)


def compare(store: Store, capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    capsys.readouterr()
    status = main(["--store", str(store.path), "compare", *(arguments or ("old", "new")), "--json"])
    return status, json_of(capsys.readouterr().out)


def verdicts(document: dict[str, Any]) -> dict[str, str]:
    return {row["variant"]["mode"]: row["verdict"] for row in document["rows"]}


def test_sessions_of_one_name_are_pairs(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    fill(results, "old", ("a", "b", "c"))
    fill(results, "new", ("a", "b", "c"), {"persistent": 0.8})
    status, document = compare(results, capsys)
    assert status == 1
    assert verdicts(document) == {"persistent": "regressed"} | dict.fromkeys(
        ("waitall", "sendrecv", "neighbor"), "same"
    )
    assert {row["design"] for row in document["rows"]} == {"paired"}
    assert {tuple(row["sessions"]) for row in document["rows"]} == {(3, 3)}
    assert {tuple(row["launches"]) for row in document["rows"]} == {(9, 9)}


def test_sessions_of_other_names_are_compared_unpaired(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    fill(results, "old", ("a", "b", "c"))
    fill(results, "new", ("d", "e"), {"persistent": 0.8})
    status, document = compare(results, capsys)
    assert status == 1
    assert verdicts(document)["persistent"] == "regressed"
    assert {row["design"] for row in document["rows"]} == {"unpaired"}


def test_one_session_against_many_is_judged_by_their_spread(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    fill(results, "old", tuple("abcdef"))
    fill(results, "new", ("z",), {"persistent": 0.5})
    status, document = compare(results, capsys)
    assert status == 1
    row = next(row for row in document["rows"] if row["variant"]["mode"] == "persistent")
    assert row["verdict"] == "regressed"
    assert row["welch"] is None
    assert any("taken from the other side" in warning for warning in row["warnings"])


def test_launches_taken_in_turns_in_one_session_are_the_unit(
    results: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    generator = random.Random(3)
    start = dt.datetime(2030, 1, 1, tzinfo=dt.UTC)
    for index in range(6):
        for tag, minute in (("old", 0), ("new", 1)):
            started = (start + dt.timedelta(minutes=2 * index + minute)).isoformat()
            factor = 0.7 if tag == "new" else 1.0
            figures = [
                halo("persistent", 1000 * factor * generator.gauss(1, 0.01)),
                halo("waitall", generator.gauss(1, 0.01)),
            ]
            store_launch(results, tag, "today", figures, index, started=started)
    status, document = compare(results, capsys)
    assert status == 1
    assert verdicts(document)["persistent"] == "regressed"
    assert {row["design"] for row in document["rows"]} == {"stratified"}


def test_launches_one_after_the_other_in_one_session_are_untestable(
    results: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    for tag, hour in (("old", 8), ("new", 12)):
        for index in range(6):
            started = dt.datetime(2030, 1, 1, hour, index, tzinfo=dt.UTC).isoformat()
            store_launch(results, tag, "today", [halo("waitall", 100.0 + index)], index, started=started)
    status, document = compare(results, capsys)
    assert status == 2
    assert verdicts(document) == {"waitall": "untestable"}
    assert document["rows"][0]["ratio"] == pytest.approx(1.0)


def test_improvements_and_no_difference_exit_with_0(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    fill(results, "old", ("a", "b", "c"))
    fill(results, "new", ("a", "b", "c"), {"neighbor": 1.5})
    status, document = compare(results, capsys)
    assert status == 0
    assert document["verdict"] == "improved"
    assert verdicts(document)["neighbor"] == "improved"


def test_lower_is_better_where_the_record_says_so(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    def latency(value: float) -> dict[str, Any]:
        return {
            "record": "result", "pattern": "osu", "variant": {"size": 8},
            "metrics": {"latency_us": {"value": value, "unit": "us", "better": "lower"}},
        }  # fmt: skip

    for session, noise in (("a", 1.0), ("b", 1.01), ("c", 0.99)):
        store_launch(results, "old", session, [latency(2.0 * noise)])
        store_launch(results, "new", session, [latency(3.0 * noise**2)])
    status, document = compare(results, capsys)
    assert status == 1
    (row,) = document["rows"]
    assert row["verdict"] == "regressed"
    assert row["ratio"] == pytest.approx(1.5, rel=0.01), "as a user reads the two figures"
    assert row["interval"][0] < 1.5 < row["interval"][1]


def test_other_metrics_are_judged_when_asked_for(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    for tag, factor in (("old", 1.0), ("new", 0.5)):
        for session, noise in (("a", 1.0), ("b", 1.01)):
            result = halo("waitall", 100.0 * noise)
            result["metrics"]["pack_bandwidth"] = {"value": factor * noise**2, "unit": "GB/s", "better": "higher"}
            store_launch(results, tag, session, [result])
    assert {row["metric"] for row in compare(results, capsys)[1]["rows"]} == {"process_bandwidth"}
    for name in ("all", "pack_bandwidth"):
        _, document = compare(results, capsys, "old", "new", "--metric", name)
        assert {row["metric"] for row in document["rows"]} == {"process_bandwidth", "pack_bandwidth"}


# controls


def test_a_slower_machine_is_reported_once_and_not_per_row(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    sessions = ("a", "b", "c", "d")
    fill(results, "old", sessions, controls={"copy": 1.0, "pingpong": 1.0})
    slower = dict.fromkeys(MODES, 0.8) | {"persistent": 0.4}
    fill(results, "new", sessions, slower, controls={"copy": 0.8, "pingpong": 1.25})
    status, document = compare(results, capsys)
    assert document["common_shift"]["removed"] is True
    assert document["common_shift"]["ratio"] == pytest.approx(0.8, rel=0.03)
    assert document["common_shift"]["verdict"] == "regressed"
    found = verdicts(document)
    assert found["persistent"] == "regressed"
    assert {found[m] for m in MODES if m != "persistent"} <= {"same", "inconclusive"}
    row = next(row for row in document["rows"] if row["variant"]["mode"] == "persistent")
    assert row["ratio"] == pytest.approx(0.5, rel=0.03), "the judged ratio"
    assert row["ratio_is"] == "new / reference, without the common shift"
    assert row["raw"]["ratio"] == pytest.approx(row["new"] / row["reference"])
    assert row["raw"]["ratio"] == pytest.approx(0.4, rel=0.03), "as measured"
    assert row["without_shift"] == {name: row[name] for name in ("ratio", "interval")}
    assert status == 1


def test_a_slower_machine_alone_fails_too(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    sessions = ("a", "b", "c", "d")
    fill(results, "old", sessions, controls={"copy": 1.0, "pingpong": 1.0})
    fill(results, "new", sessions, dict.fromkeys(MODES, 0.7), controls={"copy": 0.7, "pingpong": 1 / 0.7})
    status, document = compare(results, capsys)
    assert "regressed" not in verdicts(document).values()
    assert (status, document["verdict"]) == (1, "regressed")


def test_controls_without_a_shift_do_not_change_the_rows(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    sessions = ("a", "b", "c", "d")
    fill(results, "old", sessions, controls={"copy": 1.0, "pingpong": 1.0})
    fill(
        results,
        "new",
        sessions,
        dict.fromkeys(("waitall", "sendrecv", "persistent"), 0.5),
        controls={"copy": 1, "pingpong": 1},
    )
    _, document = compare(results, capsys)
    assert document["common_shift"]["removed"] is False
    assert verdicts(document)["neighbor"] == "same", "the mode that did not regress is not improved"


# missing data


def test_a_variant_that_one_side_lacks_has_a_row(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    for session in ("a", "b", "c"):
        store_launch(results, "old", session, [halo("waitall", 100.0 + len(session)), halo("persistent", 50.0)])
        store_launch(results, "new", session, [halo("waitall", 101.0 + ord(session) / 100), halo("rma-fence", 50.0)])
    status, document = compare(results, capsys)
    assert status == 3
    found = verdicts(document)
    assert found["persistent"] == found["rma-fence"] == "missing"
    row = next(row for row in document["rows"] if row["variant"]["mode"] == "persistent")
    assert (row["new"], row["ratio"]) == (None, None)
    assert row["reference"] == pytest.approx(50.0)


def test_a_failed_launch_makes_its_rows_failed(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    fill(results, "old", ("a", "b"))
    tail = ["rank 1 died"]
    for session in ("a", "b"):
        store_launch(results, "new", session, [], exit_status=137, stderr_tail=tail, end=False)
        store_launch(results, "new", session, [halo("waitall", 1.0)], cell={"program": "halo", "ranks": 4})
    status, document = compare(results, capsys)
    assert status == 3
    rows = [row for row in document["rows"] if row["between"]["ranks"] == 2]
    assert {row["verdict"] for row in rows} == {"failed"}
    assert "rank 1 died" in rows[0]["warnings"][0]
    assert any("rank 1 died" in problem for problem in document["problems"])


def test_a_failed_launch_that_was_repeated_with_success_is_ignored(
    results: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(results, "old", ("a", "b"))
    store_launch(results, "new", "a", [], index=0, exit_status=1, end=False)
    fill(results, "new", ("a", "b"))
    assert compare(results, capsys)[1]["problems"] == []


def test_a_wrong_result_makes_its_row_failed(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    fill(results, "old", ("a", "b"))
    for session in ("a", "b"):
        wrong = halo("waitall", 5000.0) | {"verified": False}
        store_launch(results, "new", session, [wrong, halo("sendrecv", 1000.0 + ord(session) / 10)])
    status, document = compare(results, capsys)
    assert verdicts(document)["waitall"] == "failed"
    assert status == 3


def test_a_variant_skipped_on_both_sides_has_no_row(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    skipped = {"record": "result", "pattern": "halo", "variant": {"mode": "redblack"}, "skipped": "needs even ranks"}
    for tag in ("old", "new"):
        for session in ("a", "b"):
            store_launch(results, tag, session, [skipped, halo("waitall", 100.0 + ord(session) / 100)])
    _, document = compare(results, capsys)
    assert list(verdicts(document)) == ["waitall"]
    store_launch(results, "old", "a", [halo("redblack", 1.0)], index=1)
    _, document = compare(results, capsys)
    assert verdicts(document)["redblack"] == "missing"
    assert "needs even ranks" in str(document["rows"])


def test_a_truncated_record_file_is_reported_and_exits_with_3(
    results: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(results, "old", ("a", "b", "c"), launches=4)
    fill(results, "new", ("a", "b", "c"), launches=4)
    assert compare(results, capsys)[0] == 0
    path = min((results.path / "s" / "new" / "b").glob("*.jsonl"))
    path.write_bytes(path.read_bytes()[:-40])
    status, document = compare(results, capsys)
    assert status == 3
    assert any(str(path) in problem for problem in document["problems"])
    assert set(verdicts(document).values()) == {"same"}, "complete records are judged"


def test_a_figure_above_its_bound_is_invalid(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    def stream(value: float) -> dict[str, Any]:
        return {
            "record": "result", "pattern": "stream", "variant": {"kernel": "triad"},
            "metrics": {"bandwidth": {"value": value, "unit": "GB/s", "better": "higher"}},
        }  # fmt: skip

    for tag, value in (("old", 100.0), ("new", 300.0)):
        for session in ("a", "b"):
            bound = {"memory_GBps_per_node": 200.0}
            store_launch(results, tag, session, [stream(value + ord(session) / 10)], bound=bound)
    status, document = compare(results, capsys)
    assert status == 3
    assert document["rows"][0]["verdict"] == "invalid?"
    assert "200 GB/s per node" in document["rows"][0]["warnings"][0]


def test_a_file_stored_under_two_sessions_is_not_judged(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    for tag, value in (("old", 100.0), ("new", 50.0)):
        for session in ("a", "b"):
            store_launch(results, tag, session, [halo("waitall", value)])
    status, document = compare(results, capsys)
    assert status == 2
    assert document["rows"][0]["verdict"] == "untestable"
    assert "stored twice" in document["rows"][0]["warnings"][0]


# selection of rows


def test_a_condition_chooses_rows(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    for nodes in (1, 2):
        fill(results, "old", ("a", "b"), cell={"nodes": nodes})
        fill(results, "new", ("a", "b"), {"persistent": 0.5}, cell={"nodes": nodes})
    _, document = compare(results, capsys, "old", "new", "--where", "nodes>1 and mode == 'persistent'")
    assert [(row["between"]["nodes"], row["variant"]["mode"]) for row in document["rows"]] == [(2, "persistent")]


def test_two_studies_are_compared_by_their_names(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    fill(results, "x", ("a", "b", "c"), study="winter")
    fill(results, "y", ("a", "b", "c"), {"persistent": 0.5}, study="summer")
    status, document = compare(results, capsys, "winter", "summer")
    assert status == 1
    assert verdicts(document)["persistent"] == "regressed"


def test_factors_can_be_ignored(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    fill(results, "old", ("a", "b", "c"), cell={"ranks": 64})
    fill(results, "new", ("a", "b", "c"), cell={"ranks": 128})
    status, document = compare(results, capsys)
    assert status == 3
    said = "no row is on both sides: ranks is 64 and 128; --ignore ranks compares nevertheless"
    assert document["problems"] == [said]
    status, document = compare(results, capsys, "old", "new", "--ignore", "ranks")
    assert status == 0
    assert set(verdicts(document).values()) == {"same"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("old", "nwe"), "unknown tag 'nwe'; did you mean 'new'? (tags: new, old; studies: s)"),
        (("old", "new", "--margin", "5x"), "not '5x'"),
        (("old", "new", "--margin", "0"), "not '0'"),
        (("old", "new", "--where", "mod == 'x'"), "did you mean 'mode'?"),
        (("old", "new", "--where", "mode =="), "mode =="),
        (("old", "new", "--row", "mood"), "unknown factor 'mood'; did you mean 'mode'?"),
        (("old", "new", "--study", "t"), "unknown study 't'"),
        (("old", "new", "--ignore", "mood"), "unknown factor 'mood'; did you mean 'mode'?"),
        (("old", "new", "--metric", "bandwith"), "unknown figure 'bandwith'; did you mean '"),
    ],
)
def test_a_wrong_argument_exits_with_64(
    results: Store, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str
) -> None:
    fill(results, "old", ("a", "b"))
    fill(results, "new", ("a", "b"))
    assert main(["--store", str(results.path), "compare", *arguments]) == 64
    assert said in capsys.readouterr().err


def test_a_side_without_any_figure_has_failed_rows(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    fill(results, "old", ("a", "b"))
    store_launch(results, "new", "a", [], end=False)
    status, document = compare(results, capsys)
    assert status == 3
    assert set(verdicts(document).values()) == {"failed"}


def test_an_empty_comparison_is_an_error(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    for tag in ("old", "new"):
        store_launch(results, tag, "a", [], end=False)
    assert main(["--store", str(results.path), "compare", "old", "new"]) == 3
    assert "there is no usable figure of 'old' and of 'new'" in capsys.readouterr().err
    for tag in ("old", "new"):
        fill(results, tag, ("a", "b"))
    assert main(["--store", str(results.path), "compare", "old", "new", "--where", "ranks > 2"]) == 3
    assert 'the condition "ranks > 2" leaves nothing' in capsys.readouterr().err


def test_a_tag_is_not_compared_with_itself(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    fill(results, "old", ("a", "b"))
    assert main(["--store", str(results.path), "compare", "old", "old"]) == 64
    assert "'old' is on both sides" in capsys.readouterr().err


@pytest.mark.parametrize(("holm_p", "status"), [(0.04, 1), (0.06, 2)])
def test_the_exit_status_rests_on_the_stricter_correction(holm_p: float, status: int) -> None:
    """Two rows with p = 0.03 each are regressed by Benjamini-Hochberg, but not by Holm."""
    key = Key("s", "halo", "process_bandwidth", "{}", "{}")
    judgement = Judgement("regressed", (-0.2, -0.06), 0.03, 0.03, holm_p, 1.0)
    row = JudgedRow(key, judgement=judgement, verdict="regressed")
    comparison = Comparison(Side("old", []), Side("new", []), 0.05, [row], CommonShift(), [], 0)
    assert comparison.exit_status == status


@pytest.mark.parametrize(("holm_p", "status"), [(0.04, 1), (0.06, 2)])
def test_a_common_shift_counts_as_one_of_the_hypotheses(holm_p: float, status: int) -> None:
    row = JudgedRow(Key("s", "halo", "b", "{}", "{}"), verdict="inconclusive")
    shift = CommonShift(verdict="regressed", holm_p=holm_p)
    assert Comparison(Side("old", []), Side("new", []), 0.05, [row], shift, [], 0).exit_status == status


def test_margins() -> None:
    assert parse_margin("5%") == parse_margin("0.05") == parse_margin(" 5 %".strip()) == 0.05
    for text in ("", "x", "-1%", "100%", "1.5", "nan"):
        with pytest.raises(UsageError):
            parse_margin(text)


def test_the_margin_of_the_study_is_used(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    fill(results, "old", ("a", "b", "c"), margin=0.3)
    fill(results, "new", ("a", "b", "c"), {"persistent": 0.85}, margin=0.3)
    assert compare(results, capsys)[1]["margin"] == 0.3
    assert compare(results, capsys)[0] == 0
    assert compare(results, capsys, "old", "new", "--margin", "3%")[0] == 1


def test_tables_for_people(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    for ranks, speed in ((4, 0.5), (16, 0.25), (2, 0.5)):
        fill(results, "old", ("a", "b"), cell={"ranks": ranks}, controls={"copy": 1.0})
        fill(results, "new", ("a", "b"), {"persistent": speed}, cell={"ranks": ranks}, controls={"copy": 1.0})
    main(["--store", str(results.path), "compare", "old", "new", "--row", "mode", "--col", "ranks"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == ["mode", "2", "4", "16"]
    persistent = next(line for line in lines if line.startswith("persistent"))
    assert persistent.count("regressed") == 3
    assert any(line.startswith("worst: halo ranks 16, mode persistent is ") for line in lines)
    main(["--store", str(results.path), "compare", "old", "new"])
    text = capsys.readouterr().out
    assert "common shift:" in text
    assert "new against old: regressed (3 regressed" in text


def test_each_verdict_has_its_reason_with_verbose(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    fill(results, "old", ("a", "b", "c"))
    fill(results, "new", ("a", "b", "c"), {"persistent": 0.5})
    fill(results, "new", ("d",), cell={"program": "halo", "ranks": 4})
    main(["--store", str(results.path), "compare", "old", "new", "-v"])
    verbose = capsys.readouterr().out.splitlines()
    main(["--store", str(results.path), "compare", "old", "new"])
    assert len(verbose) > len(capsys.readouterr().out.splitlines()), "the lines are those of -v"
    reasons = [line for line in verbose if re.match(r"[24] \w+: ", line)]
    assert len(reasons) == 8
    assert any(re.fullmatch(
        r"2 persistent: regressed: the interval lies beyond the margin of 5 %; "
        r"p [\d.e-]+ after the correction for the number of rows", line) for line in reasons)  # fmt: skip
    assert any("2 waitall: same: a difference larger than the margin of 5 % is ruled out, p" in r for r in reasons)
    assert "4 waitall: missing: one side did not measure it" in reasons


@pytest.mark.parametrize(
    ("difference", "p", "text"),
    [
        (-0.2, 0.03, "the interval lies beyond the margin of 5 %, as one of many rows may by chance; p 0.2 after"),
        (-0.01, 0.9, "the interval holds both no change and changes beyond the margin of 5 %"),
        (-0.12, 0.2, "it is slower, but the interval does not tell whether by more than the margin of 5 %"),
        (0.12, 0.2, "it is faster, but the interval does not tell whether by more than the margin of 5 %"),
    ],
)
def test_an_inconclusive_row_says_what_its_interval_holds(difference: float, p: float, text: str) -> None:
    judged = Judgement("inconclusive", (difference - 0.1, difference + 0.1), p, 0.2, 0.2, 0.5)
    row = JudgedRow(Key("", "halo", "x", "{}", "{}"), judgement=judged, verdict="inconclusive")
    assert reason(row, 0.05).startswith(text)


def test_where_only_controls_were_measured_the_failure_is_the_reason(
    results: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    figures = {"bandwidth": {"value": 9.0}}
    copy = {"record": "result", "pattern": "control", "variant": {"kernel": "copy"}, "metrics": figures}
    for tag in ("old", "new"):
        store_launch(results, tag, "a", [copy], cell={"program": "control"})
        store_launch(results, tag, "a", [], 1, end=False, exit_status=2)
    assert main(["--store", str(results.path), "compare", "old", "new"]) == 3
    said = capsys.readouterr().err
    assert "figures of control cells only" in said
    assert "exit status 2" in said


def test_a_cell_that_failed_on_both_sides_is_missing_data(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    for tag in ("old", "new"):
        fill(results, tag, ("a", "b", "c"))
    assert compare(results, capsys)[0] != 3
    for tag in ("old", "new"):
        store_launch(results, tag, "a", [], 9, cell={"program": "gather", "ranks": 2}, end=False, exit_status=2)
    status, document = compare(results, capsys)
    assert status == 3
    assert any("exit status 2" in problem for problem in document["problems"])


def test_launches_with_the_same_failure_share_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = Store(tmp_path)
    for session in ("a", "b"):
        for tag in ("old", "new"):
            store_launch(store, tag, session, [halo("waitall", 10.0 if session == "a" else 10.1)])
    for index, said in ((1, "no memory"), (2, "no memory"), (3, "a wait timed out")):
        store_launch(
            store, "new", "a", [], index, {"program": "halo", "ranks": 64}, exit_status=3, stderr_tail=[said], end=False
        )
    assert main(["--store", str(tmp_path), "compare", "old", "new"]) == 3
    warnings = [line for line in capsys.readouterr().out.splitlines() if "exit status 3" in line]
    assert len(warnings) == 2, warnings
    assert "no memory" in warnings[0]
    assert warnings[0].endswith("; and 1 launch alike")
    assert "a wait timed out" in warnings[1]
    assert "alike" not in warnings[1]


def test_figures_of_one_launch_count_as_their_mean_when_a_factor_is_ignored(
    results: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    """The mean is over all modes: here a mode other than the last one changed."""
    for tag, session in itertools.product(("old", "new"), "abc"):
        modes = {"waitall": 0.25 if tag == "new" else 1.0, "persistent": 1.0}
        store_launch(results, tag, session, [halo(mode, 1000 * factor) for mode, factor in modes.items()])
    _, document = compare(results, capsys, "old", "new", "--ignore", "mode")
    (row,) = document["rows"]
    assert row["ratio"] == pytest.approx(0.5)
    assert (row["reference"], row["new"]) == (pytest.approx(1000), pytest.approx(500))


def test_a_study_against_one_of_its_tags_compares_its_other_tags_with_it(
    results: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    sessions = ("a", "b", "c")
    fill(results, "shm", sessions, study="guard")
    fill(results, "tcp", sessions, {"persistent": 0.5}, study="guard")
    fill(results, "tcp", sessions, {"persistent": 0.1}, study="other")
    status, document = compare(results, capsys, "guard", "tcp")
    assert status == 1
    (row,) = [row for row in document["rows"] if row["variant"]["mode"] == "persistent"]
    assert row["ratio"] == pytest.approx(0.5, rel=0.05), "the tag of that study, not of another one"
    assert row["launches"] == [9, 9], "no launch is on both sides"
    status, document = compare(results, capsys, "tcp", "guard")
    assert verdicts(document)["persistent"] == "improved"
    assert main(["--store", str(results.path), "compare", "other", "tcp"]) == 64
    assert "study 'other' has only the tag 'tcp'; there is nothing to compare it with" in capsys.readouterr().err


def test_a_study_and_a_tag_of_another_one_are_compared(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    fill(results, "shm", ("a", "b", "c"), study="guard")
    fill(results, "new", ("a", "b", "c"), {"persistent": 0.5}, study="image")
    status, document = compare(results, capsys, "guard", "new")
    assert (status, verdicts(document)["persistent"]) == (1, "regressed")
