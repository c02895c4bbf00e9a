"""What must hold on any machine, without history: a way that the library could always fall back on
must not be faster than the one it offers for the purpose (self-consistent performance guidelines,
Traeff, Gropp and Thakur 2010).

Both variants of a guideline are compared within the launch that measured both, else in launches
that ran in turns, so the launch is the unit; only where neither is so are sessions compared. A
guideline is *broken* when the slowdown is larger than the tolerance, *holds* when it is smaller,
both at 5 %.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longshore_study.base.errors import EXIT_INVALID, EXIT_OK, EXIT_REGRESSED, EXIT_UNDECIDED, LongshoreError
from longshore_study.base.json_values import canonical
from longshore_study.compare.contrast import BY_SESSION, IN_TURNS, WITHIN_LAUNCH
from longshore_study.compare.estimate import ratio, ratios
from longshore_study.compare.pairing import overlapping
from longshore_study.metrics.launch_metrics import Figure, Measured, measure, pattern_rank
from longshore_study.stats import effect, moderated, multiplicity, verdict
from longshore_study.stats.effect import Effect
from longshore_study.store.selection import Side

if TYPE_CHECKING:
    from longshore_study.study_file.study import Study

SCHEMA = 1
BROKEN, HOLDS = "broken", "holds"
STATISTIC = "geometric mean over what was compared: launches or sessions"


@dataclass(frozen=True)
class Guideline:
    """Variants with the factors `faster` are not slower than those with `than`, all other factors
    equal."""

    faster: Mapping[str, Any]
    than: Mapping[str, Any]
    tolerance: float = 0.05
    pattern: str | None = None
    why: str = ""


BUILT_IN = (
    Guideline(
        {"mode": "persistent"}, {"mode": "waitall"}, 0.05, "halo",
        "a persistent request saves set-up; it could always be run as Isend and Irecv",
    ),
    Guideline(
        {"mode": "neighbor"}, {"mode": "waitall"}, 0.05, "halo",
        "a neighbourhood collective knows all messages; it could always post them one by one",
    ),
    Guideline(
        {"mode": "waitall"}, {"mode": "sendrecv"}, 0.05, "halo",
        "messages in flight together may be sent one after the other, not the reverse",
    ),
    Guideline(
        {"strategy": "direct"}, {"strategy": "agp"}, 0.05, "gather",
        "loads from shared memory are what a one-sided get within a node does, without its call",
    ),
    Guideline(
        {"scope": "global"}, {"scope": "ep"}, 0.05, "stream",
        "a global array touched by its owners is local memory",
    ),
)  # fmt: skip
"""Few, and each with its reason; a study file adds its own."""


@dataclass(slots=True)
class Row:
    guideline: Guideline
    study: str
    pattern: str
    metric: str
    context: dict[str, Any]
    """The factors in which both variants agree."""
    unit: str
    values: tuple[float, float]
    """Of `faster` and `than`: geometric means over the launches that have both."""
    effect: Effect
    better: str
    verdict: str = verdict.UNTESTABLE
    interval: tuple[float, float] | None = None
    p: float | None = None
    adjusted_p: float | None = None
    warnings: list[str] = field(default_factory=list)
    compared: str = WITHIN_LAUNCH
    """What was compared with what: a launch with itself, launches in turns, or sessions."""

    @property
    def ratio(self) -> float:
        """Of the metric, `faster` over `than`, as a reader would compute it from the two values."""
        return ratio(self.effect.difference, self.better)

    @property
    def holds(self) -> bool | None:
        """None where it cannot be told."""
        return {HOLDS: True, BROKEN: False}.get(self.verdict)


@dataclass(frozen=True)
class Findings:
    side: Side
    rows: list[Row]
    problems: list[str]
    failed: int
    """Launches that failed or are damaged: data is missing."""

    @property
    def exit_status(self) -> int:
        found = {row.verdict for row in self.rows}
        if BROKEN in found:
            return EXIT_REGRESSED
        if self.failed:
            return EXIT_INVALID
        return EXIT_UNDECIDED if found & {verdict.INCONCLUSIVE, verdict.UNTESTABLE} else EXIT_OK


def check(side: Side, guidelines: Iterable[Guideline] | None = None, more: Iterable[Guideline] = ()) -> Findings:
    """Every guideline on every pair of variants that it speaks of; by default the built-in ones,
    the study's own, and then `more`."""
    warnings: list[str] = []
    chosen = list(guidelines) if guidelines is not None else [*BUILT_IN, *of_study_files(side, warnings), *more]
    measured = measure(side.launches)
    if not measured.figures:
        raise LongshoreError(f"'{side.name}' has no usable figure" + "".join(f"; {p}" for p in measured.problems[:1]))
    rows = [row for guideline in _last_of_each(chosen) for row in _rows(guideline, measured)]
    _judge(rows)
    rank = {BROKEN: 0, verdict.UNTESTABLE: 1, verdict.INCONCLUSIVE: 2, HOLDS: 3}
    rows.sort(key=lambda row: (pattern_rank(row.pattern), rank[row.verdict], row.effect.difference))
    return Findings(side, rows, warnings + measured.problems, len(measured.failed))


