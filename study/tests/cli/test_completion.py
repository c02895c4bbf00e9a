"""Completion by the Tab key: the candidates, and the scripts in the installed shells."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from longshore_study.cli.command_line import main
from longshore_study.cli.completion import SCRIPTS
from longshore_study.host import stacks
from longshore_study.store.launch_store import Store
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
    assert offered(capsys, "no-command", "") == []
    assert offered(capsys, "run", "") == [], "a file name is meant"


def test_what_stands_before_the_word_is_understood(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    store_launch(Store(tmp_path / "results"), "image-1", "monday", [halo("waitall", 1.0)], study="halos")
    at = ("--store", "results")
    assert offered(capsys, *at, "compare", "im") == ["image-1"], "DIR is no command"
    assert offered(capsys, "--store=results", "compare", "im") == ["image-1"]
    assert offered(capsys, "--store", "") == [], "a folder is meant"
    assert offered(capsys, *at, "report", "--compare", "") == ["image-1", "halos"]
    assert offered(capsys, *at, "report", "--compare", "image-1", "") == ["image-1", "halos"]
    assert offered(capsys, *at, "report", "--margin", "5%", "") == ["halos"]
    assert offered(capsys, *at, "run", "study.toml", "--tag=im") == ["--tag=image-1"]
    assert offered(capsys, *at, "compare", "image-1", "image-1", "") == [], "two are compared"
    monkeypatch.setattr(stacks, "find_stacks", lambda: [stacks.Stack("openmpi-4", stacks.MPI, "", "", "", "", "")])
    assert offered(capsys, *at, "stacks", "build", "") == ["all", "openmpi-4"]
    assert offered(capsys, *at, "stacks", "list", "") == []


def typed_in(shell: str, options: list[str], script: str, arguments: list[str], tmp_path: Path) -> list[str]:
    """The output of a shell script that finds longshore in its path."""
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    longshore = tmp_path / "longshore"
    longshore.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m longshore_study "$@"\n')
    longshore.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "LONGSHORE_STORE": str(tmp_path / "results"), "HOME": str(tmp_path)}
    done = subprocess.run(
        [program, *options, "-c", script, *arguments],
        env=environment, cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert not done.stderr
    return done.stdout.splitlines()


def bash_offers(tmp_path: Path, typed: str, words: list[str]) -> list[str]:
    """The words that bash would insert for the words into which readline splits a typed line."""
    script = (
        'eval "$(longshore completion bash)"\n'
        'COMP_LINE=$1; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_POINT=${#COMP_LINE}\n'
        "_longshore; printf '%s\\n' \"${COMPREPLY[@]}\"\n"
    )
    return typed_in("bash", ["--norc"], script, ["bash", typed, *words], tmp_path)


def test_bash_completes(tmp_path: Path) -> None:
    words = ["longshore", "import", "chap"]
    assert bash_offers(tmp_path, " ".join(words), words) == ["chapel-ig", "chapel-stream", "chapel-isx"]
    for tag in ("$(touch pwned)", "a b", "*", "img:1", "img:2"):
        store_launch(Store(tmp_path / "results"), tag, "monday", [halo("waitall", 1.0)], study="s")
    everything = bash_offers(tmp_path, "longshore guidelines ", ["longshore", "guidelines", ""])
    assert set(everything) == {"\\$\\(touch\\ pwned\\)", "a\\ b", "\\*", "img:1", "img:2"}
    assert bash_offers(tmp_path, "longshore guidelines a\\ ", ["longshore", "guidelines", "a\\ "]) == ["a\\ b"]
    assert bash_offers(tmp_path, 'longshore guidelines "a ', ["longshore", "guidelines", '"a ']) == ["a b"]
    # Readline inserts the part after the colon.
    assert bash_offers(tmp_path, "longshore guidelines img:", ["longshore", "guidelines", "img", ":"]) == ["1", "2"]
    assert bash_offers(tmp_path, "longshore guidelines img:2", ["longshore", "guidelines", "img", ":", "2"]) == ["2"]
    after = bash_offers(tmp_path, "longshore compare img:1 i", ["longshore", "compare", "img", ":", "1", "i"])
    assert after == ["img:1", "img:2"]
    equals = bash_offers(tmp_path, "longshore show --study=", ["longshore", "show", "--study", "="])
    assert equals == ["s"]
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize("shell", SCRIPTS)
def test_the_scripts_are_right_in_their_shells(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    flag = "--no-execute" if shell == "fish" else "-n"
    done = subprocess.run([shell, flag], input=SCRIPTS[shell], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def zsh_offers(tmp_path: Path, *words: str) -> list[str]:
    """The words that the function passes to zsh. The completion system of zsh itself needs a
    terminal."""
    script = (
        "compdef() { registered=$2 }; _files() { print FILES }; compadd() { print -rl -- ${(P)2} }\n"
        'eval "$(longshore completion zsh)"; [[ $registered == longshore ]] || exit 1\n'
        'words=("$@"); CURRENT=$#; _longshore'
    )
    return typed_in("zsh", ["-f"], script, ["zsh", "longshore", *words], tmp_path)


def fish_offers(tmp_path: Path, typed: str) -> list[str]:
    script = "longshore completion fish | source; complete --do-complete $argv[1]"
    return typed_in("fish", ["--no-config"], script, [typed], tmp_path)


HOSTILE_TAGS = ("$(touch pwned)", "a b", "*", "img:1")


def test_zsh_completes(tmp_path: Path) -> None:
    for tag in HOSTILE_TAGS:
        store_launch(Store(tmp_path / "results"), tag, "monday", [halo("waitall", 1.0)], study="s")
    assert zsh_offers(tmp_path, "import", "chap") == ["chapel-ig", "chapel-stream", "chapel-isx"]
    assert set(zsh_offers(tmp_path, "guidelines", "")) == set(HOSTILE_TAGS)
    assert zsh_offers(tmp_path, "guidelines", "img:") == ["img:1"]
    assert zsh_offers(tmp_path, "run", "") == ["FILES"]
    assert not (tmp_path / "pwned").exists()


def test_fish_completes(tmp_path: Path) -> None:
    for tag in HOSTILE_TAGS:
        store_launch(Store(tmp_path / "results"), tag, "monday", [halo("waitall", 1.0)], study="s")
    assert sorted(fish_offers(tmp_path, "longshore import chap")) == ["chapel-ig", "chapel-isx", "chapel-stream"]
    assert set(HOSTILE_TAGS) <= set(fish_offers(tmp_path, "longshore guidelines "))
    assert "compare" in fish_offers(tmp_path, "longshore comp")
    assert not (tmp_path / "pwned").exists()
