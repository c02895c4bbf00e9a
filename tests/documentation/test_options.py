"""The words in the tables of docs/reference/options.md exist in the sources of each language."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from repository import REPOSITORY

PAGE = REPOSITORY / "docs" / "reference" / "options.md"
LANGUAGES = ("C++", "C", "Fortran", "Python", "longshore-bench")
SOURCES = {
    "C++": [*REPOSITORY.glob("src/longshore/*/*.hpp"), REPOSITORY / "src/longshore/mpi.hpp"],
    "C": [REPOSITORY / "bindings/c/longshore.h", REPOSITORY / "bindings/c/longshore_mpi.h"],
    "Fortran": [REPOSITORY / "bindings/fortran/longshore.f90.in"],
    "Python": [*REPOSITORY.glob("bindings/python/src/*.cpp")],
    "longshore-bench": [*REPOSITORY.glob("bench/**/*.cpp")],
}
CODE = re.compile(r"`([^`]+)`")
FEWEST_OPTIONS = 15


def cells() -> Iterator[tuple[str, str, str]]:
    """The option, the language and the word of each word in code in the tables of options."""
    columns: list[str] = []
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        row = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if not row or row[0] == "option":
            columns = row[1:]
        elif columns and not row[0].startswith("---"):
            for language, cell in zip(columns, row[1:], strict=True):
                before_remark = cell.partition(";")[0]
                yield from ((row[0], language, word) for word in CODE.findall(before_remark))


def is_declared(word: str, language: str) -> bool:
    """Whether a source has the word in the form in which the language declares options."""
    if word.startswith("LONGSHORE_"):
        return word in (REPOSITORY / "docs/reference/environment.md").read_text(encoding="utf-8")
    text = "\n".join(path.read_text(encoding="utf-8") for path in SOURCES[language])
    form = {
        "Python": rf'"{word}"_a',
        # Factors are names; common options have their dashes.
        "longshore-bench": rf'"{word.removeprefix("--")}"|"{word}\b',
    }.get(language, rf"\b{word}\b")
    return re.search(form, text) is not None


def test_the_page_has_tables_for_all_languages() -> None:
    assert {language for _, language, _ in cells()} == set(LANGUAGES)
    assert len({option for option, _, _ in cells()}) > FEWEST_OPTIONS


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_word_of_the_tables_is_declared(language: str) -> None:
    missing = [(option, word) for option, of, word in cells() if of == language and not is_declared(word, language)]
    assert missing == []


def test_a_word_that_no_source_has_is_found() -> None:
    assert not any(is_declared("--vanished" if of == "longshore-bench" else "vanished", of) for of in LANGUAGES)
