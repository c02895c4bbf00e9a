"""Recognises rows with launches on near cores and launches on far cores. Such rows come from
virtual machines that move their cores. base/near_and_far.py tells near and far cores apart."""

from collections.abc import Sequence

from longshore_study.base.near_and_far import least_far
from longshore_study.compare.judged_row import JudgedRow
from longshore_study.metrics.launch_metrics import Figure


def launches_on_far_cores(figures: Sequence[Figure]) -> frozenset[str]:
    """The launches on far cores. Empty if all were alike, or a distance is unknown."""
    lines = [figure.cache_line for figure in figures if figure.cache_line is not None]
    if len(lines) < len(figures):
        return frozenset()
    far = least_far(lines)
    return frozenset(figure.launch for figure in figures if figure.cache_line and figure.cache_line.median >= far)


def explanation(row: JudgedRow, difference: float) -> str | None:
    """Says that cores were near in most launches of one side and far in most of the other, if the
    side with far cores is the slower one. `difference` is positive if the new side is better."""
    far = launches_on_far_cores(row.figures)
    reference, new = (_are_far(figures, far) for figures in (row.reference, row.new))
    if reference == new or new != (difference < 0.0):
        return None
    words = ("far", "near") if reference else ("near", "far")
    sides = f"{words[0]} in most launches of reference and {words[1]} in most launches of new"
    return f"cores were {sides}: their distance can explain the ratio"


def _are_far(figures: Sequence[Figure], far: frozenset[str]) -> bool:
    launches = {figure.launch for figure in figures}
    return len(launches & far) > len(launches) / 2
