"""A match that has only a part of a number is found."""

from __future__ import annotations

import re

import pytest

from longshore_study.importers.regex import whole_number


@pytest.mark.parametrize(
    ("pattern", "text", "whole"),
    [
        (r"rate: ([0-9.]+)", "rate: 11.5 GB/s", None),
        (r"rate: ([0-9.]+)", "rate: 11.5, as before", None),
        (r"rate: ([0-9.]+)", "rate: 11.5GB/s", None),
        (r"rate: ([0-9.]+)", "rate: 11.", None),
        (r"rate: ([0-9.]+)", "rate: 10-20 us", None),
        (r"rate: (\S+)", "rate: 1.150e+03 GB/s", None),
        (r"size-(\d+)", "size-5", None),
        (r"^(?:\d+),(\d+),", "100,200,300", None),
        (r"^[^,]*,([0-9.]+)$", "100,200", None),
        (r"rate: ([0-9.]+)", "rate: 11,5 GB/s", "11,5"),
        (r"rate: ([0-9.]+).*", "rate: 11,5 GB/s", "11,5"),
        (r"rate: ([0-9.]+)", "rate: 1.150e+03 GB/s", "1.150e+03"),
        (r"rate: ([0-9.]+)", "rate: 1.5D3", "1.5D3"),
        (r"rate: ([0-9.]+)", "rate: 1.5-100", "1.5-100"),
        (r"rate: ([0-9.]+)", "rate: 1,234.5", "1,234.5"),
        (r"rate: ([0-9.]+)", "rate: 1'234.5", "1'234.5"),
        (r"rate: ([0-9.]+)", "rate: 1\u202f234", "1\u202f234"),
        (r"rate: ([0-9.]+)", "rate: 0x1F", "0x1F"),
        (r"rate: ([0-9.]+)", "rate: 3 x 10^3", "3 x 10^"),
        (r"([0-9.]+) GB", "1,234.5 GB", "1,234.5"),
        (r"(\d+) GB", "11.25 GB", "11.25"),
        (r"e([0-9]+)", "1.5e3", "1.5e3"),
        (r"(\d+)", "rate: -5", "-5"),
        (r"(\d+)", ".5", ".5"),
        (r"^[^,]*,([0-9.]+)", "100,200,300", "100,200,300"),
    ],
)
def test_a_number_that_goes_on_is_found(pattern: str, text: str, whole: str | None) -> None:
    match = re.search(pattern, text)
    assert match is not None
    found = whole_number(match, 1)
    assert (found or "").split() == (whole or "").split()
