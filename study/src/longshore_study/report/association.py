"""The section of associations: the factor levels with which the changes are associated."""

from longshore_study.attribution.association import Attribution, rule_text
from longshore_study.attribution.rules import Rule
from longshore_study.base.texts import counted, ratio, ratio_in_words
from longshore_study.compare.estimate import metric_ratio, metric_ratios
from longshore_study.report.facts import Facts
from longshore_study.report.markup import Element, element, remark, section
from longshore_study.stats.verdict import IMPROVED, REGRESSED


def attribution_section(facts: Facts) -> Element | None:
    attribution = facts.attribution
    if attribution is None or not (attribution.rules or attribution.unexplained):
        return None
    note = (
        "Combinations of factor levels, found by a search with a penalty for every condition. An association is not a "
        "cause: 'longshore attribute' writes a study that tests it."
    )
    unexplained = len(attribution.unexplained)
    rules = element("ol", [_rule(attribution, rule) for rule in attribution.rules], class_="rules")
    rest = element("p", f"{counted(unexplained, 'changed figure')} not explained by these.") if unexplained else None
    return section("associated", "Associated with", remark(note), rules, rest)


def _rule(attribution: Attribution, rule: Rule) -> Element:
    low, high = metric_ratios(rule.interval, "higher")
    speed_ratio = metric_ratio(rule.difference, "higher")
    rows = attribution.rows_of(rule)
    changed = sum(row.verdict in (REGRESSED, IMPROVED) for row in rows)
    style = "regressed" if speed_ratio < 1 else "improved"
    change_text = ratio_in_words(speed_ratio, "better", "worse")
    sign = element("span", f"{'▼' if speed_ratio < 1 else '▲'} {change_text}", class_=f"badge v-{style}")
    why = (
        f"ratio {ratio(speed_ratio)}, 95 % interval {ratio(low)} to {ratio(high)} (above 1 is better); "
        f"{counted(len(rows), 'figure')}, {changed} of them changed"
    )
    return element("li", sign, " ", element("code", rule_text(rule)), element("span", why, class_="why"))
