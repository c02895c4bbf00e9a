"""Compares two sides, and gives a verdict for each row and one for the whole comparison.
pairing.py matches the figures, row_effect.py computes the difference of each row, common_shift.py
the change of the whole machine, and stats/ tests the differences."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from longshore_study.base import errors, terminal
from longshore_study.base.errors import LongshoreError, UsageError
from longshore_study.base.expression import Expression
from longshore_study.compare import simulated_rows
from longshore_study.compare.common_shift import CommonShift, find_shift
from longshore_study.compare.core_distance import explanation
from longshore_study.compare.estimate import estimate
from longshore_study.compare.judged_row import JudgedRow
from longshore_study.compare.noise_rows import with_noise_of
from longshore_study.compare.pairing import disjoint_factors, failed_without_row, pair
from longshore_study.compare.row_effect import sessions_in_turns, with_effects
from longshore_study.metrics.launch_metrics import Measurements, measure_sides, require_metrics
from longshore_study.metrics.variant_rows import reading_order
from longshore_study.patterns import CONTROL, pattern_rank
from longshore_study.patterns.control import MACHINE_METRICS
from longshore_study.stats import verdict
from longshore_study.store.hosts import on_hosts
from longshore_study.store.launch_store import Launch
from longshore_study.store.selection import Side

DEFAULT_MARGIN = 0.05
LAYOUT_SIZES = frozenset({"nodes", "ranks", "ranks_per_node"})
"""A row with none of these factors gets a warning."""


@dataclass(frozen=True)
class CompareOptions:
    """What to compare, and the margin below which differences do not matter."""

    margin: float | None = None
    """If None, the margin of the study, or 5 % if the launches do not have the same margin."""
    where: Expression | None = None
    """Selects rows. If None, all rows are compared."""
    metrics: tuple[str, ...] = ()
    """Metrics to compare besides the main metric of each pattern."""
    ignore: tuple[str, ...] = ()
    """Factors that do not distinguish rows."""
    noise_of: Expression | None = None
    """Selects the rows that show the noise of their launch. If None, the noise probe shows it."""


@dataclass(frozen=True)
class Comparison:
    """The judged rows of two sides, and what belongs to no single row."""

    reference: Side
    new: Side
    margin: float
    rows: list[JudgedRow]
    shift: CommonShift
    problems: list[str]
    """The launches that are not in the rows, each with the reason."""
    damaged: int
    """The number of launches that cannot be read, or that failed in a cell without a row."""
    noise_of: str | None = None
    """The condition on the rows that show the noise of their launch. None: the noise probe does."""

    @property
    def verdict(self) -> str:
        """The verdict on the whole comparison, which determines the exit status.

        "regressed" uses Holm's correction over the rows and the common shift: at most 5 % of the
        tables in which nothing regressed get this verdict.
        """
        verdicts = {row.verdict for row in self.rows}
        if self.rows_beyond_doubt(verdict.REGRESSED) or self.shift_is_beyond_doubt(verdict.REGRESSED):
            return verdict.REGRESSED
        if self.damaged or not self.rows or verdicts & {verdict.MISSING, verdict.FAILED, verdict.INVALID}:
            return "invalid"
        if verdicts & {verdict.INCONCLUSIVE, verdict.REGRESSED}:
            return verdict.INCONCLUSIVE
        if verdict.UNTESTABLE in verdicts:
            return verdict.UNTESTABLE
        return verdict.IMPROVED if verdict.IMPROVED in verdicts else verdict.SAME

    def rows_beyond_doubt(self, word: str) -> list[JudgedRow]:
        """The rows with the verdict `word`, regressed or improved, also after Holm's correction.
        Simulated rows have no noise."""
        return [
            row
            for row in self.rows
            if row.verdict == word
            and (row.simulated is not None or (row.judgement is not None and row.judgement.holm_p <= verdict.LEVEL))
        ]

    def shift_is_beyond_doubt(self, word: str) -> bool:
        """Whether the common shift has this verdict, also after Holm's correction."""
        return self.shift.verdict == word and self.shift.holm_p <= verdict.LEVEL

    @property
    def counts(self) -> dict[str, int]:
        """The number of rows of each verdict that occurs. The gravest verdict comes first."""
        counts = {name: sum(row.verdict == name for row in self.rows) for name in verdict.VERDICTS}
        return {name: count for name, count in counts.items() if count}

    @property
    def pulse_explained(self) -> list[float]:
        """For each row from which the effect of the noise probe was removed: the share of the
        variance between launches that the probe explains. Ascending."""
        return sorted(row.adjustment.explained for row in self.rows if row.adjustment)

    @property
    def exit_status(self) -> int:
        return {
            verdict.REGRESSED: errors.EXIT_REGRESSED, "invalid": errors.EXIT_INVALID,
            verdict.INCONCLUSIVE: errors.EXIT_UNDECIDED, verdict.UNTESTABLE: errors.EXIT_UNDECIDED,
        }.get(self.verdict, errors.EXIT_OK)  # fmt: skip


