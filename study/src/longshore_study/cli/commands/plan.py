"""`longshore plan`: shows launches, time and smallest difference before anything runs."""

import argparse
import math
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from longshore_study.base import terminal
from longshore_study.base.durations import duration
from longshore_study.base.json_values import attributes
from longshore_study.cli.result_output import print_result
from longshore_study.patterns import CONTROL
from longshore_study.planning.launch_length import Advice, advise
from longshore_study.planning.plan import Plan, make_plan, missing_programs
from longshore_study.planning.power_analysis import OTHER_SESSIONS, PowerAnalysis, spread_of
from longshore_study.planning.time_estimate import TimeEstimate
from longshore_study.store.launch_store import Launch, Store
from longshore_study.study_file.reader import load

EXAMPLES = """examples:
  longshore plan study.toml
  longshore plan study.toml -v      also the factors inside each launch, and the power of other numbers of sessions

The smallest slowdown is the one that `compare` would call regressed in four of five cases, if a single row has it. It
takes the margin and the number of rows into account."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("study", metavar="STUDY.toml", help="the study file")


def run(args: argparse.Namespace) -> int:
    plan = make_plan(load(args.study))
    stored = list(Store(args.store).launches(plan.study.name))
    answer = describe(plan, TimeEstimate(stored), stored, others=args.json or args.verbose)
    return print_result(args, lambda: answer, lambda: _print(plan, answer, show_sweep=args.verbose))


def describe(plan: Plan, estimate: TimeEstimate, stored: list[Launch], *, others: bool) -> dict[str, Any]:
    """The document of `plan --json`. `others`: also the power of other numbers of sessions, which
    takes a second."""
    spread = spread_of(stored)
    sessions = plan.study.sessions
    power = PowerAnalysis(plan, spread)
    between = power.between_tags(sessions) if power.rows > 1 else None
    per_session = estimate.total(launch.cell for launch in plan.order("any"))
    known = sum(estimate.knows(cell) for cell in plan.cells)
    return {
        "schema": 1,
        "study": plan.study.name,
        "cells": [
            {
                "cell": cell.factors,
                "label": plan.labels[cell.cell_id],
                **attributes(cell, "within variants"),
                **attributes(cell.launch_settings, "launches repetitions"),
                "seconds_per_launch": round(estimate.seconds(cell), 3),
                "seconds_known": estimate.knows(cell),
            }
            for cell in plan.cells
        ],
        "sessions": sessions,
        "launches_per_session": plan.launches_per_session,
        "seconds_per_session": round(per_session, 1),
        "cells_with_known_seconds": known,
        "rows": power.rows - 1,
        "spread": attributes(spread, "launches sessions shared source"),
        "smallest_difference_between_tags": None if between is None else math.expm1(between.smallest()),
        "same_if_unchanged": None if between is None else between.same,
        "smallest_difference_by_sessions": {
            str(other): power.smallest_between_tags(other)
            for other in (OTHER_SESSIONS if power.rows > 1 and (others or between is None) else ())
        },
        "smallest_difference_between_variants": power.smallest_between_variants() if power.rows > 1 else None,
        "simulated_cells": sum(cell.machine is not None for cell in plan.cells),
        "margin": plan.study.margin,
        "launch_lengths": [
            {
                "repetitions": advice.now.repetitions,
                "best_repetitions": advice.best.repetitions,
                "time_for_the_same": advice.time,
                "curve": [attributes(length, "repetitions spread seconds measured") for length in advice.curve],
            }
            for advice in _advice(plan, stored)
        ],
    }


def _advice(plan: Plan, stored: list[Launch]) -> Iterator[Advice]:
    """Advice for each number of repetitions for which enough launches are stored."""
    cells: dict[int, set[str]] = defaultdict(set)
    for cell in plan.cells:
        if cell.program != CONTROL and cell.machine is None:
            cells[cell.launch_settings.repetitions].add(cell.cell_id)
    for repetitions, cell_ids in sorted(cells.items()):
        advice = advise((launch for launch in stored if launch.cell_id in cell_ids), repetitions)
        if advice is not None:
            yield advice


def _print(plan: Plan, answer: dict[str, Any], *, show_sweep: bool) -> None:
    cells = answer["cells"]
    width = max(len(cell["label"]) for cell in cells)
    print(f"{plan.study.name}: {plan.study.description or plan.study.path}\n")
    print(f"{'cell':<{width}}  variants  launches  s/launch")
    for cell in cells:
        mark = " " if cell["seconds_known"] else "?"
        seconds = cell["seconds_per_launch"]
        print(f"{cell['label']:<{width}}  {cell['variants']:8}  {cell['launches']:8}  {seconds:8.1f}{mark}")
        if show_sweep:
            for name, levels in cell["within"].items():
                print(f"    {name}: {', '.join(map(str, levels))}")
    count, sessions = answer["launches_per_session"], answer["sessions"]
    print(f"\n{len(cells)} cells, {count} launches in each of {terminal.count(sessions, 'session')}")
    known = answer["cells_with_known_seconds"]
    source = "from stored launches" if known == len(cells) else "a guess (?), right within a small factor"
    if 0 < known < len(cells):
        source = f"{known} cells from stored launches, the others guessed (?)"
    total = f", {duration(answer['seconds_per_session'] * sessions)} in total" if sessions > 1 else ""
    print(f"expected time: {duration(answer['seconds_per_session'])} per session{total}; {source}")
    if plan.left_out:
        print(f"left out: {missing_programs(plan.left_out)}")
    _print_differences(answer)


def _print_differences(answer: dict[str, Any]) -> None:
    between, variants = answer["smallest_difference_between_tags"], answer["smallest_difference_between_variants"]
    spread, margin = answer["spread"], answer["margin"]
    if answer["simulated_cells"]:
        print(f"{terminal.count(answer['simulated_cells'], 'simulated cell')}: no noise, so every difference shows")
    if not answer["rows"]:
        return
    print("differences that it detects in four of five cases:")
    if between is None:
        print("  between two tags: none; one session cannot tell a change from an outlier (use sessions = 2 or more)")
    else:
        print(
            f"  between two tags, measured in the same {answer['sessions']} sessions: a slowdown of "
            f"{_share(between)} in one of {answer['rows']} rows, with a margin of {margin:.0%}"
        )
        print(f"  a row that did not change is called the same in {answer['same_if_unchanged']:.0%} of all cases")
    if answer["smallest_difference_by_sessions"]:
        by_sessions = ", ".join(f"{n}: {_share(v)}" for n, v in answer["smallest_difference_by_sessions"].items())
        print(f"  by the number of sessions: {by_sessions}")
    if variants is None:
        print("  between two variants: none; use launches = 2 or more")
    else:
        print(f"  between two variants of one session: {_share(variants)}")
    print(f"  (spread of launches {spread['launches']:.1%}, of sessions {spread['sessions']:.1%}: {spread['source']})")
    for length in answer["launch_lengths"]:
        _print_length(length)


def _print_length(length: dict[str, Any]) -> None:
    now, best = length["repetitions"], length["best_repetitions"]
    if now == best:
        print(f"  (launches of {now} repetitions have about the right length)")
        return
    curve = {point["repetitions"]: point for point in length["curve"]}
    longer, about = best > now, "" if curve[best]["measured"] else "about "
    now_seconds, best_seconds = (duration(curve[count]["seconds"]) for count in (now, best))
    print(
        f"  (launches of {now} repetitions are too {'short' if longer else 'long'}: {'fewer' if longer else 'more'}"
        f" launches of {best} would detect the same in {about}{length['time_for_the_same']:.0%} of the time; a launch"
        f" would take {best_seconds} instead of {now_seconds}, with a spread of {curve[best]['spread']:.1%} instead of"
        f" {curve[now]['spread']:.1%})"
    )


def _share(value: float) -> str:
    return f"{value:.1%}" if value < 1.0 else f"a factor of {terminal.significant(1.0 + value, 2)}"
