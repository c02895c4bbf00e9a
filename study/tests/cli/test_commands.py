"""Every command has help with examples, `--json`, and one line for a mistyped option. A new command
is tested, too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from longshore_study.cli import command_line
from stored_launches import import_published_images

ARGUMENTS = {
    "init": ["new.toml"],
    "check": ["study.toml"],
    "plan": ["study.toml"],
    "run": ["study.toml", "--dry-run"],
    "guard": ["study.toml", "--dry-run"],
    "import": ["regex", "any.out", "--tag", "t", "--pattern", "(.)", "--figure", "f", "--unit", "1"],
    "show": [],
    "compare": ["reference", "new"],
    "guidelines": ["new"],
    "report": ["-o", "r.html"],
    "status": [],
    "stacks": [],
    "doctor": ["--no-measure"],
    "completion": ["bash"],
    "export": [],
    "history": [],
    "attribute": ["reference", "new"],
}
"""A call of each command that has something to print."""
STUDY = '[study]\nname = "x"\n[[pattern]]\nprogram = "sort"\nbetween = { ranks = 1 }\n'


@pytest.mark.parametrize("command", command_line.COMMANDS)
def test_every_command_has_examples_that_name_it(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command_line.main([command, "--help"])
    assert ended.value.code == 0
    text = capsys.readouterr().out
    assert f"longshore {command}" in text.partition("examples:")[2]


@pytest.mark.parametrize("command", sorted(ARGUMENTS))
def test_every_verb_speaks_json(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "any.out").write_text("5\n")
    import_published_images(tmp_path / "longshore-results")
    capsys.readouterr()
    assert command_line.main([command, *ARGUMENTS[command], "--json"]) in (0, 1, 2)
    assert json.loads(capsys.readouterr().out)["schema"] == 1


@pytest.mark.parametrize("command", command_line.COMMANDS)
def test_a_mistyped_option_is_an_error_of_one_line(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main([command, *ARGUMENTS.get(command, []), "--jsno"]) == 64
    error = capsys.readouterr().err
    assert len(error.strip().splitlines()) == 1
    assert "did you mean '--json'?" in error or "required" in error
