"""The gain of each step of an optimisation: the steps of a study (step_reader.py) with its figures.

A table has a row per step and a column per combination of the factors that no step names. A cell
without a figure gives the reason, so everything that the study planned is in the table.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import geometric_mean
from typing import Any

from longshore_study.base.errors import LongshoreError
from longshore_study.base.json_values import canonical
from longshore_study.compare import contrast
from longshore_study.compare.contrast import Contrast
from longshore_study.metrics.launch_metrics import Figure, Measurements, pattern_rank
from longshore_study.store.launch_store import Launch
from longshore_study.study_file.study import Step, Study

Factors = dict[str, Any]
NOT_PLANNED = "not part of the study"
NOT_YET = "not measured yet"
NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class StepCell:
    """One step in one column."""

    figures: list[Figure] = field(default_factory=list)
    why: str | None = None
    """The reason why there is no figure."""
    no_change: str | None = None
    """The reason why the step changes nothing: its factors do not exist in this column."""
    against: str | None = None
    """The step to which the gain is relative: the one before that has figures."""
    gain: Contrast | None = None
    overall: Contrast | None = None
    """The gain relative to the first step that has figures."""

    @property
    def value(self) -> float | None:
        """The geometric mean over launches, so that a gain is the ratio of two values."""
        return geometric_mean(f.value for f in self.figures) if self.figures else None

    @property
    def spread(self) -> tuple[float, float] | None:
        values = [f.value for f in self.figures]
        return (min(values), max(values)) if values else None

    @property
    def doubts(self) -> list[str]:
        return sorted({f.above for f in self.figures if f.above})


@dataclass(frozen=True)
class StepTable:
    study: str
    tag: str
    pattern: str
    metric: str
    unit: str
    steps: tuple[Step, ...]
    columns: list[Factors]
    cells: list[list[StepCell]]
    """By step, then by column."""


@dataclass(frozen=True)
class SteppedLaunches:
    """The launches of one study and tag, with their steps."""

    study: str
    tag: str
    launches: list[Launch]
    steps: tuple[Step, ...]
    planned: list[Factors]
    """All combinations that the study file asks for; empty without a file."""


def stepped_launches(
    launches: Iterable[Launch], given: Study | None = None, problems: list[str] | None = None
) -> list[SteppedLaunches]:
    """The launches of each study and tag that has steps.

    The steps come from `given`, else from the copy of the study file beside the launches, else from
    an importer. A copy that cannot be read is reported in `problems`.
    """
    groups: dict[tuple[str, str], list[Launch]] = {}
    for launch in launches:
        groups.setdefault((launch.study, launch.tag), []).append(launch)
    found = []
    for (study_name, tag), members in groups.items():
        study = given if given is not None and given.name == study_name else None
        try:
            study = study or _kept_study(members)
            planned = _planned(study) if study else []
        except LongshoreError as error:
            if problems is not None:
                problems.append(f"the steps of {study_name} are not known: {error}")
            continue
        steps = study.steps if study else _imported_steps(members, problems)
        if steps:
            found.append(SteppedLaunches(study_name, tag, members, steps, planned))
    return found


def step_tables(source: SteppedLaunches, measured: Measurements) -> list[StepTable]:
    """A table for each pattern with steps. REQUIRES: `measured` is of the launches of `source`."""
    patterns = sorted({step.pattern for step in source.steps}, key=pattern_rank)
    return [table for pattern in patterns if (table := _table(source, measured, pattern)) is not None]


def _table(source: SteppedLaunches, measured: Measurements, pattern: str) -> StepTable | None:
    steps = tuple(step for step in source.steps if step.pattern == pattern)
    known = _Known(source, measured, pattern, {factor for step in steps for factor in step.levels})
    columns = known.columns()
    if not columns:
        return None
    cells = _with_gains(steps, [[known.cell(step, column) for column in columns] for step in steps])
    return StepTable(source.study, source.tag, pattern, known.metric, known.unit, steps, columns, cells)


class _Known:
    """The figures of one pattern by column, and the reasons where there are none."""

    def __init__(self, source: SteppedLaunches, measured: Measurements, pattern: str, named: set[str]) -> None:
        self.named = named
        """The factors that the steps name; all others form the columns."""
        mine = [f for f in measured.figures if f.key.pattern == pattern and f.main]
        self.metric, self.unit = (mine[0].key.metric, mine[0].unit) if mine else ("", "")
        self.figures: dict[str, list[tuple[Factors, Figure]]] = {}
        for figure in mine:
            factors = figure.key.shown_factors
            self.figures.setdefault(canonical(self.rest(factors)), []).append((factors, figure))
        self.absent = [(key.shown_factors, reason) for key, reason in measured.absent.items() if key.pattern == pattern]
        self.failed = [(factors, _problem(launch)) for launch in measured.failed for factors in _asked(launch, pattern)]
        self.planned = [without_pattern(factors) for factors in source.planned if factors.get("program") == pattern]

    def rest(self, factors: Factors) -> Factors:
        return {name: value for name, value in factors.items() if name not in self.named}

    def columns(self) -> list[Factors]:
        """The columns in the order of the study file.

        Results have more factors (the defaults) than the study file names. A planned column is
        therefore the column of the results with which it agrees.
        """
        seen: dict[str, Factors] = {}
        for factors, _ in (*itertools.chain.from_iterable(self.figures.values()), *self.absent):
            rest = self.rest(factors)
            seen.setdefault(canonical(rest), rest)
        ordered: dict[str, Factors] = {}
        for asked in (*self.planned, *(factors for factors, _ in self.failed)):
            rest = self.rest(asked)
            if canonical(rest) not in ordered:
                fitting = [column for column in seen.values() if agree(column, rest)]
                ordered |= {canonical(column): column for column in fitting or [rest]}
        return list((ordered | seen).values())

    def cell(self, step: Step, column: Factors) -> StepCell:
        found = [f for factors, f in self.figures.get(canonical(column), ()) if agree(factors, step.levels)]
        if found:
            lacking = [name for name in step.changes if name not in found[0].key.factors]
            all_lack = len(lacking) == len(step.changes)
            return StepCell(found, no_change=f"{' and '.join(lacking)} cannot be chosen here" if all_lack else None)
        for factors, reason in (*self.absent, *self.failed):
            if agree(factors, step.levels) and agree(self.rest(factors), column):
                return StepCell(why=reason)
        asked = any(agree(factors, step.levels) and agree(self.rest(factors), column) for factors in self.planned)
        return StepCell(why=NOT_YET if asked else NOT_PLANNED if self.planned else NOT_MEASURED)


def _with_gains(steps: Sequence[Step], cells: list[list[StepCell]]) -> list[list[StepCell]]:
    """Adds the gains of all cells at once, so that their variances are moderated together."""
    gains: list[tuple[int, int, StepCell]] = []
    overall: list[tuple[int, int, StepCell]] = []
    against: dict[tuple[int, int], str] = {}
    for column in range(len(cells[0])):
        measured = [row for row in range(len(steps)) if cells[row][column].figures]
        for former, latter in itertools.pairwise(measured):
            against[latter, column] = steps[former].name
            if cells[latter][column].no_change is None:
                gains.append((latter, column, cells[former][column]))
        if len(measured) > 1:
            overall.append((measured[-1], column, cells[measured[0]][column]))

    def contrasts(places: Sequence[tuple[int, int, StepCell]]) -> dict[tuple[int, int], Contrast | None]:
        pairs = [(former.figures, cells[row][column].figures) for row, column, former in places]
        return {(row, column): one for (row, column, _), one in zip(places, contrast.contrasts(pairs), strict=True)}

    # Separately, because the gain of all steps is not independent of the gains of single steps.
    gain, whole = contrasts(gains), contrasts(overall)
    return [
        [replace(cell, against=against.get(at), gain=gain.get(at), overall=whole.get(at))
         for column, cell in enumerate(line) for at in [(row, column)]]
        for row, line in enumerate(cells)
    ]  # fmt: skip


def agree(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two sets of factors have the same levels in the factors that both have."""
    return all(other[name] == value for name, value in one.items() if name in other)


