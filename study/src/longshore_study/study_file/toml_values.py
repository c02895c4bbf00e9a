"""Typed values of a TOML document. All mistakes are collected, each with its line, the value and
the allowed values. The default replaces a wrong value, so that a mistake does not hide the next."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any, TypeVar

from longshore_study.base.durations import EXAMPLES, parse_duration
from longshore_study.base.errors import UsageError, suggestion
from longshore_study.study_file.toml_positions import Path, line_of

V = TypeVar("V")
LARGEST_BYTES = 4 * 2**20


@dataclass(frozen=True)
class Problems:
    """The mistakes in a file."""

    path: str
    """The name of the file in messages."""
    lines: dict[Path, int]
    found: list[tuple[int, str]] = field(default_factory=list)
    """The line and the message of each."""

    def add(self, where: Path, message: str) -> None:
        """`where` is the path of keys to the wrong value."""
        line = line_of(self.lines, where)
        self.found.append((line, f"{self.path}:{line}: {message}"))


@dataclass(frozen=True)
class TomlTable:
    """Typed access to the values of a table. Mistakes go to `problems`."""

    problems: Problems
    content: dict[str, Any]
    where: Path = ()
    """The path of keys to the table."""

    def __contains__(self, key: str) -> bool:
        return key in self.content

    @property
    def line(self) -> int:
        return line_of(self.problems.lines, self.where)

    def problem(self, message: str, *below: str | int) -> None:
        """A mistake in the table, or in the value with these keys below it."""
        self.problems.add((*self.where, *below), message)

    def known_keys(self, known: Iterable[str], what: str) -> None:
        allowed = list(known)
        for key in self.content:
            if key not in allowed:
                self.problem(f"unknown {what}: '{key}'{suggestion(key, allowed) or listed(allowed)}", key)

    def table(self, key: str, *, required: bool = True) -> TomlTable:
        """The table with this key. Empty if it is missing or wrong."""
        value = self.content.get(key)
        if isinstance(value, dict):
            return TomlTable(self.problems, value, (*self.where, key))
        if key in self.content:
            hint = f"; write [{key}], not [[{key}]]" if isinstance(value, list) and not self.where else ""
            self.problem(f"'{key}' must be a table, found {shown(value)}{hint}", key)
        elif required:
            name = f"'{key}'" if self.where else f"[{key}]"
            self.problem(f"the table {name} is missing")
        return TomlTable(self.problems, {}, (*self.where, key))

    def tables(self, key: str) -> list[TomlTable]:
        value = self.content.get(key, [])
        if isinstance(value, list) and all(isinstance(item, dict) for item in value):
            if key in self.content and not value:
                self.problem(f"'{key}' is an empty list; write [[{key}]]", key)
            return [TomlTable(self.problems, item, (*self.where, key, index)) for index, item in enumerate(value)]
        hint = f"write [[{key}]], not [{key}]" if isinstance(value, dict) else f"write [[{key}]]"
        self.problem(f"'{key}' must be an array of tables; {hint}", key)
        return []

    def value(self, key: str, default: V, fits: Callable[[Any], bool], allowed: str) -> V:
        """The value of this key, or the default if it is missing or does not fit."""
        value: V = self.content.get(key, default)
        if fits(value):
            return value
        self.problem(f"'{key}' {allowed}, found {shown(value)}", key)
        return default

    def texts(self, key: str, *, required: bool = False) -> list[str]:
        def fits(value: Any) -> bool:
            return isinstance(value, list) and all(isinstance(item, str) for item in value)

        if required and self.content.get(key, []) == []:
            self.problem(f"'{key}' is missing; it is a list of texts", key)
        return self.value(key, [], fits, "must be a list of texts")

    def text(self, key: str, default: str = "") -> str:
        return self.value(key, default, lambda value: isinstance(value, str), "must be a text")

    def name(self, what: str) -> str:
        if "name" not in self.content:
            self.problem(f'the {what} has no name; write name = "..."')
            return "unnamed"
        value = self.text("name", "unnamed")
        if not value.strip() or not value.isprintable() or len(value) > 100:
            allowed = "must be 1 to 100 printable characters"
            self.problem(f"the name of the {what} {allowed}, found {shown(value)}", "name")
        return value

    def word(self, key: str, known: Iterable[str]) -> str | None:
        """One of the known words. None if it is missing or wrong."""
        allowed = list(known)
        if key not in self.content:
            self.problem(f"'{key}' is missing; it is one of {', '.join(allowed) or 'none'}")
            return None
        value = self.content[key]
        if isinstance(value, str) and value in allowed:
            return value
        hint = suggestion(value, allowed) if isinstance(value, str) else ""
        self.problem(f"'{key}' is one of {', '.join(allowed) or 'none'}; found {shown(value)}{hint}", key)
        return None

    def optional_word(self, key: str, known: Iterable[str]) -> str | None:
        return self.word(key, known) if key in self.content else None

    def integer(self, key: str, *, default: int, least: int, most: int) -> int:
        def fits(value: Any) -> bool:
            return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most

        return self.value(key, default, fits, f"must be an integer from {least} to {most}")

    def optional_integer(self, key: str, *, most: int) -> int | None:
        """An integer from 1, or None if the key is missing."""
        return self.integer(key, default=1, least=1, most=most) if key in self.content else None

    def flag(self, key: str, *, default: bool = False) -> bool:
        return self.value(key, default, lambda value: isinstance(value, bool), "is true or false")

    def duration(self, key: str, default: int) -> int:
        value = self.content.get(key)
        if value is None:
            return default
        try:
            return parse_duration(value if isinstance(value, str) else "")
        except ValueError:
            self.problem(f"'{key}' must be a duration {EXAMPLES}, found {shown(value)}", key)
            return default

    def number(self, key: str, *, default: float, most: float, allowed: str) -> float:
        def fits(value: Any) -> bool:
            return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= most

        return float(self.value(key, default, fits, f"must be a number {allowed}"))

    def fraction(self, key: str, default: float) -> float:
        value = self.content.get(key, default)
        if isinstance(value, int | float) and not isinstance(value, bool) and 1 <= value < 100:
            self.problem(f"'{key}' is a fraction below 1; {value:g} % is written {value / 100:g}", key)
            return default
        return self.number(key, default=default, most=1.0 - 1e-9, allowed="above 0 and below 1")


def listed(known: Iterable[str]) -> str:
    """The allowed words, to end a message about an unknown word."""
    return f" (one of {', '.join(names)})" if (names := list(known)) else "; none is allowed here"


def shown(value: Any) -> str:
    """A value as in the file, shortened to fit a line."""
    text = f'"{value}"' if isinstance(value, str) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def text_of(path: FilePath | str, what: str, remedy: str = "") -> str:
    """The text of a TOML file. UsageError names `what` it is, and the `remedy` without it."""
    try:
        with FilePath(path).open("rb") as file:
            content = file.read(LARGEST_BYTES + 1)
        if len(content) > LARGEST_BYTES:
            raise UsageError(f"{what} {path} is larger than {LARGEST_BYTES >> 20} MiB; is it the right file?")
        # Editors of Windows write a byte order mark and end lines with two characters.
        return content.removeprefix(b"\xef\xbb\xbf").decode("utf-8").replace("\r\n", "\n")
    except OSError as error:
        hint = remedy if isinstance(error, FileNotFoundError) else ""
        raise UsageError(f"cannot read {what} {path}: {error.strerror}{hint}") from None
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UsageError(
            f"{path}:{line}: byte 0x{content[error.start]:02x} is not UTF-8 text; {what} is a TOML file{remedy}"
        ) from None


def parsed(text: str, path: str) -> dict[str, Any]:
    """The document. Raises UsageError with file and line if the text is not valid TOML."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise UsageError(f"{path}: not valid TOML: nested too deep") from None
    except ValueError as error:  # also a number with thousands of digits
        raise UsageError(_syntax_problem(str(error), path)) from None


def _syntax_problem(message: str, path: str) -> str:
    match = re.search(r"\s*\(at line (\d+), column (\d+)\)", message)
    if match is None:
        return f"{path}: not valid TOML: {message}"
    reason = message[: match.start()]
    if "Unclosed inline table" in reason or "Invalid initial character for a key part" in reason:
        reason += "; an inline table { } stays on one line: for a longer one write [pattern.within] below [[pattern]]"
    return f"{path}:{match[1]}: not valid TOML at column {match[2]}: {reason}"
