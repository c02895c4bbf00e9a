"""Communication stacks: what is found of installations made for the test, building with what is
really here, and studies in which a stack is a factor."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from longshore_study.base.errors import LongshoreError, UsageError
from longshore_study.cli.command_line import main
from longshore_study.host import stack_builds, stacks
from longshore_study.store.launch_store import Store
from started_programs import longshore, write_bench, write_script


def installation(prefix: Path, says: str, standard: tuple[int, int]) -> Path:
    """A fake MPI: a launcher that prints a version, a compiler wrapper, a header."""
    for name in ("mpirun", "mpiexec"):
        write_script(prefix / "bin" / name, f"echo '{says}'")
    write_script(prefix / "bin" / "mpicxx", f"echo g++ -I{prefix}/include")
    (prefix / "include").mkdir()
    define = f"#define MPI_VERSION {standard[0]}\n#define MPI_SUBVERSION {standard[1]}\n"
    (prefix / "include" / "mpi.h").write_text(define, encoding="utf-8")
    (prefix / "lib").mkdir()
    return prefix


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An environment in which no stack of this machine is found."""
    monkeypatch.setattr(stacks, "_PREFIX_PATTERNS", ())
    for name in ("MPI_HOME", "MPI_ROOT", "I_MPI_ROOT", "OMPI_HOME", "MPICH_DIR", "UCX_HOME", "MODULEPATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("LONGSHORE_STACKS", str(tmp_path / "stacks"))
    return tmp_path


def test_each_installation_is_found_once_with_version_standard_and_modules(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")  # of the stand-ins' own shell
    monkeypatch.setattr(stacks, "_LAUNCHERS", ("mpirun", "mpiexec"))
    open_mpi = installation(elsewhere / "ompi", "mpirun (Open MPI) 5.0.3", (3, 1))
    mpich = installation(elsewhere / "mpich", "HYDRA build details: Version: 4.3.2", (4, 1))
    intel = installation(elsewhere / "intel", "Intel(R) MPI Library for Linux* OS, Version 2021.18 Build 2", (4, 0))
    write_script(elsewhere / "oshmem" / "bin" / "oshrun", "echo 'oshrun (Open MPI) 4.1.4'")
    (elsewhere / "oshmem" / "include").mkdir()
    (elsewhere / "oshmem" / "include" / "shmem.h").write_text(
        "#define _SHMEM_MAJOR_VERSION 1\n#define _SHMEM_MINOR_VERSION 4\n"
    )
    write_script(elsewhere / "ucx" / "bin" / "ucx_info", "echo '# Library version: 1.13.0'")
    for name in ("openmpi/5.0.3.lua", "openmpi/4.1.4", "gcc/12", ".version"):
        path = elsewhere / "modules" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    monkeypatch.setenv("MODULEPATH", str(elsewhere / "modules"))
    folders = [open_mpi, mpich, intel, elsewhere / "oshmem", elsewhere / "ucx"]
    mine = [s for s in stacks.find_stacks(map(str, folders)) if s.prefix.startswith(str(elsewhere))]
    found = {stack.name: stack for stack in mine}
    assert {name: (s.what, s.kind, s.standard) for name, s in found.items()} == {
        "openmpi-5.0.3": ("MPI", "Open MPI", "3.1"),
        "mpich-4.3.2": ("MPI", "MPICH", "4.1"),
        "impi-2021.18": ("MPI", "Intel MPI", "4.0"),
        "oshmem-4.1.4": ("OpenSHMEM", "Open MPI", "1.4"),
        "ucx-1.13.0": ("UCX", "UCX", None),
    }
    assert found["openmpi-5.0.3"].modules == ("openmpi/5.0.3",)
    assert found["mpich-4.3.2"].compiler == str(mpich / "bin" / "mpicxx")
    assert found["impi-2021.18"].environment["I_MPI_ROOT"] == str(intel)
    assert found["mpich-4.3.2"].paths == {"PATH": [str(mpich / "bin")], "LD_LIBRARY_PATH": [str(mpich / "lib")]}
    monkeypatch.setenv("LD_LIBRARY_PATH", "/mine")
    joined = stacks.with_paths({}, found["mpich-4.3.2"].paths)
    assert joined["LD_LIBRARY_PATH"] == f"{mpich / 'lib'}:/mine"


def test_paths_are_absolute_and_duplicates_are_removed(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """/bin is /usr/bin on many systems."""
    monkeypatch.setattr(stacks, "_LAUNCHERS", ("mpirun", "mpiexec"))
    prefix = installation(elsewhere / "ompi", "mpirun (Open MPI) 5.0.3", (3, 1))
    write_script(elsewhere / "usr" / "bin" / "ucx_info", "echo '# Library version: 1.13.0'")
    (elsewhere / "bin").symlink_to(elsewhere / "usr" / "bin")
    monkeypatch.setenv("PATH", f"{elsewhere}/usr/bin:{elsewhere}/bin:/usr/bin:/bin")
    (elsewhere / "deeper").mkdir()
    monkeypatch.chdir(elsewhere / "deeper")
    found = stacks.find_stacks(["../ompi"])
    mpi = next(one for one in found if one.name == "openmpi-5.0.3")
    assert Path(mpi.launcher).is_absolute()
    assert Path(mpi.prefix).samefile(prefix)
    assert [one.prefix for one in found if one.version == "1.13.0"] == [str(elsewhere / "usr")]


def test_missing_stacks_are_errors_of_one_line(elsewhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stacks"]) == 3
    assert "no MPI, OpenSHMEM or UCX found" in capsys.readouterr().err
    assert main(["stacks", "build", "mpich"]) == 64
    assert "no MPI named 'mpich' found" in capsys.readouterr().err
    assert main(["stacks", "build"]) == 64
    assert main(["stacks", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["stacks"] == []
    with pytest.raises(UsageError, match="not a source tree of Longshore"):
        stack_builds.find_source(str(elsewhere))
    with pytest.raises(UsageError, match=r"stack 'mpich-4' has no longshore-bench .*none is built yet"):
        stack_builds.find_build("mpich-4")


CMAKE = """
cmake_minimum_required(VERSION 3.25)
project(longshore LANGUAGES CXX)
find_package(MPI REQUIRED COMPONENTS CXX)
add_executable(longshore-bench bench.cpp)
target_link_libraries(longshore-bench PRIVATE MPI::MPI_CXX)
set_target_properties(longshore-bench PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
"""
PROGRAM = """
#include <mpi.h>
#include <cstdio>
int main() {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(version, &length);
  std::printf("{\\"transports\\":[{\\"name\\":\\"mpi\\",\\"available\\":%s}],\\"length\\":%d}\\n", OFFERED, length);
  return 0;
}
"""


@pytest.mark.thorough
@pytest.mark.skipif(
    not all(map(shutil.which, ("cmake", "mpicxx", "mpirun"))), reason="no MPI to build with, or no CMake"
)
def test_a_stack_is_built_in_its_own_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Builds a small project with the same name, since a build of Longshore takes minutes."""
    monkeypatch.setenv("LONGSHORE_STACKS", str(tmp_path / "stacks"))
    source = tmp_path / "source"
    source.mkdir()
    (source / "CMakeLists.txt").write_text(CMAKE)
    (source / "bench.cpp").write_text(PROGRAM.replace("OFFERED", '"true"'))
    name = next(stack.name for stack in stacks.find_stacks() if stack.what == "MPI" and stack.compiler)
    assert main(["stacks", "build", name, "--source", str(source)]) == 0, capsys.readouterr().err
    build = stack_builds.find_build(name)
    assert Path(build.bench).is_relative_to(tmp_path / "stacks" / name)
    assert main(["stacks", "--json"]) == 0
    told = json.loads(capsys.readouterr().out.partition("\n")[2])
    assert next(row["bench"] for row in told["stacks"] if row["name"] == name) == build.bench
    (source / "bench.cpp").write_text("#error no way\n")
    assert main(["stacks", "build", name, "--source", str(source)]) == 3
    error = capsys.readouterr().err
    assert "no way" in error
    assert len(error.strip().splitlines()) == 1
    Path(build.bench).unlink(missing_ok=True)
    with pytest.raises(LongshoreError, match="is missing"):
        stack_builds.find_build(name)


@pytest.mark.parametrize(
    ("listing", "words"),
    [
        ('{"transports":[{"name":"threads","available":true},{"name":"mpi","available":false}]}', "built without MPI"),
        ("error while loading shared libraries: libmpi.so.40", "was built but does not run"),
    ],
)
def test_a_new_build_is_run_once(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], listing: str, words: str
) -> None:
    """A fake cmake makes the program."""
    installation(elsewhere / "mpi", "HYDRA build details: Version: 4.3.2", (4, 1))
    (elsewhere / "CMakeLists.txt").write_text("project(longshore)")
    bench = elsewhere / "stacks" / "mpich-4.3.2" / "build" / "bench" / "longshore-bench"
    write_script(bench, f"echo '{listing}'")
    write_script(elsewhere / "bin" / "cmake", "true")
    monkeypatch.setenv("PATH", f"{elsewhere / 'bin'}:/usr/bin:/bin")
    monkeypatch.setattr(stacks, "_LAUNCHERS", ("mpirun",))
    arguments = ["stacks", "build", "mpich-4.3.2", "--search", str(elsewhere / "mpi"), "--source", str(elsewhere)]
    assert main(arguments) == 3
    assert words in capsys.readouterr().err
    assert stack_builds.builds() == []


def test_build_all_continues_after_a_failed_build(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = installation(elsewhere / "ompi", "mpirun (Open MPI) 5.0.3", (3, 1))
    (broken / "bin" / "mpicxx").unlink()
    mpich = installation(elsewhere / "mpich", "HYDRA build details: Version: 4.3.2", (4, 1))
    (elsewhere / "CMakeLists.txt").write_text("project(longshore)")
    bench = elsewhere / "stacks" / "mpich-4.3.2" / "build" / "bench" / "longshore-bench"
    write_script(bench, """echo '{"transports":[{"name":"mpi","available":true}]}'""")
    write_script(elsewhere / "bin" / "cmake", "true")
    monkeypatch.setenv("PATH", f"{elsewhere / 'bin'}:/usr/bin:/bin")
    monkeypatch.setattr(stacks, "_LAUNCHERS", ("mpirun",))
    search = ["--search", str(broken), "--search", str(mpich), "--source", str(elsewhere)]
    assert main(["stacks", "build", "openmpi-5.0.3", "mpich-4.3.2", *search]) == 3
    told = capsys.readouterr()
    assert "mpich-4.3.2: built" in told.out
    assert "openmpi-5.0.3 was not built: stack 'openmpi-5.0.3' has no mpicxx" in told.err
    assert told.err.splitlines()[-1] == "longshore: 1 of 2 stacks were not built: openmpi-5.0.3"


def test_builds_are_found_again_without_search_options(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    prefix = installation(elsewhere / "mine", "HYDRA build details: Version: 4.3.2", (4, 1))
    place = elsewhere / "stacks" / "mpich-4.3.2"
    place.mkdir(parents=True)
    build = {"name": "mpich-4.3.2", "bench": "/gone", "mpirun": str(prefix / "bin" / "mpirun"), "version": "4.3.2"}
    (place / "stack.json").write_text(json.dumps(build))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setattr(stacks, "_LAUNCHERS", ("mpirun",))
    assert main(["stacks", "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)["stacks"]}
    assert (rows["mpich-4.3.2"]["standard"], rows["mpich-4.3.2"]["bench"]) == ("4.1", "/gone")


def test_another_installation_of_a_version_does_not_replace_a_build(elsewhere: Path) -> None:
    says = "HYDRA build details: Version: 4.3.2"
    mine, other = (installation(elsewhere / name, says, (4, 1)) for name in ("mine", "other"))
    place = elsewhere / "stacks" / "mpich-4.3.2"
    place.mkdir(parents=True)
    build = {"name": "mpich-4.3.2", "bench": "/b", "mpirun": str(mine / "bin" / "mpirun"), "version": "4.3.2"}
    (place / "stack.json").write_text(json.dumps(build))

    def names(*folders: Path) -> dict[str, str]:
        found = [
            stacks.Stack("mpich-4.3.2" + ("" if k == 0 else "-2"), stacks.MPI, "MPICH", "4.3.2", None,
                         str(folder / "bin" / "mpirun"), str(folder))
            for k, folder in enumerate(folders)
        ]  # fmt: skip
        return {Path(stack.prefix).name: stack.name for stack in stack_builds.with_unique_names(found)}

    upgraded = stacks.Stack("mpich-4.4", stacks.MPI, "MPICH", "4.4", None, build["mpirun"], str(mine))
    assert stack_builds.with_unique_names([upgraded])[0].name == "mpich-4.4"
    assert names(other, mine) == {"other": "mpich-4.3.2-2", "mine": "mpich-4.3.2"}
    assert names(other) == {"other": "mpich-4.3.2-2"}
    assert names(mine) == {"mine": "mpich-4.3.2"}


def test_an_unwritable_build_folder_is_an_error_of_one_line(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    installation(elsewhere / "mpi", "HYDRA build details: Version: 4.3.2", (4, 1))
    (elsewhere / "CMakeLists.txt").write_text("project(longshore)")
    write_script(elsewhere / "bin" / "cmake", "true")
    (elsewhere / "a-file").touch()
    monkeypatch.setenv("LONGSHORE_STACKS", str(elsewhere / "a-file" / "stacks"))
    monkeypatch.setenv("PATH", f"{elsewhere / 'bin'}:/usr/bin:/bin")
    monkeypatch.setattr(stacks, "_LAUNCHERS", ("mpirun",))
    arguments = ["stacks", "build", "mpich-4.3.2", "--search", str(elsewhere / "mpi"), "--source", str(elsewhere)]
    assert main(arguments) == 3
    error = capsys.readouterr().err
    assert "Not a directory; name another folder with LONGSHORE_STACKS" in error
    assert len(error.splitlines()) == 1


STUDY = """
[study]
name = "stacks"
launches = 2
repetitions = 2

[[pattern]]
program = "sort"
between = { transport = "mpi", ranks = 2, stack = ["openmpi-5", "mpich-4"] }

[[external]]
name = "who"
command = ["sh", "-c", "echo library: $STACK_NUMBER"]
format = "regex"
pattern = 'library: (\\d+)'
figure = "number"
unit = "1"
between = { stack = ["openmpi-5", "mpich-4"] }
"""
LAUNCHER = """if [ "$1" = --version ]; then echo '{says}'; exit 0; fi
while [ "${{1#-}}" != "$1" ]; do case $1 in --oversubscribe) shift ;; *) shift 2 ;; esac; done
exec "$@"
"""


def run_in(folder: Path) -> subprocess.CompletedProcess[str]:
    return longshore(folder, "run", "study.toml", "--session", "s", LONGSHORE_STACKS=str(folder / "stacks"))


def test_a_study_takes_stacks_as_a_factor(tmp_path: Path) -> None:
    for number, (name, says) in enumerate(
        {"openmpi-5": "mpirun (Open MPI) 5.0", "mpich-4": "HYDRA Version: 4"}.items()
    ):
        place = tmp_path / "stacks" / name
        bench = write_bench(place / "bin" / "longshore-bench")
        mpirun = write_script(place / "bin" / "mpirun", LAUNCHER.format(says=says))
        build: dict[str, Any] = {"name": name, "bench": str(bench), "mpirun": str(mpirun)}
        build["environment"] = {"STACK_NUMBER": str(number + 4)}
        (place / "stack.json").write_text(json.dumps(build))
    (tmp_path / "study.toml").write_text(STUDY)
    done = run_in(tmp_path)
    assert done.returncode == 0, done.stderr
    launches = list(Store(tmp_path / "longshore-results").launches())
    ours = [launch for launch in launches if launch.cell["program"] != "who"]
    used = {(x.cell["program"], x.cell["stack"], Path(x.envelope["command"][0]).parts[-3]) for x in ours}
    assert used == {(what, stack, stack) for what in ("sort", "control") for stack in ("openmpi-5", "mpich-4")}
    numbers = {
        x.cell["stack"]: x.results[0]["metrics"]["number"]["value"] for x in launches if x.cell["program"] == "who"
    }
    assert numbers == {"openmpi-5": 4, "mpich-4": 5}
    (tmp_path / "study.toml").write_text(STUDY.replace('"mpich-4"', '"mpich-5"'))
    refused = run_in(tmp_path)
    assert refused.returncode == 64
    assert "stack 'mpich-5' has no longshore-bench" in refused.stderr
    assert "did you mean 'mpich-4'?" in refused.stderr