def without_pattern(factors: Mapping[str, Any]) -> Factors:
    """The factors without those that name the pattern."""
    return {name: value for name, value in factors.items() if name not in ("program", "pattern")}


def _asked(launch: Launch, pattern: str) -> Iterator[Factors]:
    """The variants that a launch was asked to measure, also if it failed."""
    if launch.cell.get("program") == pattern:
        within = launch.envelope.get("within") or {}
        for levels in itertools.product(*within.values()):
            yield without_pattern({**launch.cell, **dict(zip(within, levels, strict=True))})


def _problem(launch: Launch) -> str:
    return "failed: " + (launch.problem or "").removeprefix(f"{launch.path}: ")


def _planned(study: Study) -> list[Factors]:
    from longshore_study.planning.plan import make_plan  # noqa: PLC0415 - imported figures have none

    return [
        {**cell.factors, **dict(zip(cell.within, levels, strict=True))}
        for cell in make_plan(study).cells
        for levels in itertools.product(*cell.within.values())
    ]


def _kept_study(launches: Sequence[Launch]) -> Study | None:
    """The study file of the latest launch, from the copy in the folder of its session."""
    known = [launch for launch in launches if (launch.envelope.get("study_file") or {}).get("digest")]
    for launch in sorted(known, key=lambda one: str(one.envelope.get("started") or ""), reverse=True):
        path = launch.path.parent / f"study-{launch.envelope['study_file']['digest']}.toml"
        if path.exists():
            from longshore_study.study_file import reader  # noqa: PLC0415 - imported launches have none

            return reader.load(path)
    return None


def _imported_steps(launches: Sequence[Launch], problems: list[str] | None) -> tuple[Step, ...]:
    """The steps that an importer wrote into the envelopes, in their order."""
    steps: dict[str, Step] = {}
    for launch in launches:
        for one in launch.envelope.get("steps") or ():
            try:
                levels = dict(one["levels"])
                steps.setdefault(str(one["name"]), Step(str(one["name"]), str(one["pattern"]), levels, levels))
            except (KeyError, TypeError, ValueError):
                if problems is not None:
                    problems.append(f"{launch.path}:1: not a step, and not used: {one!r:.80}")
    return tuple(steps.values())
