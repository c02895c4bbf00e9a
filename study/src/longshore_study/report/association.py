"""With what the changes are associated: rules over factor levels, and no word of a cause."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from longshore_study.base.texts import counted, ratio, ratio_in_words
from longshore_study.report.facts import Facts
from longshore_study.report.markup import Element, element


def attribution_section(facts: Facts) -> Element | None:
    told = facts.attribution
    if told is None or not (told["rules"] or told["unexplained"]):
        return None
    note = (
        "Conjunctions of factor levels, found by a search that pays for every condition. An association is not a "
        "cause: 'longshore attribute' writes a study that tests it."
    )
    lacking = len(told["unexplained"])
    return element(
        "section",
        element("h2", "Associated with"),
        element("p", note, class_="note"),
        element("ol", [_rule(rule) for rule in told["rules"]], class_="rules associations"),
        element("p", f"{counted(lacking, 'changed figure')} not explained by these.") if lacking else None,
        id="associated",
    )


def _rule(rule: Mapping[str, Any]) -> Element:
    low, high = rule["interval"]
    size = float(rule["goodness_ratio"])
    style = "regressed" if size < 1 else "improved"
    how = ratio_in_words(size).replace("higher", "better").replace("lower", "worse")
    return element(
        "li",
        element("span", f"{'▼' if size < 1 else '▲'} {how}", class_=f"badge v-{style}"),
        " ",
        element("code", rule["associated_with"]),
        element(
            "span",
            f"ratio {ratio(size)}, 95 % interval {ratio(low)} to {ratio(high)} (above 1 is better); "
            f"{counted(rule['rows'], 'figure')}, {rule['changed']} of them changed",
            class_="why",
        ),
    )
