"""The section of hosts: launches as dots in the row of each host, so that slow nodes stand out."""

import math
from statistics import median

from longshore_study.base.groups import grouped
from longshore_study.base.texts import counted, plain_number
from longshore_study.compare.slow_hosts import launch_speeds
from longshore_study.patterns import CONTROL
from longshore_study.report.facts import Facts
from longshore_study.report.launch_dots import Dot, dots_table, side_marks, side_style
from longshore_study.report.marks import grid, legend, named_axis, strip, vertical
from longshore_study.report.markup import Child, Element, remark, section
from longshore_study.report.scales import Scale, log_around
from longshore_study.report.tables import side_numbers, strip_row
from longshore_study.store.hosts import hosts_of

_Dots = dict[str, dict[str, float]]
"""For each side, the relative speed of each launch."""


def hosts_section(facts: Facts) -> Element | None:
    """None if all launches ran on the same hosts, or if their hosts are not recorded."""
    used = {str(launch.path): hosts_of(launch.header) for launch in facts.launches}
    speeds = {side: _speeds(facts, side, used) for side in facts.sides}
    shown = {launch for launches in speeds.values() for launch in launches}
    if len({used[launch] for launch in shown}) < 2:
        return None
    hosts = sorted({host for launch in shown for host in used[launch]})
    together = grouped(hosts, lambda host: frozenset(launch for launch in shown if host in used[launch]))
    rows: dict[str, _Dots] = {
        ", ".join(names): {
            side: {launch: speed for launch, speed in of_side.items() if launch in launches}
            for side, of_side in speeds.items()
        }
        for launches, names in together.items()
    }
    scale = log_around([speed for launches in speeds.values() for speed in launches.values()], 1.05)
    heads: list[tuple[str, Child]] = [
        ("name", "Host"),
        ("plot", named_axis("relative speed", scale.ticks(plain_number))),
        ("median number", "Median"),
        ("launches number", "Launches"),
    ]
    note = (
        "Each dot is a launch, in the row of each host that it ran on: its speed relative to the mean of the same cell "
        "in the same session (above 1 is better). The vertical line is the median."
    )
    if any(len(names) > 1 for names in together.values()):
        note += " Hosts in one row were always used together, so nothing tells them apart."
    return section(
        "hosts",
        "Launches by host",
        remark(note),
        legend([(*side_style(i), side) for i, side in enumerate(facts.sides)]) if len(facts.sides) > 1 else None,
        dots_table(facts, heads, [_row(host, dots, scale, used) for host, dots in rows.items()]),
    )


def _speeds(facts: Facts, side: str, used: dict[str, frozenset[str]]) -> dict[str, float]:
    """The speed of each launch, as of launch_speeds(). Left out: launches without recorded hosts,
    or alone in their cell and session."""
    figures = [f for f in facts.of_side(side) if f.key.pattern != CONTROL and used.get(f.launch)]
    groups = launch_speeds(list(grouped(figures, lambda figure: figure.key).values()))
    return {launch: math.exp(speed) for group in groups if len(group) > 1 for launch, speed in group.items()}


def _row(host: str, dots: _Dots, scale: Scale, used: dict[str, frozenset[str]]) -> Element:
    marks: list[Child] = [grid(scale.ticks(plain_number)), vertical(scale, 1.0, "unity")]
    present = [(index, side, launches) for index, (side, launches) in enumerate(dots.items()) if launches]
    for index, side, launches in present:
        drawn = [
            Dot(speed, f"{side}: {speed:.2f} on {', '.join(sorted(used[launch]))}")
            for launch, speed in launches.items()
        ]
        marks += side_marks(drawn, scale, index, len(dots))
    medians = [(side, median(launches.values()), len(launches)) for _, side, launches in present]
    label = "; ".join(f"{side} median {m:.2f} over {counted(n, 'launch', 'launches')}" for side, m, n in medians)
    return strip_row(
        host,
        strip(*marks, label=f"{host}: {label}"),
        side_numbers("median", [(f"{m:.2f}", m) for _, m, _ in medians]),
        side_numbers("launches", [(str(n), n) for _, _, n in medians]),
    )
