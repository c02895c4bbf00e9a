"""The mean goodness of figures (`Figure.goodness`, a logarithm), by launch and by session."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from longshore_study.base.groups import grouped, mean_by
from longshore_study.metrics.launch_metrics import Figure

Sessions = Mapping[str, Mapping[Any, float]]
"""A number by session and launch."""


def by_launch(
    figures: Iterable[Figure], value: Callable[[Figure], float] = lambda figure: figure.goodness
) -> dict[Any, float]:
    """The mean of each launch. A launch has several figures of a row if `--ignore` names the factor
    that distinguishes them."""
    return mean_by(figures, lambda figure: figure.launch, value)


def by_session(
    figures: Iterable[Figure], value: Callable[[Figure], float] = lambda figure: figure.goodness
) -> dict[str, dict[Any, float]]:
    """The mean of each launch, by session."""
    return {name: by_launch(members, value) for name, members in grouped(figures, lambda f: f.session).items()}