def compare(reference: Side, new: Side, options: CompareOptions | None = None) -> Comparison:
    """Judges `new` against `reference`. Raises LongshoreError if there is nothing to judge."""
    options = options or CompareOptions()
    launches, where = on_hosts([reference.launches, new.launches], options.where)
    reference, new = (replace(side, launches=kept) for side, kept in zip((reference, new), launches, strict=True))
    sides = (reference, new)
    require_metrics(options.metrics, [*reference.launches, *new.launches])
    by_study = reference.is_tag and new.is_tag
    measured = measure_sides([side.launches for side in sides], metrics=options.metrics, with_study=by_study)
    if options.noise_of is not None:
        measured = [with_noise_of(measurements, options.noise_of) for measurements in measured]
    stored = (launch for side in sides for launch in side.launches)
    margin = options.margin if options.margin is not None else margin_of(stored)
    rows = pair(measured, where, options.ignore)
    if not any(row.key.pattern != CONTROL for row in rows):
        raise LongshoreError(_why_nothing(sides, measured))
    judged, shift = judge_rows(rows, sessions_in_turns(reference, new), margin)
    judged.sort(key=table_order)
    damaged = sum(len(measurements.damaged) for measurements in measured)
    if where is None:  # a condition cannot select a failed launch, whose variants are not known
        damaged += len(failed_without_row(measured, rows, options.ignore))
    noise_of = options.noise_of.text if options.noise_of is not None else None
    return Comparison(reference, new, margin, judged, shift, _problems(sides, measured, judged), damaged, noise_of)


def judge_rows(
    rows: Sequence[JudgedRow], in_turns: frozenset[str], margin: float
) -> tuple[list[JudgedRow], CommonShift]:
    """The judged rows without the controls, and the judged common shift."""
    for row in rows:
        simulated_rows.refuse_mixed(row)
    tested = [row for row in rows if row.simulated is None]
    judged, shift = _judge(with_effects(tested, in_turns), margin)
    measured = iter(judged)
    return [
        _with_absence(simulated_rows.judged(row, margin)) if row.simulated else next(measured)
        for row in rows
        if row.key.pattern != CONTROL
    ], shift


def margin_of(launches: Iterable[Launch]) -> float:
    """The margin of the study that measured the launches."""
    margins = {float(m) for launch in launches if (m := launch.envelope.get("margin"))}
    return margins.pop() if len(margins) == 1 else DEFAULT_MARGIN


def _why_nothing(sides: Sequence[Side], measured: Sequence[Measurements]) -> str:
    empty = [(side, found) for side, found in zip(sides, measured, strict=True) if not found.figures]
    names = " and of ".join(f"'{side.name}'" for side, _ in empty)
    why = f"there is no usable figure of {names}" if empty else "there are figures of control cells only"
    # If a side lacks figures, only the problems of this side can be the reason.
    problems = [problem for found in ([found for _, found in empty] or measured) for problem in found.problems]
    return f"nothing to compare: {why}" + (f"; {problems[0]}" if problems else "")


def _problems(sides: Sequence[Side], measured: Sequence[Measurements], rows: Sequence[JudgedRow]) -> list[str]:
    pairs = list(zip(sides, measured, strict=True))
    problems = [f"{side.name}: {problem}" for side, found in pairs for problem in found.problems]
    problems += [
        f"{side.name}: {launch.path}: partial ({launch.envelope['partial']})"
        for side, found in pairs
        for launch in found.partial
    ]
    problems += [
        f"no row is on both sides: {name} is {_levels(old)} and {_levels(new)}; {_remedy(name, rows)}"
        for name, (old, new) in disjoint_factors(rows).items()
    ]
    return problems


