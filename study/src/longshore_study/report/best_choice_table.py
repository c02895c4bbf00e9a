"""The first section without a comparison: best choices, bounds, `auto`, next commands."""

from collections.abc import Callable, Hashable, Sequence

from longshore_study.analyses.best_choices import BestChoice
from longshore_study.analyses.winners import NO_NETWORK
from longshore_study.base.groups import grouped
from longshore_study.base.texts import counted, figure, share
from longshore_study.output.next_commands import next_commands
from longshore_study.patterns import CONTROL
from longshore_study.report.facts import Facts
from longshore_study.report.fastest import fastest, share_and_remark
from longshore_study.report.labels import pattern_title
from longshore_study.report.marks import bar, named_axis, strip, vertical
from longshore_study.report.markup import Child, Element, element, remark
from longshore_study.report.scales import Scale
from longshore_study.report.tables import number_cell, strip_table

_WORDS = {
    "in cache?": "“In cache?”: a figure above the copy from main memory has its data in a cache.",
    "noise": "“Noise”: other programs disturbed the figure, or the measurement of its bound.",
    "signals": "“Signals”: at least half of the time is that of the signals between ranks.",
    "network": "“Network”: at least half of the time is that of the latencies of messages to other nodes.",
    "lines": "“Lines”: at least half of the time is that of cache lines that come from another core.",
    "instructions": "“Instructions”: less than half of the time is that of bytes, signals or lines.",
}


ChoiceOfSide = tuple[str, BestChoice]
"""A best choice with the side of the page that has it."""


def best_section(facts: Facts) -> Element:
    best = _best_by(facts, lambda choice: (choice.best.pattern, choice.where))
    return element(
        "section",
        element("p", solo_sentence(facts), class_="verdict"),
        [_table(facts, best), _legend([choice for _, choice in best])] if best else None,
        [element("p", text) for text in _details(facts)],
        _next(facts),
        id="verdict",
    )


def _best_by(facts: Facts, key: Callable[[BestChoice], Hashable]) -> list[ChoiceOfSide]:
    """The best choice of all sides for each key."""
    entries = [(side, choice) for side, choices in facts.best_choices.items() for choice in choices]
    groups = grouped(entries, lambda entry: key(entry[1]))
    return [max(members, key=lambda entry: _goodness(entry[1])) for members in groups.values()]


def _goodness(choice: BestChoice) -> tuple[bool, float]:
    """Ranks a figure below all others if it was measured in a cache."""
    return not choice.in_cache, -choice.best.value if choice.best.better == "lower" else choice.best.value


def solo_sentence(facts: Facts) -> str:
    """States the lowest and the highest share of the bound; without a bound, the figures."""
    best = [choice for _, choice in _best_by(facts, lambda choice: choice.best.pattern)]
    if not best:
        return _unranked_sentence(facts)
    shares = sorted((c.best.share, pattern_title(c.best.pattern).lower()) for c in best if c.best.share is not None)
    if not shares:
        text = "; ".join(
            f"{pattern_title(c.best.pattern).lower()} {figure(c.best.value, c.best.unit)}{_with(c)}" for c in best
        )
        what = "The network" if any(choice.best.uses_network for choice in best) else "Memory copy"
        return f"The fastest: {text}. {what} was not measured with them."
    low, high = (f"{share(value)} ({pattern})" for value, pattern in (shares[0], shares[-1]))
    reach = f"reach {low} to {high}" if len(shares) > 1 else f"reach {low}"
    return f"The fastest choices {reach} of {_bound_text(best)}."


def _bound_text(best: Sequence[BestChoice]) -> str:
    if any(choice.best.of_main_memory for choice in best):
        return "the speed of memory copy from main memory"
    network = ", and its network between nodes" if any(choice.best.uses_network for choice in best) else ""
    return f"what the memory of this machine allows where their data lie{network}"


def _unranked_sentence(facts: Facts) -> str:
    """The sentence for programs with unknown factors, whose variants may do different work."""
    figures = facts.main_figures
    if not figures and facts.simulated:
        return f"All figures are simulated, on {', '.join(facts.simulated)}."
    if not figures:
        return "No figure was measured."
    titles = list(dict.fromkeys(pattern_title(f.pattern) for f in figures))
    text = f"{counted(len(figures), 'figure')} measured: {', '.join(titles)}."
    if len(figures) == 1:
        return f"{text} It is shown below."
    return f"{text} They are shown below; none is ranked against another."


def _with(choice: BestChoice) -> str:
    """The words "with ...", or "" where there was no choice."""
    if choice.name and choice.problem:
        return f" with {choice.name} ({choice.problem})"
    return f" with {choice.name or choice.problem}" if choice.name or choice.problem else ""


