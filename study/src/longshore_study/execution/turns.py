"""The launches of a session, in the order in which they run: those of one state of a machine, or of
several states in turns. In turns, every launch runs once in each state before the next launch, so a
slow drift of the machine meets all states alike."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from longshore_study.base.errors import LongshoreError, UsageError, suggestion
from longshore_study.execution.launch_runner import StateRun
from longshore_study.execution.launchers import Command
from longshore_study.planning.plan import Cell, PlannedLaunch, missing_programs
from longshore_study.study_file.study import Study
from longshore_study.study_file.toml_values import listed


@dataclass(frozen=True)
class Turn:
    state: StateRun
    launch: PlannedLaunch

    @property
    def cell(self) -> Cell:
        return self.launch.cell

    @property
    def command(self) -> Command:
        return self.state.resolver.command(self.launch)


def states_of(study: Study, tags: Sequence[str]) -> list[str]:
    """The tags in the order of the study file. Raises UsageError unless they can run in turns."""
    for tag in tags:
        if tag not in study.states:
            remedy = f"write what is different in this state as [states.{tag}]; an empty table changes nothing"
            known = suggestion(tag, study.states) or listed(study.states)
            raise UsageError(f"--turns: {study.path} has no state '{tag}'{known}; {remedy}")
    if len(set(tags)) < max(2, len(tags)):
        raise UsageError(f"--turns needs two or more different tags, found {', '.join(tags)}")
    return [tag for tag in study.states if tag in tags]


def in_turns(states: Sequence[StateRun]) -> list[Turn]:
    """The launches that are not recorded. The order of the states is drawn anew for each launch. It
    depends only on the study, the session and the tags, so a stopped session continues in the same
    order."""
    _require_same_cells(states)
    plan, target = states[0].plan, states[0].target
    tags = [state.target.tag for state in states]
    shuffler = random.Random(f"{plan.study.seed}/{plan.study.name}/{target.session}/{tags}")  # noqa: S311 - an order
    left = [{launch.position: launch for launch in state.launches} for state in states]
    turns = []
    for position in range(plan.launches_per_session):
        order = list(range(len(states)))
        shuffler.shuffle(order)
        turns += [Turn(states[k], left[k][position]) for k in order if position in left[k]]
    return turns


def _require_same_cells(states: Sequence[StateRun]) -> None:
    for state in states[1:]:
        if [cell.cell_id for cell in state.plan.cells] != [cell.cell_id for cell in states[0].plan.cells]:
            left_out = [missing_programs(each.plan.left_out) for each in states if each.plan.left_out]
            raise LongshoreError(
                f"'{states[0].target.tag}' and '{state.target.tag}' have different launches, so these cannot run in "
                f"turns: {'; '.join(left_out)}"
            )
