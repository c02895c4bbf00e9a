"""docs/reference/study-file.md tells the truth: its example is a study file, and its table has
every key."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from longshore_study.importers.formats import FORMATS
from longshore_study.planning.plan import make_plan
from longshore_study.stats.verdict import VERDICTS
from longshore_study.study_file import sections
from longshore_study.study_file.reader import StudyFileError, loads

REFERENCE = Path(__file__).resolve().parents[3] / "docs" / "reference"
TEXT = (REFERENCE / "study-file.md").read_text(encoding="utf-8")
COMMANDS = (REFERENCE / "commands.md").read_text(encoding="utf-8")
GLOSSARY = (REFERENCE.parent / "glossary.md").read_text(encoding="utf-8")


def example() -> str:
    found = re.findall(r"^```toml\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
    assert len(found) == 1, "the page has one complete example"
    return str(found[0])


def test_the_example_is_a_study_file() -> None:
    assert make_plan(loads(example(), "example.toml")).launches_per_session > 0


def test_a_mistake_in_the_example_would_be_found() -> None:
    with pytest.raises(StudyFileError, match="did you mean 'repetitions'"):
        loads(example().replace("repetitions", "repetition"), "example.toml")


@pytest.mark.parametrize("key", [*sections.STUDY_KEYS, *sections.BLOCK_KEYS])
def test_every_key_of_the_study_is_in_the_example_and_in_the_table(key: str) -> None:
    assert f"\n{key} = " in example()
    assert re.search(rf"^\|.*`{key}`.*\|$", TEXT, re.MULTILINE)


@pytest.mark.parametrize("section", sections.SECTIONS)
def test_every_section_is_in_the_example_and_in_the_table(section: str) -> None:
    assert re.search(rf"^\[+{section}(\.[\w-]+)?\]+$", example(), re.MULTILINE)
    assert re.search(rf"^\| \*\*\[+{section}(\.TAG)?\]+\*\* \|", TEXT, re.MULTILINE)


@pytest.mark.parametrize("word", [*VERDICTS, *FORMATS])
def test_every_verdict_and_format_is_explained(word: str) -> None:
    assert f"`{word}`" in TEXT + COMMANDS


@pytest.mark.parametrize("word", VERDICTS)
def test_every_verdict_is_in_the_glossary(word: str) -> None:
    assert re.search(rf"^\| ([^|]+, )?{re.escape(word)}(, [^|]+)? \|", GLOSSARY, re.MULTILINE)
