"""The section of simulated machines. A panel per machine and pattern has the seconds of each choice
over nodes, and the leading choice for each range of nodes. All figures of each machine follow."""

from collections.abc import Sequence
from pathlib import Path

from longshore_study.analyses.crossings import Race, races_of
from longshore_study.base.groups import grouped
from longshore_study.base.json_values import number_in
from longshore_study.base.texts import counted, plain_number, seconds
from longshore_study.compare.judged_row import JudgedRow
from longshore_study.report.facts import Facts
from longshore_study.report.labels import metric_title, naming, pattern_title
from longshore_study.report.launch_dots import launch_dots
from longshore_study.report.markup import Child, Element, block, details, element, remark, section
from longshore_study.report.panels import Panel, Series, SeriesPoint, curve_legend, looks_of, small_multiples
from longshore_study.report.scales import log_around
from longshore_study.report.scaling import size_axes
from longshore_study.report.tables import scroll_table
from longshore_study.report.verdict_style import badge, ratio_text
from longshore_study.store.selection import heading

INTRODUCTION = (
    "Here the real code of each choice ran on described machines. All times are simulated, and have no noise. They are "
    "predictions: the page “The simulated machine” of the documentation says what the model does not know."
)


def simulated_section(facts: Facts) -> Element | None:
    if not facts.simulated:
        return None
    races = [race for of_machine in facts.simulated.values() for race in races_of(of_machine.launches)]
    by_pattern = grouped(races, lambda race: (race.pattern, race.axis, race.study, race.tag))
    return section(
        "simulated",
        "Simulated machines",
        remark(INTRODUCTION),
        _machines(facts),
        [_races(members) for members in by_pattern.values()],
        _compared(facts.simulated_rows),
        [_all_figures(machine, of_machine) for machine, of_machine in facts.simulated.items()],
    )


def _machines(facts: Facts) -> Element:
    rows = []
    for machine, of_machine in facts.simulated.items():
        launches = of_machine.launches
        ranks = [n for launch in launches if isinstance(n := (launch.header or {}).get("ranks"), int)]
        files = {str(((launch.header or {}).get("simulated") or {}).get("file", "")) for launch in launches}
        real = [number for launch in launches if (number := number_in(launch.envelope, "seconds")) is not None]
        names, most = ", ".join(sorted(Path(file).name for file in files if file)), plain_number(max(ranks, default=0))
        rows.append((machine, names, str(len(launches)), most, seconds(sum(real)) if real else "–"))
    heads = ("Machine", "File", "Launches", "Most ranks", "Real time of all launches")
    return scroll_table(heads, rows, "simulated machines")


def _races(races: Sequence[Race]) -> Element:
    first = races[0]
    names = naming({"machine": race.simulated, **race.work} for race in races)
    looks = looks_of(name for race in races for name in race.seconds)
    titles = [", ".join([str(race.simulated), *names.parts(race.work)]) for race in races]
    panels = [
        Panel(title, tuple(_series(race, name, looks[name]) for name in race.seconds), ())
        for title, race in zip(titles, races, strict=True)
    ]
    sizes = sorted({size for race in races for size in race.sizes})
    values = [value for race in races for of_choice in race.seconds.values() for value in of_choice.values()]
    axes = size_axes(first.axis, sizes, log_around(values, 1.25), "seconds, simulated", seconds)
    tag = "" if first.tag == first.study else f", {first.tag}"
    note = (
        f"Seconds of one operation.{names.constant_note} Fastest, where a lead below {first.margin:.0%} does not count:"
    )
    leads = [
        element("li", element("b", f"{heading(title)}: "), race.sentence)
        for title, race in zip(titles, races, strict=True)
        if race.leads
    ]
    return block(
        f"{pattern_title(first.pattern)} over {first.axis}, simulated: {first.study}{tag}",
        curve_legend(panels),
        small_multiples(axes, panels, "seconds, simulated"),
        remark(note),
        element("ul", leads, class_="crossings"),
    )


def _series(race: Race, name: str, look: int) -> Series:
    points = tuple(
        SeriesPoint(size, value, value, value, 1, f"{seconds(value)} on {counted(size, race.axis.removesuffix('s'))}")
        for size, value in race.seconds[name].items()
    )
    return Series(name, str(race.simulated), look, dashed=False, unit="seconds", points=points)


def _compared(rows: Sequence[JudgedRow]) -> Element | None:
    """The simulated rows of a comparison, beside the measured ones of the first sections."""
    if not rows:
        return None
    names = naming(row.factors for row in rows)
    body = []
    for row in rows:
        variant, metric = names.text(row.factors, without=["machine"]), metric_title(row.key.metric)
        title = pattern_title(row.key.pattern)
        body.append([row.simulated, title, variant, metric, ratio_text(row), badge(row.verdict)])
    heads = ("Machine", "Pattern", "Variant", "Metric", "New / reference", "Verdict")
    return block(
        "Compared, simulated",
        remark("The ratio of two simulated figures is exact: the verdict compares it with the margin, without a test."),
        scroll_table(heads, body, "simulated rows of the comparison", numbers=("New / reference",)),
    )


def _all_figures(machine: str, facts: Facts) -> Child:
    drawn: list[Child] = []
    for pattern in facts.patterns:
        drawn += [
            element("h3", f"{pattern_title(pattern)}, {heading(machine)}"),
            *(launch_dots(facts, group) for group in facts.alike(pattern)),
        ]
    return details(f"All figures {heading(machine)}", drawn) if drawn else None
