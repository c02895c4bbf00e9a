"""The section of history: figures over sessions, the levels between changes, and known events."""

from collections.abc import Mapping, Sequence

from longshore_study.analyses.history import HistoryRow
from longshore_study.base.groups import grouped
from longshore_study.base.texts import change, counted, figure, quantity
from longshore_study.report.facts import Facts
from longshore_study.report.labels import Naming, metric_title, naming, pattern_title
from longshore_study.report.marks import SERIES_COUNT, Axes, chart, legend, line, mark, series_look
from longshore_study.report.markup import Child, Element, details, element, remark, section
from longshore_study.report.panels import PANELS_SHOWN, panel_grid
from longshore_study.report.scales import for_sequence, log_around
from longshore_study.report.tables import folded
from longshore_study.stats.change_points import STEP, ChangePoint

MIN_SESSIONS = 6
"""With fewer sessions, a comparison of two tags shows more."""


def history_section(facts: Facts) -> Element | None:
    table = facts.history
    rows = [row for row in table.rows if len(row.points) >= MIN_SESSIONS] if table else []
    if table is None or not rows:
        return None
    changed = sorted((row for row in rows if row.changes), key=lambda row: -max(abs(c.difference) for c in row.changes))
    tags = list(dict.fromkeys(point.tag for row in rows for point in row.points))
    of_pattern = grouped(rows, lambda row: row.key.pattern)
    names = {pattern: naming(row.key.shown_factors for row in members) for pattern, members in of_pattern.items()}
    drawn = [_panel(row, _name(row, names, ": "), tags) for row in changed]
    quiet = [_panel(row, _name(row, names, ": "), tags) for row in rows if not row.changes][:PANELS_SHOWN]
    note = (
        "Each mark is a session, in the order of time; lines are the levels (geometric means) between changes larger "
        f"than {table.margin * 100:g} % beyond doubt, dashed lines known events. A drift is a change that a slope "
        "explains as well."
    )
    return section(
        "history",
        "History",
        remark(note),
        _change_list(changed, names) if changed else element("p", "No figure changed beyond the margin."),
        legend([(*series_look(k), tag) for k, tag in enumerate(tags)]) if 1 < len(tags) <= SERIES_COUNT else None,
        folded(drawn, "more changed figure", panel_grid, shown=PANELS_SHOWN) if drawn else None,
        details(counted(len(quiet), "unchanged figure"), panel_grid(quiet)) if quiet else None,
    )


def _change_list(changed: Sequence[HistoryRow], names: Mapping[str, Naming]) -> Element:
    changes = [(row, level_change) for row in changed for level_change in row.changes]
    changes.sort(key=lambda pair: pair[0].points[pair[1].at].when)
    items = [element("li", _sentence(row, level_change, _name(row, names, ", "))) for row, level_change in changes]
    return element("ul", items, class_="changes")


def _name(row: HistoryRow, names: Mapping[str, Naming], separator: str) -> str:
    return f"{pattern_title(row.key.pattern)}{separator}{names[row.key.pattern].text(row.key.shown_factors)}"


def _sentence(row: HistoryRow, level_change: ChangePoint, name: str) -> Child:
    before, after = row.points[level_change.at - 1], row.points[level_change.at]
    low, high = row.interval(level_change)
    known = "; ".join(row.known_events(level_change))
    where = f"between {before.tag}, {before.session} and {after.tag}, {after.session}"
    date = f"{after.when[:10]}, " if after.when else ""
    return [
        element("b", name),
        f": {change(row.ratio(level_change))} ({change(low)} to {change(high)}) {date}{where}"
        + (f"; after: {known}" if known else "; no known event")
        + ("" if level_change.kind == STEP else "; drift"),
    ]


def _panel(row: HistoryRow, name: str, tags: Sequence[str]) -> Element:
    """The positions in `tags`, which has all tags, choose the shapes of marks."""
    values = [point.value for point in row.points]
    y = log_around([*values, min(values) / 1.02, max(values) * 1.02], 1.02)
    x, x_ticks = for_sequence(len(values))
    shown_as = quantity(row.unit, values)
    y_title = f"{metric_title(row.key.metric)}, {shown_as.name}"
    axes = Axes(x, y, "session, in the order of time", y_title, x_ticks, y.ticks(shown_as.tick, 4))
    events = [line(x.fraction(at + 0.5), 0, x.fraction(at + 0.5), 1, "bound") for at in row.events]
    levels = [
        line(x.fraction(first + 0.6), 1 - y.clipped(level), x.fraction(end + 0.4), 1 - y.clipped(level), "median s1")
        for first, end, level in row.levels()
    ]
    dots = []
    for k, point in enumerate(row.points):
        shape, style = series_look(tags.index(point.tag))
        session = f"{point.tag}, {point.session}{', ' + point.when[:10] if point.when else ''}"
        launches = counted(point.launches, "launch", "launches")
        title = f"{session}: {figure(point.value, row.unit)} ({launches})"
        dots.append(mark(shape, x.fraction(k + 1), 1 - y.clipped(point.value), f"{style} dot", title))
    drawn = chart(axes, *events, *levels, *dots, label=f"{name} over sessions", style="low")
    return element("figure", element("figcaption", name), drawn, class_="panel")
