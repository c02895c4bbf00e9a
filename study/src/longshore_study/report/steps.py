"""The section of steps: the gains of an optimisation, with a bar in each cell."""

from collections.abc import Sequence
from itertools import groupby

from longshore_study.analyses import steps
from longshore_study.analyses.steps import StepCell, StepTable
from longshore_study.base import terminal
from longshore_study.base.texts import figure, name_text
from longshore_study.compare.contrast import Contrast
from longshore_study.metrics.launch_metrics import measure
from longshore_study.output.step_table import Notes, column_order, note_number, overall, shows_nothing, split_to_fit
from longshore_study.report.bounds import Bound, bound_for, bounds_text
from longshore_study.report.facts import Facts
from longshore_study.report.labels import NO_BREAK, levels_text, metric_title, pattern_title, value_text
from longshore_study.report.marks import bar, line
from longshore_study.report.markup import Child, Element, block, element, remark, section
from longshore_study.report.tables import scrolling

MAX_COLUMNS = 10
MAX_WIDE_COLUMNS = 8
"""Tables with more columns are printed smaller."""


def steps_section(facts: Facts) -> Element | None:
    problems: list[str] = []
    blocks = [
        _table_block(facts, side.name, table)
        for side in facts.stored_sides
        for source in steps.stepped_launches(side.launches, problems=problems)
        for table in steps.step_tables(source, measure(source.launches))
    ]
    if not blocks and not problems:
        return None
    warnings = [element("p", problem, class_="warning") for problem in problems]
    return section("steps", "What each step brought", blocks, warnings)


def _table_block(facts: Facts, side: str, table: StepTable) -> Element:
    figures = [f for f in facts.of_pattern(table.pattern) if f.side == side]
    bounds = [bound_for(facts, [f for f in figures if steps.agree(column, f.factors)]) for column in table.columns]
    values = [cell.value for row in table.cells for cell in row if cell.value is not None]
    high = max(values, default=1.0)
    # A bound far above the figures is not drawn, so that the bars have enough room.
    drawn_bounds = [bound if bound is not None and bound.value < 2 * high else None for bound in bounds]
    scale = max([high, *(bound.value for bound in drawn_bounds if bound is not None)])
    notes: Notes = {}
    parts = [_part(table, columns, drawn_bounds, scale, notes) for columns in split_to_fit(table, len, MAX_COLUMNS)]
    name = (
        f"{pattern_title(table.pattern)}: {metric_title(table.metric)}, {table.unit}" if table.unit else table.pattern
    )
    several = len({(launch.study, launch.tag) for launch in facts.launches}) > 1
    where = f" ({table.study}, {table.tag})" if several else ""
    return block(
        name + where,
        remark(_explanation(table, [bound for bound in drawn_bounds if bound is not None])),
        parts,
        element("ol", [element("li", text) for text in notes], class_="reasons note") if notes else None,
    )


def _explanation(table: StepTable, bounds: Sequence[Bound]) -> str:
    cells = [cell for row in table.cells for cell in row]
    gains = [cell.gain for cell in cells if cell.gain]
    text = "Each step adds to the steps before it. The bar is the geometric mean over launches. Its strong end is "
    text += "the gain over the step before, an empty frame the loss; ×N is N times the step before."
    if any(gain.interval for gain in gains):
        text += " Below it is the 95 % interval from launches; ~ where it includes 1: no change is shown."
    elif gains:
        text += " There are no intervals: " + "; ".join(sorted({g.why_no_interval for g in gains if g.why_no_interval}))
        text += "."
    if bounds:
        text += f" The stroke across a bar is {bounds_text(bounds)}."
    if any(cell.no_change for cell in cells):
        text += " “=”: the factors of the step cannot be chosen in this column."
    return text


