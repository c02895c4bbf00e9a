"""Completion by the Tab key: the candidates, and the scripts in the installed shells."""

from __future__ import annotations

import functools
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import argcomplete
import pytest

from longshore_study.cli import completion
from longshore_study.cli.command_line import main
from longshore_study.cli.commands.completion import SHELLS
from longshore_study.host import stacks
from longshore_study.store.launch_store import Store
from started_programs import write_script
from stored_launches import halo, store_launch


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """The candidates for the last of some words."""
    autocomplete = argcomplete.autocomplete
    monkeypatch.setattr(argcomplete.CompletionFinder, "_init_debug_stream", lambda _: None)

    def offered(*words: str) -> list[str]:
        line = shlex.join(["longshore", *words[:-1]]) + f" {words[-1]}"
        shell = {"": "1", "_SHELL": "fish", "_SUPPRESS_SPACE": "1"}
        known = {f"_ARGCOMPLETE{name}": value for name, value in shell.items()}
        written = io.StringIO()
        written_to = functools.partial(autocomplete, exit_method=lambda _: None, output_stream=written)
        with monkeypatch.context() as patched:
            for name, value in (known | {"COMP_LINE": line, "COMP_POINT": str(len(line))}).items():
                patched.setenv(name, value)
            patched.setattr(argcomplete, "autocomplete", written_to)
            completion.complete()
        return [word for word in written.getvalue().split("\013") if word]

    return offered


def test_verbs_options_formats_and_stored_names_are_offered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, offered: Callable[..., list[str]]
) -> None:
    monkeypatch.setenv("LONGSHORE_STORE", str(tmp_path / "results"))
    monkeypatch.chdir(tmp_path)
    assert offered("comp") == ["compare", "completion"]
    assert "--margin" in offered("compare", "a", "b", "--m")
    assert offered("import", "os") == ["osu"]
    assert offered("completion", "") == ["bash", "zsh", "fish"]
    assert offered("stacks", "") == ["list", "build"]
    assert offered("compare", "") == [], "nothing is stored"
    store = Store(tmp_path / "results")
    for tag in ("image-1", "image-2", "odd\x1b[2J"):
        store_launch(store, tag, "monday", [halo("waitall", 1.0)], study="halo")
    assert offered("compare", "im") == ["image-1", "image-2"]
    assert offered("run", "study.toml", "--tag", "") == ["image-1", "image-2"]
    assert offered("show", "--session", "m") == ["monday"]
    assert offered("run", "res") == ["results/"], "a file is meant"


def test_what_stands_before_the_word_is_understood(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, offered: Callable[..., list[str]]
) -> None:
    monkeypatch.chdir(tmp_path)
    store_launch(Store(tmp_path / "results"), "image-1", "monday", [halo("waitall", 1.0)], study="halos")
    at = ("--store", "results")
    assert offered(*at, "compare", "im") == ["image-1"], "DIR is no command"
    assert offered("--store=results", "compare", "im") == ["image-1"]
    assert offered("--store", "res") == ["results/"], "a folder is meant"
    assert offered(*at, "report", "--compare", "") == ["image-1", "halos"]
    assert offered(*at, "report", "--compare", "image-1", "") == ["image-1", "halos"]
    assert offered(*at, "report", "--margin", "5%", "") == ["halos"]
    assert offered(*at, "run", "study.toml", "--tag=im") == ["--tag=image-1"]
    assert offered(*at, "compare", "image-1", "image-1", "") == [], "two are compared"
    monkeypatch.setattr(stacks, "find_stacks", lambda: [stacks.Stack("openmpi-4", stacks.MPI, "", "", "", "", "")])
    assert offered(*at, "stacks", "build", "") == ["all", "openmpi-4"]
    assert offered(*at, "stacks", "list", "") == []


