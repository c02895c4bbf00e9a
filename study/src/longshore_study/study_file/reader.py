"""Reads and checks a study file: from TOML text to `Study`. All mistakes are reported together,
each with file, line, value, allowed values and a suggestion. An unknown key is an error, because it
is probably mistyped."""

import re
from pathlib import Path

from longshore_study.base.errors import UsageError
from longshore_study.study_file.sections import read_study
from longshore_study.study_file.study import Study
from longshore_study.study_file.toml_positions import key_lines
from longshore_study.study_file.toml_values import Problems, TomlTable, parsed, shown, text_of

# Longer keys could stop the parser: its time grows with the square of their parts.
_DEEP_KEY = re.compile(r"(?:[\w\"'-]+[ \t]*\.[ \t]*){100}")


class StudyFileError(UsageError):
    """All mistakes in a study file. The message has the first mistake and counts the rest."""

    def __init__(self, problems: list[str]) -> None:
        more = f" ({len(problems) - 1} more; 'longshore check' lists them)" if len(problems) > 1 else ""
        super().__init__(problems[0] + more)
        self.problems = problems


def load(path: Path | str) -> Study:
    """Reads and checks a study file. Raises StudyFileError, or UsageError if it is unreadable."""
    return loads(text_of(path, "the study file", "; 'longshore init' writes an example"), str(path))


def loads(text: str, path: str) -> Study:
    """Like `load`, for a text. Messages name `path`."""
    if deep := _DEEP_KEY.search(text):
        raise StudyFileError([f"{path}:{text.count(chr(10), 0, deep.start()) + 1}: a key of more than 100 parts"])
    try:
        document = parsed(text, path)
    except UsageError as error:
        raise StudyFileError([str(error)]) from None
    problems = Problems(path, key_lines(text))
    _refuse_null_characters(problems, document, ())
    study = read_study(TomlTable(problems, document), text)
    if problems.found:
        ordered = [problem for _, problem in sorted(problems.found, key=lambda pair: pair[0])]
        raise StudyFileError(list(dict.fromkeys(ordered)))
    return study


def _refuse_null_characters(problems: Problems, value: object, where: tuple[str | int, ...]) -> None:
    """Arguments and environment variables of programs cannot contain null characters."""
    if isinstance(value, dict):
        for key, inner in value.items():
            _refuse_null_characters(problems, inner, (*where, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            _refuse_null_characters(problems, inner, (*where, index))
    elif isinstance(value, str) and "\0" in value:
        problems.add(where, f"the text {shown(value)} has the character U+0000, which arguments cannot contain")
