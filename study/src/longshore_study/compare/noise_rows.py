"""Rows that show the noise of their launch, in place of the noise probe: variants that the
compared states cannot change, such as Longshore's own exchange if two MPI libraries are compared.
They use the same cores, caches and memory as the other variants of their launch, and the probe is
short and small."""

from dataclasses import replace

from longshore_study.base.expression import Expression
from longshore_study.compare.pairing import known_factors
from longshore_study.metrics.launch_metrics import Measurements, by_launch
from longshore_study.patterns import CONTROL


def with_noise_of(measured: Measurements, condition: Expression) -> Measurements:
    """The measurements with other noise probes: the rows that meet the condition become the probe
    of the other rows of their launch. A launch without such a row has no probe.

    Raises LongshoreError if no row meets the condition.
    """
    main = [figure for figure in measured.figures if figure.main and figure.key.pattern != CONTROL]
    chosen = set(condition.select([figure.key for figure in main], known_factors))
    noise = by_launch(figure for figure in main if figure.key in chosen)
    figures = [
        figure if figure.key in chosen else replace(figure, pulse=noise.get(figure.launch))
        for figure in measured.figures
    ]
    return replace(measured, figures=figures)
