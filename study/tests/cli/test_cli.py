"""The command line for new users: help, mistyped names, exit statuses."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import types
from pathlib import Path

import pytest

from longshore_study.base.errors import LongshoreError, suggestion
from longshore_study.cli import command_line
from longshore_study.store.launch_store import Store
from stored_launches import halo, store_launch


def test_help_lists_the_verbs_and_imports_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["--help"]) == 0
    text = capsys.readouterr().out
    assert "compare" in text
    assert "judge one tag against another" in text
    code = "import sys; from longshore_study.cli.command_line import main; main(['--help']); print(sorted(sys.modules))"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    modules = output.splitlines()[-1]
    assert "longshore_study.cli.command_line" in modules
    for heavy in ("rich", "longshore_study.cli.commands", "longshore_study.store", "numpy", "longshore_study.stats"):
        assert f"'{heavy}" not in modules, heavy


def test_every_module_of_a_command_is_listed() -> None:
    modules = {path.stem for path in (Path(command_line.__file__).parent / "commands").glob("[a-z]*.py")}
    assert {command_line.module_name(command) for command in command_line.COMMANDS} == modules


def test_libraries_are_imported_only_by_the_commands_that_need_them(tmp_path: Path) -> None:
    code = "import sys; from longshore_study.cli import main; main(sys.argv[1:]); print(sorted(sys.modules))"
    store = Store(tmp_path)
    for tag in ("a", "b"):
        store_launch(store, tag, "day", [halo("waitall", 1.0)])
    for arguments in (["--version"], ["show"], ["compare", "a", "b"]):
        command = [sys.executable, "-c", code, "--store", str(tmp_path), *arguments]
        modules = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1]
        assert "longshore_study.cli.command_line" in modules
        for library in ("argcomplete", "elftools", "matplotlib", "numpy", "pyarrow"):
            assert f"'{library}" not in modules, (arguments, library)


@pytest.mark.parametrize("command", ["import", "show", "compare", "guidelines", "export"])
def test_every_command_has_help_with_examples(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command_line.main([command, "--help"])
    assert ended.value.code == 0
    text = capsys.readouterr().out
    assert f"longshore {command}" in text
    assert "examples:" in text


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["comapre"], "unknown command 'comapre'; did you mean 'compare'?"),
        (["show", "--jsn"], "unknown option '--jsn'; did you mean '--json'?"),
        (["compare", "a", "b", "--margn", "5%"], "did you mean '--margin'?"),
        (["compare", "a"], "required: NEW"),
        (["--store"], "--store: expected one argument"),
        (["--frobnicate", "show"], "unknown option '--frobnicate'"),
        (["import", "halobenc", "f", "--tag", "t"], "unknown format 'halobenc'; did you mean 'halobench'?"),
    ],
)
def test_a_typing_mistake_is_one_line_and_64(
    arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command_line.main(arguments) == 64
    error = capsys.readouterr().err
    assert expected in error
    assert len(error.strip().splitlines()) == 1


def test_shared_options_may_precede_or_follow_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["--store", str(tmp_path), "show"], ["show", "--store", str(tmp_path)]):
        assert command_line.main(arguments) == 3
        assert f"nothing is stored in {tmp_path}" in capsys.readouterr().err


def test_the_store_is_where_the_environment_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LONGSHORE_STORE", str(tmp_path / "elsewhere"))
    assert command_line.main(["show"]) == 3
    assert "elsewhere" in capsys.readouterr().err
    monkeypatch.delenv("LONGSHORE_STORE")
    monkeypatch.chdir(tmp_path)
    assert command_line.main(["show"]) == 3
    assert "longshore-results" in capsys.readouterr().err


def verb_that(raises: BaseException) -> types.ModuleType:
    module = types.ModuleType("longshore_study.cli.commands.show")

    def configure(parser: argparse.ArgumentParser) -> None:
        del parser

    def run(_: argparse.Namespace) -> int:
        raise raises

    module.__dict__.update(EXAMPLES="", configure=configure, run=run)
    return module


@pytest.mark.parametrize(
    ("raised", "status", "line"),
    [
        (KeyboardInterrupt(), 130, "longshore: interrupted\n"),
        (LongshoreError("the disk is full", 3), 3, "longshore: the disk is full\n"),
    ],
)
def test_every_expected_end_is_one_line(
    raised: BaseException, status: int, line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "longshore_study.cli.commands.show", verb_that(raised))
    assert command_line.main(["show"]) == status
    assert capsys.readouterr().err == line


def test_a_closed_pipe_is_no_error() -> None:
    """`longshore --help | true`"""
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "longshore_study", "--help"]
    ended = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_an_output_that_cannot_be_written_is_one_line() -> None:
    """`longshore --help > /dev/full`; and `>&-`, where no message can be printed."""
    command = [sys.executable, "-m", "longshore_study", "--help"]
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (3, "longshore: No space left on device\n")
    closed = subprocess.run(["sh", "-c", '"$@" >&-', "sh", *command], stderr=subprocess.PIPE, text=True, check=False)
    assert (closed.returncode, closed.stderr) == (0, "")


def test_only_a_similar_word_is_suggested() -> None:
    assert suggestion("margn", ["margin", "metric"]) == "; did you mean 'margin'?"
    assert not suggestion("xyz", ["margin", "metric"])


def test_a_place_that_cannot_be_used_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(_arguments: object) -> int:
        raise PermissionError(13, "Permission denied", "/else/where")

    monkeypatch.setattr(command_line, "dispatch", refuse)
    assert command_line.main(["show"]) == 3
    assert capsys.readouterr().err == "longshore: /else/where: Permission denied\n"
