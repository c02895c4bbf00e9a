"""Checks guidelines on the launches of one tag or study.

The two variants of a guideline are compared within the launch that measured both, otherwise in
launches that ran in turns: the launch is then the unit of replication. Sessions are compared only
where neither exists. A guideline is *broken* when the slowdown is larger than its tolerance, and
*holds* when it is smaller, both at 5 %.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from longshore_study.base.errors import EXIT_INVALID, EXIT_OK, EXIT_REGRESSED, EXIT_UNDECIDED, LongshoreError
from longshore_study.base.json_values import canonical
from longshore_study.compare.contrast import BY_SESSION, IN_TURNS, WITHIN_LAUNCH
from longshore_study.compare.estimate import ratio
from longshore_study.compare.guidelines import BUILT_IN, last_of_each, of_study_files
from longshore_study.compare.row_effect import overlapping
from longshore_study.metrics.launch_metrics import Figure, Measurements, measure, pattern_rank
from longshore_study.stats import effect, moderated, multiplicity, verdict
from longshore_study.stats.effect import Effect
from longshore_study.store.selection import Side
from longshore_study.study_file.study import Guideline

BROKEN, HOLDS = "broken", "holds"
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
    values: tuple[float, float]
    """The figures of `faster` and `than`: geometric means over the launches that have both."""
    effect: Effect
    compared: str
    """What was compared: a launch with itself, launches in turns, or sessions."""
    verdict: str = verdict.UNTESTABLE
    interval: tuple[float, float] | None = None
    """95 %, of the difference of logarithms of goodness."""
    p: float | None = None
    adjusted_p: float | None = None
    warnings: tuple[str, ...] = ()

    @property
    def ratio(self) -> float:
        """`faster` / `than` of the metric: the ratio of the two values."""
        return ratio(self.effect.difference, self.better)

    @property
    def times_slower(self) -> float:
        """Above 1 where `faster` is the slower one, for latencies too."""
        return ratio(self.effect.difference, "lower")

    @property
    def holds(self) -> bool | None:
        """None where the data do not decide."""
        return {HOLDS: True, BROKEN: False}.get(self.verdict)


@dataclass(frozen=True)
class GuidelineFindings:
    side: Side
    rows: list[GuidelineRow]
    problems: list[str]
    failed: int
    """The number of launches that failed or are damaged: their data is missing."""

    @property
    def exit_status(self) -> int:
        found = {row.verdict for row in self.rows}
        if BROKEN in found:
            return EXIT_REGRESSED
        if self.failed:
            return EXIT_INVALID
        return EXIT_UNDECIDED if found & {verdict.INCONCLUSIVE, verdict.UNTESTABLE} else EXIT_OK


def check(
    side: Side, guidelines: Iterable[Guideline] | None = None, more: Iterable[Guideline] = ()
) -> GuidelineFindings:
    """Checks every guideline on every pair of variants that it covers.

    `guidelines`: by default the built-in ones and those of the study; `more` is added to the
    default.
    """
    warnings: list[str] = []
    chosen = list(guidelines) if guidelines is not None else [*BUILT_IN, *of_study_files(side, warnings), *more]
    measured = measure(side.launches)
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
    return [
        row
        for (study, _, _, _), (faster, than) in groups.items()
        if faster and than and (row := _row(guideline, study, faster, than))
    ]


def _context(guideline: Guideline, figure: Figure) -> dict[str, Any]:
    named = {"pattern", *guideline.faster, *guideline.than}
    return {name: value for name, value in figure.key.factors.items() if name not in named}


def _row(guideline: Guideline, study: str, faster: Sequence[Figure], than: Sequence[Figure]) -> GuidelineRow | None:
    """Not judged yet; None where no launch and no session has both variants."""
    warnings: tuple[str, ...] = ()
    compared = WITHIN_LAUNCH
    sides = [_means(figures, by_launch=True) for figures in (faster, than)]
    shared = sides[0].keys() & sides[1].keys()
    if shared:
        found = effect.paired({k: sides[1][k] for k in shared}, {k: sides[0][k] for k in shared})
    else:
        launches = [_launches_of_sessions(figures) for figures in (faster, than)]
        sides = [_means(figures, by_launch=False) for figures in (faster, than)]
        shared = sides[0].keys() & sides[1].keys()
        if not shared:
            return None
        if shared <= _in_turns(than, faster) and all(len(side[k]) > 1 for side in launches for k in shared):
            compared = IN_TURNS
            found = effect.stratified(*({k: side[k] for k in shared} for side in reversed(launches)))
        else:
            compared = BY_SESSION
            warnings = ("the variants were measured in different launches: sessions are compared",)
            found = effect.paired({k: sides[1][k] for k in shared}, {k: sides[0][k] for k in shared})
    first = faster[0]
    sign = -1.0 if first.better == "lower" else 1.0
    value, other = (math.exp(sign * math.fsum(side[k] for k in shared) / len(shared)) for side in sides)
    return GuidelineRow(
        guideline,
        study,
        first.key.pattern,
        first.key.metric,
        _context(guideline, first),
        first.unit,
        first.better,
        (value, other),
        found,
        compared,
        warnings=warnings,
    )


def _session(figure: Figure) -> str:
    return f"{figure.tag}/{figure.session}"


def _launches_of_sessions(figures: Iterable[Figure]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for figure in figures:
        found[_session(figure)][figure.launch] = figure.goodness
    return found


def _in_turns(*sides: Iterable[Figure]) -> frozenset[str]:
    """Leaves imported sessions out: the order in which their launches ran is not known."""
    starts: list[dict[str, list[str]]] = []
    for figures in sides:
        times: dict[str, list[str]] = defaultdict(list)
        for figure in figures:
            if figure.started is not None and not figure.imported:
                times[_session(figure)].append(figure.started)
        starts.append(times)
    return overlapping(*starts)


def _means(figures: Iterable[Figure], *, by_launch: bool) -> dict[str, float]:
    groups: dict[str, list[float]] = defaultdict(list)
    for figure in figures:
        groups[figure.launch if by_launch else _session(figure)].append(figure.goodness)
    return {key: math.fsum(values) / len(values) for key, values in groups.items()}


def _judged(rows: list[GuidelineRow]) -> list[GuidelineRow]:
    """The p values are corrected over all rows."""
    rows = list(rows)
    measured: dict[int, verdict.Measured] = {}
    for place, result in _moderated(rows).items():
        row = rows[place]
        if result is None:
            what = "session" if row.compared == BY_SESSION else "launch"
            why = f"one {what}: the data do not show how much {what}{'e' * (what == 'launch')}s differ"
            rows[place] = replace(row, warnings=(*row.warnings, why))
        elif result.variance == 0.0:
            why = "figures do not vary at all between launches: was one file stored twice?"
            rows[place] = replace(row, warnings=(*row.warnings, why))
        else:
            measured[place] = verdict.Measured(row.effect.difference, result.se, result.df)
    limits = [math.log1p(rows[place].guideline.tolerance) for place in measured]
    p_values = [
        min(1.0, 2.0 * verdict.slower_than(one, limit)) for one, limit in zip(measured.values(), limits, strict=True)
    ]
    adjusted = multiplicity.benjamini_hochberg(p_values)
    for (place, one), limit, p, adjusted_p in zip(measured.items(), limits, p_values, adjusted, strict=True):
        if adjusted_p <= verdict.LEVEL:
            word = BROKEN
        else:
            word = HOLDS if verdict.not_slower_than(one, limit) <= verdict.LEVEL else verdict.INCONCLUSIVE
        interval = effect.interval(one.difference, one.se, one.df)
        rows[place] = replace(rows[place], verdict=word, interval=interval, p=p, adjusted_p=adjusted_p)
    return rows


def _moderated(rows: Sequence[GuidelineRow]) -> dict[int, moderated.Moderated | None]:
    """By row, in the order of rows. Variances of one unit of replication have the same meaning, so
    they are moderated together."""
    found: dict[int, moderated.Moderated | None] = {}
    for unit in (WITHIN_LAUNCH, IN_TURNS, BY_SESSION):
        places = [place for place, row in enumerate(rows) if row.compared == unit]
        found |= dict(zip(places, moderated.moderate([rows[place].effect for place in places]), strict=True))
    return dict(sorted(found.items()))
