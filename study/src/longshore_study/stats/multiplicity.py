"""Adjusted p values for tables of many rows: compare them with the level for the whole table."""

from __future__ import annotations

from collections.abc import Sequence


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Of the rows with an adjusted p of at most q, the expected share of false ones is at most q
    (Benjamini and Hochberg 1995)."""
    count = len(p_values)
    order = sorted(range(count), key=lambda i: p_values[i], reverse=True)
    adjusted = [1.0] * count
    smallest = 1.0
    for place, index in enumerate(order):
        smallest = min(smallest, p_values[index] * count / (count - place))
        adjusted[index] = smallest
    return adjusted


def holm(p_values: Sequence[float]) -> list[float]:
    """The probability that any row with an adjusted p of at most q is false is at most q, for any
    dependence between the rows (Holm 1979)."""
    count = len(p_values)
    order = sorted(range(count), key=lambda i: p_values[i])
    adjusted = [1.0] * count
    largest = 0.0
    for place, index in enumerate(order):
        largest = max(largest, min(1.0, p_values[index] * (count - place)))
        adjusted[index] = largest
    return adjusted