def _remedy(factor: str, rows: Iterable[JudgedRow]) -> str:
    if factor in ("transport", "machine") and len({row.simulated for row in rows}) > 1:
        return "'longshore show --predicted' lays measured and simulated figures side by side"
    return f"--ignore {factor} compares nevertheless"


def _levels(values: Iterable[Any]) -> str:
    return " or ".join(terminal.factor(value) for value in values) or "absent"


def _judge(rows: Sequence[JudgedRow], margin: float) -> tuple[list[JudgedRow], CommonShift]:
    """The judged rows without the controls, and the shift; p values are corrected over both."""
    controls = [
        (kernel, verdict.Measured(row.effect.difference, row.moderated.se, row.moderated.df))
        for row in rows
        if row.key.pattern == CONTROL and (kernel := str(row.key.variant.get("kernel"))) in MACHINE_METRICS
        if row.effect and row.moderated
    ]
    shift = find_shift(controls, margin)
    judged = [_untested(row, shift) for row in rows if row.key.pattern != CONTROL]
    testable = {
        index: row.estimate.judged
        for index, row in enumerate(judged)
        if row.verdict != verdict.INVALID and row.moderated and row.estimate and row.estimate.judged
    }
    hypotheses = [*testable.values(), *([shift.measured] if shift.measured else [])]
    judgements = verdict.judge(hypotheses, margin)
    for index, judgement in zip(testable, judgements, strict=False):
        judged[index] = replace(judged[index], judgement=judgement, verdict=judgement.verdict)
    if shift.measured:
        shift = replace(shift, holm_p=judgements[-1].holm_p)
    return [_with_absence(row) for row in judged], shift


def _untested(row: JudgedRow, shift: CommonShift) -> JudgedRow:
    """The row with its estimate and warnings, before it is tested."""
    warnings = list(row.warnings)
    doubts = sorted({figure.why_implausible for figure in row.figures if figure.why_implausible})
    if doubts:
        warnings += doubts
    elif row.effect and not row.moderated and not warnings:
        warnings.append("one session per side: the data do not show how much sessions differ")
    if row.effect and not row.adjustment and (why := explanation(row, row.effect.difference)):
        warnings.append(why)
    return replace(
        row,
        estimate=estimate(row.effect, row.moderated, row.adjustment, shift) if row.effect else None,
        verdict=verdict.INVALID if doubts else verdict.UNTESTABLE,
        warnings=tuple(warnings),
    )


def _with_absence(row: JudgedRow) -> JudgedRow:
    """Marks rows of one side as missing or failed. Warns of few launches or an unnamed layout."""
    warnings, word = list(row.warnings), row.verdict
    for figures, name, reason in zip((row.reference, row.new), ("reference", "new"), row.absent, strict=True):
        if figures:
            if reason:
                warnings.append(f"not from all launches of {name}: {reason}")
            continue
        word = verdict.FAILED if (reason or "").startswith("failed") else verdict.MISSING
        if reason:
            warnings.append(f"nothing in {name}: {reason}")
    if not LAYOUT_SIZES & row.key.factors.keys():
        warnings.append("the layout (nodes, ranks) that it was measured in is not recorded")
    return replace(row, verdict=word, warnings=tuple(warnings))


def table_order(row: JudgedRow) -> tuple[Any, ...]:
    """The order of the table: measured first, pattern, gravest verdict, largest slowdown."""
    return (
        row.simulated or "",
        pattern_rank(row.key.pattern),
        verdict.VERDICTS.index(row.verdict),
        row.estimate.difference if row.estimate else 0.0,
        row.key.study,
        reading_order(row.key.factors),
        row.key.metric,
    )


def parse_margin(text: str) -> float:
    """Reads `5%` or `0.05`. Raises UsageError unless the margin is above 0 and below 1."""
    try:
        value = float(text.removesuffix("%").strip()) / (100.0 if text.strip().endswith("%") else 1.0)
    except ValueError:
        value = math.nan
    if not 0.0 < value < 1.0:
        raise UsageError(f"a margin is between 0 and 1, or 0 % and 100 %, such as 5% or 0.05; not '{text}'")
    return value
