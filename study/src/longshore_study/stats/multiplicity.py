"""Adjusted p values for tables of many rows, which share one significance level."""

from collections.abc import Sequence
from itertools import accumulate


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Controls the false discovery rate (Benjamini and Hochberg 1995): among the rows with an
    adjusted p value of at most q, the expected share of false alarms is at most q."""
    count = len(p_values)
    order = sorted(range(count), key=lambda i: p_values[i], reverse=True)
    adjusted = accumulate((p_values[i] * count / (count - larger) for larger, i in enumerate(order)), min)
    return [p for _, p in sorted(zip(order, adjusted, strict=True))]


def holm(p_values: Sequence[float]) -> list[float]:
    """Controls the family-wise error rate (Holm 1979): the probability of any false alarm among the
    rows with an adjusted p value of at most q is at most q, for any dependence between the rows."""
    count = len(p_values)
    order = sorted(range(count), key=lambda i: p_values[i])
    adjusted = accumulate((min(1.0, p_values[i] * (count - smaller)) for smaller, i in enumerate(order)), max)
    return [p for _, p in sorted(zip(order, adjusted, strict=True))]