def of_study_files(side: Side, warnings: list[str]) -> list[Guideline]:
    """The guidelines that came with the launches: in their envelopes, or in the study file kept in
    their session."""
    found: list[Guideline] = []
    files: dict[Path, None] = {}
    for launch in side.launches:
        for one in launch.envelope.get("guidelines") or ():
            try:
                found.append(Guideline(dict(one["faster"]), dict(one["than"]), _tolerance(one), one.get("pattern")))
            except (KeyError, TypeError, ValueError, AttributeError):
                warnings.append(f"{launch.path}:1: not a guideline, and not used: {one!r:.80}")
        digest = (launch.envelope.get("study_file") or {}).get("digest")
        if digest:
            files[launch.path.parent / f"study-{digest}.toml"] = None
    for path in files:
        if not path.exists():
            continue
        from longshore_study.study_file import reader  # noqa: PLC0415 - imported launches have none

        try:
            study = reader.load(path)
        except LongshoreError as error:
            warnings.append(f"the guidelines of {path} are not used: {error}")
            continue
        found += of_study(study)
    return found


def of_study(study: Study) -> list[Guideline]:
    return [Guideline(g.faster, g.than, g.tolerance, g.pattern) for g in study.guidelines]


def _tolerance(one: Mapping[str, Any]) -> float:
    tolerance = float(one.get("tolerance", 0.05))
    if not 0.0 <= tolerance < 100.0:
        raise ValueError(f"a tolerance of {tolerance} cannot be")
    return tolerance


def _last_of_each(guidelines: Iterable[Guideline]) -> list[Guideline]:
    """A study's guideline replaces the built-in one about the same two variants, for its tolerance
    may be another."""
    chosen: dict[tuple[str, str], Guideline] = {}
    for one in guidelines:
        key = (canonical(one.faster), canonical(one.than))
        before = chosen.get(key)
        if before is not None and not one.why:
            one = Guideline(one.faster, one.than, one.tolerance, one.pattern, before.why)  # noqa: PLW2901
        chosen[key] = one
    return list(chosen.values())


def _rows(guideline: Guideline, measured: Measured) -> list[Row]:
    named = set(guideline.faster) | set(guideline.than)
    groups: dict[tuple[str, str, str, str], tuple[list[Figure], list[Figure]]] = defaultdict(lambda: ([], []))
    for figure in measured.figures:
        key = figure.key
        if guideline.pattern not in (None, key.pattern):
            continue
        factors = key.factors
        for side, wanted in enumerate((guideline.faster, guideline.than)):
            if all(name in factors and factors[name] == value for name, value in wanted.items()):
                context = canonical({name: value for name, value in factors.items() if name not in named})
                groups[key.study, key.pattern, key.metric, context][side].append(figure)
    return [
        row
        for (study, _, _, _), (faster, than) in groups.items()
        if faster and than and (row := _row(guideline, study, faster, than))
    ]


