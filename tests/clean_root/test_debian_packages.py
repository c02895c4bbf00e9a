"""The Debian packages install into a fresh Debian: longshore-bench runs, and programs build."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from repository import BUILD, REPOSITORY

if TYPE_CHECKING:
    from clean_root import CleanRoot

pytestmark = pytest.mark.clean_root
CONSUMER = REPOSITORY / "tests" / "installation" / "consumer"
EXPECTED = "4 ranks on threads: sum 6, wrong 0\n"
PROGRAMS = {"cpp": ("g++", "longshore"), "c": ("gcc", "longshore-c"), "f90": ("gfortran", "longshore-fortran")}


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The packages of the build for tests."""
    assert (BUILD / "CPackConfig.cmake").exists(), "build first: tools/run_tests.py build"
    if shutil.which("dpkg-shlibdeps") is None:
        pytest.skip("dpkg-shlibdeps is not there (apt-get install dpkg-dev)")
    folder = tmp_path_factory.mktemp("packages")
    subprocess.run(["cpack", "-B", folder], cwd=BUILD, check=True, capture_output=True)
    return sorted(folder.glob("*.deb"))


@pytest.fixture(scope="module")
def installed_root(root: CleanRoot, packages: list[Path]) -> CleanRoot:
    for package in packages:
        root.copy_in(package, f"/packages/{package.name}")
    root.check("apt-get -qq install -y --no-install-recommends /packages/*.deb g++ gcc gfortran cmake ninja-build make")
    root.check("apt-get -qq install -y --no-install-recommends pkg-config openmpi-bin")
    for file in CONSUMER.iterdir():
        root.copy_in(file, f"/consumer/{file.name}")
    return root


def test_packages_are_those_of_the_build(packages: list[Path]) -> None:
    names = {package.name.split("_")[0] for package in packages}
    assert {"longshore-bench", "liblongshore-dev"} <= names


def test_the_benchmark_program_runs_on_threads_and_processes(installed_root: CleanRoot) -> None:
    options = "gather --ranks 2 --strategy direct --requests 1000"
    assert "direct" in installed_root.check(f"longshore-bench {options}")
    launch = "mpirun --oversubscribe -n 2 --bind-to none longshore-bench"
    assert "direct" in installed_root.check(f"{launch} gather --strategy direct --requests 1000")


@pytest.mark.parametrize("suffix", PROGRAMS)
def test_a_program_is_compiled_by_pkg_config_and_runs(installed_root: CleanRoot, suffix: str) -> None:
    compiler, package = PROGRAMS[suffix]
    build = f"cd /consumer && {compiler} /consumer/consumer.{suffix} -o by_hand $(pkg-config --cflags --libs {package})"
    printed = installed_root.check(f"{build} && ./by_hand", LONGSHORE_RANKS="4", LONGSHORE_PIN="0")
    assert printed == EXPECTED


@pytest.mark.parametrize("suffix", PROGRAMS)
def test_a_program_is_built_by_cmake_and_runs(installed_root: CleanRoot, suffix: str) -> None:
    folder = f"/consumer/cmake_{suffix}"
    configure = f"cmake -S /consumer -B {folder} -G Ninja -DCONSUMER_SOURCE=/consumer/consumer.{suffix}"
    installed_root.check(f"{configure} && cmake --build {folder}")
    printed = installed_root.check(f"{folder}/consumer", LONGSHORE_RANKS="4", LONGSHORE_PIN="0")
    assert printed == EXPECTED


def test_removing_the_packages_leaves_no_file(installed_root: CleanRoot, packages: list[Path]) -> None:
    names = " ".join(package.name.split("_")[0] for package in packages)
    find = "find /usr -iname '*longshore*'"
    assert installed_root.check(find)
    installed_root.check(f"apt-get -qq purge -y {names}")
    assert not installed_root.check(find)
