"""A text that is imported, the options of its import, and the runs that an importer finds in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from longshore_study.base.errors import LongshoreError
from longshore_study.importers.figure_choice import FigureChoice
from longshore_study.store import records
from longshore_study.store.records import Record


@dataclass(frozen=True, slots=True)
class Options:
    """What the file does not say and the user may add."""

    partial: bool = False
    """Take an output that was cut short, and mark it."""
    ranks_per_node: int | None = None
    ranks: int | None = None
    figure: FigureChoice | None = None
    """Where the figures are, for the formats that know no program."""
    program: str | None = None
    """What the program is called, for the formats that know none; as its figure, where nothing
    says."""


@dataclass(frozen=True, slots=True)
class Source:
    """A text with its name for messages."""

    name: str
    text: str

    def line_of(self, offset: int) -> int:
        return self.text.count("\n", 0, offset) + 1

    def error(self, offset: int, message: str) -> LongshoreError:
        return LongshoreError(f"{self.name}:{self.line_of(offset)}: {message}")


@dataclass(frozen=True, slots=True)
class Imported:
    """One run: its cell, its records without the envelope, and what is to be said about it."""

    cell: dict[str, Any]
    lines: list[str]
    warnings: list[str] = field(default_factory=list)
    partial: str | None = None
    """Why the run is not whole; None when it is."""
    aggregate: bool = True
    """Nothing is known of its repetitions."""
    started: str | None = None
    """When, where the output says it."""
    steps: list[dict[str, Any]] = field(default_factory=list)
    """The steps of the work that the figures belong to, in their order: name, pattern and levels of
    each."""


def whole_records(header: Record, results: list[Record]) -> list[str]:
    """The lines of one run: `launch`, `result` for each, `end`."""
    launch = {"record": "launch", "schema": records.SCHEMA, **header}
    return [records.dump(record) for record in (launch, *results, records.end_record())]
