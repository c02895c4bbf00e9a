"""Two sides, one verdict per row: which figures got worse, better, stayed the same, or cannot be told, and which are
missing. Reading the store and forming rows is here; the judgement itself is in statistics/.

The unit of replication is the session where the sides differ in time, else the launch (design_of). Rows are matched by
study, pattern, variant, metric and cell; what one side lacks is a row too.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from longshore_study.common_shift import CommonShift, find_shift
from longshore_study.errors import EXIT_INVALID, EXIT_OK, EXIT_REGRESSED, EXIT_UNDECIDED, LongshoreError, UsageError
from longshore_study.expression import Expression
from longshore_study.figures import CONTROL, Figure, Key, Measured, canonical, measure, pattern_rank
from longshore_study.selection import Side
from longshore_study.statistics import effect, moderated, student, verdict
from longshore_study.statistics.effect import Effect

SCHEMA = 1
DEFAULT_MARGIN = 0.05


@dataclass(frozen=True)
class Options:
    margin: float | None = None
    """None: the margin of the study, else 5 %."""
    where: Expression | None = None
    metrics: tuple[str, ...] = ()
    """Besides the main metric of each pattern."""
    ignore: tuple[str, ...] = ()
    """Factors that do not tell rows apart."""


@dataclass(slots=True)
class Row:
    """One thing that was measured, on both sides as far as it was."""

    key: Key
    reference: list[Figure] = field(default_factory=list)
    new: list[Figure] = field(default_factory=list)
    effect: Effect | None = None
    moderated: moderated.Moderated | None = None
    judgement: verdict.Judgement | None = None
    verdict: str = verdict.UNTESTABLE
    warnings: list[str] = field(default_factory=list)
    shift_removed: bool = False


@dataclass(frozen=True)
class Comparison:
    reference: Side
    new: Side
    margin: float
    rows: list[Row]
    shift: CommonShift
    problems: list[str]
    """Launches that are not in the rows, and why."""
    damaged: int

    @property
    def verdict(self) -> str:
        """Of the whole, the exit status in a word: Holm over the rows, so that it is wrong in at most 5 % of tables."""
        found = {row.verdict for row in self.rows}
        strictly = any(
            r.verdict == verdict.REGRESSED and r.judgement and r.judgement.holm_p <= verdict.LEVEL for r in self.rows
        )
        if strictly or self.shift.verdict == verdict.REGRESSED:
            return verdict.REGRESSED
        if self.damaged or not self.rows or found & {verdict.MISSING, verdict.FAILED, verdict.INVALID}:
            return "invalid"
        if found & {verdict.INCONCLUSIVE, verdict.REGRESSED}:
            return verdict.INCONCLUSIVE
        if verdict.UNTESTABLE in found:
            return verdict.UNTESTABLE
        return verdict.IMPROVED if verdict.IMPROVED in found else verdict.SAME

    @property
    def exit_status(self) -> int:
        return {
            verdict.REGRESSED: EXIT_REGRESSED, "invalid": EXIT_INVALID, verdict.INCONCLUSIVE: EXIT_UNDECIDED,
            verdict.UNTESTABLE: EXIT_UNDECIDED,
        }.get(self.verdict, EXIT_OK)  # fmt: skip


def compare(reference: Side, new: Side, options: Options | None = None) -> Comparison:
    """Judges `new` against `reference`. Raises LongshoreError when there is nothing to judge."""
    options = options or Options()
    by_study = reference.is_tag and new.is_tag
    sides = [measure(side.launches, metrics=options.metrics, with_study=by_study) for side in (reference, new)]
    margin = options.margin if options.margin is not None else _margin_of((reference, new))
    rows = _rows(sides, options)
    if not rows:
        lacking = " and of ".join(f"'{s.name}'" for s, m in zip((reference, new), sides, strict=True) if not m.figures)
        why = f"there is no usable figure of {lacking}" if lacking else "the condition leaves nothing"
        problems = [problem for side in sides for problem in side.problems]
        raise LongshoreError(f"nothing to compare: {why}" + (f"; {problems[0]}" if problems else ""))
    in_turns = _interleaved_sessions(reference, new)
    for row in rows:
        row.effect = design_of(row, in_turns)
    _moderate(rows)
    controls = [row for row in rows if row.key.pattern == CONTROL]
    judged = [row for row in rows if row.key.pattern != CONTROL]
    shift = find_shift([_control(row) for row in controls if row.effect and row.moderated], margin)
    _judge(judged, margin, shift)
    _mark_absent(judged, sides)
    _order(judged)
    problems = [f"{side.name}: {p}" for side, m in zip((reference, new), sides, strict=True) for p in m.problems]
    problems += [
        f"{side.name}: {launch.path}: partial ({launch.envelope['partial']})"
        for side, m in zip((reference, new), sides, strict=True)
        for launch in m.partial
    ]
    return Comparison(reference, new, margin, judged, shift, problems, sum(len(m.damaged) for m in sides))


def _margin_of(sides: Iterable[Side]) -> float:
    margins = {float(m) for side in sides for launch in side.launches if (m := launch.envelope.get("margin"))}
    return margins.pop() if len(margins) == 1 else DEFAULT_MARGIN


def _rows(sides: Sequence[Measured], options: Options) -> list[Row]:
    rows: dict[Key, Row] = {}
    for side, measured in enumerate(sides):
        for figure in measured.figures:
            key = _without(figure.key, options.ignore)
            row = rows.setdefault(key, Row(key))
            (row.new if side else row.reference).append(figure)
        for key in measured.absent:
            stripped = _without(key, options.ignore)
            rows.setdefault(stripped, Row(stripped))
    if options.where is not None:
        options.where.check_names({name for key in rows for name in known_factors(key)} or options.where.names)
        rows = {
            key: row for key, row in rows.items() if key.pattern == CONTROL or options.where.matches(known_factors(key))
        }
    # Skipped on both sides is agreed on, and no row.
    kept = [row for row in rows.values() if row.reference or row.new or not _skipped_on_both(row.key, sides, options)]
    return kept if any(row.key.pattern != CONTROL for row in kept) else []


def known_factors(key: Key) -> dict[str, Any]:
    """What a condition can speak of."""
    return {"study": key.study, "metric": key.metric, **key.factors}


def _without(key: Key, ignore: tuple[str, ...]) -> Key:
    if not ignore:
        return key
    variant = {k: v for k, v in key.variant.items() if k not in ignore}
    cell = {k: v for k, v in key.cell.items() if k not in ignore}
    study = "" if "study" in ignore else key.study
    return replace(key, study=study, variant_text=canonical(variant), cell_text=canonical(cell))


def _skipped_on_both(key: Key, sides: Sequence[Measured], options: Options) -> bool:
    reasons = [
        next((why for k, why in side.absent.items() if _without(k, options.ignore) == key), "") for side in sides
    ]
    return all(reason.startswith("skipped") for reason in reasons)


def _interleaved_sessions(reference: Side, new: Side) -> frozenset[str]:
    """Sessions in which both sides were measured in turns: their spans of time overlap by half of the shorter one."""
    spans: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for side in (reference, new):
        starts: dict[str, list[str]] = defaultdict(list)
        for launch in side.launches:
            started = launch.envelope.get("started")
            if isinstance(started, str):
                starts[launch.session].append(started)
        for session, times in starts.items():
            if len(times) > 1:
                spans[session].append((min(times), max(times)))
    return frozenset(s for s, pair in spans.items() if len(pair) == 2 and _overlap(pair[0], pair[1]))


def _overlap(one: tuple[str, str], other: tuple[str, str]) -> bool:
    import datetime as dt  # noqa: PLC0415 - imported figures have no times

    try:
        a, b, c, d = (dt.datetime.fromisoformat(time).timestamp() for time in (*one, *other))
    except ValueError:
        return False
    return min(b, d) - max(a, c) >= 0.5 * min(b - a, d - c) and min(b - a, d - c) > 0


def design_of(row: Row, in_turns: frozenset[str]) -> Effect | None:
    """The effect of a row, in the units in which its two sides can be compared; None where one side is empty."""
    reference, new = _by_session(row.reference), _by_session(row.new)
    if not reference or not new:
        return None
    shared = sorted(reference.keys() & new.keys())
    in_turns_here = [s for s in shared if s in in_turns and len(reference[s]) > 1 and len(new[s]) > 1]
    if in_turns_here and len(in_turns_here) == len(shared):
        if len(shared) < max(len(reference), len(new)):
            row.warnings.append("sessions of one side alone are not used")
        return effect.stratified({s: reference[s] for s in shared}, {s: new[s] for s in shared})
    means = [{s: math.fsum(v.values()) / len(v) for s, v in side.items()} for side in (reference, new)]
    if len(shared) > 1 or (len(reference) == len(new) == 1 and shared):
        alone = sorted((reference.keys() | new.keys()) - set(shared))
        if alone:
            row.warnings.append(f"session {', '.join(alone)} has no partner on the other side and is not used")
        return effect.paired({s: means[0][s] for s in shared}, {s: means[1][s] for s in shared})
    found = effect.unpaired(means[0], means[1])
    if found.df and min(len(reference), len(new)) == 1:
        row.warnings.append("one side has one session: its variance is taken from the other side")
    return found


def _by_session(figures: Iterable[Figure]) -> dict[str, dict[Hashable, float]]:
    sessions: dict[str, dict[Hashable, float]] = defaultdict(dict)
    for figure in figures:
        sessions[figure.session][figure.launch] = figure.goodness
    return dict(sessions)


def _moderate(rows: Sequence[Row]) -> None:
    """Variances of one design mean the same, so those are shrunk towards each other."""
    for design in (effect.PAIRED, effect.UNPAIRED, effect.STRATIFIED):
        members = [(row, row.effect) for row in rows if row.effect is not None and row.effect.design == design]
        if not members:
            continue
        if not any(e.variance for _, e in members if e.df):
            for row, found in members:
                if found.df:
                    row.warnings.append("figures do not vary at all between sessions: was one file stored twice?")
            continue
        for (row, _), result in zip(members, moderated.moderate([e for _, e in members]), strict=True):
            row.moderated = result


def _control(row: Row) -> tuple[str, verdict.Measured]:
    assert row.effect is not None  # noqa: S101 - the caller has chosen the rows that have both
    assert row.moderated is not None  # noqa: S101
    kernel = str(row.key.variant.get("kernel", row.key.metric))
    return kernel, verdict.Measured(row.effect.difference, row.moderated.se, row.moderated.df)


def _judge(rows: Sequence[Row], margin: float, shift: CommonShift) -> None:
    invalid = {id(row) for row in rows if any(figure.above for figure in (*row.reference, *row.new))}
    testable = [row for row in rows if row.effect and row.moderated and id(row) not in invalid]
    measured = []
    for row in testable:
        assert row.effect is not None  # noqa: S101 - see the line above
        assert row.moderated is not None  # noqa: S101
        one = verdict.Measured(row.effect.difference, row.moderated.se, row.moderated.df)
        if shift.removed:
            one = shift.remove_from(one)
            row.shift_removed = True
        measured.append(one)
    for row, judgement in zip(testable, verdict.judge(measured, margin), strict=True):
        row.judgement, row.verdict = judgement, judgement.verdict
    for row in rows:
        if id(row) in invalid:
            row.verdict = verdict.INVALID
            row.warnings += sorted({figure.above for figure in (*row.reference, *row.new) if figure.above})
        elif row.effect and not row.moderated and not row.warnings:
            row.warnings.append("one session per side: nothing says how much sessions differ")


def _mark_absent(rows: Sequence[Row], sides: Sequence[Measured]) -> None:
    failed = [side.failed_cells() for side in sides]
    for row in rows:
        for figures, name, measured, cells in zip(
            (row.reference, row.new), ("reference", "new"), sides, failed, strict=True
        ):
            problem = cells.get(row.key.cell_text)
            reason = measured.absent.get(row.key)
            if figures:
                if reason:
                    row.warnings.append(f"in part of the launches of {name}: {reason}")
                elif problem is not None:
                    row.warnings.append(f"a launch of {name} is not used: {problem}")
                continue
            broken = problem is not None or (reason is not None and reason.startswith("failed"))
            row.verdict = verdict.FAILED if broken else verdict.MISSING
            if reason or problem:
                row.warnings.append(f"nothing in {name}: {reason or problem}")


def _order(rows: list[Row]) -> None:
    rank = {name: place for place, name in enumerate(verdict.VERDICTS)}
    rows.sort(
        key=lambda row: (
            pattern_rank(row.key.pattern),
            rank[row.verdict],
            row.effect.difference if row.effect else 0.0,
            row.key.study, row.key.cell_text, row.key.variant_text, row.key.metric,
        )
    )  # fmt: skip


def document(comparison: Comparison) -> dict[str, Any]:
    """The comparison as `compare --json` prints it."""
    counts = {name: sum(row.verdict == name for row in comparison.rows) for name in verdict.VERDICTS}
    return {
        "schema": SCHEMA,
        "reference": comparison.reference.name,
        "new": comparison.new.name,
        "margin": comparison.margin,
        "verdict": comparison.verdict,
        "counts": {name: count for name, count in counts.items() if count},
        "common_shift": comparison.shift.document(),
        "rows": [row_document(row) for row in comparison.rows],
        "problems": comparison.problems,
    }


def row_document(row: Row) -> dict[str, Any]:
    figures = [*row.reference, *row.new]
    unit, better = (figures[0].unit, figures[0].better) if figures else ("", "higher")
    sign = -1.0 if better == "lower" else 1.0
    found, mod, judged = row.effect, row.moderated, row.judgement
    document: dict[str, Any] = {
        "study": row.key.study or None,
        "pattern": row.key.pattern,
        "variant": row.key.variant,
        "between": row.key.cell,
        "metric": row.key.metric,
        "verdict": row.verdict,
        "ratio": math.exp(sign * found.difference) if found else None,
        "interval": None,
        "reference": _centre(row.reference),
        "new": _centre(row.new),
        "unit": unit,
        "better": better,
        "sessions": [len({f.session for f in side}) for side in (row.reference, row.new)],
        "launches": [len({f.launch for f in side}) for side in (row.reference, row.new)],
        "design": found.design if found else None,
        "warnings": row.warnings,
    }
    if found and mod:
        document["interval"] = ratios(effect.interval(found.difference, mod.se, mod.df), sign)
        prior = None if math.isinf(mod.prior_df) else mod.prior_df
        document["moderated"] = {"se": mod.se, "df": _finite(mod.df), "prior_df": prior}
        document["welch"] = _welch(found, sign)
    if judged:
        document |= {"p": judged.p, "adjusted_p": judged.adjusted_p, "holm_p": judged.holm_p}
        document["equivalence_p"] = judged.equivalence_p
        if row.shift_removed:
            middle = (judged.interval[0] + judged.interval[1]) / 2.0
            document["without_shift"] = {"ratio": math.exp(sign * middle), "interval": ratios(judged.interval, sign)}
    return document


def _welch(found: Effect, sign: float) -> dict[str, Any] | None:
    """The plain result beside the moderated one: from this row's figures alone."""
    if found.welch_se is None or found.welch_df is None:
        return None
    t = found.difference / found.welch_se if found.welch_se else math.copysign(math.inf, found.difference)
    bounds = effect.interval(found.difference, found.welch_se, found.welch_df)
    return {"df": found.welch_df, "p": student.two_sided(t, found.welch_df), "interval": ratios(bounds, sign)}


def ratios(bounds: tuple[float, float], sign: float) -> list[float]:
    """Bounds on the log scale of goodness as ratios of the metric, the smaller one first."""
    return sorted(math.exp(max(-700.0, min(700.0, sign * bound))) for bound in bounds)


def _centre(figures: Sequence[Figure]) -> float | None:
    """Geometric mean over sessions of the geometric means over their launches."""
    sessions = _by_session(figures)
    if not sessions:
        return None
    sign = -1.0 if figures[0].better == "lower" else 1.0
    means = [math.fsum(launches.values()) / len(launches) for launches in sessions.values()]
    return math.exp(sign * math.fsum(means) / len(means))


def _finite(value: float) -> float | None:
    return None if math.isinf(value) else value


def parse_margin(text: str) -> float:
    """`5%` or `0.05`; above 0, below 1."""
    try:
        value = float(text.removesuffix("%").strip()) / (100.0 if text.strip().endswith("%") else 1.0)
    except ValueError:
        value = math.nan
    if not 0.0 < value < 1.0:
        raise UsageError(f"a margin is between 0 and 1, or 0 % and 100 %, such as 5% or 0.05; not '{text}'")
    return value


__all__ = ["Comparison", "Mapping", "Options", "compare", "document", "parse_margin"]
