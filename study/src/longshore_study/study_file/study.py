"""What a study file says, once it is checked: reader.py reads it, planning/plan.py makes launches
of it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

from longshore_study.base.expression import Expression
from longshore_study.importers.figure_choice import FigureChoice
from longshore_study.study_file.environment_variables import Level


@dataclass(frozen=True)
class Amounts:
    """How often and how long; the defaults are those of a study file that does not say."""

    launches: int = 5
    repetitions: int = 10
    warmup: int = 1
    timeout_seconds: float = 600.0


@dataclass(frozen=True)
class PatternBlock:
    """One [[pattern]]: what is walked inside a launch, and what needs a launch of its own."""

    program: str
    within: dict[str, list[Any]]
    between: dict[str, list[Any]]
    exclude: tuple[Expression, ...]
    amounts: Amounts
    line: int = 1


@dataclass(frozen=True)
class External:
    """One [[external]]: a program of somebody else, whose output an importer reads."""

    name: str
    command: tuple[str, ...]
    format: str
    between: dict[str, list[Any]]
    exclude: tuple[Expression, ...]
    amounts: Amounts
    launch: bool = False
    """Whether the launcher of the study starts it on `ranks` ranks; else the command does so
    itself."""
    figure: FigureChoice | None = None
    """Where its figures are, for the formats regex and json."""
    ranks_per_node: int | None = None
    """Where its output does not say and its figures need it."""
    line: int = 1

    @property
    def writes_file(self) -> bool:
        """Whether it is told a file to write, besides what it prints."""
        return any("{output}" in argument for argument in self.command)


@dataclass(frozen=True)
class Guideline:
    """A [[guideline]]: variants with the levels `faster` are not slower than those with `than`, all
    other factors equal."""

    faster: dict[str, Any]
    than: dict[str, Any]
    tolerance: float = 0.05
    pattern: str | None = None
    why: str = ""
    """The reason, where it is a built-in guideline."""


@dataclass(frozen=True)
class Step:
    """One [[step]]: a named stage of the work on one pattern, told by the levels that it
    changes."""

    name: str
    pattern: str
    changes: dict[str, Any]
    """What this step sets, as the file has it."""
    levels: dict[str, Any]
    """What holds after it: the changes of this step over those of the steps before it."""
    line: int = 1


@dataclass(frozen=True)
class Hypothesis:
    """The [hypothesis] that a study tests: what the variants with these levels have lost (or won)
    between two tags, others beside them have not."""

    factors: dict[str, list[Any]]
    """For each factor the suspected levels; nothing where variables alone are suspected."""
    ratio: float
    """How good they were found to be, new / reference: below 1 is worse, for latencies too."""
    environment: Level = field(default_factory=dict)
    """Variables as they were in the reference: a level of the factor `environment` that is to
    restore what was lost."""
    new_environment: Level = field(default_factory=dict)
    """The same variables as the new side had them: a level that is to bring about the change,
    wherever it is set."""


@dataclass(frozen=True)
class LauncherChoice:
    kind: str = "local"
    command: str | None = None
    arguments: tuple[str, ...] = ()
    ranks_per_node: int | None = None
    """Ranks that a real node is given, where a cell does not say how many nodes it wants."""
    job: JobChoice | None = None
    """Of a batch system."""


@dataclass(frozen=True)
class JobChoice:
    """What is asked of a batch system."""

    time_limit_seconds: int
    nodes: int | None = None
    """None: as many as the largest launch needs."""
    jobs: int = 1
    """How many, one after the other: each goes on where the one before it was stopped by its time
    limit."""
    one_job_per: str = "session"
    """session, or nodes: a job for each number of nodes, so that small launches do not hold a large
    allocation."""
    options: tuple[str, ...] = ()
    """For the command that submits, such as --partition=standard."""
    modules: tuple[str, ...] = ()
    """Environment modules that the job loads."""


@dataclass(frozen=True)
class Study:
    path: str
    text: str
    name: str
    description: str
    seed: int
    sessions: int
    margin: float
    amounts: Amounts
    """What [study] says; a block may say otherwise for itself."""
    patterns: tuple[PatternBlock, ...]
    externals: tuple[External, ...] = ()
    guidelines: tuple[Guideline, ...] = ()
    steps: tuple[Step, ...] = ()
    launcher: LauncherChoice = field(default_factory=LauncherChoice)
    bound: dict[str, float] = field(default_factory=dict)
    hypothesis: Hypothesis | None = None

    @property
    def digest(self) -> str:
        """Tells versions of a study file apart."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:12]