def typed_in(shell: str, options: list[str], script: str, arguments: list[str], tmp_path: Path) -> list[str]:
    """The output of a shell script that finds longshore in its path."""
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    write_script(tmp_path / "longshore", f'exec "{sys.executable}" -m longshore_study "$@"')
    path = f"{tmp_path}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "LONGSHORE_STORE": str(tmp_path / "results"), "HOME": str(tmp_path)}
    done = subprocess.run(
        [program, *options, "-c", script, *arguments],
        env=environment, cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert not done.stderr
    return done.stdout.splitlines()


def bash_offers(tmp_path: Path, typed: str) -> list[str]:
    """The words that bash would insert for the last word of a typed line. Readline splits words at
    `:` and `=`, and replaces only the last piece."""
    script = (
        'eval "$(longshore completion bash)"; complete -p longshore > /dev/null\n'
        "COMP_WORDBREAKS=$' \\t\\n\"\\'><=;|&(:'; COMP_LINE=$1; COMP_POINT=${#COMP_LINE}\n"
        "_python_argcomplete longshore; printf '%s\\n' \"${COMPREPLY[@]}\"\n"
    )
    return [word.removesuffix(" ") for word in typed_in("bash", ["--norc"], script, ["bash", typed], tmp_path)]


def test_bash_completes(tmp_path: Path) -> None:
    assert bash_offers(tmp_path, "longshore import chap") == ["chapel-isx", "chapel-stream", "chapel-ig"]
    for tag in ("$(touch pwned)", "a b", "*", "img:1", "img:2"):
        store_launch(Store(tmp_path / "results"), tag, "monday", [halo("waitall", 1.0)], study="s")
    everything = bash_offers(tmp_path, "longshore guidelines ")
    assert set(everything) >= {"\\$\\(touch\\ pwned\\)", "a\\ b", "\\*", "img:1", "img:2"}
    assert bash_offers(tmp_path, "longshore guidelines a\\ ") == ["a\\ b"]
    assert bash_offers(tmp_path, 'longshore guidelines "a ') == ["a b"]
    assert bash_offers(tmp_path, "longshore guidelines img:") == ["1", "2"]
    assert bash_offers(tmp_path, "longshore guidelines img:2") == ["2"]
    assert bash_offers(tmp_path, "longshore compare img:1 i") == ["img:1", "img:2"]
    assert bash_offers(tmp_path, "longshore show --study=") == ["s"]
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize("shell", SHELLS)
def test_the_scripts_are_right_in_their_shells(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    assert main(["completion", shell]) == 0
    flag = "--no-execute" if shell == "fish" else "-n"
    done = subprocess.run([shell, flag], input=capsys.readouterr().out, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def zsh_offers(tmp_path: Path, typed: str) -> list[str]:
    """The words that the function passes to zsh. The completion system of zsh itself needs a
    terminal."""
    script = (
        "compdef() { registered=$2 }; _describe() { print -rl -- ${(P)2} }\n"
        'eval "$(longshore completion zsh)"; [[ $registered == longshore ]] || exit 1\n'
        "words=(longshore); BUFFER=$1; CURSOR=${#BUFFER}; _python_argcomplete"
    )
    offers = typed_in("zsh", ["-f"], script, ["zsh", typed], tmp_path)
    return [re.sub(r"(?<!\\):.*", "", offer).replace("\\", "") for offer in offers]


def fish_offers(tmp_path: Path, typed: str) -> list[str]:
    script = "longshore completion fish | source; complete --do-complete $argv[1]"
    return [offer.split("\t")[0] for offer in typed_in("fish", ["--no-config"], script, [typed], tmp_path)]


HOSTILE_TAGS = ("$(touch pwned)", "a b", "*", "img:1")


def test_zsh_completes(tmp_path: Path) -> None:
    for tag in HOSTILE_TAGS:
        store_launch(Store(tmp_path / "results"), tag, "monday", [halo("waitall", 1.0)], study="s")
    assert zsh_offers(tmp_path, "longshore import chap") == ["chapel-isx", "chapel-stream", "chapel-ig"]
    assert set(zsh_offers(tmp_path, "longshore guidelines ")) == set(HOSTILE_TAGS)
    assert zsh_offers(tmp_path, "longshore guidelines img:") == ["img:1"]
    assert "results/" in zsh_offers(tmp_path, "longshore run ")
    assert not (tmp_path / "pwned").exists()


def test_fish_completes(tmp_path: Path) -> None:
    for tag in HOSTILE_TAGS:
        store_launch(Store(tmp_path / "results"), tag, "monday", [halo("waitall", 1.0)], study="s")
    assert sorted(fish_offers(tmp_path, "longshore import chap")) == ["chapel-ig", "chapel-isx", "chapel-stream"]
    assert set(HOSTILE_TAGS) <= set(fish_offers(tmp_path, "longshore guidelines "))
    assert "compare" in fish_offers(tmp_path, "longshore comp")
    assert not (tmp_path / "pwned").exists()
