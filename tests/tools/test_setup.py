"""tools/setup is quick when nothing is missing, and says what to do when it cannot continue."""

from __future__ import annotations

import importlib.util
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from repository import REPOSITORY

BASE_PYTHON = Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}"
needs_ensurepip = pytest.mark.skipif(
    importlib.util.find_spec("ensurepip") is None, reason="this Python cannot make a virtual environment by itself"
)


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A checkout without .venv that holds the files setup reads. In its `bin`, apt always fails.

    PATH begins with that `bin`.
    """
    for path in ("tools/setup", "study/pyproject.toml"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        shutil.copy(REPOSITORY / path, tmp_path / path)
    (tmp_path / "bin").mkdir()
    for name in ("apt-get", "apt-cache"):
        replace_program(tmp_path, name, "exit 1")
    replace_program(tmp_path, "python3.11", f'exec {BASE_PYTHON} "$@"')
    return tmp_path


def replace_program(bare: Path, name: str, script: str) -> None:
    program = bare / "bin" / name
    program.write_text("#!/bin/sh\n" + script + "\n", encoding="utf-8")
    program.chmod(0o755)


def setup(bare: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    # Without an index pip fails at once, so that no test depends on the network.
    environment = {"PATH": f"{bare}/bin:/usr/local/bin:/usr/bin:/bin", "HOME": str(bare), "PIP_NO_INDEX": "1"}
    return subprocess.run(
        [bare / "tools" / "setup", *arguments], env=environment, capture_output=True, text=True, check=False
    )


def test_a_second_setup_takes_less_than_a_second_and_changes_nothing() -> None:
    stamp = REPOSITORY / ".venv" / "setup-build.stamp"
    subprocess.run([REPOSITORY / "tools" / "setup"], check=True)
    before = stamp.stat().st_mtime_ns
    # Processor time does not grow on a busy machine.
    start = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([REPOSITORY / "tools" / "setup"], check=True, capture_output=True, text=True)
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.stdout == "setup: ready\n"
    assert end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime < 1
    assert stamp.stat().st_mtime_ns == before


def test_the_error_of_an_unknown_goal_lists_the_allowed_ones(bare: Path) -> None:
    done = setup(bare, "tset")
    assert done.returncode == 1
    assert done.stderr == "setup: unknown goal 'tset'; allowed: build, test, all\n"


def test_without_root_setup_lists_the_missing_packages_and_three_ways_to_get_them(bare: Path) -> None:
    replace_program(bare, "id", "echo 1000")
    replace_program(bare, "cmake", "echo cmake version 3.18.4")
    replace_program(bare, "g++", 'cat >/dev/null; case "$*" in *-E*) echo fmt; echo CLI11;; esac')
    done = setup(bare)
    assert done.returncode == 1
    assert "missing: CMake 3.25, " in done.stdout
    assert "an administrator installs all of it with: apt-get install cmake " in done.stdout
    assert "cannot continue without: libfmt-dev, libcli11-dev" in done.stderr
    for way in ("spack install fmt", "conda install -c conda-forge", "CMAKE_PREFIX_PATH="):
        assert way in done.stderr
    assert not (bare / ".venv").exists()


@needs_ensurepip
def test_without_root_cmake_is_installed_as_a_wheel_into_the_virtual_environment(bare: Path) -> None:
    replace_program(bare, "id", "echo 1000")
    replace_program(bare, "cmake", "echo cmake version 3.18.4")
    before = {*bare.iterdir()}
    done = setup(bare)
    assert {*bare.iterdir()} - before == {bare / ".venv"}
    assert "installing in .venv: the study tool cmake>=3.25" in done.stdout
    assert done.returncode == 1
    assert "pip could not install" in done.stderr, "the test has no package index"


@pytest.mark.thorough
@needs_ensurepip
def test_an_interpreter_that_does_not_run_is_skipped(bare: Path) -> None:
    replace_program(bare, "python3", "echo 'pyenv: version 3.12 is not installed' >&2; exit 127")
    done = setup(bare)
    assert f"making .venv with Python 3.{sys.version_info.minor}" in done.stdout


@pytest.mark.thorough
@needs_ensurepip
def test_a_moved_virtual_environment_is_created_again(bare: Path) -> None:
    scripts = bare / ".venv" / "bin"
    scripts.mkdir(parents=True)
    (scripts / "pip").write_text("#!/elsewhere/.venv/bin/python\n", encoding="utf-8")
    done = setup(bare)
    assert "making .venv with Python 3." in done.stdout


@pytest.mark.thorough
@needs_ensurepip
def test_setup_tries_to_install_optional_packages_only_once(bare: Path) -> None:
    replace_program(bare, "id", "echo 1000")
    replace_program(bare, "g++", 'cat >/dev/null; case "$*" in *-E*) echo oneTBB; echo hwloc;; esac')
    done = setup(bare)
    assert "setup: optional: oneTBB, hwloc\n" in done.stdout
    assert "continuing without oneTBB of libtbb-dev: the tasking layer tbb will be missing" in done.stdout
    assert "continuing without hwloc of libhwloc-dev: the topology" in done.stdout
    assert "installing in .venv: the study tool" in done.stdout, "setup continued"
    assert "optional" not in setup(bare).stdout
