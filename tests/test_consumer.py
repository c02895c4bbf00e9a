"""An installed Longshore is found, linked and run by a project that knows nothing of the repository."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
SOURCE = REPOSITORY / "tests" / "consumer" / "consumer.cpp"


def test_a_consumer_runs_four_ranks_on_threads(
    build_consumer: Callable[[Path], Path], quiet_environment: dict[str, str]
) -> None:
    program = build_consumer(SOURCE)
    environment = quiet_environment | {"LONGSHORE_RANKS": "4", "LONGSHORE_TRANSPORT": "threads"}
    done = subprocess.run([program], env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout == "4 ranks on threads: sum 6, wrong 0\n", done.stderr
    assert done.returncode == 0


def test_installed_headers_are_those_of_the_sources(installed: Path) -> None:
    headers = {path.relative_to(installed / "include").as_posix() for path in installed.rglob("include/**/*.hpp")}
    assert "longshore/longshore.hpp" in headers
    sources = {path.relative_to(REPOSITORY / "src").as_posix() for path in (REPOSITORY / "src").rglob("*.hpp")}
    assert headers <= sources


def test_no_installed_file_names_the_folder_of_the_build_or_of_the_first_installation(installed: Path) -> None:
    package = [path for path in installed.rglob("*.cmake") if path.is_file()]
    assert package
    for path in package:
        text = path.read_text(encoding="utf-8")
        assert str(REPOSITORY) not in text, path
        assert str(installed.with_name("first")) not in text, path


def test_no_installed_target_names_a_library_of_the_system_by_its_place(installed: Path) -> None:
    """Libraries lie elsewhere on the machine that the installation is moved to."""
    targets = [path for path in installed.rglob("longshore-targets*.cmake") if path.is_file()]
    assert targets
    named = re.compile(r"""(?<![\w}])/[^\s";$]*\.(?:so|a)\b""")
    assert named.findall('INTERFACE_LINK_LIBRARIES "$<LINK_ONLY:/usr/lib/libhwloc.so>"')
    for path in targets:
        assert not named.findall(path.read_text(encoding="utf-8")), path


def test_the_installed_benchmark_program_lists_what_it_can_do(
    installed: Path, quiet_environment: dict[str, str]
) -> None:
    program = installed / "bin" / "longshore-bench"
    done = subprocess.run([program, "--list"], env=quiet_environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "threads" in done.stdout


@pytest.mark.parametrize("missing", ["longshore-config.cmake", "longshore.hpp"])
def test_a_consumer_of_an_incomplete_installation_fails(
    installed: Path, build_consumer: Callable[[Path], Path], missing: str
) -> None:
    """Proof that the tests above would notice."""
    [file] = installed.rglob(missing)
    hidden = file.with_suffix(".hidden")
    file.rename(hidden)
    try:
        with pytest.raises(AssertionError, match=r"longshore"):
            build_consumer(SOURCE)
    finally:
        hidden.rename(file)
