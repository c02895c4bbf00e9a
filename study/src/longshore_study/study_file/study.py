"""The model of a study file. reader.py creates it, planning/plan.py plans the launches."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from longshore_study.base.expression import Expression
from longshore_study.importers.imported import MetricChoice
from longshore_study.patterns.pattern import Guideline
from longshore_study.study_file.environment_variables import Level

VERIFICATIONS = ("all", "ends", "no")
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


def placeholders(argument: str) -> list[str]:
    """The names in braces in an argument of a command: factors, or `output`."""
    return _PLACEHOLDER.findall(argument)


def filled(argument: str, factors: Mapping[str, Any]) -> str:
    """The argument with levels in place of {ranks} and other factors. Other braces stay."""
    return _PLACEHOLDER.sub(lambda found: str(factors.get(found[1], found[0])), argument)


@dataclass(frozen=True)
class LaunchSettings:
    launches: int = 5
    repetitions: int = 10
    warmup: int = 1
    timeout_seconds: float = 600.0
    verify: str = "all"
    """Which results longshore-bench verifies: one of VERIFICATIONS."""
    phases: bool = False
    """Whether longshore-bench also times phases, which not all patterns can."""


@dataclass(frozen=True)
class MachineFile:
    """A machine file of the transport `simulated`."""

    name: str
    nodes: int
    ranks_per_node: int
    given: str
    """The path in the study file."""
    path: str
    """The path for longshore-bench."""


@dataclass(frozen=True)
class PatternBlock:
    """One [[pattern]], with the factors that vary within a launch and between launches."""

    program: str
    within: dict[str, list[Any]]
    between: dict[str, list[Any]]
    exclude: tuple[Expression, ...]
    launch_settings: LaunchSettings
    line: int = 1
    machines: dict[str, MachineFile] = field(default_factory=dict)
    """The machines by name. `between` has the names."""
    simulated_launches: int = 1
    """The launches of each simulated cell. The number in [study] is for cells with noise."""

    @property
    def levels(self) -> dict[str, list[Any]]:
        """The levels of all factors."""
        return {**self.within, **self.between}


@dataclass(frozen=True)
class External:
    """One [[external]]: another program, whose output an importer reads."""

    name: str
    command: tuple[str, ...]
    format: str
    between: dict[str, list[Any]]
    exclude: tuple[Expression, ...]
    launch_settings: LaunchSettings
    launch: bool = False
    """Whether the launcher starts `ranks` ranks; else the command starts its own."""
    metric: MetricChoice | None = None
    """The metric to find in the output, for the formats regex and json."""
    ranks_per_node: int | None = None
    """For importers of outputs that lack this number."""
    optional: bool = False
    """Whether a machine that lacks the program runs the rest of the study."""
    line: int = 1

    @property
    def writes_file(self) -> bool:
        """Whether the command writes a file whose name is an argument."""
        return any("{output}" in argument for argument in self.command)

    @property
    def is_missing(self) -> bool:
        """Whether this machine lacks the program. A factor may name the program, and a stack may
        have it on its own PATH; such programs do not count as missing."""
        name = self.command[0]
        elsewhere = "{" in name or ("stack" in self.between and "/" not in name)
        return not elsewhere and shutil.which(name) is None


@dataclass(frozen=True)
class Step:
    """One [[step]]: a named stage of work on a pattern."""

    name: str
    pattern: str
    changes: dict[str, Any]
    levels: dict[str, Any]
    """The levels after this step: those of the previous step, with the changes."""


@dataclass(frozen=True)
class Hypothesis:
    """The [hypothesis] of a study: only variants with these levels changed between two tags."""

    factors: dict[str, list[Any]]
    """The suspected levels of each factor. Empty if only environment variables are suspected."""
    ratio: float
    """The observed change: new / reference. A ratio below 1 is worse, also for latencies."""
    environment: Level = field(default_factory=dict)
    """The suspected variables as on the reference side. This level should undo the change."""
    new_environment: Level = field(default_factory=dict)
    """The suspected variables as on the new side. This level should cause the change."""


@dataclass(frozen=True)
class LauncherChoice:
    """The [launcher] table: the program that starts ranks."""

    kind: str = "local"
    command: str | None = None
    arguments: tuple[str, ...] = ()
    ranks_per_node: int | None = None
    """Ranks per real node, for cells without a number of nodes."""
    job: JobChoice | None = None
    """None if the launcher submits no jobs."""


@dataclass(frozen=True)
class JobChoice:
    """The resources of batch jobs, from the [launcher] table."""

    time_limit_seconds: int
    nodes: int | None = None
    """If None, the job has as many nodes as the largest launch needs."""
    jobs: int = 1
    """Number of jobs in sequence. A job continues where the time limit stopped the previous job."""
    one_job_per: str = "session"
    """`session` or `nodes`. With `nodes`, launches with different numbers of nodes are in different
    jobs, so that small launches do not hold a large allocation."""
    options: tuple[str, ...] = ()
    """Options of the submit command, such as --partition=standard."""
    modules: tuple[str, ...] = ()


@dataclass(frozen=True)
class State:
    """One [states.TAG]: what is different in the launches with this tag."""

    bench: str | None = None
    environment: Level = field(default_factory=dict)
    launcher: LauncherChoice | None = None
    """[launcher] with the changes of the state. None if the state changes nothing there."""
    commands: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The commands of external programs, by the name of the program."""


@dataclass(frozen=True)
class Study:
    path: str
    text: str
    name: str
    description: str
    seed: int
    sessions: int
    margin: float
    launch_settings: LaunchSettings
    """The values of [study], which a block may override."""
    patterns: tuple[PatternBlock, ...]
    externals: tuple[External, ...] = ()
    guidelines: tuple[Guideline, ...] = ()
    steps: tuple[Step, ...] = ()
    launcher: LauncherChoice = field(default_factory=LauncherChoice)
    bound: dict[str, float] = field(default_factory=dict)
    hypothesis: Hypothesis | None = None
    states: Mapping[str, State] = field(default_factory=dict)
    """By tag."""
    state: State = field(default_factory=State)

    def in_state(self, tag: str) -> Study:
        """The study with the settings of [states.TAG]; unchanged if the file has no such table."""
        state = self.states.get(tag)
        if state is None:
            return self
        externals = [replace(block, command=state.commands.get(block.name, block.command)) for block in self.externals]
        return replace(self, externals=tuple(externals), launcher=state.launcher or self.launcher, state=state)

    @property
    def blocks(self) -> list[PatternBlock | External]:
        return [*self.patterns, *self.externals]

    @property
    def machines(self) -> list[MachineFile]:
        return list({machine.path: machine for block in self.patterns for machine in block.machines.values()}.values())

    @property
    def digest(self) -> str:
        """An identifier of the content of the study file."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:12]
