"""Checks guidelines on the launches of one tag or study. A guideline says that a variant is not
slower than another variant that could always replace it (self-consistent performance guidelines:
Traeff, Gropp and Thakur 2010). Guidelines need no history. contrast.py chooses what is compared."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from longshore_study.base.errors import EXIT_INVALID, EXIT_OK, EXIT_REGRESSED, EXIT_UNDECIDED, LongshoreError
from longshore_study.base.json_values import canonical
from longshore_study.compare.contrast import BY_SESSION, effect_of, moderated_errors
from longshore_study.compare.estimate import metric_ratio
from longshore_study.compare.row_effect import overlapping
from longshore_study.metrics.launch_metrics import Figure, Measurements, measure, one_simulated_machine
from longshore_study.patterns import PATTERNS, pattern_rank
from longshore_study.patterns.pattern import Guideline
from longshore_study.stats import multiplicity, verdict
from longshore_study.stats.effect import Effect
from longshore_study.store.selection import Side

BUILT_IN = tuple(
    replace(guideline, pattern=pattern.name) for pattern in PATTERNS.values() for guideline in pattern.guidelines
)
"""Study files add their own guidelines."""


def of_study_files(side: Side, warnings: list[str]) -> list[Guideline]:
    """The guidelines in the copies of the study files. Adds a warning for an unreadable copy."""
    found: list[Guideline] = []
    for path in dict.fromkeys(path for launch in side.launches if (path := launch.study_file)):
        from longshore_study.study_file import reader  # noqa: PLC0415 - imported launches have none

        try:
            study = reader.load(path)
        except LongshoreError as error:
            warnings.append(f"the guidelines of {path} are not used: {error}")
            continue
        found += study.guidelines
    return found


def last_of_each(guidelines: Iterable[Guideline]) -> list[Guideline]:
    """The last guideline for each pair of variants, so that a study can change the tolerance of a
    built-in guideline. A guideline without a reason gets the reason of the replaced guideline."""
    last: dict[tuple[str, str], Guideline] = {}
    for guideline in guidelines:
        key = (canonical(guideline.faster), canonical(guideline.than))
        replaced = last.get(key)
        last[key] = replace(guideline, why=replaced.why) if replaced and not guideline.why else guideline
    return list(last.values())


BROKEN, HOLDS = "broken", "holds"  # slower than the tolerance allows, or not slower: each at the level of 5 %
STATISTIC = "geometric mean over what was compared: launches or sessions"
_ORDER = (BROKEN, verdict.UNTESTABLE, verdict.INCONCLUSIVE, HOLDS)


@dataclass(frozen=True)
class GuidelineRow:
    """One guideline, checked on one pair of variants."""

    guideline: Guideline
    study: str
    pattern: str
    metric: str
    context: dict[str, Any]
    """The factors in which both variants agree."""
    unit: str
    better: str
    values: tuple[float, ...]
    """The figures of `faster` and `than`: geometric means over the launches that have both."""
    effect: Effect
    compared: str
    """What was compared: a launch with itself, launches in turns, or sessions."""
    verdict: str = verdict.UNTESTABLE
    interval: tuple[float, float] | None = None
    """The 95 % interval of the difference of logarithms, positive if `faster` is better."""
    p: float | None = None
    adjusted_p: float | None = None
    warnings: tuple[str, ...] = ()
    per: str = ""
    simulated: str | None = None
    """The simulated machine of both variants. Its figures have no noise, so the ratio is exact."""

    @property
    def ratio(self) -> float:
        """`faster` / `than` of the metric: the ratio of the two values."""
        return metric_ratio(self.effect.difference, self.better)

    @property
    def times_slower(self) -> float:
        """Above 1 if the variant `faster` is slower than the variant `than`, also for latencies."""
        return metric_ratio(self.effect.difference, "lower")

    @property
    def holds(self) -> bool | None:
        """None if the data do not decide."""
        return {HOLDS: True, BROKEN: False}.get(self.verdict)


@dataclass(frozen=True)
class GuidelineFindings:
    side: Side
    rows: list[GuidelineRow]
    problems: list[str]
    failed: int
    """The number of launches that failed or are damaged."""

    @property
    def exit_status(self) -> int:
        verdicts = {row.verdict for row in self.rows}
        if BROKEN in verdicts:
            return EXIT_REGRESSED
        if self.failed:
            return EXIT_INVALID
        return EXIT_UNDECIDED if verdicts & {verdict.INCONCLUSIVE, verdict.UNTESTABLE} else EXIT_OK


def check(side: Side, more: Iterable[Guideline] = ()) -> GuidelineFindings:
    """Checks the built-in guidelines, those of the study files, and `more`."""
    warnings: list[str] = []
    chosen = [*BUILT_IN, *of_study_files(side, warnings), *more]
    # Sessions of two tags stay apart.
    measured = measure(replace(launch, session=f"{launch.tag}/{launch.session}") for launch in side.launches)
    if not measured.figures:
        raise LongshoreError(f"'{side.name}' has no usable figure" + "".join(f"; {p}" for p in measured.problems[:1]))
    rows = _judged([row for guideline in last_of_each(chosen) for row in _rows(guideline, measured)])
    rows.sort(key=lambda row: (pattern_rank(row.pattern), _ORDER.index(row.verdict), row.effect.difference))
    return GuidelineFindings(side, rows, warnings + measured.problems, len(measured.failed))


def _rows(guideline: Guideline, measured: Measurements) -> list[GuidelineRow]:
    groups: dict[tuple[str, str, str, str], tuple[list[Figure], list[Figure]]] = defaultdict(lambda: ([], []))
    for figure in measured.figures:
        key = figure.key
        if guideline.pattern not in (None, key.pattern):
            continue
        factors = key.factors
        for side, wanted in enumerate((guideline.faster, guideline.than)):
            if all(name in factors and factors[name] == value for name, value in wanted.items()):
                context = canonical(_context(guideline, figure))
                groups[key.study, key.pattern, key.metric, context][side].append(figure)
    return [row for faster, than in groups.values() if faster and than and (row := _row(guideline, faster, than))]


def _context(guideline: Guideline, figure: Figure) -> dict[str, Any]:
    named = {"pattern", *guideline.faster, *guideline.than}
    return {name: value for name, value in figure.key.factors.items() if name not in named}


def _row(guideline: Guideline, faster: Sequence[Figure], than: Sequence[Figure]) -> GuidelineRow | None:
    """The row before it is judged. None if no launch and no session has both variants."""
    simulated = one_simulated_machine((*faster, *than), f"the guideline of {guideline.faster} and {guideline.than}")
    compared_effect = effect_of(than, faster, _in_turns(than, faster))
    if compared_effect is None:
        return None
    compared, found, (than_values, faster_values) = compared_effect
    apart = ("the variants were measured in different launches: sessions are compared",)
    warnings = apart if compared == BY_SESSION and not simulated else ()
    first = faster[0]
    sign = -1.0 if first.better == "lower" else 1.0
    values = tuple(math.exp(sign * fmean(side.values())) for side in (faster_values, than_values))
    key, context = first.key, _context(guideline, first)
    names = (key.study, key.pattern, key.metric, context, first.unit, first.better)
    return GuidelineRow(
        guideline, *names, values, found, compared, per=first.per, warnings=warnings, simulated=simulated
    )


def _in_turns(*sides: Iterable[Figure]) -> frozenset[str]:
    """The sessions in which the variants ran in turns; imported launches have no known order."""
    return overlapping(
        *([(f.session, f.started) for f in figures if f.started is not None and not f.imported] for figures in sides)
    )


def _judged(rows: list[GuidelineRow]) -> list[GuidelineRow]:
    """The rows with verdicts. The p values are corrected over all rows."""
    for index, row in enumerate(rows):
        if row.simulated:  # its ratio is exact
            broken = row.effect.difference < -math.log1p(row.guideline.tolerance)
            rows[index] = replace(row, verdict=BROKEN if broken else HOLDS)
    tested = {index: (row.compared, row.effect) for index, row in enumerate(rows) if not row.simulated}
    measured: dict[int, verdict.Measured] = {}
    for index, error in moderated_errors(tested).items():
        row = rows[index]
        if error is None:
            unit, units = ("session", "sessions") if row.compared == BY_SESSION else ("launch", "launches")
            why = f"one {unit}: the data do not show how much {units} differ"
            rows[index] = replace(row, warnings=(*row.warnings, why))
        elif error.variance == 0.0:
            why = "figures do not vary at all between launches: was one file stored twice?"
            rows[index] = replace(row, warnings=(*row.warnings, why))
        else:
            measured[index] = verdict.Measured(row.effect.difference, error.se, error.df)
    limits = [math.log1p(rows[index].guideline.tolerance) for index in measured]
    p_values = [
        min(1.0, 2.0 * verdict.slower_than(row, limit)) for row, limit in zip(measured.values(), limits, strict=True)
    ]
    adjusted = multiplicity.benjamini_hochberg(p_values)
    for (index, found), limit, p, adjusted_p in zip(measured.items(), limits, p_values, adjusted, strict=True):
        if adjusted_p <= verdict.LEVEL:
            word = BROKEN
        else:
            word = HOLDS if verdict.not_slower_than(found, limit) <= verdict.LEVEL else verdict.INCONCLUSIVE
        rows[index] = replace(rows[index], verdict=word, interval=found.interval, p=p, adjusted_p=adjusted_p)
    return rows
