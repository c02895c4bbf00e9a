"""Rows whose launches ran on near and on far cores, as a virtual machine that moves its cores has
them. base/near_and_far.py tells the two apart."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from longshore_study.base.near_and_far import least_far, nanoseconds
from longshore_study.compare.pairing import PairedRow
from longshore_study.metrics.launch_metrics import Figure


def launches_on_far_cores(figures: Sequence[Figure]) -> frozenset[str]:
    """Empty if the cores of all launches were alike, or if their distance is not known of all."""
    lines = [figure.line for figure in figures if figure.line is not None]
    if len(lines) < len(figures):
        return frozenset()
    far = least_far(lines)
    return frozenset(figure.launch for figure in figures if figure.line and figure.line.median >= far)


def explanation(row: PairedRow, difference: float) -> str | None:
    """Says that cores were near in most launches of one side and far in most of the other, if the
    side with far cores is the slower one. `difference` is positive if the new side is better."""
    far = launches_on_far_cores(row.figures)
    reference, new = (_are_far(figures, far) for figures in (row.reference, row.new))
    if reference == new or new != (difference < 0.0):
        return None
    sides = (
        f"{'far' if is_far else 'near'} in most launches of {name} ({_seconds(figures, far, is_far=is_far)})"
        for name, figures, is_far in (("reference", row.reference, reference), ("new", row.new, new))
    )
    return f"cores were {' and '.join(sides)}: their distance can explain the ratio"


def _are_far(figures: Sequence[Figure], far: Collection[str]) -> bool:
    launches = {figure.launch for figure in figures}
    return len(launches & set(far)) > len(launches) / 2


def _seconds(figures: Sequence[Figure], far: Collection[str], *, is_far: bool) -> str:
    return nanoseconds(f.line.median for f in figures if f.line and (f.launch in far) == is_far)
