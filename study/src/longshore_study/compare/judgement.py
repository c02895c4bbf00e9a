"""Two sides, one verdict per row and one for the whole: which figures got worse, better, stayed the
same or cannot be told, and which are missing. Rows are formed in pairing.py, the statistics are in
stats/, JSON in row_document.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from longshore_study.base import terminal
from longshore_study.base.errors import (
    EXIT_INVALID,
    EXIT_OK,
    EXIT_REGRESSED,
    EXIT_UNDECIDED,
    LongshoreError,
    UsageError,
)
from longshore_study.base.expression import Expression
from longshore_study.compare.common_shift import CommonShift, find_shift
from longshore_study.compare.differences import differences
from longshore_study.compare.estimate import STATISTIC, estimate
from longshore_study.compare.pairing import Row, design_of, failed_without_row, pair, sessions_in_turns, set_apart
from longshore_study.compare.row_document import row_document
from longshore_study.metrics.launch_metrics import CONTROL, CONTROL_METRICS, measure, pattern_rank, require_metrics
from longshore_study.metrics.metric_rows import reading_order
from longshore_study.stats import effect, moderated, verdict
from longshore_study.store.selection import Side

SCHEMA = 1
DEFAULT_MARGIN = 0.05
LAYOUT = frozenset({"nodes", "ranks", "ranks_per_node"})
"""Of these a figure tells at least one, or is shown with a warning."""


@dataclass(frozen=True)
class Options:
    margin: float | None = None
    """None: the margin of the study, else 5 %."""
    where: Expression | None = None
    metrics: tuple[str, ...] = ()
    """Besides the main metric of each pattern."""
    ignore: tuple[str, ...] = ()
    """Factors that do not tell rows apart."""


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
    """Launches that cannot be read, or that failed in a cell of which no row tells: data is
    missing."""

    @property
    def verdict(self) -> str:
        """Of the whole, the exit status in a word. Holm over the rows and the common shift: of
        tables in which nothing regressed, at most 5 % are called so."""
        found = {row.verdict for row in self.rows}
        strictly = any(
            r.verdict == verdict.REGRESSED and r.judgement and r.judgement.holm_p <= verdict.LEVEL for r in self.rows
        )
        if strictly or (self.shift.verdict == verdict.REGRESSED and self.shift.holm_p <= verdict.LEVEL):
            return verdict.REGRESSED
        if self.damaged or not self.rows or found & {verdict.MISSING, verdict.FAILED, verdict.INVALID}:
            return "invalid"
        if found & {verdict.INCONCLUSIVE, verdict.REGRESSED}:
            return verdict.INCONCLUSIVE
        if verdict.UNTESTABLE in found:
            return verdict.UNTESTABLE
        return verdict.IMPROVED if verdict.IMPROVED in found else verdict.SAME

    @property
    def pulse_explained(self) -> list[float]:
        """Of rows from which the pulse of the machine was taken: its parts of the variance between
        launches, rising."""
        return sorted(row.adjustment.explained for row in self.rows if row.adjustment)

    @property
    def exit_status(self) -> int:
        return {
            verdict.REGRESSED: EXIT_REGRESSED, "invalid": EXIT_INVALID, verdict.INCONCLUSIVE: EXIT_UNDECIDED,
            verdict.UNTESTABLE: EXIT_UNDECIDED,
        }.get(self.verdict, EXIT_OK)  # fmt: skip


def compare(reference: Side, new: Side, options: Options | None = None) -> Comparison:
    """Judges `new` against `reference`. Raises LongshoreError when there is nothing to judge."""
    options = options or Options()
    require_metrics(options.metrics, [*reference.launches, *new.launches])
    by_study = reference.is_tag and new.is_tag
    sides = [measure(side.launches, metrics=options.metrics, with_study=by_study) for side in (reference, new)]
    margin = options.margin if options.margin is not None else _margin_of((reference, new))
    rows = pair(sides, options.where, options.ignore)
    if not any(row.key.pattern != CONTROL for row in rows):
        lacking = " and of ".join(f"'{s.name}'" for s, m in zip((reference, new), sides, strict=True) if not m.figures)
        why = f"there is no usable figure of {lacking}" if lacking else "there are figures of control cells only"
        # What is wrong with the side that lacks figures is the reason, not what is wrong with the
        # other.
        blamed = [side for side in sides if not side.figures] or sides
        problems = [problem for side in blamed for problem in side.problems]
        raise LongshoreError(f"nothing to compare: {why}" + (f"; {problems[0]}" if problems else ""))
    in_turns = sessions_in_turns(reference, new)
    for row in rows:
        row.effect = design_of(row, in_turns)
    _moderate(rows)
    controls = [
        row for row in rows if row.key.pattern == CONTROL and str(row.key.variant.get("kernel")) in CONTROL_METRICS
    ]
    judged = [row for row in rows if row.key.pattern != CONTROL]
    shift = find_shift([_control(row) for row in controls if row.effect and row.moderated], margin)
    shift = _judge(judged, margin, shift)
    for row in judged:
        _mark_absent(row)
        if not LAYOUT & row.key.factors.keys():
            row.warnings.append("the layout (nodes, ranks) that it was measured in is not recorded")
    _order(judged)
    problems = [f"{side.name}: {p}" for side, m in zip((reference, new), sides, strict=True) for p in m.problems]
    problems += [
        f"{side.name}: {launch.path}: partial ({launch.envelope['partial']})"
        for side, m in zip((reference, new), sides, strict=True)
        for launch in m.partial
    ]
    problems += [
        f"no row is on both sides: {name} is {_levels(one)} and {_levels(other)}; --ignore {name} compares nevertheless"
        for name, (one, other) in set_apart(judged).items()
    ]
    lost = sum(len(m.damaged) for m in sides)
    if options.where is None:  # a launch that failed names no variants, so a condition cannot be asked of it
        lost += len(failed_without_row(sides, rows, options.ignore))
    return Comparison(reference, new, margin, judged, shift, problems, lost)


def _margin_of(sides: Iterable[Side]) -> float:
    margins = {float(m) for side in sides for launch in side.launches if (m := launch.envelope.get("margin"))}
    return margins.pop() if len(margins) == 1 else DEFAULT_MARGIN


def _levels(values: Iterable[Any]) -> str:
    return " or ".join(terminal.factor(value) for value in values)


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


def _judge(rows: Sequence[Row], margin: float, shift: CommonShift) -> CommonShift:
    """Rows and shift are one family of hypotheses."""
    invalid = {id(row) for row in rows if any(figure.above for figure in (*row.reference, *row.new))}
    for row in rows:
        if row.effect:
            row.estimate = estimate(row.effect, row.moderated, row.adjustment, shift)
    testable = [row for row in rows if row.moderated and id(row) not in invalid]
    measured = [row.estimate.judged for row in testable if row.estimate and row.estimate.judged]
    family = verdict.judge([*measured, shift.measured] if shift.measured else measured, margin)
    for row, judgement in zip(testable, family, strict=False):
        row.judgement, row.verdict = judgement, judgement.verdict
    for row in rows:
        if id(row) in invalid:
            row.verdict = verdict.INVALID
            row.warnings += sorted({figure.above for figure in (*row.reference, *row.new) if figure.above})
        elif row.effect and not row.moderated and not row.warnings:
            row.warnings.append("one session per side: nothing says how much sessions differ")
    return replace(shift, holm_p=family[-1].holm_p) if shift.measured else shift


def _mark_absent(row: Row) -> None:
    """Missing and failed, and what is said of a side that has figures from part of its launches."""
    for figures, name, reason in zip((row.reference, row.new), ("reference", "new"), row.absent, strict=True):
        if figures:
            if reason:
                row.warnings.append(f"not from all launches of {name}: {reason}")
            continue
        row.verdict = verdict.FAILED if (reason or "").startswith("failed") else verdict.MISSING
        if reason:
            row.warnings.append(f"nothing in {name}: {reason}")


def _order(rows: list[Row]) -> None:
    rank = {name: place for place, name in enumerate(verdict.VERDICTS)}
    rows.sort(
        key=lambda row: (
            pattern_rank(row.key.pattern),
            rank[row.verdict],
            row.estimate.difference if row.estimate else 0.0,
            row.key.study, reading_order(row.key.factors), row.key.metric,
        )
    )  # fmt: skip


def document(comparison: Comparison) -> dict[str, Any]:
    """The comparison as `compare --json` prints it."""
    explained = comparison.pulse_explained
    counts = {name: sum(row.verdict == name for row in comparison.rows) for name in verdict.VERDICTS}
    return {
        "schema": SCHEMA,
        "reference": comparison.reference.name,
        "new": comparison.new.name,
        "margin": comparison.margin,
        "verdict": comparison.verdict,
        "statistic": STATISTIC,
        "counts": {name: count for name, count in counts.items() if count},
        "common_shift": comparison.shift.document(),
        "pulse": {"rows": len(explained), "variance_explained": [min(explained), max(explained)]}
        if explained
        else None,
        "rows": [row_document(row) for row in comparison.rows],
        "differences": [found.as_json() for found in differences(comparison.reference, comparison.new)],
        "problems": comparison.problems,
    }


def parse_margin(text: str) -> float:
    """`5%` or `0.05`; above 0, below 1."""
    try:
        value = float(text.removesuffix("%").strip()) / (100.0 if text.strip().endswith("%") else 1.0)
    except ValueError:
        value = math.nan
    if not 0.0 < value < 1.0:
        raise UsageError(f"a margin is between 0 and 1, or 0 % and 100 %, such as 5% or 0.05; not '{text}'")
    return value
