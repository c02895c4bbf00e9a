"""The first section of a page without a comparison: the best choice for each pattern, its share of
memory copy, how near `auto` comes to it, and the next commands."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass

from longshore_study.analyses.best_choices import BestChoice
from longshore_study.base.texts import counted, figure, share
from longshore_study.output.next_commands import next_commands
from longshore_study.report.facts import Facts
from longshore_study.report.fastest import fastest
from longshore_study.report.labels import pattern_title
from longshore_study.report.marks import strip, strip_axis, vertical
from longshore_study.report.markup import Child, Element, element, percent
from longshore_study.report.scales import Scale


@dataclass(frozen=True)
class Best:
    side: str
    answer: BestChoice

    @property
    def pattern(self) -> str:
        return self.answer.best.pattern

    def better_than(self, other: Best) -> bool:
        """A figure above memory copy was measured in a cache; it is best only where there is no
        other."""
        if self.answer.in_cache != other.answer.in_cache:
            return other.answer.in_cache
        mine, others = self.answer.best, other.answer.best
        return mine.value < others.value if mine.better == "lower" else mine.value > others.value


def best_section(facts: Facts) -> Element:
    best = best_of_places(facts)
    return element(
        "section",
        element("p", solo_sentence(facts), class_="verdict"),
        [_table(facts, best), _legend(best)] if best else None,
        [element("p", text, class_="lead") for text in _details(facts)],
        _next(facts),
        id="verdict",
    )


def best_of_places(facts: Facts) -> list[Best]:
    """For each pattern, place and transport the piece of work with the best figure."""
    return _best_by(_all(facts), lambda one: (one.pattern, one.answer.where))


def best_of_patterns(facts: Facts) -> list[Best]:
    return _best_by(_all(facts), lambda one: one.pattern)


def _all(facts: Facts) -> list[Best]:
    return [Best(side, answer) for side, found in facts.best_choices.items() for answer in found]


def _best_by(found: Iterable[Best], key: Callable[[Best], Hashable]) -> list[Best]:
    best: dict[Hashable, Best] = {}
    for one in found:
        known = best.setdefault(key(one), one)
        if one.better_than(known):
            best[key(one)] = one
    return list(best.values())


def solo_sentence(facts: Facts) -> str:
    """States the lowest and the highest share of the bound; without a bound, the figures."""
    best = best_of_patterns(facts)
    if not best:
        return _unranked_sentence(facts)
    shared = sorted(
        (one for one in best if one.answer.best.share is not None), key=lambda one: one.answer.best.share or 0
    )
    if not shared:
        text = "; ".join(
            f"{pattern_title(entry.pattern).lower()} {figure(entry.value, entry.unit)}{_with(one.answer)}"
            for one in best
            for entry in (one.answer.best,)
        )
        return f"The fastest: {text}. Memory copy was not measured with them."
    low, high = (
        f"{share(one.answer.best.share or 0.0)} ({pattern_title(one.pattern).lower()})"
        for one in (shared[0], shared[-1])
    )
    reach = f"reach {low} to {high}" if len(shared) > 1 else f"reach {low}"
    return f"The fastest choices {reach} of the speed of memory copy."


def _unranked_sentence(facts: Facts) -> str:
    """For programs with unknown factors: it is not known which of their variants do the same
    work."""
    figures = facts.main_figures
    if not figures:
        return "No figure was measured."
    titles = list(dict.fromkeys(pattern_title(f.pattern) for f in figures))
    text = f"{counted(len(figures), 'figure')} measured: {', '.join(titles)}."
    if len(figures) == 1:
        return f"{text} It is shown below."
    return f"{text} They are shown below; none is ranked against another."


def _with(answer: BestChoice) -> str:
    """Empty where there was no choice."""
    if answer.name and answer.problem:
        return f" with {answer.name} ({answer.problem})"
    return f" with {answer.name or answer.problem}" if answer.name or answer.problem else ""


def _table(facts: Facts, best: list[Best]) -> Element:
    """One bar per pattern and place, its length the share of memory copy."""
    shares = [one.answer.best.share for one in best if one.answer.best.share is not None]
    scale = Scale(0.0, max([1.0, *shares]) * 1.04)
    heads: list[tuple[str, Child]] = [("name", "Best of"), ("value number", "Figure")]
    if shares:
        axis = [element("span", "share of memory copy", class_="axis-name"), strip_axis(scale.ticks(share, 4))]
        heads += [("plot", axis), ("share number", "Share")]
    heads.append(("choice", "Choose"))
    rows = []
    for one in best:
        answer = one.answer
        cells: list[Child] = [
            element(
                "th", element("b", pattern_title(one.pattern)), " ", _soft(answer.where), class_="c-name", scope="row"
            ),
            element("td", figure(answer.best.value, answer.best.unit), class_="c-value number"),
        ]
        if shares:
            cells += [element("td", _bar(one, scale), class_="c-plot"), _share(answer)]
        cells.append(_choice(one, several=len(facts.sides) > 1))
        rows.append(element("tr", cells))
    head = element("tr", [element("th", text, class_=f"c-{style}", scope="col") for style, text in heads])
    return element(
        "table", element("thead", head), element("tbody", rows), class_="strips best" if shares else "plain bare"
    )


def _choice(one: Best, *, several: bool) -> Element:
    """The choice, then the choices within noise of it, then the result of auto."""
    answer = one.answer
    where = f" in {one.side}" if several else ""
    return element(
        "td",
        element("b", answer.name or ("" if answer.problem else "the only choice")),
        f" {answer.problem}{where}",
        _soft(f" within noise: {answer.near_text}") if answer.near else None,
        _soft(f" {answer.auto.text}") if answer.auto else None,
        class_="c-choice",
    )


def _soft(text: str) -> Element:
    return element("span", text, class_="meaning")


def _legend(best: list[Best]) -> Element:
    text = ["“Within noise”: the difference from the best is not significant (95 % interval of the ratio)."]
    if any(one.answer.best.share is not None for one in best):
        text.append("The bound is what the memory of this machine allows; what a network allows is not measured.")
    else:
        text.append("There is no bound: memory copy was not measured with these figures.")
    return element("p", " ".join(text), class_="note")


def _next(facts: Facts) -> Element | None:
    """Only for one side: a reader of several knows the commands already."""
    if len(facts.sides) != 1:
        return None
    commands = next_commands(facts.best_choices[facts.sides[0]], facts.launches, shown_by="report")
    if not commands:
        return None
    return element(
        "div",
        element("h3", "What to type next"),
        element(
            "dl", [[element("dt", element("code", line)), element("dd", what)] for line, what in commands],
            class_="commands",
        ),
    )  # fmt: skip


def _bar(one: Best, scale: Scale) -> Element:
    name, found = f"{pattern_title(one.pattern)} {one.answer.where}".rstrip(), one.answer.best.share
    if found is None:
        return strip(vertical(scale, 1.0, "bound"), label=f"{name}: share of memory copy not known")
    bar = element("rect", x="0", y="28%", height="44%", width=percent(scale.clipped(found)), class_="bar s1")
    return strip(bar, vertical(scale, 1.0, "bound"), label=f"{name}: {share(found)} of memory copy")


def _share(answer: BestChoice) -> Element:
    return element(
        "td",
        "no bound" if answer.best.share is None else share(answer.best.share),
        [" ", element("span", "in cache?", class_="close")] if answer.in_cache else None,
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
    return [f"{len(unclear)} of {counted(total, 'winner')} within noise of the runner-up (marked “close” below)."]
