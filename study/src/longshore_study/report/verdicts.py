"""The answer first: the verdict in a sentence, what stands behind it, and the counts by verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import log

from longshore_study.report.facts import Comparison, Facts, Row
from longshore_study.report.fastest import Winner, fastest
from longshore_study.report.labels import metric_title, naming, pattern_title
from longshore_study.report.markup import Child, Element, element
from longshore_study.report.numbers import change, counted, figure, quantity, ratio, ratio_in_words, share


@dataclass(frozen=True)
class Verdict:
    """How a verdict looks: a glyph and a shape beside the colour, and what it means."""

    glyph: str
    shape: str
    open: bool
    meaning: str


VERDICTS = {
    "regressed": Verdict("▼", "down", open=False, meaning="worse by more than the margin"),
    "improved": Verdict("▲", "up", open=False, meaning="better by more than the margin"),
    "same": Verdict("=", "square", open=False, meaning="any difference is within the margin"),
    "inconclusive": Verdict("?", "circle", open=True, meaning="the data cannot tell"),
    "untestable": Verdict("–", "diamond", open=True, meaning="too few sessions to judge; the effect is shown"),
    "failed": Verdict("✕", "cross", open=False, meaning="a launch failed"),
    "invalid": Verdict("!", "plus", open=False, meaning="above its bound or not verified"),
    "missing": Verdict("∅", "bar", open=True, meaning="measured on one side only"),
}  # fmt: skip
UNKNOWN = Verdict("·", "circle", open=True, meaning="")
# The order of tables: what needs attention first.
ORDER = ("regressed", "failed", "invalid", "missing", "improved", "inconclusive", "untestable", "same")


def verdict_of(name: str) -> Verdict:
    return VERDICTS.get(base_name(name), UNKNOWN)


def base_name(name: str) -> str:
    """`invalid?` is drawn as `invalid`."""
    return name.rstrip("?")


def badge(name: str) -> Element:
    """Glyph and word."""
    return element(
        "span",
        element("span", verdict_of(name).glyph, class_="glyph", aria_hidden="true"),
        " ",
        name,
        class_=f"badge v-{base_name(name)}" if base_name(name) in VERDICTS else "badge",
    )


def order_of(name: str) -> int:
    return ORDER.index(base_name(name)) if base_name(name) in ORDER else len(ORDER)


def verdict_section(facts: Facts) -> Element:
    comparison = facts.comparison
    if comparison is None:
        return element(
            "section",
            element("p", solo_sentence(facts), class_="verdict"),
            [element("p", text, class_="lead") for text in _solo_details(facts)],
            id="verdict",
        )
    return element(
        "section",
        element("p", badge(comparison.verdict), " ", comparison_sentence(comparison), class_="verdict"),
        [element("p", text, class_="lead") for text in _comparison_details(comparison)],
        tiles(comparison),
        id="verdict",
    )


def comparison_sentence(comparison: Comparison) -> str:
    counts = Counter(base_name(row.verdict) for row in comparison.rows)
    total = len(comparison.rows)
    sides = f"“{comparison.new}” against “{comparison.reference}”"
    figures = counted(total, "figure")
    margin = share(comparison.margin)
    if counts["regressed"]:
        return f"{sides}: {counts['regressed']} of {figures} regressed beyond the margin of {margin}."
    if not total:
        return f"{sides}: there is nothing that both sides have measured."
    broken = counts["failed"] + counts["invalid"] + counts["missing"]
    if broken:
        return f"{sides}: none of {figures} regressed, but {broken} failed, are invalid or are missing on one side."
    if counts["improved"]:
        return f"{sides}: {counts['improved']} of {figures} improved beyond the margin of {margin}, none regressed."
    if counts["same"] == total:
        return f"{sides}: all {figures} are the same within the margin of {margin}."
    undecided = counts["inconclusive"] + counts["untestable"]
    return f"{sides}: none of {figures} regressed; {undecided} cannot be decided with these data."


def solo_sentence(facts: Facts) -> str:
    """About winners and the bound; there is nothing to compare with."""
    best = best_of_patterns(facts)
    if not best:
        return "No figure was measured."
    parts = [
        f"{pattern_title(w.best.pattern).lower()} {_named(w)} {figure(w.best.value, w.best.unit)}"
        + (f", {share(w.best.share)} of memory copy" if w.best.share is not None else "")
        + (f" in {w.side}" if len(facts.sides) > 1 else "")
        for w in best
    ]
    over = f" of {counted(len(facts.sides), 'tag')}" if len(facts.sides) > 1 else ""
    return f"The fastest{over}: " + "; ".join(parts) + "."


def _named(winner: Winner) -> str:
    if winner.name and winner.problem:
        return f"{winner.name} ({winner.problem})"
    return winner.name or winner.problem or "with"


def best_of_patterns(facts: Facts) -> list[Winner]:
    """Per pattern the winner with the best figure of all, those above their bound only where there is no other: a
    figure that beats memory copy is measured in a cache, and not what the sentence is about."""
    best: dict[str, Winner] = {}
    for winner in fastest(facts):
        known = best.get(winner.best.pattern)
        if known is None or (winner.above_copy, not winner.better_than(known)) < (known.above_copy, True):
            best[winner.best.pattern] = winner
    return list(best.values())


def tiles(comparison: Comparison) -> Element:
    counts = Counter(base_name(row.verdict) for row in comparison.rows)
    shown = [name for name in ORDER if counts[name] or name in ("regressed", "improved", "same", "inconclusive")]
    return element(
        "ul",
        [
            element(
                "li",
                element("span", verdict_of(name).glyph, class_="glyph", aria_hidden="true"),
                element("b", str(counts[name])),
                " ",
                element("span", name, class_="word"),
                element("span", verdict_of(name).meaning, class_="meaning"),
                class_=f"tile v-{name}" + ("" if counts[name] else " none"),
            )
            for name in shown
        ],
        class_="tiles",
    )


def _comparison_details(comparison: Comparison) -> list[str]:
    details = []
    names = naming(row.factors for row in comparison.rows)
    judged = [row for row in comparison.rows if row.ratio and row.ratio > 0]
    for verdict, word in (("regressed", "The worst"), ("improved", "The best gain")):
        rows = [row for row in judged if row.verdict == verdict]
        if rows:
            details.append(f"{word}: {row_sentence(max(rows, key=_size), names.text)}")
    sides = {row.sessions for row in comparison.rows if row.sessions != (0, 0)}
    if sides:
        least = (min(s[0] for s in sides), min(s[1] for s in sides))
        details.append(
            f"Judged from {counted(least[0], 'session')} of “{comparison.reference}” and {least[1]} of "
            f"“{comparison.new}”; a session is the unit of replication."
        )
    details += _shift(comparison)
    return details


def row_sentence(row: Row, name: object) -> str:
    label = name(row.factors) if callable(name) else ""
    assert row.ratio is not None  # noqa: S101 - the caller has chosen judged rows
    text = f"{pattern_title(row.pattern).lower()}, {label}: {metric_title(row.metric)} {ratio_in_words(row.ratio)}"
    if row.reference is not None and row.new is not None:
        shown_as = quantity(row.unit, [row.reference, row.new])
        text += f" ({shown_as.number(row.reference)} → {shown_as.told(row.new)}"
        text += f"; ratio {ratio(row.ratio)}"
        if row.interval:
            text += f", 95 % interval {ratio(row.interval[0])} to {ratio(row.interval[1])}"
        text += ")"
    return text + "."


def _size(row: Row) -> float:
    return abs(log(row.ratio)) if row.ratio else 0.0


def _shift(comparison: Comparison) -> list[str]:
    shift = comparison.common_shift
    size = shift.get("ratio")
    if not isinstance(size, (int, float)):
        reason = shift.get("reason") or shift.get("note")
        return [f"Common shift of the whole machine: {reason}."] if reason else []
    removed = "it was removed from the ratios" if shift.get("removed") else "nothing was removed from the ratios"
    return [f"The controls (memory copy, ping-pong) shifted by {change(float(size))} as a whole; {removed}."]


def _solo_details(facts: Facts) -> list[str]:
    launches = facts.launches
    problems = len(facts.failed)
    sessions = {(launch.study, launch.tag, launch.session) for launch in launches}
    figures = facts.main_figures
    wrong = sum(1 for a in facts.absent if a.reason.startswith("failed"))
    text = f"{counted(len(launches), 'launch', 'launches')} in {counted(len(sessions), 'session')}, "
    text += "all complete" if not problems else f"{problems} of them failed or incomplete"
    checked = sum(1 for f in figures if f.verified is not None)
    if wrong:
        text += f"; {counted(wrong, 'result')} wrong or without a figure"
    elif checked:
        text += f"; all {checked} checked results are right"
    hint = "Nothing is judged here: “longshore report --compare REF NEW” judges one tag against another."
    return [text + ".", *_undecided(facts), *([hint] if len(facts.sides) > 1 else [])]


def _undecided(facts: Facts) -> list[str]:
    unclear = [w for w in fastest(facts) if w.runner_up is not None and not w.separated and w.best.pattern != "control"]
    if not unclear:
        return []
    total = len(fastest(facts))
    return [f"{len(unclear)} of {counted(total, 'winner')} not set apart: launches overlap (marked “close” below)."]


def glyph_list(names: Sequence[str]) -> Child:
    """The legend of a forest plot."""
    return element(
        "ul",
        [
            element(
                "li",
                element(
                    "svg",
                    element("use", href=f"#m-{verdict_of(n).shape}", x="8", y="8", class_=f"mark {mark_style(n)}"),
                    class_="key",
                    aria_hidden="true",
                ),
                n,
            )
            for n in names
        ],
        class_="legend",
    )


def mark_style(name: str) -> str:
    look = verdict_of(name)
    return f"v-{base_name(name)}" + (" open" if look.open else "")
