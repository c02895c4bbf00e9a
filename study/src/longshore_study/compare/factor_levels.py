"""Compares the levels of one factor of a study with one of them, the baseline. Each level is a side
of a comparison. The rows of all levels are judged together, because one of them may be the
exception. Control cells are left out: within one session, the level causes the differences, not a
shift of the machine."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from longshore_study.base import errors, terminal
from longshore_study.base.errors import LongshoreError, UsageError, require_known, suggestion
from longshore_study.base.expression import canonical_name
from longshore_study.base.json_values import canonical
from longshore_study.compare.common_shift import CommonShift
from longshore_study.compare.comparison import CompareOptions, Comparison, judge_rows, margin_of, table_order
from longshore_study.compare.judged_row import JudgedRow
from longshore_study.compare.level_order import ENVIRONMENT, UNCHANGED, in_order
from longshore_study.compare.noise_rows import with_noise_of
from longshore_study.compare.pairing import disjoint_factors, known_factors, pair
from longshore_study.compare.row_effect import sessions_in_turns
from longshore_study.metrics.launch_metrics import Figure, Key, Measurements, measure, require_metrics
from longshore_study.patterns import CONTROL
from longshore_study.store.hosts import on_hosts
from longshore_study.store.selection import Side

_GRAVITY = (errors.EXIT_OK, errors.EXIT_UNDECIDED, errors.EXIT_INVALID, errors.EXIT_REGRESSED)


@dataclass(frozen=True)
class FactorComparison:
    factor: str
    baseline: str
    comparisons: list[Comparison]
    """One for each other level, with the baseline as the reference."""

    @property
    def exit_status(self) -> int:
        return max((comparison.exit_status for comparison in self.comparisons), key=_GRAVITY.index)


class _Factor:
    """A factor, or a variable of `environment`, which a study with one variable need not name."""

    def __init__(self, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
        factors = {factor for row in rows for factor in row}
        variables = {variable for row in rows for variable in row.get(ENVIRONMENT, ())}
        only = name == ENVIRONMENT and len(variables) == 1
        self.is_variable = only or name in variables
        self.name = variables.pop() if only else name if self.is_variable else canonical_name(name)
        if not self.is_variable and self.name not in factors:
            require_known(name, factors | variables, "factor")

    def level(self, factors: Mapping[str, Any]) -> Any:
        """The level in a cell or a variant. Raises KeyError if they lack the factor."""
        return factors[ENVIRONMENT].get(self.name, UNCHANGED) if self.is_variable else factors[self.name]

    def has(self, factors: Mapping[str, Any]) -> bool:
        return (ENVIRONMENT if self.is_variable else self.name) in factors

    def without(self, factors: Mapping[str, Any]) -> dict[str, Any]:
        if self.is_variable and ENVIRONMENT in factors:
            others = {name: value for name, value in factors[ENVIRONMENT].items() if name != self.name}
            return {**factors, ENVIRONMENT: others}
        return {name: level for name, level in factors.items() if name != self.name}

    def without_in(self, key: Key) -> Key:
        variant, cell = (canonical(self.without(factors)) for factors in (key.variant, key.cell))
        return replace(key, variant_text=variant, cell_text=cell)

    def text(self, level: Any) -> str:
        if self.is_variable and level is None:
            return "unset"
        return terminal.factor(level) if level != {} else UNCHANGED


def compare_levels(side: Side, name: str, baseline: str | None, options: CompareOptions) -> FactorComparison:
    """Compares each level of the factor with the level `baseline`, by default the first level.

    Raises UsageError for an unknown factor or level, and LongshoreError if nothing can be compared.
    """
    require_metrics(options.metrics, side.launches)
    (launches,), where = on_hosts([side.launches], options.where)
    # Sessions of two tags stay apart.
    side = replace(side, launches=[replace(one, session=f"{one.tag}/{one.session}") for one in launches])
    measured = measure(side.launches, metrics=options.metrics)
    if options.noise_of is not None:
        measured = with_noise_of(measured, options.noise_of)
    every = dict.fromkeys((*(figure.key for figure in measured.figures), *measured.absent))
    keys = [key for key in every if key.pattern != CONTROL]
    failed = [launch.cell for launch in measured.failed if launch.cell.get("program") != CONTROL]
    if where is not None:  # a condition cannot select a failed launch, whose variants are not known
        keys, failed = where.select(keys, known_factors), []
    rows_of = [*(key.factors for key in keys), *failed]
    factor = _Factor(name, rows_of)
    found = [factor.level(factors) for factors in rows_of if factor.has(factors)]
    levels = [factor.text(level) for level in in_order(found, factor.name, side.launches)]
    reference = levels[0] if baseline is None else baseline
    if reference not in levels:
        known = ", ".join(levels)
        raise UsageError(f"{factor.name} has no level '{reference}'{suggestion(reference, levels)} (levels: {known})")
    if len(levels) < 2:
        raise UsageError(f"'{side.name}' has one level of {name}: {reference}; there is nothing to compare it with")
    parts = _by_level(factor, measured, {key for key in keys if factor.has(key.factors)})
    others = [text for text in levels if text != reference]
    paired = {text: pair([parts[reference], parts[text]], ignore=options.ignore) for text in others}
    rows = {text: _rows_of_both(found) for text, found in paired.items()}
    if not any(rows.values()):
        factors = dict.fromkeys(name for found in paired.values() for name in disjoint_factors(found))
        apart = ", ".join(factors) or "other factors"
        raise LongshoreError(
            f"nothing to compare: the levels of {name} differ in {apart}, too; --ignore FACTOR compares nevertheless"
        )
    sides = {
        text: (_side(side, reference, [row.reference for row in found]), _side(side, text, [row.new for row in found]))
        for text, found in rows.items()
    }
    in_turns = frozenset.intersection(*(sessions_in_turns(*both) for both in sides.values()))
    margin = options.margin if options.margin is not None else margin_of(side.launches)
    judged, _ = judge_rows([row for found in rows.values() for row in found], in_turns, margin)
    remaining = iter(judged)
    noise_of = options.noise_of.text if options.noise_of is not None else None
    comparisons = []
    for text, found in rows.items():
        problems = [] if found else [f"{text} has no row in common with {reference}"]
        problems = [*(measured.problems if text == others[0] else ()), *problems]
        ordered = sorted(islice(remaining, len(found)), key=table_order)
        shift, damaged = CommonShift(), len(measured.damaged)
        comparisons.append(Comparison(*sides[text], margin, ordered, shift, problems, damaged, noise_of))
    return FactorComparison(name, reference, comparisons)


def _by_level(factor: _Factor, measured: Measurements, keys: set[Key]) -> dict[str, Measurements]:
    """The measurements of each level, without the factor. If a launch has figures of several
    levels, it takes the place of a session, so that each level is compared within the launch."""
    figures: dict[str, list[Figure]] = defaultdict(list)
    levels_of: dict[str, set[str]] = defaultdict(set)
    for figure in measured.figures:
        if figure.key in keys:
            text = factor.text(factor.level(figure.key.factors))
            figures[text].append(replace(figure, key=factor.without_in(figure.key)))
            levels_of[figure.launch].add(text)
    swept = {launch for launch, texts in levels_of.items() if len(texts) > 1}
    parts: dict[str, Measurements] = defaultdict(Measurements)
    for text, members in figures.items():
        parts[text].figures = [replace(f, session=f.launch) if f.launch in swept else f for f in members]
    for key, reason in measured.absent.items():
        if key in keys:
            parts[factor.text(factor.level(key.factors))].absent[factor.without_in(key)] = reason
    for launch in measured.failed:
        if factor.has(launch.cell):
            without = replace(launch, cell=factor.without(launch.cell))
            parts[factor.text(factor.level(launch.cell))].failed.append(without)
    return parts


def _side(whole: Side, name: str, rows: Iterable[Iterable[Figure]]) -> Side:
    """The side with the launches of the figures of these rows."""
    paths = {figure.launch for figures in rows for figure in figures}
    return Side(name, [launch for launch in whole.launches if str(launch.path) in paths], whole.is_tag)


def _rows_of_both(rows: Sequence[JudgedRow]) -> list[JudgedRow]:
    """The rows of both levels, or that one failed to measure. Levels need not do the same."""
    return [
        row for row in rows if (row.reference and row.new) or any((r or "").startswith("failed") for r in row.absent)
    ]
