"""The section of history: figures over sessions, the levels between changes, and known events."""

from collections.abc import Sequence

from longshore_study.analyses.history import HistoryRow
from longshore_study.base.texts import change, counted, figure, quantity
from longshore_study.report.facts import Facts
from longshore_study.report.labels import Naming, metric_title, naming, pattern_title
from longshore_study.report.marks import SERIES_COUNT, Axes, chart, legend, line, mark, series_look
from longshore_study.report.markup import Child, Element, element, remark, section
from longshore_study.report.panels import PANELS_SHOWN, folded_panels
from longshore_study.report.scales import for_sequence, log_around
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
    drawn = [history_panel(row, rows, tags) for row in changed]
    quiet = [history_panel(row, rows, tags) for row in rows if not row.changes][:PANELS_SHOWN]
    note = (
        "Each mark is a session, in the order of time; lines are the levels (geometric means) between changes larger "
        f"than {table.margin * 100:g} % beyond doubt, dashed lines known events. A drift is a change that a slope "
        "explains as well."
    )
    return section(
        "history",
        "History",
        remark(note),
        _change_list(changed, rows) if changed else element("p", "No figure changed beyond the margin."),
        legend([(*series_look(k), tag) for k, tag in enumerate(tags)]) if 1 < len(tags) <= SERIES_COUNT else None,
        element("div", drawn[:PANELS_SHOWN], class_="panels") if drawn else None,
        folded_panels(drawn[PANELS_SHOWN:], "more figure that changed", "more figures that changed"),
        folded_panels(quiet, "figure that did not change", "figures that did not change"),
    )


def _change_list(changed: Sequence[HistoryRow], rows: Sequence[HistoryRow]) -> Element:
    changes = [(row, level_change) for row in changed for level_change in row.changes]
    changes.sort(key=lambda pair: pair[0].points[pair[1].at].when)
    items = [element("li", _sentence(row, level_change, _names(row, rows))) for row, level_change in changes]
    return element("ul", items, class_="changes")


def _names(row: HistoryRow, rows: Sequence[HistoryRow]) -> Naming:
    return naming(_factors(other) for other in rows if other.key.pattern == row.key.pattern)


def _factors(row: HistoryRow) -> dict[str, object]:
    return row.key.shown_factors


def _sentence(row: HistoryRow, level_change: ChangePoint, names: Naming) -> Child:
    before, after = row.points[level_change.at - 1], row.points[level_change.at]
    low, high = row.interval(level_change)
    known = "; ".join(row.known_events(level_change))
    where = f"between {before.tag}, {before.session} and {after.tag}, {after.session}"
    date = f"{after.when[:10]}, " if after.when else ""
    return [
        element("b", f"{pattern_title(row.key.pattern)}, {names.text(_factors(row))}"),
        f": {change(row.ratio(level_change))} ({change(low)} to {change(high)}) {date}{where}"
        + (f"; after: {known}" if known else "; no known event")
        + ("" if level_change.kind == STEP else "; drift"),
    ]


def history_panel(row: HistoryRow, rows: Sequence[HistoryRow], tags: Sequence[str]) -> Element:
    """The panel of `row`. Its name differs from the names of the other rows in `rows`. The
    positions in `tags`, which has all tags, choose the shapes of marks."""
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
    name = f"{pattern_title(row.key.pattern)}: {_names(row, rows).text(_factors(row))}"
    drawn = chart(axes, *events, *levels, *dots, label=f"{name} over sessions", style="low")
    return element("figure", element("figcaption", name), drawn, class_="panel")
