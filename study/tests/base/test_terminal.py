"""Numbers, words and tables on the terminal."""

from __future__ import annotations

import io
import math
from contextlib import redirect_stdout

import pytest

from longshore_study.base import terminal


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"), (0.0, "0"), (12095.277, "12095"), (400.92, "400.9"), (2.885, "2.885"), (0.243, "0.243"),
        (0.0573, "0.0573"), (0.00123, "0.00123"), (1.234e-7, "0.0000001234"), (123456789.0, "123500000"),
        (-2.5, "-2.500"),
    ],
)  # fmt: skip
def test_numbers(value: float | None, text: str) -> None:
    assert terminal.number(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1 / 17.45, "17.4 times slower"),
        (1.03, "3 % faster"),
        (0.97, "3.1 % slower"),
        (2.0, "2 times faster"),
        (1.0, "0 % faster"),
    ],
)
def test_ratios_in_words(value: float, text: str) -> None:
    assert terminal.times(value) == text


def test_counts_and_factors() -> None:
    assert [terminal.count(n, "launch") for n in (0, 1, 2)] == ["0 launches", "1 launch", "2 launches"]
    assert terminal.count(2, "row") == "2 rows"
    values = {"grid": [8, 4, 4], "environment": {"A": "1"}, "on": True, "x": 0.5, "hz": 2.5e6, "none": None}
    assert terminal.factors(values) == "grid 8x4x4, environment A=1, on yes, x 0.5, hz 2500000, none -"


def test_varying_factors_are_separated_from_shared_ones() -> None:
    shared, names = terminal.varying([{"a": 1, "b": 2}, {"a": 1, "b": 3, "c": 4}])
    assert shared == {"a": 1}
    assert names == ["b", "c"]


def test_a_log_gets_an_aligned_table_that_is_never_wrapped() -> None:
    stream = io.StringIO()
    rows = [["waitall", "12095"], ["x" * 300, "4"]]
    with redirect_stdout(stream):
        terminal.print_table("halo", ["mode", "MiB/s"], rows, right={"MiB/s"}, styles=["best", None])
    title, head, first, second = stream.getvalue().splitlines()
    assert title == "halo"
    assert len(head) == len(first) == len(second) == 300 + 2 + 5
    assert first.endswith("  12095")
    assert "\x1b" not in stream.getvalue()


class FakeTerminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_colour_unless_it_is_declined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    for declined in (False, True):
        if declined:
            monkeypatch.setenv("NO_COLOR", "1")
        stream = FakeTerminal()
        with redirect_stdout(stream):
            terminal.print_line("regressed", "regressed")
            terminal.print_table("t", ["a"], [["[bold]b"]], styles=["regressed"])
        assert ("\x1b[1;31m" in stream.getvalue()) != declined
        assert "[bold]b" in stream.getvalue(), "data is never read as markup"


def test_on_a_narrow_terminal_names_of_rows_stay_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    stream = FakeTerminal()
    rows = [["impi-2021.18.1-of-site", "a" * 40, "b" * 40], ["mpich-5.0.2", "c", "d"]]
    with redirect_stdout(stream):
        terminal.print_table("stacks", ["name", "path", "modules"], rows)
    assert "impi-2021.18.1-of-site " in stream.getvalue()
    assert max(map(len, stream.getvalue().splitlines()[-4:])) <= 50


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [(310.2, 2, "310"), (99.7, 2, "100"), (3.14, 2, "3.1"), (0.0514, 2, "0.051"), (4.0, 2, "4"), (12345.6, 4, "12350"),
     (0.0, 2, "0"), (1.5e-9, 2, "0.0000000015"), (9.996, 3, "10"), (1e12, 3, "1000000000000"), (math.inf, 2, "inf"),
     (1.7e300, 3, "1.7e+300"), (5e-324, 3, "4.94e-324")],
)  # fmt: skip
def test_people_read_no_exponents(value: float, digits: int, text: str) -> None:
    assert terminal.significant(value, digits) == text


def test_percentages_and_ratios_have_no_exponents() -> None:
    assert [terminal.percent(share) for share in (3.1, 0.997, 0.042)] == ["310 %", "100 %", "4.2 %"]
    assert terminal.ratio_text(123456.0) == "123500"
    assert terminal.times(5e-5) == "20000 times slower"
