"""The twelve rules of Hoefler and Belli (Scientific Benchmarking of Parallel Computing Systems,
SC15), each checked against the data of this page: met, not met with the reason, or not
applicable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from longshore_study.base.texts import counted
from longshore_study.report.bounds import bound_for
from longshore_study.report.coverage import absences
from longshore_study.report.facts import Facts, by_key
from longshore_study.report.fastest import fastest
from longshore_study.report.labels import pattern_title
from longshore_study.report.launch_dots import median_interval_ranks
from longshore_study.report.markup import Element, element
from longshore_study.report.provenance import unrecorded

MET, NOT_MET, NOT_APPLICABLE = "met", "not met", "not applicable"
GLYPHS = {MET: "✓", NOT_MET: "✕", NOT_APPLICABLE: "–"}
STYLES = {MET: "same", NOT_MET: "regressed", NOT_APPLICABLE: "untestable"}


@dataclass(frozen=True)
class RuleResult:
    state: str
    why: str


def rule_results(facts: Facts) -> list[tuple[str, RuleResult]]:
    return [(text, judge(facts)) for text, judge in RULES]


def rules_section(facts: Facts) -> Element:
    judged = rule_results(facts)
    met = sum(1 for _, j in judged if j.state == MET)
    missed = sum(1 for _, j in judged if j.state == NOT_MET)
    return element(
        "section",
        element("h2", "Rules of good reporting"),
        element(
            "p",
            f"{met} of the twelve rules of Hoefler and Belli (SC15) are met, {missed} not; "
            f"{len(judged) - met - missed} do not apply here.",
            class_="note",
        ),
        element(
            "ol",
            [
                element(
                    "li",
                    element(
                        "span",
                        element("span", GLYPHS[j.state], class_="glyph", aria_hidden="true"),
                        f" {j.state}",
                        class_=f"badge v-{STYLES[j.state]}",
                    ),
                    element("b", f"{text}"),
                    element("span", j.why, class_="why"),
                    data_state=j.state,
                )
                for text, j in judged
            ],
            class_="rules",
        ),
        id="rules",
    )


def _speedup(facts: Facts) -> RuleResult:
    if facts.comparison is None:
        return RuleResult(NOT_APPLICABLE, "No speed-up is shown, only absolute figures.")
    bare = sum(1 for r in facts.comparison.rows if r.ratio is not None and None in (r.reference, r.new))
    if bare:
        return RuleResult(NOT_MET, f"{counted(bare, 'ratio')} without the two figures.")
    return RuleResult(MET, "Every ratio stands beside the two absolute figures that it compares.")


def _subsets(facts: Facts) -> RuleResult:
    if not facts.figures:
        return RuleResult(NOT_APPLICABLE, "Nothing was measured.")
    if all(launch.imported for launch in facts.launches):
        return RuleResult(NOT_MET, "Imported output does not say what was left out, nor why.")
    idle = _idle_cores(facts)
    if idle:
        return RuleResult(NOT_MET, f"{idle}; the study does not say why.")
    count = len(absences(facts))
    if count:
        return RuleResult(
            MET, f"All cells are shown; {counted(count, 'line')} under “What is missing” give the reasons."
        )
    return RuleResult(MET, "All cells of the study are shown.")


def _idle_cores(facts: Facts) -> str:
    """A sentence if no cell uses all cores that the header reports, else ""."""
    best = 0
    cores = 0
    for launch in facts.launches:
        found = _search(launch.header or {}, "cores")
        ranks = launch.cell.get("ranks") or (launch.header or {}).get("ranks")
        if isinstance(found, int) and isinstance(ranks, int):
            tasks = max((_integer(r["variant"].get("task_count")) for r in launch.results), default=1)
            nodes = _integer(_search(launch.header or {}, "nodes"))
            cores = max(cores, found * nodes)
            best = max(best, ranks * tasks)
    return f"At most {best} of {cores} cores are used" if 0 < best < cores else ""


def _integer(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 1


def _means(facts: Facts) -> RuleResult:
    imported = facts.imported_from
    if imported:
        return RuleResult(
            NOT_MET, f"How {', '.join(imported)} averaged over repetitions and ranks is not in its output."
        )
    return RuleResult(MET, "Times are summarised by their median and rates derived from it; no rate is averaged.")


def _ratios(facts: Facts) -> RuleResult:
    if facts.comparison is None:
        return RuleResult(NOT_APPLICABLE, "No ratios are summarised.")
    return RuleResult(MET, "Ratios of different figures are never averaged; over sessions the logarithms are.")


def _intervals(facts: Facts) -> RuleResult:
    if facts.comparison is not None:
        bare = [r for r in facts.comparison.rows if r.interval is None]
        if bare:
            return RuleResult(
                NOT_MET, f"{len(bare)} of {counted(len(facts.comparison.rows), 'ratio')} without an interval."
            )
        return RuleResult(MET, "Every ratio has its 95 % interval.")
    groups = list(by_key(facts.main_figures).values())
    without = sum(1 for g in groups if median_interval_ranks(len(g)) is None)
    if not groups:
        return RuleResult(NOT_APPLICABLE, "Nothing was measured.")
    if without:
        return RuleResult(
            NOT_MET,
            f"{without} of {counted(len(groups), 'figure')} have fewer than six launches, too few for a 95 % interval "
            "of the median; all launches are shown as dots instead.",
        )
    return RuleResult(MET, "Every figure has the 95 % interval of its median over launches.")


def _normality(facts: Facts) -> RuleResult:
    if facts.comparison is None:
        return RuleResult(MET, "Medians and order statistics assume no distribution.")
    fewest = min((min(r.sessions) for r in facts.comparison.rows if r.sessions != (0, 0)), default=0)
    return RuleResult(
        NOT_MET,
        f"The intervals assume that the logarithms of session medians are normal; {counted(fewest, 'session')} per "
        "side are too few to check that. The dots let a reader judge.",
    )


def _soundness(facts: Facts) -> RuleResult:
    if facts.comparison is not None:
        weak = sum(1 for r in facts.comparison.rows if r.verdict == "untestable")
        if weak or not facts.comparison.rows:
            return RuleResult(NOT_MET, f"{counted(weak, 'ratio')} could not be tested: a side has only one session.")
        return RuleResult(MET, "Verdicts come from intervals over sessions, corrected for their number.")
    contested = [w for w in fastest(facts) if w.runner_up is not None]
    if not contested:
        return RuleResult(NOT_APPLICABLE, "Nothing is compared.")
    close = sum(1 for w in contested if not w.separated)
    alone = sum(1 for w in contested if w.runner_up and min(len(w.best.values), len(w.runner_up.values)) < 2)
    if alone:
        return RuleResult(NOT_MET, f"{alone} of {counted(len(contested), 'winner')} rest on a single launch.")
    return RuleResult(
        NOT_MET,
        f"Winners are by median, without a test; {close} of {len(contested)} whose launches overlap with the "
        "runner-up’s are marked “close”.",
    )


def _central_tendency(facts: Facts) -> RuleResult:
    bare = sum(1 for f in facts.main_figures if f.spread is None)
    if bare:
        return RuleResult(
            NOT_MET, f"{bare} of {counted(len(facts.main_figures), 'figure')} are aggregates without percentiles."
        )
    return RuleResult(MET, "Median with the 10th and 90th percentile of repetitions, and every launch as a dot.")


def _setup(facts: Facts) -> RuleResult:
    lacking = unrecorded(facts)
    if lacking:
        return RuleResult(NOT_MET, f"Not recorded: {', '.join(lacking)}.")
    return RuleResult(MET, "All factors with their levels, the machine, the software and the binding are on this page.")


def _search(value: dict[str, Any], key: str) -> object:
    if key in value:
        return value[key]
    return next((found for v in value.values() if isinstance(v, dict) and (found := _search(v, key)) is not None), None)


def _method(facts: Facts) -> RuleResult:
    imported = facts.imported_from
    if imported:
        return RuleResult(
            NOT_MET,
            f"The output of {', '.join(imported)} does not say what was timed, nor how ranks were synchronised.",
        )
    return RuleResult(
        MET, "“How the figures are made”, above, says what is timed, how ranks start together and how it is summarised."
    )


def _bounds(facts: Facts) -> RuleResult:
    lacking = [
        pattern_title(p).lower()
        for p in facts.patterns
        if p != "control" and bound_for(facts, facts.of_pattern(p)) is None
    ]
    if lacking:
        return RuleResult(NOT_MET, f"No bound is known for: {', '.join(lacking)}.")
    if not facts.main_figures:
        return RuleResult(NOT_APPLICABLE, "Nothing was measured.")
    return RuleResult(MET, "The measured memory copy is drawn with every pattern.")


def _plots(facts: Facts) -> RuleResult:
    if any(f.aggregate for f in facts.figures):
        return RuleResult(NOT_MET, "Imported aggregates are one dot per run: their repetitions cannot be shown.")
    return RuleResult(MET, "Every launch is drawn; only levels of a numeric factor are joined by lines.")


RULES: tuple[tuple[str, Callable[[Facts], RuleResult]], ...] = (
    ("Speed-ups name their base case and its absolute performance", _speedup),
    ("Reasons are given for what was left out or not used", _subsets),
    ("Arithmetic means only for costs, harmonic for rates", _means),
    ("Ratios are not averaged", _ratios),
    ("Figures that vary have confidence intervals", _intervals),
    ("Normality is checked where it is assumed", _normality),
    ("Comparisons are statistically sound", _soundness),
    ("The summary fits the question: percentiles beside the median", _central_tendency),
    ("All factors and the whole set-up are documented", _setup),
    ("Measurement, synchronisation and summary are described", _method),
    ("Upper bounds are shown", _bounds),
    ("Plots show what is needed, and lines only where they mean something", _plots),
)
