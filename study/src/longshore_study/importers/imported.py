"""The types of importers: the text to import, the options, and the runs found in the text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from longshore_study.base.errors import LongshoreError
from longshore_study.store import records
from longshore_study.store.records import Record

PARTIAL_HINT = "--partial imports the part that is there, and marks it as partial"


@dataclass(frozen=True)
class MetricChoice:
    """A metric in the output of any program: its name, its unit and where to find it."""

    name: str
    unit: str
    better: str
    expression: str | None = None
    """A regular expression."""
    path: str | None = None
    """A path in a JSON document."""


@dataclass(frozen=True, slots=True)
class Options:
    """Facts that the file may lack and the user can add."""

    partial: bool = False
    """Accept an output that was cut short, and mark it as partial."""
    ranks_per_node: int | None = None
    ranks: int | None = None
    metric: MetricChoice | None = None
    """Where the metric is, for formats that fit any program."""
    program: str | None = None
    """Name of the program, for formats that fit any program. Default: the name of the metric."""


@dataclass(frozen=True, slots=True)
class Source:
    """A text, and its name in messages."""

    name: str
    text: str

    def line_of(self, offset: int) -> int:
        return self.text.count("\n", 0, offset) + 1

    def error(self, offset: int, message: str) -> LongshoreError:
        return LongshoreError(f"{self.name}:{self.line_of(offset)}: {message}")


@dataclass(frozen=True, slots=True)
class Imported:
    """One run: its cell, its records without the envelope, and warnings."""

    cell: dict[str, Any]
    lines: list[str]
    warnings: list[str] = field(default_factory=list)
    partial: str | None = None
    """Why the run is incomplete. None if it is complete."""
    aggregate: bool = True
    """The repetitions are unknown."""
    started: str | None = None
    """Start of the run, if the output has it."""
    steps: list[dict[str, Any]] = field(default_factory=list)
    """The steps of work of the results in their order: name, pattern and levels of each."""


def whole_records(header: Record, results: list[Record]) -> list[str]:
    """The lines of one run: `launch`, the results, `end`."""
    launch = {"record": "launch", "schema": records.SCHEMA, **header}
    return [records.dump(record) for record in (launch, *results, records.end_record())]
