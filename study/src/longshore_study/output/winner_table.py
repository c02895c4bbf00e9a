"""The output of `show --winners`, ranked variants and best choices: JSON or tables."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from longshore_study.analyses.best_choices import BestChoice, best_choices
from longshore_study.analyses.winners import (
    NO_NETWORK,
    RankedVariant,
    newest_session,
    ranked_variants,
    speeds_by_launching,
)
from longshore_study.base import terminal
from longshore_study.base.errors import LongshoreError
from longshore_study.base.groups import grouped
from longshore_study.metrics.launch_metrics import Measurements, measure, unit_of_whom
from longshore_study.metrics.memory_bound import MemorySpeeds
from longshore_study.output.next_commands import next_commands
from longshore_study.patterns import PATTERNS
from longshore_study.store.launch_store import Store
from longshore_study.store.selection import heading


def document(store: Store, name: str, session: str | None = None) -> dict[str, Any]:
    study, tag, session = newest_session(store, name, session)
    found = ranked_variants(measure(store.launches(study, tag, session)).figures)
    kinds = grouped(found, lambda entry: entry.simulated)
    return {
        "schema": 1,
        "study": study,
        "tag": tag,
        "session": session,
        **_answers_and_rows(kinds.pop(None, [])),
        "simulated": [{"machine": machine, **_answers_and_rows(entries)} for machine, entries in kinds.items()],
    }


def _answers_and_rows(found: Sequence[RankedVariant]) -> dict[str, Any]:
    return {
        "answers": [answer.as_json() for answer in best_choices(found)],
        "rows": [entry.as_json() for entry in found],
    }


_MAX_SHOWN = 8  # choices for the same work


def render(store: Store, name: str, session: str | None = None, *, verbose: bool = False) -> None:
    """Prints a table per pattern of one session, then the best choices and the next commands.
    Simulated choices have tables of their own.

    The session is the newest session of the study or tag `name` (if given, with the name
    `session`). With `verbose`, the tables have all choices. Raises LongshoreError if the session
    has no figures.
    """
    study, tag, session = newest_session(store, name, session)
    launches = list(store.launches(study, tag, session))
    measured = measure(launches)
    ranked = ranked_variants(measured.figures)
    if not ranked:
        what = f"; {len(measured.failed)} launches failed ('longshore status' lists them)" if measured.failed else ""
        raise LongshoreError(f"study '{study}' has no figures in {store.path} yet{what}; 'longshore run' measures")
    of = f"{terminal.side(study, tag)}, session {session}"
    terminal.print_line(f"{of}: {terminal.count(measured.launches, 'launch')}\n")
    kinds = grouped(ranked, lambda entry: entry.simulated)
    for machine, members in kinds.items():
        if machine is not None:
            terminal.print_line(f"{heading(machine)}:\n")
        _print_patterns(members, verbose=verbose)
    _print_footer(measured, speeds_by_launching(measured.figures), ranked)
    for members in kinds.values():
        _print_answers(best_choices(members))
    if None in kinds:
        _print_next(next_commands(best_choices(kinds[None]), launches, shown_by="show"))


def _print_patterns(ranked: Sequence[RankedVariant], *, verbose: bool) -> None:
    for pattern, entries in grouped(ranked, lambda entry: entry.pattern).items():
        shown = [entry for entry in entries if verbose or entry.rank <= _MAX_SHOWN]
        _print_pattern(pattern, shown)
        if len(shown) < len(entries):
            terminal.print_line(f"and {terminal.count(len(entries) - len(shown), 'slower choice')}; -v shows all")
        terminal.print_line()


def _print_pattern(pattern: str, ranked: list[RankedVariant]) -> None:
    how_shared, how_names = terminal.varying([entry.how for entry in ranked])
    work_shared, work_names = terminal.varying([entry.work for entry in ranked])
    work_names, how_names = _in_order(pattern, work_names), _in_order(pattern, how_names)
    scale, unit = _scale(ranked)
    columns = ["", *terminal.options([*work_names, *how_names]), unit, "spread", "of bound"]
    rows: list[list[str]] = []
    for entry in ranked:
        if entry.rank == 1 and rows and work_names:
            rows.append([""] * len(columns))
        mark = "winner" if entry.rank == 1 else "~" if entry.is_within_noise else ""
        share = "-" if entry.share is None else f"{entry.share:.0%}"
        factors = [*terminal.levels(entry.work, work_names), *terminal.levels(entry.how, how_names)]
        spread = f"{entry.spread:.0%}" if len(entry.values) > 1 else "-"
        rows.append([mark, *factors, terminal.number(entry.value / scale), spread, share])
    shared = terminal.factors({name.replace("_", "-"): level for name, level in {**work_shared, **how_shared}.items()})
    title = f"{pattern}: {shared}" if shared else pattern
    styles = ["best" if row[0] == "winner" else None for row in rows]
    terminal.print_table(title, columns, rows, right=columns[-3:], styles=styles)
    allowed = "memory and network allow" if any(entry.uses_network for entry in ranked) else "memory allows"
    terminal.print_line(
        f"of bound: {PATTERNS[pattern].traffic_text}, relative to what {allowed}; figures: median over launches"
    )


def _print_footer(measured: Measurements, speeds_of: Mapping[str, MemorySpeeds], ranked: list[RankedVariant]) -> None:
    if speeds_of:
        speeds = [of_launching.main_memory for of_launching in speeds_of.values()]
        low, high = min(speeds), max(speeds)
        figures = terminal.number(low) + ("" if low == high else f" to {terminal.number(high)}")
        terminal.print_line(f"copy from main memory, measured with the study: {figures} GB/s read and written")
    elif any(entry.simulated is None for entry in ranked):
        terminal.print_line("memory copy was not measured in these launches, so there is no comparison with it")
    if any(entry.is_within_noise for entry in ranked):
        terminal.print_line("~ within noise of the winner: more launches would show which one is faster")
    for reason, amount in Counter(measured.absent.values()).most_common():
        terminal.print_line(f"no figure of {terminal.count(amount, 'variant')}: {reason}")
    if measured.failed:
        failed = terminal.count(len(measured.failed), "launch")
        terminal.print_line(f"{failed} failed and are not shown ('longshore status' lists them)")


def _print_answers(found: Sequence[BestChoice]) -> None:
    """Prints the best choices last, because readers of a terminal look there first."""
    problems = any(answer.problem for answer in found)
    columns = ["", "where", *(["work"] if problems else []), "fastest", "figure", "of bound", "within noise", "auto"]
    rows = [
        [
            answer.best.pattern,
            answer.where,
            *([answer.problem] if problems else []),
            answer.name or "the only choice",
            _figure(answer.best),
            answer.bound_text,
            answer.within_noise_text,
            answer.auto.short_text if answer.auto else "",
        ]
        for answer in found
    ]
    terminal.print_line()
    simulated = found[0].best.simulated
    title = "which to choose" + (f", {heading(simulated)}" if simulated else "")
    terminal.print_table(title, columns, rows, right=("figure", "of bound"))
    if simulated:
        return
    terminal.print_line("within noise: the difference from the fastest is not significant (95 % interval of the ratio)")
    where = "in main memory" if any(answer.best.of_main_memory for answer in found) else "where the data lie"
    terminal.print_line(f"of bound: the share of what memory allows {where}, and the network between nodes")
    if any(answer.best.share is None and answer.best.uses_network for answer in found):
        terminal.print_line(f"no bound: {NO_NETWORK}")
    if any(answer.best.share_remark for answer in found):
        terminal.print_line("in brackets: what took at least half of the time, or why a share is above the bound")
    if any(answer.auto for answer in found):
        terminal.print_line("auto: its speed relative to the best fixed choice (~ within noise), and its choice")


def _print_next(commands: Sequence[tuple[str, str]]) -> None:
    if commands:
        width = max(len(line) for line, _ in commands)
        terminal.print_line("\nwhat to type next")
        for line, purpose in commands:
            terminal.print_line(f"  {line:<{width}}  # {purpose}")


def _figure(entry: RankedVariant) -> str:
    scale, _ = _scale([entry])
    return f"{terminal.number(entry.value / scale)} {'10^6 ' if scale > 1 else ''}{entry.unit}"


def _in_order(pattern: str, names: list[str]) -> list[str]:
    """The factors in the order of the command line of longshore-bench, then all other factors."""
    order = [*PATTERNS[pattern].factors, *names]
    return sorted(names, key=order.index)


def _scale(ranked: list[RankedVariant]) -> tuple[float, str]:
    """The divisor of the values and the unit: millions if a value is at least one million."""
    unit = unit_of_whom(ranked[0].unit, ranked[0].figures[0].per)
    return (1e6, f"10^6 {unit}") if max(entry.value for entry in ranked) >= 1e6 else (1.0, unit)
