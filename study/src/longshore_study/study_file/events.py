"""Reads events.toml: the dates of known changes of the machine, and the affected factor levels.
`longshore history` tests these dates first, without a correction for the search over all dates.

    [[event]]
    date = 2026-03-01
    text = "new release of the MPI library"
    factors = { transport = "mpi" }
"""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from longshore_study.base.errors import UsageError
from longshore_study.study_file.toml_positions import key_lines
from longshore_study.study_file.toml_values import Problems, TomlTable, parsed, shown, text_of

FILE = "events.toml"


@dataclass(frozen=True)
class Event:
    """A known change of the machine."""

    date: str
    """An ISO day, or a moment in UTC. The order of these texts is the order in time."""
    text: str
    factors: Mapping[str, Any] = field(default_factory=dict)
    """The levels of the affected rows. If empty, all rows are affected."""

    def affects(self, factors: Mapping[str, Any]) -> bool:
        return all(name in factors and factors[name] == level for name, level in self.factors.items())


def load(path: Path) -> list[Event]:
    """The events by date. Raises UsageError for the first mistake, with file and line."""
    text = text_of(path, "the file of events")
    problems = Problems(str(path), key_lines(text))
    document = TomlTable(problems, parsed(text, str(path)))
    document.known_keys(("event",), "table")
    events = [_event(table) for table in document.tables("event")]
    if problems.found:
        raise UsageError(min(problems.found)[1])
    return sorted(events, key=lambda event: event.date)


def of_store(store: Path, given: Path | None = None) -> list[Event]:
    """The events of the given file, else of events.toml in the store, if there is one."""
    path = given or store / FILE
    return load(path) if given or path.exists() else []


def _event(table: TomlTable) -> Event:
    table.known_keys(("date", "text", "factors"), "key in [[event]]")
    date = _date(table.content.get("date"))
    if date is None:
        given = f"found {shown(table.content['date'])}" if "date" in table else "it is missing"
        table.problem(f"'date' must be a day, such as 2026-03-01, or a moment; {given}", "date")
    text = table.text("text")
    if not text:
        table.problem("'text' is missing; it describes the event", "text")
    factors = table.table("factors", required=False).content
    return Event(date or "", text, {name.replace("-", "_"): level for name, level in factors.items()})


def _date(value: object) -> str | None:
    if isinstance(value, str):
        try:
            value = dt.datetime.fromisoformat(value) if len(value) > 10 else dt.date.fromisoformat(value)
        except ValueError:
            return None
    if isinstance(value, dt.datetime):
        moment = value.replace(tzinfo=dt.UTC) if value.tzinfo is None else value.astimezone(dt.UTC)
        return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
    return value.isoformat() if isinstance(value, dt.date) else None
