"""The gain of each step of an optimisation. A step ([[step]] in a study file, step_reader.py) is a
named stage of the work on a pattern: it changes levels of some factors, and keeps the changes of
the steps before it. A table has a row for each step and a column for each combination of the
factors that no step names. A cell without a figure has a reason."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import geometric_mean
from typing import Any

from longshore_study.base.errors import LongshoreError
from longshore_study.base.groups import combinations_of, grouped
from longshore_study.base.json_values import canonical
from longshore_study.compare import contrast
from longshore_study.compare.contrast import Contrast
from longshore_study.metrics.launch_metrics import Figure, Measurements
from longshore_study.patterns import pattern_rank
from longshore_study.store.launch_store import Launch
from longshore_study.study_file.study import Step, Study

Factors = dict[str, Any]
Position = tuple[int, int]
"""The row and the column of a cell."""
NOT_PLANNED = "not part of the study"
NOT_YET = "not measured yet"
NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class StepCell:
    """The figures of a step in a column of a StepTable, or the reason why there are none."""

    figures: list[Figure] = field(default_factory=list)
    why: str | None = None
    no_change: str | None = None
    """Why the step changes nothing in this column: the figures lack its factors."""
    against: str | None = None
    """The previous step with figures, to which `gain` is relative."""
    gain: Contrast | None = None
    overall: Contrast | None = None
    """The gain over the first step with figures. Only the cell of the last such step has it."""

    @property
    def value(self) -> float | None:
        return geometric_mean(f.value for f in self.figures) if self.figures else None

    @property
    def spread(self) -> tuple[float, float] | None:
        values = [f.value for f in self.figures]
        return (min(values), max(values)) if values else None

    @property
    def doubts(self) -> list[str]:
        return sorted({f.why_implausible for f in self.figures if f.why_implausible})


@dataclass(frozen=True)
class StepTable:
    """The gains of the steps of a study: `cells` has a list per step, with a cell per column."""

    study: str
    tag: str
    pattern: str
    metric: str
    unit: str
    steps: tuple[Step, ...]
    columns: list[Factors]
    cells: list[list[StepCell]]
    simulated: str | None = None
    per: str = ""


@dataclass(frozen=True)
class SteppedLaunches:
    """The launches of one study and tag, with the steps of the study."""

    study: str
    tag: str
    launches: list[Launch]
    steps: tuple[Step, ...]
    planned: list[Factors]
    """All combinations of levels that the study file requests; empty without a study file."""
    simulated: str | None = None


def stepped_launches(
    launches: Iterable[Launch], problems: list[str], given: Study | None = None
) -> list[SteppedLaunches]:
    """The launches of each study and tag with steps.

    The steps come from the first of these that has steps: `given`, the copy of the study file
    beside the launches, an importer. If a copy cannot be read, the reason is added to `problems`.
    """
    groups = grouped(launches, lambda launch: (launch.study, launch.tag, launch.simulated))
    with_steps = []
    for (study_name, tag, simulated), members in groups.items():
        study = given if given is not None and given.name == study_name else None
        try:
            study = study or _kept_study(members)
            machine = simulated.rpartition(" ")[0] if simulated is not None else None
            planned = [cell for cell in (_planned(study) if study else []) if cell.get("machine") == machine]
        except LongshoreError as error:
            problems.append(f"the steps of {study_name} are not known: {error}")
            continue
        steps = study.steps if study else _imported_steps(members, problems)
        if steps:
            with_steps.append(SteppedLaunches(study_name, tag, members, steps, planned, simulated))
    return with_steps


def step_tables(stepped: SteppedLaunches, measured: Measurements) -> list[StepTable]:
    """A table for each pattern with steps. REQUIRES: `measured` holds the figures of `stepped`."""
    patterns = sorted({step.pattern for step in stepped.steps}, key=pattern_rank)
    return [table for pattern in patterns if (table := _table(stepped, measured, pattern)) is not None]


def _table(stepped: SteppedLaunches, measured: Measurements, pattern: str) -> StepTable | None:
    steps = tuple(step for step in stepped.steps if step.pattern == pattern)
    results = _PatternResults(stepped, measured, pattern, {factor for step in steps for factor in step.levels})
    columns = results.columns()
    if not columns:
        return None
    cells = _with_gains(steps, [[results.cell(step, column) for column in columns] for step in steps])
    names = (stepped.study, stepped.tag, pattern, results.metric, results.unit)
    return StepTable(*names, steps, columns, cells, stepped.simulated, results.per)


class _PatternResults:
    """What was measured and planned for one pattern: the columns and cells, without gains."""

    def __init__(self, stepped: SteppedLaunches, measured: Measurements, pattern: str, step_factors: set[str]) -> None:
        self.step_factors = step_factors
        """The factors that the steps name. The other factors form the columns."""
        figures = [f for f in measured.figures if f.key.pattern == pattern and f.main]
        self.metric, self.unit, self.per = "", "", ""
        if figures:
            self.metric, self.unit, self.per = figures[0].key.metric, figures[0].unit, figures[0].per
        self.figures: dict[str, list[tuple[Factors, Figure]]] = {}
        """The figures with their factors, by column in canonical form."""
        for figure in figures:
            factors = figure.key.shown_factors
            self.figures.setdefault(canonical(self.column_of(factors)), []).append((factors, figure))
        self.absent = [(key.shown_factors, reason) for key, reason in measured.absent.items() if key.pattern == pattern]
        self.failed = [
            (factors, "failed: " + (launch.problem or "").removeprefix(f"{launch.path}: "))
            for launch in measured.failed
            for factors in _requested(launch, pattern)
        ]
        self.planned = [
            without_program_and_pattern(factors) for factors in stepped.planned if factors.get("program") == pattern
        ]

    def column_of(self, factors: Factors) -> Factors:
        """The column to which a variant belongs: its factors that no step names."""
        return {name: value for name, value in factors.items() if name not in self.step_factors}

    def columns(self) -> list[Factors]:
        """First the planned columns in the order of the study file, then the columns of failed
        launches, then the other columns of results.

        Results have more factors than the study file names. So columns of results replace each
        planned or failed column with which they agree. A column without such results stays.
        """
        with_results: dict[str, Factors] = {}
        for factors, _ in (*itertools.chain.from_iterable(self.figures.values()), *self.absent):
            column = self.column_of(factors)
            with_results.setdefault(canonical(column), column)
        ordered: dict[str, Factors] = {}
        for requested in (*self.planned, *(factors for factors, _ in self.failed)):
            requested_column = self.column_of(requested)
            if canonical(requested_column) not in ordered:
                agreeing = [column for column in with_results.values() if agree(column, requested_column)]
                ordered |= {canonical(column): column for column in agreeing or [requested_column]}
        return list((ordered | with_results).values())

    def cell(self, step: Step, column: Factors) -> StepCell:
        """The figures of the cell, or the first reason that applies: a result is absent; a launch
        failed; without a known plan NOT_MEASURED, else NOT_YET or NOT_PLANNED."""
        figures = [f for factors, f in self.figures.get(canonical(column), ()) if agree(factors, step.levels)]
        if figures:
            lacking = [name for name in step.changes if name not in figures[0].key.factors]
            lacks_all = len(lacking) == len(step.changes)
            return StepCell(figures, no_change=f"{' and '.join(lacking)} cannot be chosen here" if lacks_all else None)
        for factors, reason in (*self.absent, *self.failed):
            if self._in_cell(factors, step, column):
                return StepCell(why=reason)
        if not self.planned:
            return StepCell(why=NOT_MEASURED)
        is_planned = any(self._in_cell(factors, step, column) for factors in self.planned)
        return StepCell(why=NOT_YET if is_planned else NOT_PLANNED)

    def _in_cell(self, factors: Factors, step: Step, column: Factors) -> bool:
        return agree(factors, step.levels) and agree(self.column_of(factors), column)


def _with_gains(steps: Sequence[Step], cells: list[list[StepCell]]) -> list[list[StepCell]]:
    """Adds the gains to the cells. The variances of the gains of single steps are moderated
    together. Those of overall gains, which depend on them, are moderated apart."""
    earlier_rows: dict[Position, int] = {}  # by the position of the later cell
    first_rows: dict[Position, int] = {}  # by the position of the last cell of a column
    for column in range(len(cells[0])):
        rows = [row for row in range(len(steps)) if cells[row][column].figures]
        earlier_rows |= {(later, column): earlier for earlier, later in itertools.pairwise(rows)}
        if len(rows) > 1:
            first_rows[rows[-1], column] = rows[0]

    def contrasts(bases: Mapping[Position, int]) -> dict[Position, Contrast | None]:
        pairs = [(cells[base][column].figures, cells[row][column].figures) for (row, column), base in bases.items()]
        return dict(zip(bases, contrast.contrasts(pairs), strict=True))

    def with_gains(at: Position, cell: StepCell) -> StepCell:
        against = steps[earlier_rows[at]].name if at in earlier_rows else None
        return replace(cell, against=against, gain=gains.get(at), overall=overall.get(at))

    changing = {(row, column): base for (row, column), base in earlier_rows.items() if not cells[row][column].no_change}
    gains, overall = contrasts(changing), contrasts(first_rows)
    return [
        [with_gains((row, column), cell) for column, cell in enumerate(of_step)] for row, of_step in enumerate(cells)
    ]


def agree(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    """Whether two sets of factors have the same levels in their common factors."""
    return all(second[name] == value for name, value in first.items() if name in second)


def without_program_and_pattern(factors: Mapping[str, Any]) -> Factors:
    return {name: value for name, value in factors.items() if name not in ("program", "pattern")}


def _requested(launch: Launch, pattern: str) -> Iterator[Factors]:
    """The variants that the launch had to measure, even if the launch failed."""
    if launch.cell.get("program") == pattern:
        for levels in combinations_of(launch.envelope.get("within") or {}):
            yield without_program_and_pattern({**launch.cell, **levels})


def _planned(study: Study) -> list[Factors]:
    """All combinations of levels that the study file requests."""
    from longshore_study.planning.plan import make_plan  # noqa: PLC0415 - imported figures have none

    return [{**cell.factors, **levels} for cell in make_plan(study).cells for levels in combinations_of(cell.within)]


def _kept_study(launches: Sequence[Launch]) -> Study | None:
    """The study of the latest launch, from the copy of the study file beside the launch."""
    for launch in sorted(launches, key=lambda launch: str(launch.envelope.get("started") or ""), reverse=True):
        if path := launch.study_file:
            from longshore_study.study_file import reader  # noqa: PLC0415 - imported launches have none

            return reader.load(path)
    return None


def _imported_steps(launches: Sequence[Launch], problems: list[str]) -> tuple[Step, ...]:
    """The steps that an importer wrote into the envelopes, in their order."""
    steps: dict[str, Step] = {}
    for launch in launches:
        for table in launch.envelope.get("steps") or ():
            try:
                name, levels = str(table["name"]), dict(table["levels"])
                steps.setdefault(name, Step(name, str(table["pattern"]), levels, levels))
            except (KeyError, TypeError, ValueError):
                problems.append(f"{launch.path}:1: not a step, and not used: {table!r:.80}")
    return tuple(steps.values())
