"""Conditions: their values for a row, and the messages for invalid texts."""

from __future__ import annotations

from typing import Any

import pytest

from longshore_study.base.errors import LongshoreError
from longshore_study.base.expression import ExpressionError, parse

ROW: dict[str, Any] = {
    "transport": "threads",
    "ranks": 4,
    "nodes": 2,
    "mode": "waitall",
    "environment": {"UCX_RNDV_THRESH": "256K"},
    "task_count": "8",
    "domain": [64, 64, 64],
    "verified": True,
    "missing": None,
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("transport == 'threads'", True),
        ('transport == "mpi"', False),
        ("transport != 'mpi' and ranks == 4", True),
        ("ranks == 4.0", True),
        ("ranks < 4 or nodes >= 2", True),
        ("1 < nodes <= 4", True),
        ("1 < nodes <= 4 < ranks", False),
        ("not transport == 'threads'", False),
        ("not (ranks == 3 or ranks == 5)", True),
        ("ranks == 3 or ranks == 4 and nodes == 1", False),
        ("(ranks == 3 or ranks == 4) and nodes == 2", True),
        ("mode in ['waitall', 'persistent']", True),
        ("mode not in ['waitall', 'persistent']", False),
        ("'wait' in mode", True),
        ("environment != {}", True),
        ("environment == {UCX_RNDV_THRESH = '256K'}", True),
        ("environment == {UCX_RNDV_THRESH: '16K'}", False),
        ("'UCX_RNDV_THRESH' in environment", True),
        ("task-count == 8", True),
        ("task_count > 7", True),
        ("domain == [64, 64, 64]", True),
        ("domain == [64, 64]", False),
        ("verified", True),
        ("verified == true and not verified == false", True),
        ("nodes>1", True),
        ("ranks == -4", False),
        ("ranks < 1e3", True),
    ],
)
def test_conditions_are_evaluated(text: str, expected: bool) -> None:
    assert parse(text).matches(ROW) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("kernel == 'copy'", False),
        ("kernel != 'copy'", True),
        ("kernel in ['copy']", False),
        ("kernel > 3", False),
        ("missing == 1", False),
        ("kernel == kernel", False),
        ("kernel", False),
    ],
)
def test_an_absent_factor_equals_nothing(text: str, expected: bool) -> None:
    assert parse(text).matches(ROW) is expected


@pytest.mark.parametrize(
    ("text", "column", "why"),
    [
        ("", 1, "empty"),
        ("ranks = 4", 7, "equality is '=='"),
        ("ranks == ", 9, "too early"),
        ("ranks == 4 and", 15, "too early"),
        ("(ranks == 4", 1, "'(' was never closed"),
        ("ranks == 4)", 11, "unmatched"),
        ("ranks == [1, 2", 10, "'[' was never closed"),
        ("== 4", 1, "not expected"),
        ("ranks == 4 4", 12, "not expected"),
        ("ranks; import os", 6, "not expected"),
        ("__import__('os').system('true')", 1, "not a value"),
        ("ranks == 4 and 'é' == f(3)", 23, "not a value"),
        ("ranks + 1 == 5", 1, "not a value"),
        ("ranks is 4", 1, "not a value"),
        ("ranks == None", 10, "not a value"),
        ("ranks == 'open", 10, "unterminated"),
        ("and ranks == 4", 1, "'and' was not expected"),
        ("environment == {A}", 16, "not a value"),
        ("environment == {1: 2}", 17, "a key of the table"),
        ("ranks == 4x", 10, "invalid decimal"),
        ("(" * 4000, 201, "too many nested"),
        ("not " * 60 + "ranks", 205, "too deeply"),
        ("not " * 4000 + "ranks", 1, "too deeply"),
        ("a == " + "[" * 4000, 206, "too many nested"),
    ],
)
def test_a_syntax_error_names_its_column(text: str, column: int, why: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse(text)
    assert f"column {column}:" in str(caught.value)
    assert why in str(caught.value)
    assert caught.value.exit_status == 64


@pytest.mark.parametrize("text", ["ranks < 'four'", "environment < {}", "ranks", "3 in ranks", "transport and true"])
def test_a_comparison_without_meaning_is_an_error_not_a_result(text: str) -> None:
    with pytest.raises(ExpressionError):
        parse(text).matches(ROW)


def test_an_unknown_factor_is_named_with_its_nearest() -> None:
    with pytest.raises(ExpressionError, match="did you mean 'transport'"):
        parse("trasport == 'mpi'").check_names(ROW)
    parse("task-count == 1 and transport == 'mpi'").check_names(["task-count", "transport"])


def test_an_unknown_word_gets_a_suggestion() -> None:
    rows = [{"mode": mode, "launch-order": 1} for mode in ("waitall", "persistent")]
    assert parse("mode == 'persistent'").select(rows, dict) == rows[1:]
    with pytest.raises(LongshoreError, match="leaves nothing: no row has mode 'persistnt'; did you mean 'persistent'"):
        parse("launch_order == 1 and mode in ['persistnt']").select(rows, dict)
    with pytest.raises(LongshoreError, match=r"leaves nothing$"):
        parse("launch_order > 1").select(rows, dict)
    assert parse("mode == 'persistent'").select([], dict) == []


def test_comparisons_lists_what_was_compared() -> None:
    condition = parse("mode in ['a', 'b'] or 'mpi' == transport and not ranks < 3")
    assert sorted(condition.comparisons(), key=str) == [
        ("mode", "a"),
        ("mode", "b"),
        ("ranks", 3),
        ("transport", "mpi"),
    ]
    assert condition.names == {"mode", "transport", "ranks"}
