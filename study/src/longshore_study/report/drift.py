"""The section of drift: every launch relative to the median of its variants, in run order.

A random order of launches turns drift into noise but does not remove the drift.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from longshore_study.base.texts import change, figure, plain_number
from longshore_study.compare.comparison import DEFAULT_MARGIN
from longshore_study.report.facts import Facts, PlottedFigure, by_key, median_value
from longshore_study.report.labels import pattern_title
from longshore_study.report.marks import Axes, chart, legend, line, mark, series_look
from longshore_study.report.markup import Element, element, percent, remark, section
from longshore_study.report.panels import panel_grid
from longshore_study.report.scales import for_sequence, log_around


@dataclass(frozen=True)
class LaunchDeviation:
    """How one launch differs from the typical launch: one mark of the chart."""

    position: int
    """The place of the launch in the order of running, from 0."""
    ratio: float
    """The figure of the launch relative to the median of the same variant: the median of these
    ratios over the variants of the launch. Above 1 if the launch is better than usual."""
    variants: int
    """The number of variants with a ratio."""


def launch_deviations(figures: Sequence[PlottedFigure]) -> list[LaunchDeviation]:
    """REQUIRES: figures of one tag and session. Those without a run order are left out."""
    ratios_at: dict[int, list[float]] = {}
    for group in by_key(figures).values():
        variant_median = median_value(group)
        for f in group:
            if f.position is not None and variant_median > 0 and f.value > 0 and len(group) > 1:
                relative = f.value / variant_median
                ratios_at.setdefault(f.position, []).append(1 / relative if f.better == "lower" else relative)
    return [LaunchDeviation(p, median(ratios), len(ratios)) for p, ratios in sorted(ratios_at.items())]


def trend(deviations: Sequence[LaunchDeviation]) -> float | None:
    """The median of the last third over that of the first; None for fewer than nine launches."""
    third = len(deviations) // 3
    if third < 3:
        return None
    return median(d.ratio for d in deviations[-third:]) / median(d.ratio for d in deviations[:third])


def drift_section(facts: Facts) -> Element | None:
    margin = facts.comparison.margin if facts.comparison else DEFAULT_MARGIN
    charts = [panel for pattern in facts.patterns if (panel := _panel(facts, pattern, margin)) is not None]
    note = (
        "Each mark is a launch: its figures relative to the median of the same variant in the same session "
        f"(above 1 is better). The band is ±{margin * 100:g} %. A slope means that the machine changed."
    )
    nothing = "Nothing to show: drift needs at least two launches of a variant with their order of running recorded."
    shown = [remark(note), panel_grid(charts)] if charts else element("p", nothing, class_="empty")
    return section("drift", "Drift over run order", shown)


def _panel(facts: Facts, pattern: str, margin: float) -> Element | None:
    figures = facts.of_pattern(pattern)
    sessions: dict[tuple[str, str], list[LaunchDeviation]] = {}
    for side in facts.sides:
        for session in sorted({f.session for f in figures if f.side == side}):
            deviations = launch_deviations([f for f in figures if f.side == side and f.session == session])
            if deviations:
                sessions[side, session] = deviations
    if not sessions:
        return None
    shown = [d for deviations in sessions.values() for d in deviations]
    y = log_around([*(d.ratio for d in shown), 1 / (1 + 2.4 * margin), 1 + 2.4 * margin], 1.01)
    last = max(d.position for d in shown) + 1
    x, x_ticks = for_sequence(last)
    axes = Axes(x, y, "launch, in run order", "relative to median", x_ticks, y.ticks(plain_number, 4))
    low, high = 1 - y.fraction(1 + margin), 1 - y.fraction(1 / (1 + margin))
    back = [
        element("rect", x="0", width="100%", y=percent(low), height=percent(high - low), class_="margin"),
        line(0, 1 - y.fraction(1), 1, 1 - y.fraction(1), "unity"),
    ]
    dots, names = [], []
    for index, ((side, session), deviations) in enumerate(sessions.items()):
        shape, style = series_look(index)
        names.append((shape, style, _session_name((side, session), deviations)))
        for d in deviations:
            run = f"{side}, session {session}, run {d.position + 1}"
            title = f"{run}: {figure(d.ratio)} (median of {d.variants} variants)"
            dots.append(mark(shape, x.fraction(d.position + 1), 1 - y.clipped(d.ratio), f"{style} dot", title))
    label = f"{pattern_title(pattern)}: launches relative to their median, in run order"
    drawn = chart(axes, *back, *dots, label=label, style="low")
    return element("figure", element("figcaption", pattern_title(pattern)), drawn, legend(names), class_="panel")


def _session_name(key: tuple[str, str], deviations: Sequence[LaunchDeviation]) -> str:
    drift = trend(deviations)
    name = f"{key[0]}, {key[1]}"
    return f"{name}: last third {change(drift)} against the first" if drift else name
