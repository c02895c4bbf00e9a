"""What the tests of the whole system share: the repository, and one installed and moved
Longshore."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

# A shell that starts the tests in the background has SIGINT ignored, and so would they and what
# they start.
signal.signal(signal.SIGINT, signal.default_int_handler)

REPOSITORY = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("LONGSHORE_BUILD") or REPOSITORY / "build" / "test")


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The build for tests, installed to one folder and then moved to another, where it must work as
    well."""
    assert (BUILD / "build.ninja").exists(), "build first: tools/run_tests.py build"
    first = tmp_path_factory.mktemp("install") / "first"
    subprocess.run(["cmake", "--install", BUILD, "--prefix", first], check=True, capture_output=True)
    moved = first.with_name("moved")
    shutil.move(first, moved)
    return moved


@pytest.fixture(scope="session")
def consumer_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where CMake builds consumers, one after the other: it looks for compilers and libraries
    once."""
    return tmp_path_factory.mktemp("consumer")


@pytest.fixture
def build_consumer(installed: Path, consumer_folder: Path, tmp_path: Path) -> Callable[..., Path]:
    """Builds the program of one source file against the installed Longshore; in a folder of its own
    where it is given settings of CMake, since these stay."""

    def build(source: Path, *settings: str) -> Path:
        folder = tmp_path / "consumer" if settings else consumer_folder
        configure = ["cmake", "-S", str(REPOSITORY / "tests" / "consumer"), "-B", str(folder), "-G", "Ninja"]
        definitions = [f"-DCMAKE_PREFIX_PATH={installed}", f"-DCONSUMER_SOURCE={source}", "-DCMAKE_BUILD_TYPE=Debug"]
        for command in ([*configure, *definitions, *settings], ["cmake", "--build", str(folder)]):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stdout + done.stderr
        return folder / "consumer"

    return build


def skip_without(suffix: str, installed: Path) -> None:
    """Of an installation without C or Fortran nothing can be asked in these."""
    if suffix == "c" and not (installed / "include" / "longshore.h").exists():
        pytest.skip("built without the C face (LONGSHORE_C)")
    if suffix == "f90" and not list(installed.rglob("longshore.mod")):
        pytest.skip("built without the Fortran module: no Fortran compiler (apt-get install gfortran)")


@pytest.fixture
def quiet_environment() -> dict[str, str]:
    """The environment with those settings of Longshore that tests need, and no others of its
    own."""
    settings = {"LONGSHORE_CHECK": "1", "LONGSHORE_PIN": "0", "LONGSHORE_PROFILE": "off"}
    return {k: v for k, v in os.environ.items() if not k.startswith("LONGSHORE_")} | settings
