"""One unit for each metric: figures in MB/s and GB/s become comparable, others are refused."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from longshore_study.base.errors import LongshoreError
from longshore_study.base.units import Unit, unit_of

if TYPE_CHECKING:
    from longshore_study.metrics.launch_metrics import Figure


def in_common_units(sides: Sequence[Iterable[Figure]]) -> list[list[Figure]]:
    """The figures of each side. Those of one metric of a pattern are in the unit of the first one.

    Raises LongshoreError if figures of a metric have units that measure different things, or if
    some are better if higher, and others if lower.
    """
    units: dict[str, Unit] = {}
    firsts: dict[tuple[str, str], Figure] = {}

    def converted(figure: Figure) -> Figure:
        first = firsts.setdefault((figure.key.pattern, figure.key.metric), figure)
        if figure.unit == first.unit and figure.better == first.better:
            return figure
        ours, theirs = (units.setdefault(one.unit, unit_of(one.unit)) for one in (figure, first))
        if ours.dimension != theirs.dimension or figure.better != first.better:
            raise LongshoreError(
                f"the figure {figure.key.metric} of {figure.key.pattern} is in '{first.unit}' ({first.better} is "
                f"better) in {first.launch}, and in '{figure.unit}' ({figure.better} is better) in {figure.launch}: "
                "these are two quantities; select one with --tag or --study, or import one under another --figure"
            )
        return replace(figure, value=figure.value * (ours.scale / theirs.scale), unit=first.unit)

    return [[converted(figure) for figure in figures] for figures in sides]
