"""The model of a checked study file. reader.py reads it, planning/plan.py plans its launches."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

from longshore_study.base.expression import Expression
from longshore_study.importers.imported import MetricChoice
from longshore_study.study_file.environment_variables import Level


@dataclass(frozen=True)
class LaunchSettings:
    """Numbers of launches and repetitions, and the time limit, with their defaults."""

    launches: int = 5
    repetitions: int = 10
    warmup: int = 1
    timeout_seconds: float = 600.0


@dataclass(frozen=True)
class PatternBlock:
    """One [[pattern]]: factors that vary within a launch, and factors that need new launches."""

    program: str
    within: dict[str, list[Any]]
    between: dict[str, list[Any]]
    exclude: tuple[Expression, ...]
    launch_settings: LaunchSettings
    line: int = 1


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
    """Whether the study's launcher starts it on `ranks` ranks. Otherwise the command starts its own
    ranks."""
    metric: MetricChoice | None = None
    """Where its metrics are, for the formats regex and json."""
    ranks_per_node: int | None = None
    """For importers that need it when the output does not tell it."""
    line: int = 1

    @property
    def writes_file(self) -> bool:
        """Whether it writes a file whose name is an argument, besides its output."""
        return any("{output}" in argument for argument in self.command)


@dataclass(frozen=True)
class Guideline:
    """A rule that must hold without history: variants with `faster` are not slower than those with
    `than`, all else equal."""

    faster: dict[str, Any]
    than: dict[str, Any]
    tolerance: float = 0.05
    pattern: str | None = None
    why: str = ""
    """The reason, where it is a built-in guideline."""


@dataclass(frozen=True)
class Step:
    """One [[step]]: a named stage of work on a pattern. A step is described by the levels that it
    changes."""

    name: str
    pattern: str
    changes: dict[str, Any]
    """The levels that this step sets."""
    levels: dict[str, Any]
    """The levels after this step: its changes over the levels of the step before."""
    line: int = 1


@dataclass(frozen=True)
class Hypothesis:
    """The [hypothesis] that a study tests: between two tags, variants with these levels changed and
    other variants did not."""

    factors: dict[str, list[Any]]
    """The suspected levels of each factor. Empty if only variables are suspected."""
    ratio: float
    """The observed change, new / reference. Below 1 is worse, for latencies too."""
    environment: Level = field(default_factory=dict)
    """Variables as in the reference: a level of the factor `environment` that should undo the
    change."""
    new_environment: Level = field(default_factory=dict)
    """The same variables as on the new side: a level that should cause the change."""


@dataclass(frozen=True)
class LauncherChoice:
    kind: str = "local"
    command: str | None = None
    arguments: tuple[str, ...] = ()
    ranks_per_node: int | None = None
    """Ranks per real node, for cells without a number of nodes."""
    job: JobChoice | None = None
    """For batch systems only."""


@dataclass(frozen=True)
class JobChoice:
    """The resources of a batch job."""

    time_limit_seconds: int
    nodes: int | None = None
    """None: as many as the largest launch needs."""
    jobs: int = 1
    """Number of jobs in sequence. Each continues where the time limit stopped the one before."""
    one_job_per: str = "session"
    """session, or nodes: one job per number of nodes, so that small launches do not hold a large
    allocation."""
    options: tuple[str, ...] = ()
    """Options of the submit command, such as --partition=standard."""
    modules: tuple[str, ...] = ()
    """Environment modules to load in the job."""


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
    """The values of [study]. A block may override them."""
    patterns: tuple[PatternBlock, ...]
    externals: tuple[External, ...] = ()
    guidelines: tuple[Guideline, ...] = ()
    steps: tuple[Step, ...] = ()
    launcher: LauncherChoice = field(default_factory=LauncherChoice)
    bound: dict[str, float] = field(default_factory=dict)
    hypothesis: Hypothesis | None = None

    @property
    def digest(self) -> str:
        """Identifies a version of the study file."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:12]
