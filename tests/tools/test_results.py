"""tools/results writes the tables of a page by their commands, and finds a table that differs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from repository import REPOSITORY

PAGE = REPOSITORY / "docs" / "results" / "study-tool.md"


def results(*words: str | Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PATH": f"{REPOSITORY}/.venv/bin:{os.environ['PATH']}"}
    return subprocess.run(
        [sys.executable, REPOSITORY / "tools" / "results", *words],
        capture_output=True, text=True, check=False, env=environment,
    )  # fmt: skip


def test_the_table_of_the_published_regression_is_that_of_its_command() -> None:
    assert "| persistent | MiB/s per rank | 6997 | 400.9 |" in PAGE.read_text("utf-8")
    done = results("--check", PAGE)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_table_that_differs_is_named_and_written_anew(tmp_path: Path) -> None:
    copy = tmp_path / "page.md"
    command = "echo a remark; printf '| a |\\n|---|\\n| 1 |\\n'"
    text = f"Text\n\n<!-- table: {command} -->\n| a |\n|---|\n| 1 |\n<!-- end of table -->\n\nMore\n"
    copy.write_text(text.replace("| 1 |\n<", "| 2 |\n<"), encoding="utf-8")
    done = results("--check", copy)
    assert (done.returncode, done.stdout) == (1, f"{copy}: a table differs from the output of its command\n")
    assert results(copy).returncode == 0
    assert copy.read_text("utf-8") == text
    assert results("--check", copy).returncode == 0


def test_a_command_that_fails_leaves_the_page_as_it_is(tmp_path: Path) -> None:
    copy = tmp_path / "page.md"
    text = "<!-- table: false -->\n| a |\n|---|\n<!-- end of table -->\n"
    copy.write_text(text, encoding="utf-8")
    assert results(copy).returncode == 1
    assert copy.read_text("utf-8") == text
