"""The factor levels with which the changes are associated. An association is not a cause."""

from __future__ import annotations

from longshore_study.attribution.association import Attribution, rule_text
from longshore_study.attribution.rules import Rule
from longshore_study.base.texts import counted, ratio, ratio_in_words
from longshore_study.compare.estimate import ratio as ratio_of
from longshore_study.compare.estimate import ratios
from longshore_study.report.facts import Facts
from longshore_study.report.markup import Element, element
from longshore_study.stats.verdict import IMPROVED, REGRESSED


def attribution_section(facts: Facts) -> Element | None:
    attribution = facts.attribution
    if attribution is None or not (attribution.rules or attribution.unexplained):
        return None
    note = (
        "Combinations of factor levels, found by a search with a penalty for every condition. An association is not a "
        "cause: 'longshore attribute' writes a study that tests it."
    )
    lacking = len(attribution.unexplained)
    return element(
        "section",
        element("h2", "Associated with"),
        element("p", note, class_="note"),
        element("ol", [_rule(attribution, rule) for rule in attribution.rules], class_="rules associations"),
        element("p", f"{counted(lacking, 'changed figure')} not explained by these.") if lacking else None,
        id="associated",
    )


def _rule(attribution: Attribution, rule: Rule) -> Element:
    low, high = ratios(rule.interval, "higher")
    size = ratio_of(rule.difference, "higher")
    rows = attribution.rows_of(rule)
    changed = sum(row.verdict in (REGRESSED, IMPROVED) for row in rows)
    style = "regressed" if size < 1 else "improved"
    how = ratio_in_words(size).replace("higher", "better").replace("lower", "worse")
    return element(
        "li",
        element("span", f"{'▼' if size < 1 else '▲'} {how}", class_=f"badge v-{style}"),
        " ",
        element("code", rule_text(rule)),
        element(
            "span",
            f"ratio {ratio(size)}, 95 % interval {ratio(low)} to {ratio(high)} (above 1 is better); "
            f"{counted(len(rows), 'figure')}, {changed} of them changed",
            class_="why",
        ),
    )
