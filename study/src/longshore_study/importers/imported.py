"""The types of importers: the text to import, the options, and the runs in the text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from longshore_study.base.errors import LongshoreError
from longshore_study.store import records
from longshore_study.store.records import Record

PARTIAL_HINT = "--partial imports the part that is there, and marks it as partial"


@dataclass(frozen=True)
class MetricChoice:
    """A metric in the output of any program: its name, its unit, and how to find its values."""

    name: str
    unit: str
    better: str
    expression: str | None = None
    path: str | None = None


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a table with a line per measurement (series_csv.py)."""

    time: str
    version: str | None = None
    factors: tuple[str, ...] = ()
    """The columns with factors. If empty, all other columns that do not differ in most lines."""


@dataclass(frozen=True, slots=True)
class Options:
    """Facts that the file may lack and the user can add."""

    partial: bool = False
    """Whether to accept an output that was cut short, and to mark it as partial."""
    ranks_per_node: int | None = None
    ranks: int | None = None
    factors: Mapping[str, Any] = field(default_factory=dict)
    """Factors of the launch, such as settings that the program does not print."""
    metric: MetricChoice | None = None
    """The metric to find, for formats for any program."""
    columns: Columns | None = None
    program: str | None = None
    """Name of the program, for formats for any program. The default is the name of the metric."""

    def nodes_of(self, ranks: int | None) -> int | None:
        """The number of nodes of so many ranks. None if it is not known."""
        return records.node_count(ranks, self.ranks_per_node) if ranks and self.ranks_per_node else None


@dataclass(frozen=True, slots=True)
class Source:
    """The text to import, or a part of it, and the name of its file in messages."""

    name: str
    text: str
    whole: str = ""
    """The text of the file, if `text` is a part of it."""
    begin: int = 0
    """The offset of `text` in `whole`."""

    def part(self, begin: int, end: int) -> Source:
        return Source(self.name, self.text[begin:end], self.whole or self.text, self.begin + begin)

    @property
    def before(self) -> str:
        """The text of the file above this part."""
        return self.whole[: self.begin]

    @property
    def ends_file(self) -> bool:
        return self.begin + len(self.text) == len(self.whole or self.text)

    def at(self, match: re.Match[str], group: int | str = 0) -> Source:
        """The part that a group of a match in `text` has matched."""
        return self.part(match.start(group), match.end(group))

    def lines(self) -> Iterator[Source]:
        """The lines, with the newline at their end."""
        begin = 0
        for line in self.text.splitlines(keepends=True):
            yield self.part(begin, begin + len(line))
            begin += len(line)

    def error(self, message: str) -> LongshoreError:
        """The message names the line of the file in which this part begins."""
        return self.error_in_line((self.whole or self.text).count("\n", 0, self.begin) + 1, message)

    def error_at_end(self, message: str) -> LongshoreError:
        end = len(self.text.rstrip())
        return self.part(end, end).error(message)

    def error_in_line(self, line: int, message: str) -> LongshoreError:
        return LongshoreError(f"{self.name}:{line}: {message}")

    def refuse_incomplete(self, why_incomplete: str | None, options: Options) -> None:
        """Raises LongshoreError if this run is incomplete, unless the options accept that."""
        if why_incomplete and not options.partial:
            raise self.error_at_end(f"{why_incomplete}; {PARTIAL_HINT}")


@dataclass(frozen=True, slots=True)
class Imported:
    """One run: its cell, its records without the envelope, and warnings."""

    cell: dict[str, Any]
    lines: list[str]
    warnings: list[str] = field(default_factory=list)
    why_incomplete: str | None = None
    """Why the run is incomplete. None for a complete run."""
    aggregate: bool = True
    """Whether the values are aggregates of unknown repetitions."""
    started: str | None = None
    """Start of the run. None if the output does not have the time."""
    session: str | None = None
    """The session of a run of a series. The user names the session of all other runs."""
    tag: str | None = None
    """The version of a run of a series; a tag of the user has precedence."""
    steps: list[dict[str, Any]] = field(default_factory=list)
    """Name, pattern and levels of each step of work, in the order of the steps."""


def known(**facts: Any) -> dict[str, Any]:
    """The facts without those that are None, which the output does not tell."""
    return {name: fact for name, fact in facts.items() if fact is not None}


def whole_records(header: Record, results: list[Record]) -> list[str]:
    """The lines of one run: a `launch` record, the results, an `end` record."""
    launch = {"record": "launch", "schema": records.SCHEMA, **header}
    return [records.dump(record) for record in (launch, *results, records.end_record())]


def samples(pattern: str, variant: Mapping[str, Any], seconds: Iterable[float]) -> list[Record]:
    """A `sample` record for the seconds of each repetition."""
    return [
        {"record": "sample", "pattern": pattern, "variant": variant, "repetition": index, "seconds": {"max": time}}
        for index, time in enumerate(seconds)
    ]


def aggregate_result(
    pattern: str, variant: Mapping[str, Any], metrics: Mapping[str, Any], *, repetitions: int = 1, **more: Any
) -> Record:
    """A `result` record of `repetitions` repetitions, whose single values are unknown."""
    return records.result_record(pattern, variant, metrics, aggregate=True, repetitions=repetitions, **more)
