"""Drift: every launch relative to the median of its own variant, in the order in which they ran.

A random order turns drift into noise but does not remove it; this section makes it visible.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from longshore_study.base.texts import change, figure, plain_number
from longshore_study.report.facts import Facts, PlottedFigure, by_key, median_value
from longshore_study.report.labels import pattern_title
from longshore_study.report.marks import SERIES_SHAPES, Axes, chart, legend, line, mark
from longshore_study.report.markup import Child, Element, element
from longshore_study.report.scales import Scale, log_around

DEFAULT_MARGIN = 0.05


@dataclass(frozen=True)
class Deviation:
    """One launch: the median over its variants of figure / median of the variant in this tag."""

    position: int
    ratio: float
    variants: int


def deviations(figures: Sequence[PlottedFigure]) -> list[Deviation]:
    """REQUIRES: figures of one tag and session. Figures without a run order are left out."""
    at: dict[int, list[float]] = {}
    for group in by_key(figures).values():
        middle = median_value(group)
        for f in group:
            if f.position is not None and middle > 0 and f.value > 0 and len(group) > 1:
                relative = f.value / middle
                at.setdefault(f.position, []).append(1 / relative if f.better == "lower" else relative)
    return [Deviation(p, median(ratios), len(ratios)) for p, ratios in sorted(at.items())]


def trend(found: Sequence[Deviation]) -> float | None:
    """The median of the last third over that of the first third; None for fewer than nine
    launches."""
    third = len(found) // 3
    if third < 3:
        return None
    return median(d.ratio for d in found[-third:]) / median(d.ratio for d in found[:third])


def drift_section(facts: Facts) -> Element | None:
    margin = facts.comparison.margin if facts.comparison else DEFAULT_MARGIN
    charts = []
    for pattern in facts.patterns:
        drawn = _pattern(facts, pattern, margin)
        if drawn:
            charts.append(drawn)
    body: Child = element("div", charts, class_="panels")
    if not charts:
        body = element(
            "p",
            "Nothing to show: drift needs at least two launches of a variant with their order of running recorded.",
            class_="empty",
        )
    return element(
        "section",
        element("h2", "Drift over run order"),
        element(
            "p",
            "Each mark is a launch: its figures relative to the median of the same variant in the same session "
            f"(above 1 is better). The band is ±{margin * 100:g} %. A slope means that the machine changed.",
            class_="note",
        )
        if charts
        else None,
        body,
        id="drift",
    )


def _pattern(facts: Facts, pattern: str, margin: float) -> Element | None:
    figures = facts.of_pattern(pattern)
    sessions: dict[tuple[str, str], list[Deviation]] = {}
    for side in facts.sides:
        for session in sorted({f.session for f in figures if f.side == side}):
            found = deviations([f for f in figures if f.side == side and f.session == session])
            if found:
                sessions[side, session] = found
    if not sessions:
        return None
    every = [d for found in sessions.values() for d in found]
    y = log_around([*(d.ratio for d in every), 1 / (1 + 2.4 * margin), 1 + 2.4 * margin], 1.01)
    last = max(d.position for d in every) + 1
    x = Scale(0.5, last + 0.5)
    axes = Axes(
        x,
        y,
        "launch, in run order",
        "relative to median",
        x.ticks_at(_whole(last), plain_number),
        y.ticks(plain_number, 4),
    )
    low, high = 1 - y.fraction(1 + margin), 1 - y.fraction(1 / (1 + margin))
    back = [
        element(
            "rect", x="0", width="100%", y=f"{100 * low:.2f}%", height=f"{100 * (high - low):.2f}%", class_="margin"
        ),
        line(0, 1 - y.fraction(1), 1, 1 - y.fraction(1), "unity"),
    ]
    dots = [
        mark(
            SERIES_SHAPES[i % len(SERIES_SHAPES)],
            x.fraction(d.position + 1),
            1 - y.clipped(d.ratio),
            f"s{i % 8 + 1} dot",
            f"{side}, session {session}, run {d.position + 1}: {figure(d.ratio)} (median of {d.variants} variants)",
        )
        for i, ((side, session), found) in enumerate(sessions.items())
        for d in found
    ]
    names = [
        (SERIES_SHAPES[i % len(SERIES_SHAPES)], f"s{i % 8 + 1}", _session_name(key, found))
        for i, (key, found) in enumerate(sessions.items())
    ]
    return element(
        "figure",
        element("figcaption", pattern_title(pattern)),
        chart(
            axes,
            *back,
            *dots,
            label=f"{pattern_title(pattern)}: launches relative to their median, in run order",
            style="low",
        ),
        legend(names),
        class_="panel",
    )


def _session_name(key: tuple[str, str], found: Sequence[Deviation]) -> str:
    change_text = trend(found)
    name = f"{key[0]}, {key[1]}"
    return f"{name}: last third {change(change_text)} against the first" if change_text else name


def _whole(last: int) -> list[float]:
    step = max(1, last // 5)
    return [1.0, *(float(i) for i in range(step, last + 1, step) if i > 1)]
