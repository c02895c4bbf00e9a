"""Completion by the Tab key: what is offered, and that the scripts work in the shells that are here."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from longshore_study.cli import main
from longshore_study.completion import SCRIPTS
from longshore_study.store import Store
from stored_launches import halo, store_launch


def offered(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    assert main(["__complete", *words]) == 0
    return capsys.readouterr().out.split()


def test_verbs_options_formats_and_stored_names_are_offered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LONGSHORE_STORE", str(tmp_path / "results"))
    assert offered(capsys, "comp") == ["compare", "completion"]
    assert "--margin" in offered(capsys, "compare", "a", "b", "--m")
    assert offered(capsys, "import", "os") == ["osu"]
    assert offered(capsys, "completion", "") == ["bash", "zsh", "fish"]
    assert offered(capsys, "stacks", "") == ["list", "build"]
    assert offered(capsys, "compare", "") == [], "nothing is stored"
    store = Store(tmp_path / "results")
    for tag in ("image-1", "image-2", "odd\x1b[2J"):
        store_launch(store, tag, "monday", [halo("waitall", 1.0)], study="halo")
    assert offered(capsys, "compare", "im") == ["image-1", "image-2"]
    assert offered(capsys, "run", "study.toml", "--tag", "") == ["image-1", "image-2"]
    assert offered(capsys, "show", "--session", "m") == ["monday"]
    assert offered(capsys, "no-verb", "") == []
    assert offered(capsys, "run", "") == [], "a file name is meant"


def test_bash_completes(tmp_path: Path) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("bash is not installed")
    longshore = tmp_path / "longshore"
    longshore.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m longshore_study "$@"\n')
    longshore.chmod(0o755)
    script = (
        'eval "$(longshore completion bash)"\n'
        "COMP_WORDS=(longshore import chap); COMP_CWORD=2; _longshore; printf '%s\\n' \"${COMPREPLY[@]}\"\n"
    )
    path = f"{tmp_path}:{os.environ['PATH']}"
    done = subprocess.run(
        [bash, "--norc", "-c", script], env={**os.environ, "PATH": path}, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["chapel-ig", "chapel-stream", "chapel-isx"], done.stderr


@pytest.mark.parametrize("shell", SCRIPTS)
def test_the_scripts_are_right_in_their_shells(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    flag = "--no-execute" if shell == "fish" else "-n"
    done = subprocess.run([shell, flag], input=SCRIPTS[shell], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
