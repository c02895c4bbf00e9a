"""Fixtures for tests of the whole system: an installed Longshore and runs of longshore-bench."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from bench_runs import BENCH, TIMEOUT_SECONDS, Run, command
from clean_root import CleanRoot, make_clean_root, why_no_clean_root
from repository import BUILD, REPOSITORY

# Background processes of a shell ignore SIGINT. Tests and their child processes must not.
signal.signal(signal.SIGINT, signal.default_int_handler)


PARTS = 3  # of the thorough tests
# Tests of a minute or more. Those that start last would run alone at the end.
LONGEST = (
    "test_every_page_and_interface_is_in_the_site",
    "test_another_project_builds_longshore_from_its_sources",
    "test_512_ranks[sort]",
    "test_every_strategy_is_verified_on_every_mesh",
    "test_compilers.py",
    "test_verification_follows_the_algorithm_that_auto_chooses",
    "test_512_ranks",
)


def items_of_other_parts(items: list[pytest.Item], part: int) -> set[pytest.Item]:
    """Two of three cases of each thorough test that has three cases or more."""
    thorough: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("thorough"):
            thorough[item.nodeid.partition("[")[0]].append(item)
    return {
        item
        for cases in thorough.values()
        if len(cases) >= PARTS
        for k, item in enumerate(cases)
        if k % PARTS != part % PARTS
    }


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The longest tests start first. LONGSHORE_TEST_PART selects a part of the thorough tests."""
    if part := os.environ.get("LONGSHORE_TEST_PART"):
        left_out = items_of_other_parts(items, int(part))
        config.hook.pytest_deselected(items=[*left_out])
        items[:] = [item for item in items if item not in left_out]

    def place(item: pytest.Item) -> int:
        return next((k for k, name in enumerate(LONGEST) if name in item.nodeid), len(LONGEST))

    items.sort(key=place)


@pytest.fixture(scope="session")
def install(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Path]:
    """Installs a build into one folder and then moves it to another."""

    def run_install(build: Path) -> Path:
        stage = "build" if build == BUILD else f"{build.name}-build"
        assert (build / "build.ninja").exists(), f"build first: tools/run_tests.py {stage}"
        first = tmp_path_factory.mktemp("install") / "first"
        subprocess.run(["cmake", "--install", build, "--prefix", first], check=True, capture_output=True)
        return first.rename(first.with_name("moved"))

    return run_install


@pytest.fixture(scope="session")
def installed(install: Callable[[Path], Path]) -> Path:
    """The build for tests, installed and then moved."""
    return install(BUILD)


@pytest.fixture(scope="session")
def consumer_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The common build folder of all consumers: CMake searches compilers and libraries once."""
    return tmp_path_factory.mktemp("consumer")


@pytest.fixture
def build_consumer(installed: Path, consumer_folder: Path, tmp_path: Path) -> Callable[..., Path]:
    """Builds the program of one source file on the installed Longshore.

    A program with settings of CMake gets a separate folder, because settings stay in the cache.
    """

    def build(source: Path, *settings: str) -> Path:
        folder = tmp_path / "consumer" if settings else consumer_folder
        configure = [
            "cmake",
            "-S",
            str(REPOSITORY / "tests" / "installation" / "consumer"),
            "-B",
            str(folder),
            "-G",
            "Ninja",
        ]
        definitions = [f"-DCMAKE_PREFIX_PATH={installed}", f"-DCONSUMER_SOURCE={source}", "-DCMAKE_BUILD_TYPE=Plain"]
        for step in ([*configure, *definitions, *settings], ["cmake", "--build", str(folder)]):
            done = subprocess.run(step, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stdout + done.stderr
        return folder / "consumer"

    return build


@pytest.fixture(scope="session")
def debian(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a fresh Debian, to be copied."""
    if reason := why_no_clean_root():
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("root") / "debian"
    make_clean_root(folder)
    return folder


@pytest.fixture(scope="module")
def root(debian: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[CleanRoot]:
    """A fresh Debian for each file of tests."""
    folder = tmp_path_factory.mktemp("root") / "debian"
    subprocess.run(["cp", "--archive", debian, folder], check=True)
    yield CleanRoot(folder)
    shutil.rmtree(folder)  # a gigabyte


@pytest.fixture
def quiet_environment() -> dict[str, str]:
    """The environment, with no variables of Longshore except those that all tests set."""
    settings = {
        "LONGSHORE_CACHES": "near",
        "LONGSHORE_CHECK": "1",
        "LONGSHORE_PIN": "0",
        "LONGSHORE_PROFILE": "off",
    }
    return {k: v for k, v in os.environ.items() if not k.startswith("LONGSHORE_")} | settings


@pytest.fixture
def bench_environment(quiet_environment: dict[str, str]) -> dict[str, str]:
    assert BENCH.exists(), "build first: tools/run_tests.py build"
    return quiet_environment | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


@pytest.fixture
def run(bench_environment: dict[str, str], tmp_path: Path) -> Run:
    """Runs a program with the given transport, ranks and environment variables until it ends."""

    def start(
        program: Path, *options: str, transport: str = "threads", ranks: int = 2, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command(program, *options, transport=transport, ranks=ranks),
            env=bench_environment | variables,
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT_SECONDS,
        )

    return start
