"""The Apptainer definition copies all files that its build needs.

tests/clean_root builds and tests what the definition describes.
"""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest
from apptainer_definition import copy_files, sections
from build_options import build_options


def configure(root: Path) -> list[str]:
    """The command of %post that configures the build, with paths in `root`."""
    post = sections()["post"].replace("\\\n", " ")
    [line] = re.findall(r"^cmake -S .*", post, re.MULTILINE)
    return [re.sub(r"^/opt", f"{root}/opt", word) for word in shlex.split(line)]


def test_the_definition_has_the_sections_that_users_need() -> None:
    assert {"", "files", "post", "environment", "runscript", "test", "labels", "help"} == {*sections()}
    assert re.search(r"^Bootstrap: docker\nFrom: debian:\d+-slim$", sections()[""], re.MULTILINE)


def test_the_options_of_its_build_exist() -> None:
    options = re.findall(r"-DLONGSHORE_(\w+)=", sections()["post"])
    assert "TESTS" in options
    assert {*options} <= build_options()


@pytest.mark.thorough
def test_the_copied_files_suffice_for_the_build(tmp_path: Path) -> None:
    copy_files(tmp_path)
    done = subprocess.run(configure(tmp_path), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    steps = ["ninja", "-C", f"{tmp_path}/opt/longshore/build", "-n", "longshore-bench"]
    done = subprocess.run(steps, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Linking CXX executable bench/longshore-bench" in done.stdout


def test_a_missing_folder_is_noticed(tmp_path: Path) -> None:
    copy_files(tmp_path)
    (tmp_path / "opt/longshore/cmake").rename(tmp_path / "elsewhere")
    with pytest.raises(subprocess.CalledProcessError):
        subprocess.run(configure(tmp_path), capture_output=True, check=True)
