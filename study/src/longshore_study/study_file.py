"""The study file: TOML in, a checked `Study` out. Every mistake is named with file and line, what was given, what is
allowed and the nearest known word, because a study is started in the evening and read in the morning.

Nothing is guessed and nothing is ignored: an unknown key is an error, since it is a mistyped one.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from longshore_study.errors import UsageError
from longshore_study.expression import Expression
from longshore_study.toml_positions import key_lines


class StudyFileError(UsageError):
    """All that is wrong with a study file; as one line, the first of it."""

    def __init__(self, problems: list[str]) -> None:
        more = f" ({len(problems) - 1} more; 'longshore check' lists them)" if len(problems) > 1 else ""
        super().__init__(problems[0] + more)
        self.problems = problems


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


@dataclass(frozen=True)
class Guideline:
    """What must hold without history: variants with `faster` are not slower than those with `than`, all else equal."""

    faster: dict[str, Any]
    than: dict[str, Any]
    tolerance: float
    pattern: str | None = None


@dataclass(frozen=True)
class LauncherChoice:
    kind: str = "local"
    command: str | None = None
    arguments: tuple[str, ...] = ()


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
    launcher: LauncherChoice = field(default_factory=LauncherChoice)
    bound: dict[str, float] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """Tells versions of a study file apart."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:12]


def load(path: Path | str) -> Study:
    """Reads and checks a study file; raises StudyFileError; UsageError when it cannot be read."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        hint = "; 'longshore init' writes one to start from" if isinstance(error, FileNotFoundError) else ""
        raise UsageError(f"cannot read the study file {path}: {error.strerror}{hint}") from None
    except UnicodeDecodeError:
        raise UsageError(f"the study file {path} is not UTF-8 text; it is a TOML file, see 'longshore init'") from None
    return loads(text, str(path))


def loads(text: str, path: str) -> Study:
    """As `load`, for text that is already here; `path` is for messages."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise StudyFileError([_syntax_problem(str(error), path)]) from None
    from longshore_study.study_reader import StudyReader  # noqa: PLC0415 - it builds the classes above

    reader = StudyReader(path, key_lines(text))
    study = reader.study(document, text)
    if reader.problems:
        ordered = [problem for _, problem in sorted(reader.problems, key=lambda pair: pair[0])]
        raise StudyFileError(list(dict.fromkeys(ordered)))
    return study


def _syntax_problem(message: str, path: str) -> str:
    found = re.search(r"\s*\(at line (\d+), column (\d+)\)", message)
    if found is None:
        return f"{path}: not valid TOML: {message}"
    reason = message[: found.start()]
    if "Unclosed inline table" in reason or "Invalid initial character for a key part" in reason:
        reason += "; an inline table { } stays on one line: for a longer one write [pattern.within] below [[pattern]]"
    return f"{path}:{found[1]}: not valid TOML at column {found[2]}: {reason}"
