"""The section of reporting rules: whether the data of the page meet the twelve rules of Hoefler and
Belli (Scientific Benchmarking of Parallel Computing Systems, SC15).

RULES pairs the text of each rule with the function that judges it. Some rules are about the way in
which this page summarises, draws and describes figures. The page does that in the same way for all
data of its own programs, so these rules can be met on a page without data.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from longshore_study.base.texts import counted
from longshore_study.patterns import CONTROL
from longshore_study.report.bounds import bound_for
from longshore_study.report.coverage import absences
from longshore_study.report.facts import Facts, by_key
from longshore_study.report.fastest import fastest
from longshore_study.report.labels import pattern_title
from longshore_study.report.launch_dots import median_interval_ranks
from longshore_study.report.markup import Element, element, remark, section
from longshore_study.report.provenance import unrecorded
from longshore_study.report.verdict_style import state_badge
from longshore_study.stats.verdict import UNTESTABLE

MET, NOT_MET, NOT_APPLICABLE = "met", "not met", "not applicable"
GLYPHS = {MET: "✓", NOT_MET: "✕", NOT_APPLICABLE: "–"}
STYLES = {MET: "same", NOT_MET: "regressed", NOT_APPLICABLE: "untestable"}
"""By state, the verdict whose badge style the state uses."""
_FEWEST_WITH_INTERVAL = next(count for count in itertools.count(1) if median_interval_ranks(count) is not None)
"""The smallest number of launches whose median has a 95 % interval."""


@dataclass(frozen=True)
class RuleResult:
    """Whether the page meets a rule, and why."""

    state: str
    """MET, NOT_MET or NOT_APPLICABLE."""
    reason: str


def rule_results(facts: Facts) -> list[tuple[str, RuleResult]]:
    return [(text, judge(facts)) for text, judge in RULES]


def rules_section(facts: Facts) -> Element | None:
    """None where nothing was measured: the rules are about measurements."""
    if not facts.launches and facts.simulated:
        return None
    results = rule_results(facts)
    states = [result.state for _, result in results]
    return section(
        "rules",
        "Rules of good reporting",
        remark(
            f"{states.count(MET)} of the twelve rules of Hoefler and Belli (SC15) are met, "
            f"{states.count(NOT_MET)} not; {states.count(NOT_APPLICABLE)} do not apply here."
        ),
        element(
            "ol",
            [
                element(
                    "li",
                    state_badge(GLYPHS[result.state], result.state, STYLES[result.state]),
                    element("b", text),
                    element("span", result.reason, class_="why"),
                    data_state=result.state,
                )
                for text, result in results
            ],
            class_="rules",
        ),
    )


def _judge_speedups(facts: Facts) -> RuleResult:
    if facts.comparison is None:
        return RuleResult(NOT_APPLICABLE, "No speed-up is shown, only absolute figures.")
    without_figures = sum(1 for r in facts.comparison.rows if r.ratio is not None and None in (r.reference, r.new))
    if without_figures:
        return RuleResult(NOT_MET, f"{counted(without_figures, 'ratio')} without the two figures.")
    return RuleResult(MET, "Every ratio stands beside the two absolute figures that it compares.")


def _judge_omissions(facts: Facts) -> RuleResult:
    if not facts.figures:
        return RuleResult(NOT_APPLICABLE, "Nothing was measured.")
    if all(launch.imported for launch in facts.launches):
        return RuleResult(NOT_MET, "Imported output does not say what was left out, nor why.")
    idle = _idle_cores(facts)
    if idle:
        return RuleResult(NOT_MET, f"{idle}; the study does not say why.")
    absent = len(absences(facts))
    if absent:
        return RuleResult(
            MET, f"All cells are shown; {counted(absent, 'line')} under “What is missing” give the reasons."
        )
    return RuleResult(MET, "All cells of the study are shown.")


def _idle_cores(facts: Facts) -> str:
    """A sentence if no launch uses all cores of the nodes; empty otherwise."""
    used = cores = 0
    for launch in facts.launches:
        header = launch.header or {}
        cores_per_node = _search(header, "cores")
        ranks = launch.cell.get("ranks") or header.get("ranks")
        if isinstance(cores_per_node, int) and isinstance(ranks, int):
            tasks = max((_positive(r["variant"].get("task_count")) for r in launch.results), default=1)
            cores = max(cores, cores_per_node * _positive(_search(header, "nodes")))
            used = max(used, ranks * tasks)
    return f"At most {used} of {cores} cores are used" if 0 < used < cores else ""


def _positive(value: object) -> int:
    """The integer; 1 for any value that is no positive integer."""
    return value if isinstance(value, int) and value > 0 else 1


def _judge_means(facts: Facts) -> RuleResult:
    imported = facts.imported_from
    if imported:
        return RuleResult(
            NOT_MET, f"How {', '.join(imported)} averaged over repetitions and ranks is not in its output."
        )
    return RuleResult(MET, "Times are summarised by their median and rates derived from it; no rate is averaged.")


def _judge_ratio_summaries(facts: Facts) -> RuleResult:
    if facts.comparison is None:
        return RuleResult(NOT_APPLICABLE, "No ratios are summarised.")
    return RuleResult(MET, "Ratios of different figures are never averaged; over sessions the logarithms are.")


def _judge_intervals(facts: Facts) -> RuleResult:
    if facts.comparison is not None:
        rows = facts.comparison.rows
        ratios_without = sum(1 for r in rows if r.interval is None)
        if ratios_without:
            return RuleResult(NOT_MET, f"{ratios_without} of {counted(len(rows), 'ratio')} without an interval.")
        return RuleResult(MET, "Every ratio has its 95 % interval.")
    groups = list(by_key(facts.main_figures).values())
    if not groups:
        return RuleResult(NOT_APPLICABLE, "Nothing was measured.")
    figures_without = sum(1 for g in groups if median_interval_ranks(len(g)) is None)
    if figures_without:
        return RuleResult(
            NOT_MET,
            f"{figures_without} of {counted(len(groups), 'figure')} have fewer than {_FEWEST_WITH_INTERVAL} launches, "
            "too few for a 95 % interval of the median; all launches are shown as dots instead.",
        )
    return RuleResult(MET, "Every figure has the 95 % interval of its median over launches.")


def _judge_normality(facts: Facts) -> RuleResult:
    if facts.comparison is None:
        return RuleResult(MET, "Medians and order statistics assume no distribution.")
    fewest = min((min(r.sessions) for r in facts.comparison.rows if r.sessions != (0, 0)), default=0)
    return RuleResult(
        NOT_MET,
        f"The intervals assume that the logarithms of session medians are normal; {counted(fewest, 'session')} per "
        "side are too few to check that. The dots let a reader judge.",
    )


def _judge_comparisons(facts: Facts) -> RuleResult:
    if facts.comparison is not None:
        untestable = sum(1 for r in facts.comparison.rows if r.verdict == UNTESTABLE)
        if untestable or not facts.comparison.rows:
            return RuleResult(
                NOT_MET, f"{counted(untestable, 'ratio')} could not be tested: a side has only one session."
            )
        return RuleResult(MET, "Verdicts come from intervals over sessions, corrected for their number.")
    contested = [winner for winner in fastest(facts) if winner.runner_up is not None]
    if not contested:
        return RuleResult(NOT_APPLICABLE, "Nothing is compared.")
    close = sum(1 for winner in contested if not winner.separated)
    on_one_launch = sum(
        1 for winner in contested if winner.runner_up and min(len(winner.best.values), len(winner.runner_up.values)) < 2
    )
    if on_one_launch:
        return RuleResult(NOT_MET, f"{on_one_launch} of {counted(len(contested), 'winner')} rest on a single launch.")
    return RuleResult(
        NOT_MET,
        f"Winners are by median, without a test; {close} of {len(contested)} whose launches overlap with the "
        "runner-up’s are marked “close”.",
    )


def _judge_percentiles(facts: Facts) -> RuleResult:
    aggregates = sum(1 for f in facts.main_figures if f.spread is None)
    if aggregates:
        return RuleResult(
            NOT_MET,
            f"{aggregates} of {counted(len(facts.main_figures), 'figure')} are aggregates without percentiles.",
        )
    return RuleResult(MET, "Median with the 10th and 90th percentile of repetitions, and every launch as a dot.")


def _judge_setup(facts: Facts) -> RuleResult:
    missing = unrecorded(facts)
    if missing:
        return RuleResult(NOT_MET, f"Not recorded: {', '.join(missing)}.")
    return RuleResult(MET, "All factors with their levels, the machine, the software and the binding are on this page.")


def _search(value: dict[str, Any], key: str) -> object:
    """The first value with this key at any depth; None if there is none."""
    if key in value:
        return value[key]
    return next((inner for v in value.values() if isinstance(v, dict) and (inner := _search(v, key)) is not None), None)


def _judge_method(facts: Facts) -> RuleResult:
    imported = facts.imported_from
    if imported:
        return RuleResult(
            NOT_MET,
            f"The output of {', '.join(imported)} does not say what was timed, nor how ranks were synchronised.",
        )
    return RuleResult(
        MET, "“How the figures are made”, above, says what is timed, how ranks start together and how it is summarised."
    )


def _judge_bounds(facts: Facts) -> RuleResult:
    patterns_without = [
        pattern_title(p).lower()
        for p in facts.patterns
        if p != CONTROL and bound_for(facts, facts.of_pattern(p)) is None
    ]
    if patterns_without:
        return RuleResult(NOT_MET, f"No bound is known for: {', '.join(patterns_without)}.")
    if not facts.main_figures:
        return RuleResult(NOT_APPLICABLE, "Nothing was measured.")
    return RuleResult(MET, "The measured memory copy is drawn with every pattern.")


def _judge_plots(facts: Facts) -> RuleResult:
    if any(f.imported for f in facts.figures):
        return RuleResult(NOT_MET, "Imported aggregates are one dot per run: their repetitions cannot be shown.")
    return RuleResult(MET, "Every launch is drawn; only levels of a numeric factor are joined by lines.")


RULES: tuple[tuple[str, Callable[[Facts], RuleResult]], ...] = (
    ("Speed-ups name their base case and its absolute performance", _judge_speedups),
    ("Reasons are given for what was left out or not used", _judge_omissions),
    ("Arithmetic means only for costs, harmonic for rates", _judge_means),
    ("Ratios are not averaged", _judge_ratio_summaries),
    ("Figures that vary have confidence intervals", _judge_intervals),
    ("Normality is checked where it is assumed", _judge_normality),
    ("Comparisons are statistically sound", _judge_comparisons),
    ("The summary fits the question: percentiles beside the median", _judge_percentiles),
    ("All factors and the whole set-up are documented", _judge_setup),
    ("Measurement, synchronisation and summary are described", _judge_method),
    ("Upper bounds are shown", _judge_bounds),
    ("Plots show what is needed, and lines only where they mean something", _judge_plots),
)
