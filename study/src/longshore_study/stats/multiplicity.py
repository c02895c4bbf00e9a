"""Adjusted p values for tables of many rows, which share one significance level."""

from collections.abc import Sequence


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Controls the false discovery rate (Benjamini and Hochberg 1995): among the rows with an
    adjusted p value of at most q, the expected share of false alarms is at most q."""
    count = len(p_values)
    order = sorted(range(count), key=lambda i: p_values[i], reverse=True)
    adjusted = [1.0] * count
    smallest = 1.0
    for larger, index in enumerate(order):  # `larger` p values precede
        smallest = min(smallest, p_values[index] * count / (count - larger))
        adjusted[index] = smallest
    return adjusted


def holm(p_values: Sequence[float]) -> list[float]:
    """Controls the family-wise error rate (Holm 1979): the probability of any false alarm among the
    rows with an adjusted p value of at most q is at most q, for any dependence between the rows."""
    count = len(p_values)
    order = sorted(range(count), key=lambda i: p_values[i])
    adjusted = [1.0] * count
    largest = 0.0
    for smaller, index in enumerate(order):  # `smaller` p values precede
        largest = max(largest, min(1.0, p_values[index] * (count - smaller)))
        adjusted[index] = largest
    return adjusted
