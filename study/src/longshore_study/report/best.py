"""The answer where there is nothing to compare with: the best figure of each pattern, and how far it is from the speed
of memory copy."""

from __future__ import annotations

from longshore_study.report.facts import Facts
from longshore_study.report.fastest import Winner, fastest
from longshore_study.report.labels import pattern_title
from longshore_study.report.marks import strip, strip_axis, vertical
from longshore_study.report.markup import Child, Element, element, percent
from longshore_study.report.numbers import counted, figure, share
from longshore_study.report.scales import Scale


def best_section(facts: Facts) -> Element:
    best = best_of_patterns(facts)
    return element(
        "section",
        element("p", solo_sentence(facts), class_="verdict"),
        _table(facts, best) if best else None,
        [element("p", text, class_="lead") for text in _details(facts)],
        id="verdict",
    )


def best_of_patterns(facts: Facts) -> list[Winner]:
    """Per pattern the winner with the best figure of all, those above memory copy only where there is no other: they
    were measured in a cache, and are not what the sentence is about."""
    best: dict[str, Winner] = {}
    for winner in fastest(facts):
        known = best.get(winner.best.pattern)
        if known is None or (winner.above_copy, not winner.better_than(known)) < (known.above_copy, True):
            best[winner.best.pattern] = winner
    return list(best.values())


def solo_sentence(facts: Facts) -> str:
    """Between which shares of the bound the winners are; the figures themselves where there is no bound."""
    best = best_of_patterns(facts)
    if not best:
        return _unranked_sentence(facts)
    shared = sorted((w for w in best if w.best.share is not None), key=lambda w: w.best.share or 0.0)
    if not shared:
        told = "; ".join(
            f"{pattern_title(w.best.pattern).lower()} {figure(w.best.value, w.best.unit)}{_with(w)}" for w in best
        )
        return f"The fastest: {told}. Memory copy was not measured with them."
    low, high = (
        f"{share(w.best.share or 0.0)} ({pattern_title(w.best.pattern).lower()})" for w in (shared[0], shared[-1])
    )
    reach = f"reach {low} to {high}" if len(shared) > 1 else f"reach {low}"
    return f"The fastest choices {reach} of the speed of memory copy."


def _unranked_sentence(facts: Facts) -> str:
    """Of programs whose factors are not ours nobody says which of their variants do the same work."""
    figures = facts.main_figures
    if not figures:
        return "No figure was measured."
    titles = list(dict.fromkeys(pattern_title(f.pattern) for f in figures))
    told = f"{counted(len(figures), 'figure')} measured: {', '.join(titles)}."
    if len(figures) == 1:
        return f"{told} It is shown below."
    return f"{told} They are shown below; none is ranked against another."


def _with(winner: Winner) -> str:
    """Nothing where nothing was chosen."""
    if winner.name and winner.problem:
        return f" with {winner.name} ({winner.problem})"
    return f" with {winner.name or winner.problem}" if winner.name or winner.problem else ""


def _table(facts: Facts, best: list[Winner]) -> Element:
    """One bar per pattern, its length the share of memory copy."""
    shares = [w.best.share for w in best if w.best.share is not None]
    scale = Scale(0.0, max([1.0, *shares]) * 1.04)
    ticks = scale.ticks(share, 4)
    several = len(facts.sides) > 1
    heads: list[tuple[str, Child]] = [("name", "Best of"), ("value number", "Figure")]
    if shares:
        axis = [element("span", "share of memory copy", class_="axis-name"), strip_axis(ticks)]
        heads += [("plot", axis), ("share number", "Share")]
    heads.append(("choice", "With"))
    rows = []
    for w in best:
        cells: list[Child] = [
            element("th", element("b", pattern_title(w.best.pattern)), class_="c-name", scope="row"),
            element("td", figure(w.best.value, w.best.unit), class_="c-value number"),
        ]
        if shares:
            cells += [element("td", _bar(w, scale), class_="c-plot"), _share(w)]
        where = f" in {w.side}" if several else ""
        cells.append(element("td", element("b", w.name), f" {w.problem}{where}", class_="c-choice"))
        rows.append(element("tr", cells))
    head = element("tr", [element("th", text, class_=f"c-{style}", scope="col") for style, text in heads])
    return element(
        "table", element("thead", head), element("tbody", rows), class_="strips best" if shares else "plain bare"
    )


def _bar(winner: Winner, scale: Scale) -> Element:
    name = pattern_title(winner.best.pattern)
    if winner.best.share is None:
        return strip(vertical(scale, 1.0, "bound"), label=f"{name}: share of memory copy not known")
    bar = element(
        "rect", x="0", y="28%", height="44%", width=percent(scale.clipped(winner.best.share)), class_="bar s1"
    )
    return strip(bar, vertical(scale, 1.0, "bound"), label=f"{name}: {share(winner.best.share)} of memory copy")


def _share(winner: Winner) -> Element:
    return element(
        "td",
        "–" if winner.best.share is None else share(winner.best.share),
        [" ", element("span", "in cache?", class_="close")] if winner.above_copy else None,
        class_="c-share number",
    )


def _details(facts: Facts) -> list[str]:
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
