"""A project outside the repository finds, links and runs an installed Longshore."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from repository import REPOSITORY, skip_without_language

SOURCE = REPOSITORY / "tests" / "installation" / "consumer" / "consumer.cpp"


LANGUAGES = ("cpp", "c", "f90")


def run_on_four_threads(program: Path, quiet_environment: dict[str, str]) -> None:
    environment = quiet_environment | {"LONGSHORE_RANKS": "4", "LONGSHORE_TRANSPORT": "threads"}
    done = subprocess.run([program], env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert done.stdout == "4 ranks on threads: sum 6, wrong 0\n", done.stderr
    assert done.returncode == 0


def pkg_config(installed: Path, *asked: str) -> list[str]:
    """The answer of pkg-config for the moved installation, split into words."""
    if shutil.which("pkg-config") is None:
        pytest.skip("pkg-config is not installed (apt-get install pkg-config)")
    [folder] = {path.parent for path in installed.rglob("*.pc")}
    environment = {**os.environ, "PKG_CONFIG_PATH": str(folder)}
    command = ["pkg-config", *asked]
    return shlex.split(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)


def compile_it(*command: str | Path, folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


COMPILERS = {".cpp": "g++", ".c": "gcc", ".f90": "gfortran"}
COMPILERS_OF_MPI = {".cpp": "mpicxx", ".c": "mpicc", ".f90": "mpifort"}


def build_by_pkg_config(
    source: Path, installed: Path, folder: Path, *options: str, compilers: dict[str, str] = COMPILERS
) -> Path:
    """Builds with one command of the compiler, without a build system."""
    package = {".cpp": "longshore", ".c": "longshore-c", ".f90": "longshore-fortran"}[source.suffix]
    words = pkg_config(installed, "--cflags", "--libs", package)
    compile_it(compilers[source.suffix], source, "-o", "consumer", *options, *words, folder=folder)
    return folder / "consumer"


@pytest.mark.consumer
@pytest.mark.parametrize("tool", ["cmake", "pkg-config"])
@pytest.mark.parametrize("suffix", LANGUAGES)
def test_a_consumer_runs_four_ranks_on_threads(  # noqa: PLR0917 - what a test asks for
    suffix: str,
    tool: str,
    installed: Path,
    build_consumer: Callable[[Path], Path],
    tmp_path: Path,
    quiet_environment: dict[str, str],
) -> None:
    skip_without_language(suffix, installed)
    source = SOURCE.with_suffix("." + suffix)
    cmake = tool == "cmake"
    program = build_consumer(source) if cmake else build_by_pkg_config(source, installed, tmp_path)
    run_on_four_threads(program, quiet_environment)


def fortran_compiler(name: str) -> str:
    """The path of gfortran or flang. Distributions add the version to the name of flang."""
    if name == "gfortran":
        found = shutil.which(name)
    else:
        versions = ["", *(f"-{n}" for n in range(30, 15, -1))]
        candidates = [f"{stem}{version}" for version in versions for stem in ("flang-new", "flang")]
        found = next(filter(None, map(shutil.which, candidates)), None)
    if found is None:
        pytest.skip(f"{name} is not there (apt-get install {'flang-19' if name == 'flang' else name})")
    return found


@pytest.mark.consumer
@pytest.mark.parametrize("name", ["gfortran", "flang"])
def test_any_fortran_compiler_can_compile_the_module_from_its_source(
    name: str, installed: Path, tmp_path: Path, quiet_environment: dict[str, str]
) -> None:
    """Only the compiler that wrote a module file can read it (docs/guides/installing.md)."""
    if not (installed / "share/longshore/fortran/longshore.f90").exists():
        pytest.skip("the source of the Fortran module (made with Python) is not there")
    compiler = [fortran_compiler(name), *(["-frecursive"] if name == "gfortran" else [])]
    module = pkg_config(installed, "--variable=fortran_source", "longshore-c")
    compile_it(*compiler, "-c", *module, folder=tmp_path)
    words = pkg_config(installed, "--cflags", "--libs", "longshore-c")
    program = SOURCE.with_suffix(".f90")
    compile_it(*compiler, program, "longshore.o", "-o", "consumer", *words, folder=tmp_path)
    run_on_four_threads(tmp_path / "consumer", quiet_environment)


@pytest.mark.consumer
@pytest.mark.parametrize("name", ["gfortran", "flang"])
def test_a_project_with_another_fortran_compiler_compiles_the_module_itself(
    name: str, installed: Path, build_consumer: Callable[..., Path], quiet_environment: dict[str, str]
) -> None:
    skip_without_language("f90", installed)
    compiler = fortran_compiler(name)
    [config] = installed.rglob("longshore-config.cmake")
    [modules] = installed.rglob("longshore.mod")
    text = config.read_text(encoding="utf-8")
    hidden = modules.with_suffix(".hidden")
    modules.rename(hidden)
    try:
        if name == "gfortran":  # pretend that the library was built with another compiler
            config.write_text(re.sub(r'(set\(longshore_built_fortran ")GNU', r"\1Other", text), encoding="utf-8")
        program = build_consumer(SOURCE.with_suffix(".f90"), f"-DCMAKE_Fortran_COMPILER={compiler}")
    finally:
        config.write_text(text, encoding="utf-8")
        hidden.rename(modules)
    run_on_four_threads(program, quiet_environment)


@pytest.mark.consumer
@pytest.mark.parametrize("component", ["halo", "stream;gather;halo;boxes;ghost;sort;mpi;launch"])
def test_a_program_of_one_pattern_links_that_component(
    component: str, installed: Path, build_consumer: Callable[..., Path], quiet_environment: dict[str, str]
) -> None:
    if "mpi" in component and not (installed / "include" / "longshore_mpi.h").exists():
        pytest.skip("built without MPI (LONGSHORE_MPI)")
    settings = (
        f"-DCONSUMER_COMPONENTS={component}",
        "-DCONSUMER_LIBRARIES=longshore::halo",
        "-DCONSUMER_POLICIES=3.0",
    )
    program = build_consumer(SOURCE.with_name("one_pattern.cpp"), *settings)
    run_on_four_threads(program, quiet_environment)


# Libraries of transports and tasks that a program without them must not load.
UNUSED = re.compile(r"lib(oshmem|ucp|ucs|uct|tbb|gomp|boost_context)\.so|longshore_(shmem|ucx|simulated)")


def loaded_libraries(program: Path) -> str:
    return subprocess.run(["readelf", "--dynamic", program], capture_output=True, text=True, check=True).stdout


@pytest.mark.consumer
def test_a_program_that_joins_a_communicator_loads_no_library_of_another_transport(
    installed: Path, build_consumer: Callable[..., Path], quiet_environment: dict[str, str]
) -> None:
    if not (installed / "include" / "longshore_mpi.h").exists():
        pytest.skip("built without MPI (LONGSHORE_MPI)")
    settings = ("-DCONSUMER_COMPONENTS=ghost;mpi", "-DCONSUMER_LIBRARIES=longshore::ghost;longshore::mpi")
    program = build_consumer(SOURCE.with_name("joined.cpp"), *settings)
    assert "libmpi" in loaded_libraries(program)
    assert not UNUSED.findall(loaded_libraries(program))
    done = subprocess.run([program], env=quiet_environment, capture_output=True, text=True, check=False, timeout=300)
    assert done.stdout == "joined: right\n", done.stderr
    bench = loaded_libraries(installed / "bin" / "longshore-bench")
    assert UNUSED.findall(bench) or not list(installed.rglob("liblongshore_ucx.a"))  # the check can fail


@pytest.fixture
def build_joined(installed: Path, tmp_path: Path) -> Callable[..., Path]:
    """Builds a program in C or Fortran that joins a communicator and exchanges a halo."""

    def build(suffix: str, *options: str) -> Path:
        skip_without_language(suffix, installed)
        if not (installed / "include" / "longshore_mpi.h").exists():
            pytest.skip("built without MPI (LONGSHORE_MPI)")
        source = SOURCE.with_name(f"joined.{suffix}")
        return build_by_pkg_config(source, installed, tmp_path, *options, compilers=COMPILERS_OF_MPI)

    return build


@pytest.mark.consumer
@pytest.mark.parametrize("suffix", ["c", "f90"])
def test_a_halo_in_c_and_fortran_links_no_other_pattern_and_no_library_of_tasks(
    suffix: str, build_joined: Callable[..., Path], quiet_environment: dict[str, str]
) -> None:
    program = build_joined(suffix)
    assert "libmpi" in loaded_libraries(program)
    assert not UNUSED.findall(loaded_libraries(program))
    symbols = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    assert "longshore_halo_create" in symbols
    other = r"longshore_(?:run|gather|(?:ghost|box_copy|sorter|stream)_create)\b"
    assert not re.findall(other, symbols)
    assert output(program, quiet_environment) == "joined: right\n"


def output(program: Path, environment: dict[str, str], *arguments: str) -> str:
    done = subprocess.run(
        [program, *arguments], env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    return done.stdout


@pytest.mark.consumer
def test_a_program_that_joins_a_communicator_gets_tasks_of_openmp_if_it_links_them(
    build_joined: Callable[..., Path], quiet_environment: dict[str, str]
) -> None:
    program = build_joined("c")
    assert output(program, quiet_environment, "threads") == "joined: right\n"
    refused = output(program, quiet_environment, "openmp")
    assert "tasks openmp: this" in refused
    option = re.search(r"link it with (-Wl\S+)", refused)
    if option is None:
        pytest.skip("built without OpenMP (LONGSHORE_OPENMP)")
    assert output(build_joined("c", option[1]), quiet_environment, "openmp") == "joined: right\n"


@pytest.mark.consumer
def test_an_unknown_component_is_refused_with_the_components_of_the_installation(
    build_consumer: Callable[..., Path],
) -> None:
    with pytest.raises(
        AssertionError, match=r"unknown\s+component\s+'hallo':\s+this\s+Longshore\s+has\s[\s\w,]*\bhalo,"
    ) as error:
        build_consumer(SOURCE, "-DCONSUMER_COMPONENTS=halo;hallo")
    assert "'halo'" not in str(error.value)


@pytest.mark.consumer
def test_a_component_that_was_not_built_is_refused_with_the_option_that_builds_it(
    installed: Path, build_consumer: Callable[..., Path]
) -> None:
    [config] = installed.rglob("longshore-config.cmake")
    text = config.read_text(encoding="utf-8")
    without_mpi = re.sub(r"set\(longshore_(built|not_built) (.*?)\)", r"set(longshore_\1 )", text)
    without_mpi = without_mpi.replace("set(longshore_not_built )", "set(longshore_not_built mpi)")
    assert without_mpi != text
    config.write_text(without_mpi, encoding="utf-8")
    try:
        with pytest.raises(
            AssertionError, match=r"built without the component 'mpi':\s+build it with\s+-DLONGSHORE_MPI=ON"
        ):
            build_consumer(SOURCE, "-DCONSUMER_COMPONENTS=mpi")
    finally:
        config.write_text(text, encoding="utf-8")


def test_the_environment_module_names_its_own_installation(installed: Path) -> None:
    [module] = (installed / "share" / "modulefiles" / "longshore").iterdir()
    assert module.parents[3] == installed
    text = module.read_text(encoding="utf-8")
    assert "@" not in text
    assert ".. .. .." in text


def test_installed_headers_are_those_of_the_sources(installed: Path) -> None:
    headers = {path.relative_to(installed / "include").as_posix() for path in installed.rglob("include/**/*.hpp")}
    assert "longshore/longshore.hpp" in headers
    sources = {path.relative_to(REPOSITORY / "src").as_posix() for path in (REPOSITORY / "src").rglob("*.hpp")}
    assert headers <= sources | {"longshore_cxx.hpp"}


def test_no_installed_file_names_the_folder_of_the_build_or_of_the_first_installation(installed: Path) -> None:
    package = [path for end in ("cmake", "pc") for path in installed.rglob(f"*.{end}") if path.is_file()]
    assert package
    for path in package:
        text = path.read_text(encoding="utf-8")
        assert str(REPOSITORY) not in text, path
        assert str(installed.with_name("first")) not in text, path


def test_no_installed_target_holds_the_path_of_a_system_library(installed: Path) -> None:
    """Another machine has its libraries in other folders."""
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


@pytest.mark.consumer
@pytest.mark.parametrize("missing", ["longshore-config.cmake", "longshore.hpp"])
def test_a_consumer_of_an_incomplete_installation_fails(
    installed: Path, build_consumer: Callable[..., Path], missing: str
) -> None:
    """The tests above can fail."""
    [file] = installed.rglob(missing)
    hidden = file.with_suffix(".hidden")
    file.rename(hidden)
    try:
        with pytest.raises(AssertionError, match=r"longshore"):
            build_consumer(SOURCE, "-DCMAKE_CXX_FLAGS=-O0")
    finally:
        hidden.rename(file)
