"""Another project uses Longshore as shared libraries, or builds it from its sources."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from repository import REPOSITORY

pytestmark = pytest.mark.consumer

HERE = REPOSITORY / "tests" / "installation"
CONSUMER = HERE / "consumer"
QUICK_TO_COMPILE = ("-DCMAKE_BUILD_TYPE=Checked", "-DCMAKE_CXX_FLAGS_CHECKED=-O0")


def started(*command: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("LONGSHORE_")}
    quiet = {"LONGSHORE_PIN": "0", "LONGSHORE_PROFILE": "off", "LONGSHORE_TRANSPORT": "threads", "LONGSHORE_RANKS": "4"}
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return subprocess.run(
        command, env=environment | quiet | root | variables, capture_output=True, text=True, check=False, timeout=1800
    )


def run(*command: str | Path, **variables: str) -> str:
    done = started(*command, **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def configure(source: Path, build: Path, *settings: str) -> None:
    run("cmake", "-S", source, "-B", build, "-G", "Ninja", *settings)


@pytest.fixture(scope="session")
def shared(install: Callable[[Path], Path]) -> Path:
    """Longshore as shared libraries, installed and then moved."""
    return install(REPOSITORY / "build" / "shared")


def build_consumer(shared: Path, folder: Path, *settings: str) -> Path:
    configure(CONSUMER, folder, f"-DCMAKE_PREFIX_PATH={shared}", *settings)
    run("cmake", "--build", folder)
    return folder / "consumer"


def libraries(shared: Path) -> Path:
    [library] = shared.rglob("liblongshore_c.so")
    return library.parent


def soname(library: Path) -> str:
    [name] = re.findall(r"SONAME.*\[(.*)\]", run("readelf", "--dynamic", library))
    return str(name)


def test_the_names_to_load_change_with_the_version_of_the_interface(shared: Path) -> None:
    text = (REPOSITORY / "CMakeLists.txt").read_text(encoding="utf-8")
    [(major, minor)] = re.findall(r"project\(longshore VERSION (\d+)\.(\d+)", text)
    assert soname(libraries(shared) / "liblongshore.so") == f"liblongshore.so.{major}.{minor}"
    assert soname(libraries(shared) / "liblongshore_c.so") == f"liblongshore_c.so.{major}"


def test_installed_programs_and_libraries_search_no_folder_of_the_build(shared: Path) -> None:
    for path in (shared / "bin" / "longshore-bench", *libraries(shared).glob("*.so"), *modules(shared).values()):
        assert "NEEDED" in (dynamic := run("readelf", "--dynamic", path))
        assert str(REPOSITORY) not in dynamic
        assert str(shared.with_name("first")) not in dynamic


def modules(shared: Path) -> dict[str, Path]:
    return {path.stem: path for path in shared.rglob("longshore-*/*.so")}


def needed(library: Path) -> set[str]:
    return set(re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "--dynamic", library)))


def test_libraries_of_modules_are_needed_by_the_modules_alone(shared: Path) -> None:
    of_library = needed(libraries(shared) / "liblongshore.so")
    own = {name: needed(file) - of_library for name, file in modules(shared).items()}
    assert own, "no part of this build is a module"
    for name, files in own.items():
        assert any(file.startswith("liblongshore.so") for file in files), name
    for library in ("ucp", "oshmem", "tbb", "gomp", "boost_context"):
        assert not any(file.startswith(f"lib{library}.so") for file in of_library)


def test_a_module_runs_and_a_missing_or_foreign_module_is_refused(shared: Path, tmp_path: Path) -> None:
    if "simulated" not in modules(shared):
        pytest.skip("this build has no transport simulated")
    bench = (shared / "bin" / "longshore-bench", "control", "--transport", "simulated", "--kernel", "barrier")
    machine = {"LONGSHORE_MACHINE": str(REPOSITORY / "tests" / "machines" / "small.toml"), "LONGSHORE_TRANSPORT": ""}
    assert "barrier_us" in run(*bench, **machine)
    module = modules(shared)["simulated"]
    hidden = module.rename(module.with_suffix(".hidden"))
    try:
        done = started(*bench, **machine)
        assert done.returncode == 2
        assert "transport 'simulated': this build does not have it; available: threads" in done.stderr
        (tmp_path / "empty.c").touch()
        run("gcc", "-shared", "-o", module, tmp_path / "empty.c")
        done = started(*bench, **machine)
        assert done.returncode == 2
        assert "is of another version than" in done.stderr
    finally:
        hidden.rename(module)


@pytest.mark.parametrize("suffix", ["cpp", "c", "f90"])
def test_a_consumer_of_shared_libraries_runs_four_ranks_on_threads(suffix: str, shared: Path, tmp_path: Path) -> None:
    if suffix == "f90" and not list(shared.rglob("longshore.mod")):
        pytest.skip("no Fortran compiler (apt-get install gfortran)")
    languages = "-DCONSUMER_LANGUAGES=" + {"cpp": "CXX", "c": "C", "f90": "C;CXX"}[suffix]
    program = build_consumer(shared, tmp_path, f"-DCONSUMER_SOURCE={CONSUMER / 'consumer'}.{suffix}", languages)
    assert run(program) == "4 ranks on threads: sum 6, wrong 0\n"


def test_pkg_config_names_the_shared_libraries_alone(shared: Path, tmp_path: Path) -> None:
    if shutil.which("pkg-config") is None:
        pytest.skip("pkg-config is not installed (apt-get install pkg-config)")
    folder = libraries(shared)
    for package, library in (("longshore", "-llongshore"), ("longshore-c", "-llongshore_c")):
        named = run("pkg-config", "--libs-only-l", package, PKG_CONFIG_PATH=str(folder / "pkgconfig"))
        assert named.split() == [library]
    words = (f"-I{shared / 'include'}", f"-L{folder}", "-llongshore_c", f"-Wl,-rpath,{folder}")
    run("gcc", CONSUMER / "consumer.c", "-o", tmp_path / "consumer", *words)
    assert run(tmp_path / "consumer") == "4 ranks on threads: sum 6, wrong 0\n"


def test_exceptions_and_types_pass_between_shared_libraries_with_hidden_visibility(
    shared: Path, tmp_path: Path
) -> None:
    settings = ("-DCONSUMER_LIBRARIES=longshore::longshore;longshore::c", "-DCMAKE_CXX_VISIBILITY_PRESET=hidden")
    program = build_consumer(shared, tmp_path, f"-DCONSUMER_SOURCE={CONSUMER / 'mixed.cpp'}", *settings)
    assert run(program) == "mixed: right\n"
    if (shared / "include" / "longshore_mpi.h").exists():
        options = ("--oversubscribe",) if "Open MPI" in run("mpirun", "--version") else ()
        assert "mixed: right" in run(
            "mpirun", *options, "-n", "3", program, LONGSHORE_TRANSPORT="mpi", LONGSHORE_RANKS="3"
        )


@pytest.mark.parametrize(("how", "kind"), [("fetch", "OFF"), ("add_subdirectory", "ON")])
def test_another_project_builds_longshore_from_its_sources(how: str, kind: str, tmp_path: Path) -> None:
    """Longshore adds no programs, tests and installed files to the project."""
    parts = ("MPI", "SHMEM", "UCX", "SIMULATED", "TBB", "ALL_LOOPS")
    settings = (f"-DHOW={how}", f"-DBUILD_SHARED_LIBS={kind}", *(f"-DLONGSHORE_{part}=OFF" for part in parts))
    sources = (f"-DLONGSHORE_SOURCE={REPOSITORY}", f"-DCONSUMER_SOURCE={CONSUMER / 'one_pattern.cpp'}")
    configure(HERE / "parent", tmp_path / "build", *settings, *sources, *QUICK_TO_COMPILE)
    listed = run("ninja", "-C", tmp_path / "build", "-t", "targets", "all")
    targets = set(re.findall(r"^([\w-]+): ", listed, re.MULTILINE))
    assert {"parent", "longshore_halo"} <= targets
    assert not {name for name in targets if re.search("bench|example|quick_tests|_test", name)}
    listed = run("ctest", "--test-dir", tmp_path / "build", "--show-only")
    assert re.findall(r"Test +#\d+: (\w+)", listed) == ["parent"]
    run("cmake", "--build", tmp_path / "build")
    assert len(list((tmp_path / "build").rglob("longshore-*/openmp.so"))) == (kind == "ON")
    if how == "fetch":
        assert not list((tmp_path / "build").rglob("liblongshore_sort.a"))  # the program does not link it
    assert run(tmp_path / "build" / "parent") == "4 ranks on threads: sum 6, wrong 0\n"
    run("cmake", "--install", tmp_path / "build", "--prefix", tmp_path / "installed")
    files = [path.relative_to(tmp_path).as_posix() for path in (tmp_path / "installed").rglob("*") if path.is_file()]
    assert files == ["installed/bin/parent"]
