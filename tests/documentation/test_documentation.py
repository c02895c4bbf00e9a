"""Commands and programs in the documentation work, and its links lead to existing files."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from markdown_pages import (
    Block,
    blocks,
    broken_tables,
    commands,
    folders_not_built,
    foreign_parts,
    links,
    long_lines,
)
from repository import BUILD, REPOSITORY, skip_without_language

DOCUMENTS = sorted([*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/**/*.md")])
# Results of builds and studies, and hidden folders. A fresh clone does not have them.
NOT_SHOWN = {"build", "longshore-results", "report.html", ".git", ".venv"}
TIMEOUT_SECONDS = 600

SHELL_BLOCKS = [b for d in DOCUMENTS for b in blocks(d) if b.language == "sh" and not b.not_run]
# For each language of programs: the suffix of its files, and a text that only whole programs have.
PROGRAM_MARKS = {"cpp": ("cpp", "int main("), "c": ("c", "int main("), "fortran": ("f90", "end program")}


def is_program(block: Block) -> bool:
    """Whether a block is a program that exists on its page only. Others have tests in the build."""
    _, whole = PROGRAM_MARKS.get(block.language, ("", "no such language"))
    return whole in block.text and not block.not_run and not block.source


EXCERPTS = [b for d in DOCUMENTS for b in blocks(d) if b.source]
PROGRAMS = [b for d in DOCUMENTS for b in blocks(d) if is_program(b)]


def name(block: Block) -> str:
    return f"{block.document.relative_to(REPOSITORY)}:{block.line}"


@pytest.fixture
def reader(tmp_path: Path) -> Path:
    """A scratch folder that looks like a fresh clone of the repository."""
    for entry in REPOSITORY.iterdir():
        if entry.name not in NOT_SHOWN:
            (tmp_path / entry.name).symlink_to(entry)
    return tmp_path


# Pages in these folders repeat commands of the other pages with more options.
MANY_OPTIONS = {("docs", "reference"), ("docs", "results")}


# One test per document, since later commands use files of earlier ones.
@pytest.mark.parametrize(
    "document",
    [
        pytest.param(d, id=str(path), marks=[pytest.mark.thorough] if path.parts[:2] in MANY_OPTIONS else [])
        for d in sorted({b.document for b in SHELL_BLOCKS})
        for path in [d.relative_to(REPOSITORY)]
    ],
)
def test_commands_of_the_documentation_end_with_the_documented_status(document: Path, reader: Path) -> None:
    environment = os.environ | {
        "PATH": f"{BUILD}/bench:{REPOSITORY}/.venv/bin:{os.environ['PATH']}",
        "LONGSHORE_PIN": "0",
        "LONGSHORE_PROFILE": "off",
    }
    for block in (b for b in SHELL_BLOCKS if b.document == document):
        to_run = list(commands(block))
        assert to_run, f"{name(block)}: a block without commands is not marked sh"
        for command in to_run:
            done = subprocess.run(
                ["bash", "-o", "pipefail", "-c", command.text],
                cwd=reader,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
                timeout=TIMEOUT_SECONDS,
            )
            where = f"{document.name}:{command.line}: {command.text}"
            assert done.returncode == command.exit_status, f"{where}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"


@pytest.mark.consumer
@pytest.mark.parametrize("block", PROGRAMS, ids=name)
def test_programs_of_the_documentation_compile_and_run(
    block: Block,
    installed: Path,
    build_consumer: Callable[[Path], Path],
    tmp_path: Path,
    quiet_environment: dict[str, str],
) -> None:
    suffix, _ = PROGRAM_MARKS[block.language]
    skip_without_language(suffix, installed)
    source = tmp_path / f"program.{suffix}"
    source.write_text(block.text, encoding="utf-8")
    environment = quiet_environment | {"LONGSHORE_RANKS": "3", "LONGSHORE_TRANSPORT": "threads"}
    done = subprocess.run(
        [build_consumer(source)], env=environment, capture_output=True, text=True, check=False, timeout=TIMEOUT_SECONDS
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("block", EXCERPTS, ids=name)
def test_excerpts_of_the_documentation_are_in_their_files(block: Block) -> None:
    source = (REPOSITORY / block.source).read_text(encoding="utf-8")
    assert not list(foreign_parts(block, source))


def test_every_part_of_an_excerpt_is_compared_in_order(tmp_path: Path) -> None:
    source = "first {\n  second;\n  third;\n}\nlast\n"
    document = tmp_path / "page.md"
    for text, wrong in (
        ("second;\nthird;\n...\nlast", 0),
        ("first {\n  second;", 0),
        ("first {\nsecond;", 1),
        ("last\n...\nfirst {", 1),
        ("second;\nlast", 1),
        ("fourth;\n...\nlast", 1),
    ):
        document.write_text(f"<!-- from a.c -->\n```c\n{text}\n```\n", encoding="utf-8")
        [block] = blocks(document)
        assert block.source == "a.c"
        assert len(list(foreign_parts(block, source))) == wrong, text


def commands_of_make(targets: str) -> str:
    return subprocess.run(
        ["make", "-n", *targets.split()], cwd=REPOSITORY, capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: str(d.relative_to(REPOSITORY)))
def test_a_page_makes_each_build_folder_before_it_uses_it(document: Path) -> None:
    assert not list(folders_not_built(document, commands_of_make))


@pytest.mark.parametrize(
    ("typed", "wrong"),
    [
        ("make study\ncmake --install build/release --prefix x", [3]),
        ("make study\nmake build\ncmake --install build/release --prefix x\nbuild/release/examples/cpp/heat", []),
        ("cmake -B build && cmake --build build\nbuild/lookup\nmpirun -n 4 build/release/examples/cpp/heat", [4]),
        ("cmake -S . -B build/own -G Ninja\ncmake --build build/own\n(cd build/own && cpack)\ncd build/other", [5]),
    ],
)
def test_a_build_folder_that_no_command_has_made_is_found(typed: str, wrong: list[int], tmp_path: Path) -> None:
    document = tmp_path / "page.md"
    document.write_text(f"<!-- not run: a test -->\n```sh\n{typed}\n```\n", encoding="utf-8")
    found = folders_not_built(document, commands_of_make)
    assert [int(message.split(":")[1]) - 1 for message in found] == wrong


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: str(d.relative_to(REPOSITORY)))
def test_links_of_the_documentation_lead_to_files(document: Path) -> None:
    missing = [target for target in links(document) if not (document.parent / target).exists()]
    assert not missing


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: str(d.relative_to(REPOSITORY)))
def test_tables_of_the_documentation_are_whole(document: Path) -> None:
    assert not list(broken_tables(document))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: str(d.relative_to(REPOSITORY)))
def test_lines_of_the_documentation_end_at_100_columns(document: Path) -> None:
    assert not list(long_lines(document))


def too_long(pages: Iterable[Path], lines_in_all: int = 7_000, words_of_results: int = 600) -> list[str]:
    """A message if there are too many lines, and for each page of results with too many words."""
    texts = {page: page.read_text(encoding="utf-8") for page in pages}
    lines = sum(text.count("\n") for text in texts.values())
    found = [f"{lines} lines"] if lines > lines_in_all else []
    words = {page: len(text.split()) for page, text in texts.items() if page.parent.name == "results"}
    return found + [f"{page.name}: {count} words" for page, count in words.items() if count > words_of_results]


def test_lines_of_all_pages_and_words_of_results_keep_the_limits_of_contributing() -> None:
    assert not too_long(REPOSITORY.glob("docs/**/*.md"))


def test_too_many_lines_and_words_are_found(tmp_path: Path) -> None:
    results = tmp_path / "results"
    results.mkdir()
    (results / "page.md").write_text("one two\nthree\n", encoding="utf-8")
    (tmp_path / "other.md").write_text("one two\nthree\n", encoding="utf-8")
    pages = [results / "page.md", tmp_path / "other.md"]
    assert too_long(pages, 4, 3) == []
    assert too_long(pages, 3, 2) == ["4 lines", "page.md: 3 words"]


def test_a_long_line_is_found_outside_blocks_and_tables(tmp_path: Path) -> None:
    document = tmp_path / "page.md"
    long = "word " * 30
    document.write_text(f"{long}\n```text\n{long}\n```\n| {long}|\n|---|\n", encoding="utf-8")
    assert [found.split(":")[1] for found in long_lines(document)] == ["1"]


@pytest.mark.parametrize(
    ("rows", "wrong"),
    [
        ("| a | b |\n|---|---|\n| 1 | `x\\|y` |\n", []),
        ("| a | b |\n|:--|--:|\n| 1 | |\ntext\n\n```sh\na | b\n| c\n```\n", []),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n\n| 3 | 4 |\n", [6]),
        ("| a | b |\n|---|---|\n| 1 | 2 | 3 |\n| 4 |\n", [4, 5]),
        ("| a | b |\n|---|\n", [3]),
        ("| a | b |\n", [2]),
    ],
)
def test_a_broken_table_is_found(rows: str, wrong: list[int], tmp_path: Path) -> None:
    document = tmp_path / "page.md"
    document.write_text(f"text\n{rows}", encoding="utf-8")
    assert [int(message.split(":")[1]) for message in broken_tables(document)] == wrong


def test_the_first_page_has_commands_and_a_program() -> None:
    """The tests above find commands and programs."""
    first_page = REPOSITORY / "README.md"
    assert first_page in [block.document for block in SHELL_BLOCKS]
    assert first_page in [block.document for block in PROGRAMS]


def test_a_block_is_read_with_its_lines_continuations_and_exit_statuses(tmp_path: Path) -> None:
    document = tmp_path / "page.md"
    document.write_text(
        "text\n```sh\nfirst \\\n  more\n# a remark\nfalse  # exit status 1: as it should\n```\n"
        "<!-- not run: for a reason -->\n```sh\nrm -rf everything\n```\n",
        encoding="utf-8",
    )
    run, left_out = blocks(document)
    assert [(c.text, c.line, c.exit_status) for c in commands(run)] == [
        ("first \\\n  more", 3, 0),
        ("false  # exit status 1: as it should", 6, 1),
    ]
    assert (run.not_run, left_out.not_run) == ("", "for a reason")


def test_an_unclosed_block_is_an_error(tmp_path: Path) -> None:
    document = tmp_path / "page.md"
    document.write_text("```sh\nls\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"page\.md:1: this block is never closed"):
        list(blocks(document))