def _row(guideline: Guideline, study: str, faster: Sequence[Figure], than: Sequence[Figure]) -> Row | None:
    """By launch where launches measured both. Where the two variants need launches of their own,
    these are compared within their session if they ran in turns there, else sessions are."""
    warnings: list[str] = []
    unit = WITHIN_LAUNCH
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
            unit = IN_TURNS
            found = effect.stratified(*({k: side[k] for k in shared} for side in reversed(launches)))
        else:
            unit = BY_SESSION
            warnings.append("measured in launches of their own: sessions are compared")
            found = effect.paired({k: sides[1][k] for k in shared}, {k: sides[0][k] for k in shared})
    named = set(guideline.faster) | set(guideline.than)
    context = {name: value for name, value in faster[0].key.factors.items() if name not in named and name != "pattern"}
    better = faster[0].better
    sign = -1.0 if better == "lower" else 1.0
    values = [math.exp(sign * math.fsum(side[k] for k in shared) / len(shared)) for side in sides]
    row = Row(
        guideline,
        study,
        faster[0].key.pattern,
        faster[0].key.metric,
        context,
        faster[0].unit,
        (values[0], values[1]),
        found,
        better,
    )
    row.compared = unit
    row.warnings = warnings
    return row


def _session(figure: Figure) -> str:
    return f"{figure.tag}/{figure.session}"


def _launches_of_sessions(figures: Iterable[Figure]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for figure in figures:
        found[_session(figure)][figure.launch] = figure.goodness
    return found


def _in_turns(*sides: Iterable[Figure]) -> frozenset[str]:
    """Sessions that `run` has measured: nobody knows in which order what is imported ran."""
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


def _judge(rows: Sequence[Row]) -> None:
    judged: list[tuple[Row, verdict.Measured]] = []
    for row, result in _moderated(rows):
        if result is None:
            what = "session" if row.compared == BY_SESSION else "launch"
            row.warnings.append(f"one {what}: nothing says how much {what}{'e' * (what == 'launch')}s differ")
        elif result.variance == 0.0:
            row.warnings.append("figures do not vary at all between launches: was one file stored twice?")
        else:
            judged.append((row, verdict.Measured(row.effect.difference, result.se, result.df)))
    p_values = [verdict.slower_than(one, math.log1p(row.guideline.tolerance)) for row, one in judged]
    adjusted = multiplicity.benjamini_hochberg([min(1.0, 2.0 * p) for p in p_values])
    for (row, one), p, adjusted_p in zip(judged, p_values, adjusted, strict=True):
        row.p, row.adjusted_p = min(1.0, 2.0 * p), adjusted_p
        row.interval = effect.interval(one.difference, one.se, one.df)
        if adjusted_p <= verdict.LEVEL:
            row.verdict = BROKEN
        else:
            holds_p = verdict.not_slower_than(one, math.log1p(row.guideline.tolerance))
            row.verdict = HOLDS if holds_p <= verdict.LEVEL else verdict.INCONCLUSIVE


def _moderated(rows: Sequence[Row]) -> list[tuple[Row, moderated.Moderated | None]]:
    """In the order of the rows; variances of one unit mean the same, and are moderated together."""
    found: dict[int, moderated.Moderated | None] = {}
    for unit in (WITHIN_LAUNCH, IN_TURNS, BY_SESSION):
        members = [row for row in rows if row.compared == unit]
        results = moderated.moderate([row.effect for row in members])
        found |= {id(row): result for row, result in zip(members, results, strict=True)}
    return [(row, found[id(row)]) for row in rows]


def document(findings: Findings) -> dict[str, Any]:
    """The findings as `guidelines --json` prints them."""
    return {
        "schema": SCHEMA,
        "tag": findings.side.name,
        "statistic": STATISTIC,
        "rows": [_row_document(row) for row in findings.rows],
        "problems": findings.problems,
    }


def _row_document(row: Row) -> dict[str, Any]:
    return {
        "faster": dict(row.guideline.faster),
        "than": dict(row.guideline.than),
        "pattern": row.pattern,
        "ratio": row.ratio,
        "holds": row.holds,
        "verdict": row.verdict,
        "times_slower": ratio(row.effect.difference, "lower"),
        "times_slower_interval": row.interval and ratios(row.interval, "lower"),
        "interval": row.interval and ratios(row.interval, row.better),
        "tolerance": row.guideline.tolerance,
        "metric": row.metric,
        "unit": row.unit,
        "values": list(row.values),
        "study": row.study,
        "context": row.context,
        "compared": row.compared,
        "launches": row.effect.units[0],
        "p": row.p,
        "adjusted_p": row.adjusted_p,
        "why": row.guideline.why,
        "warnings": row.warnings,
    }