def _part(
    table: StepTable, columns: Sequence[int], bounds: Sequence[Bound | None], scale: float, notes: Notes
) -> Element:
    chosen = [table.columns[index] for index in columns]
    shared, names = terminal.varying(chosen)
    names = column_order(names)
    title = levels_text(terminal.chosen({name: shared[name] for name in column_order(shared)}))
    rows = []
    previous: dict[int, StepCell] = {}
    for step, row in zip(table.steps, table.cells, strict=True):
        cells = [_cell(row[index], previous.get(index), bounds[index], scale, notes) for index in columns]
        rows.append(element("tr", element("th", step.name, scope="row"), cells))
        previous |= {index: row[index] for index in columns if row[index].value is not None}
    gains = [overall(table, index) for index in columns]
    if any(gains):
        total = [element("td", _gain(gain) if gain else None) for gain in gains]
        rows.append(element("tr", element("th", "all steps", scope="row"), total, class_="total"))
    style = "plain steps" + (" dense" if len(columns) > MAX_WIDE_COLUMNS else "")
    drawn = element("table", element("thead", _heads(chosen, names)), element("tbody", rows), class_=style)
    heading = element("h4", title) if title else None
    return element("div", heading, scrolling(drawn, f"steps, {title}" if title else "steps"))


def _heads(chosen: Sequence[steps.Factors], names: Sequence[str]) -> list[Element]:
    """A row per factor that distinguishes the columns. Neighbouring columns share a heading if
    their levels of this factor and of all factors above are equal."""
    rows = []
    texts = [[value_text(column[name]) if name in column else "" for name in names] for column in chosen]
    for depth, name in enumerate(names, 1):
        heads = [
            element("th", levels[-1].replace(" ", NO_BREAK) or "–", scope="col", colspan=str(len(list(members))))
            for levels, members in groupby(of_column[:depth] for of_column in texts)
        ]
        rows.append(element("tr", element("th", name_text(name), scope="col", class_="factor"), heads))
    return rows or [element("tr", element("th", "step", scope="col"), element("th", "", scope="col"))]


def _cell(cell: StepCell, previous: StepCell | None, bound: Bound | None, scale: float, notes: Notes) -> Element:
    if cell.value is None:
        why = cell.why or ""
        word = why.partition(":")[0] if ":" in why else "–"
        return element("td", word, _note(why, notes), class_="absent", title=why)
    texts: list[Child] = [element("b", figure(cell.value))]
    if cell.no_change:
        texts += [" ", element("span", "=", title=cell.no_change)]
    elif cell.gain:
        texts += [" ", _gain(cell.gain)]
    if cell.doubts:
        texts.append(element("span", " invalid?", _note("; ".join(cell.doubts), notes), class_="close"))
    tooltip = f"{figure(cell.value)}, geometric mean of {len(cell.figures)} launches" + (
        f"; against “{cell.against}”" if cell.against else ""
    )
    return element("td", _bar(cell.value, previous.value if previous else None, bound, scale), texts, title=tooltip)


def _note(text: str, notes: Notes) -> Element:
    return element("sup", str(note_number(text, notes)))


def _bar(value: float, previous: float | None, bound: Bound | None, scale: float) -> Element:
    common = min(value, previous) if previous is not None else value
    marks: list[Child] = [bar(0.0, common / scale, "base")]
    if previous is not None and value > previous:
        marks.append(bar(common / scale, value / scale, "gained"))
    elif previous is not None and value < previous:
        marks.append(bar(common / scale, previous / scale, "lost"))
    if bound is not None:
        marks.append(line(bound.value / scale, 0, bound.value / scale, 1, "bound"))
    # Hidden from screen readers: the numbers beside the bar say the same.
    return element("svg", marks, class_="strip", aria_hidden="true")


def _gain(gain: Contrast) -> list[Child]:
    undecided = shows_nothing(gain)
    ratio = f"{'~' if undecided else ''}×{gain.ratio:.2f}"
    parts: list[Child] = [element("span", ratio, class_="gain faint" if undecided else "gain")]
    if gain.interval:
        low, high = gain.interval
        parts.append(element("span", f"{low:.2f} to {high:.2f}", class_="interval-text"))
    return parts
