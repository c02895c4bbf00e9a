"""Typed values of a TOML document. All mistakes are collected, each with its line, the value and
the allowed values. The default replaces a wrong value, so that a mistake does not hide the next."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

from longshore_study.base.durations import EXAMPLES, parse_duration
from longshore_study.base.errors import UsageError, suggestion
from longshore_study.study_file.toml_positions import Path, line_of


class Values:
    """Typed access to the values of tables. `problems` collects (line, message). The argument
    `where` is the path of keys to a table, and `path` is the name of the file in messages."""

    def __init__(self, path: str, lines: dict[Path, int]) -> None:
        self.path = path
        self.lines = lines
        self.problems: list[tuple[int, str]] = []

    def problem(self, where: Path, message: str) -> None:
        line = line_of(self.lines, where)
        self.problems.append((line, f"{self.path}:{line}: {message}"))

    def known_keys(self, table: Mapping[str, Any], where: Path, known: Iterable[str], what: str) -> None:
        allowed = list(known)
        for key in table:
            if key not in allowed:
                self.problem((*where, key), f"unknown {what}: '{key}'{suggestion(key, allowed) or listed(allowed)}")

    def table(self, owner: Mapping[str, Any], where: Path, key: str, *, required: bool = True) -> dict[str, Any]:
        if key not in owner:
            if required:
                name = f"[{key}]" if not where else f"'{key}'"
                self.problem(where, f"the table {name} is missing")
            return {}
        value = owner[key]
        if isinstance(value, dict):
            return value
        hint = f"; write [{key}], not [[{key}]]" if isinstance(value, list) and not where else ""
        self.problem((*where, key), f"'{key}' must be a table, found {shown(value)}{hint}")
        return {}

    def tables(self, document: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
        value = document.get(key, [])
        if isinstance(value, list) and all(isinstance(item, dict) for item in value):
            if key in document and not value:
                self.problem((key,), f"'{key}' is an empty list; write [[{key}]]")
            return value
        hint = f"write [[{key}]], not [{key}]" if isinstance(value, dict) else f"write [[{key}]]"
        self.problem((key,), f"'{key}' must be an array of tables; {hint}")
        return []

    def texts(self, owner: Mapping[str, Any], where: Path, key: str, *, required: bool = False) -> list[str]:
        value = owner.get(key, [])
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            if required and not value:
                self.problem((*where, key), f"'{key}' is missing; it is a list of texts")
            return value
        self.problem((*where, key), f"'{key}' must be a list of texts, found {shown(value)}")
        return []

    def text(self, owner: Mapping[str, Any], where: Path, key: str, default: str) -> str:
        value = owner.get(key, default)
        if isinstance(value, str):
            return value
        self.problem((*where, key), f"'{key}' must be a text, found {shown(value)}")
        return default

    def name(self, owner: Mapping[str, Any], where: Path, what: str) -> str:
        if "name" not in owner:
            self.problem(where, f'the {what} has no name; write name = "..."')
            return "unnamed"
        value = self.text(owner, where, "name", "unnamed")
        if not value.strip() or not value.isprintable() or len(value) > 100:
            allowed = "must be 1 to 100 printable characters"
            self.problem((*where, "name"), f"the name of the {what} {allowed}, found {shown(value)}")
        return value

    def word(self, owner: Mapping[str, Any], where: Path, key: str, known: Iterable[str]) -> str | None:
        allowed = list(known)
        if key not in owner:
            self.problem(where, f"'{key}' is missing; it is one of {', '.join(allowed) or 'none'}")
            return None
        value = owner[key]
        if isinstance(value, str) and value in allowed:
            return value
        hint = suggestion(value, allowed) if isinstance(value, str) else ""
        self.problem((*where, key), f"'{key}' is one of {', '.join(allowed) or 'none'}; found {shown(value)}{hint}")
        return None

    def integer(self, owner: Mapping[str, Any], where: Path, key: str, *, default: int, least: int, most: int) -> int:
        value = owner.get(key, default)
        if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
            return value
        self.problem((*where, key), f"'{key}' must be an integer from {least} to {most}, found {shown(value)}")
        return default

    def optional_integer(self, owner: Mapping[str, Any], where: Path, key: str, *, most: int) -> int | None:
        """An integer from 1, or None if the key is missing."""
        return self.integer(owner, where, key, default=1, least=1, most=most) if key in owner else None

    def flag(self, owner: Mapping[str, Any], where: Path, key: str, *, default: bool) -> bool:
        value = owner.get(key, default)
        if isinstance(value, bool):
            return value
        self.problem((*where, key), f"'{key}' is true or false, found {shown(value)}")
        return default

    def duration(self, owner: Mapping[str, Any], where: Path, key: str, default: int) -> int:
        value = owner.get(key)
        if value is None:
            return default
        try:
            return parse_duration(value if isinstance(value, str) else "")
        except ValueError:
            self.problem((*where, key), f"'{key}' must be a duration {EXAMPLES}, found {shown(value)}")
            return default

    def number(
        self, owner: Mapping[str, Any], where: Path, key: str, *, default: float, most: float, allowed: str
    ) -> float:
        value = owner.get(key, default)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= most:
            return float(value)
        self.problem((*where, key), f"'{key}' must be a number {allowed}, found {shown(value)}")
        return default

    def seconds(self, owner: Mapping[str, Any], where: Path, default: float) -> float:
        limit = 30 * 86400.0
        return self.number(
            owner, where, "timeout_seconds", default=default, most=limit, allowed="above 0, of at most 30 days"
        )

    def fraction(self, owner: Mapping[str, Any], where: Path, key: str, default: float) -> float:
        value = owner.get(key, default)
        if isinstance(value, int | float) and not isinstance(value, bool) and 1 <= value < 100:
            percent = f"{value:g}"
            self.problem((*where, key), f"'{key}' is a fraction below 1; {percent} % is written {value / 100:g}")
            return default
        return self.number(owner, where, key, default=default, most=1.0 - 1e-9, allowed="above 0 and below 1")


def listed(known: Iterable[str]) -> str:
    """The allowed words, to end a message about an unknown word."""
    return f" (one of {', '.join(names)})" if (names := list(known)) else "; none is allowed here"


def shown(value: Any) -> str:
    """A value as in the file, shortened to fit a line."""
    text = f'"{value}"' if isinstance(value, str) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def parsed(text: str, path: str) -> dict[str, Any]:
    """The document. Raises UsageError with file and line if the text is not valid TOML."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise UsageError(f"{path}: not valid TOML: nested too deep") from None
    except ValueError as error:  # also a number with thousands of digits
        raise UsageError(_syntax_problem(str(error), path)) from None


def _syntax_problem(message: str, path: str) -> str:
    """The message of tomllib, with the file and line in front."""
    match = re.search(r"\s*\(at line (\d+), column (\d+)\)", message)
    if match is None:
        return f"{path}: not valid TOML: {message}"
    reason = message[: match.start()]
    if "Unclosed inline table" in reason or "Invalid initial character for a key part" in reason:
        reason += "; an inline table { } stays on one line: for a longer one write [pattern.within] below [[pattern]]"
    return f"{path}:{match[1]}: not valid TOML at column {match[2]}: {reason}"
