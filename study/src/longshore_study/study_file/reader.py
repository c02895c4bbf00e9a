"""The study file: TOML in, a checked `Study` out. Every mistake is named with file and line, what
was given, what is allowed and the nearest known word, because a study is started in the evening and
read in the morning.

Nothing is guessed and nothing is ignored: an unknown key is an error, since it is a mistyped one.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from longshore_study.base.errors import UsageError
from longshore_study.study_file.sections import StudyReader
from longshore_study.study_file.study import Study
from longshore_study.study_file.toml_positions import key_lines
from longshore_study.study_file.toml_values import shown, syntax_problem

LARGEST_BYTES = 4 * 2**20
# The parser's time grows with the square of the parts of a key.
_DEEP_KEY = re.compile(r"(?:[\w\"'-]+[ \t]*\.[ \t]*){100}")


class StudyFileError(UsageError):
    """All that is wrong with a study file; as one line, the first of it."""

    def __init__(self, problems: list[str]) -> None:
        more = f" ({len(problems) - 1} more; 'longshore check' lists them)" if len(problems) > 1 else ""
        super().__init__(problems[0] + more)
        self.problems = problems


def load(path: Path | str) -> Study:
    """Reads and checks a study file; raises StudyFileError; UsageError when it cannot be read."""
    try:
        with Path(path).open("rb") as file:
            content = file.read(LARGEST_BYTES + 1)
        if len(content) > LARGEST_BYTES:
            raise UsageError(
                f"the study file {path} is larger than {LARGEST_BYTES >> 20} MiB; a study is a page of TOML"
            )
        # Editors of other systems begin a file with the mark of its byte order, and end lines with
        # two characters.
        text = content.removeprefix(b"\xef\xbb\xbf").decode("utf-8").replace("\r\n", "\n")
    except OSError as error:
        hint = "; 'longshore init' writes one to start from" if isinstance(error, FileNotFoundError) else ""
        raise UsageError(f"cannot read the study file {path}: {error.strerror}{hint}") from None
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UsageError(
            f"{path}:{line}: byte 0x{content[error.start]:02x} is not UTF-8 text; a study is a TOML file, "
            "see 'longshore init'"
        ) from None
    return loads(text, str(path))


def loads(text: str, path: str) -> Study:
    """As `load`, for text that is already here; `path` is for messages."""
    if deep := _DEEP_KEY.search(text):
        raise StudyFileError([f"{path}:{text.count(chr(10), 0, deep.start()) + 1}: a key of more than 100 parts"])
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise StudyFileError([syntax_problem(str(error), path)]) from None
    except ValueError as error:  # a number of thousands of digits
        raise StudyFileError([f"{path}: not valid TOML: {error}"]) from None
    except RecursionError:
        raise StudyFileError([f"{path}: not valid TOML: nested too deep"]) from None
    reader = StudyReader(path, key_lines(text))
    _refuse_null_characters(reader, document, ())
    study = reader.study(document, text)
    if reader.problems:
        ordered = [problem for _, problem in sorted(reader.problems, key=lambda pair: pair[0])]
        raise StudyFileError(list(dict.fromkeys(ordered)))
    return study


def _refuse_null_characters(reader: StudyReader, value: object, place: tuple[str | int, ...]) -> None:
    """No program can be given one, neither as a word nor as a variable."""
    if isinstance(value, dict):
        for key, inner in value.items():
            _refuse_null_characters(reader, inner, (*place, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            _refuse_null_characters(reader, inner, (*place, index))
    elif isinstance(value, str) and "\0" in value:
        reader.problem(place, f"the text {shown(value)} has the character U+0000, which no program can be given")