def _table(facts: Facts, best: Sequence[ChoiceOfSide]) -> Element:
    """The table of best choices. A bar shows the figure as a share of what the memory allows."""
    shares = [choice.best.share for _, choice in best if choice.best.share is not None]
    scale = Scale(0.0, max([1.0, *shares]) * 1.04)
    heads: list[tuple[str, Child]] = [("name", "Best of"), ("value number", "Figure")]
    if shares:
        heads += [("plot", named_axis("share of the bound", scale.ticks(share, 4))), ("share number", "Share")]
    heads.append(("choice", "Choose"))
    rows = []
    for side, choice in best:
        name: list[Child] = [element("b", pattern_title(choice.best.pattern)), " ", _soft(choice.where)]
        cells: list[Child] = [
            element("th", name, class_="c-name", scope="row"),
            number_cell("value", figure(choice.best.value, choice.best.unit)),
        ]
        if shares:
            cells += [element("td", _bar(choice, scale), class_="c-plot")]
            cells.append(number_cell("share", share_and_remark(choice.best, "no bound")))
        cells.append(_choice(choice, f" in {side}" if len(facts.sides) > 1 else ""))
        rows.append(element("tr", cells))
    return strip_table(heads, rows, "strips best" if shares else "plain bare")


def _choice(choice: BestChoice, where: str) -> Element:
    """The best choice, then the choices within noise of the best, then the result of `auto`."""
    return element(
        "td",
        element("b", choice.name or ("" if choice.problem else "the only choice")),
        f" {choice.problem}{where}",
        _soft(f" within noise: {choice.within_noise_text}") if choice.within_noise else None,
        _soft(f" {choice.auto.text}") if choice.auto else None,
        class_="c-choice",
    )


def _soft(text: str) -> Element:
    return element("span", text, class_="meaning")


def _legend(best: Sequence[BestChoice]) -> Element:
    text = ["“Within noise”: the difference from the best is not significant (95 % interval of the ratio)."]
    if any(choice.best.share is not None for choice in best):
        text.append(f"The bound is {_bound_text(best)}.")
        words = {choice.best.share_remark for choice in best}
        text.extend(meaning for word, meaning in _WORDS.items() if word in words)
    if any(choice.best.share is None and choice.best.uses_network for choice in best):
        text.append(f"No bound: {NO_NETWORK}.")
    elif not any(choice.best.share is not None for choice in best):
        text.append("There is no bound: memory copy was not measured with these figures.")
    return remark(" ".join(text))


def _next(facts: Facts) -> Element | None:
    """The next commands. None for several sides, whose readers know them."""
    if len(facts.sides) != 1:
        return None
    commands = next_commands(facts.best_choices[facts.sides[0]], facts.launches, shown_by="report")
    if not commands:
        return None
    lines = [[element("dt", element("code", line)), element("dd", purpose)] for line, purpose in commands]
    return element("div", element("h3", "What to type next"), element("dl", lines, class_="commands"))


def _bar(choice: BestChoice, scale: Scale) -> Element:
    name, best_share = f"{pattern_title(choice.best.pattern)} {choice.where}".rstrip(), choice.best.share
    if best_share is None:
        return strip(vertical(scale, 1.0, "bound"), label=f"{name}: share of the bound not known")
    share_bar = bar(0.0, scale.clipped(best_share), "s1", height=0.44)
    return strip(share_bar, vertical(scale, 1.0, "bound"), label=f"{name}: {share(best_share)} of the bound")


def _details(facts: Facts) -> list[str]:
    launches = facts.all_launches
    failed = len(facts.failed) + sum(len(of_machine.failed) for of_machine in facts.simulated.values())
    sessions = {(launch.study, launch.tag, launch.session) for launch in launches}
    figures = facts.main_figures
    wrong = sum(reason.startswith("failed") for _, _, reason in facts.absent)
    text = f"{counted(len(launches), 'launch', 'launches')} in {counted(len(sessions), 'session')}, "
    text += "all complete" if not failed else f"{failed} of them failed or incomplete"
    checked = sum(1 for f in figures if f.verified is not None)
    if wrong:
        text += f"; {counted(wrong, 'result')} wrong or without a figure"
    elif checked:
        text += f"; all {checked} checked results are right"
    hint = "Nothing is judged here: “longshore report --compare REF NEW” judges one tag against another."
    winners = fastest(facts)
    unclear = sum(not w.separated and w.best.pattern != CONTROL for w in winners)
    close = f"{unclear} of {counted(len(winners), 'winner')} within noise of the runner-up (marked “close” below)."
    return [text + ".", *([close] if unclear else []), *([hint] if len(facts.sides) > 1 else [])]
