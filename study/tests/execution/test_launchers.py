"""Launchers: the choice of a launcher, its options, and the errors if it is missing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from longshore_study.base.errors import LongshoreError
from longshore_study.execution.launchers import FluxLauncher, LocalLauncher, SrunLauncher, make_launcher
from longshore_study.host import elf, machine
from longshore_study.host.bench_program import find_bench
from longshore_study.host.mpi import Mpi, find_mpi
from longshore_study.planning.plan import Cell
from longshore_study.study_file.study import External, LauncherChoice, LaunchSettings
from started_programs import write_script


def cell(transport: str, ranks: int, **environment: str) -> Cell:
    return Cell("sort", {"transport": transport, "ranks": ranks, "environment": environment}, {}, LaunchSettings())


@pytest.fixture
def fake_mpirun(tmp_path: Path) -> Callable[[str], str]:
    def make(answer: str) -> str:
        return str(write_script(tmp_path / f"mpirun-{len(list(tmp_path.iterdir()))}", f"echo '{answer}'"))

    return make


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("mpirun (Open MPI) 4.1.4", "Open MPI"),
        ("mpirun (PRRTE) 3.0.2", "Open MPI"),
        ("HYDRA build details: Version: 4.0.2", "MPICH"),
        ("Intel(R) MPI Library for Linux* OS, Version 2021.11", "Intel MPI"),
        ("something else", "unknown"),
    ],
)
def test_a_launcher_is_known_by_what_it_says(fake_mpirun: Callable[[str], str], answer: str, kind: str) -> None:
    mpi = find_mpi(fake_mpirun(answer))
    assert mpi is not None
    assert mpi.kind == kind


def test_a_launcher_that_fails_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = write_script(tmp_path / "mpirun", "exit 1")
    assert find_mpi(str(broken)) is None
    monkeypatch.setenv("LONGSHORE_MPIRUN", str(broken))
    with pytest.raises(LongshoreError, match="--mpirun"):
        make_launcher(LauncherChoice(), [cell("mpi", 2)])
    assert make_launcher(LauncherChoice(), [cell("threads", 2)]).name == "local"


def test_threads_need_no_launcher() -> None:
    command = LocalLauncher(None).command(cell("threads", 4, A="1"), ["bench", "sort"])
    assert (command.argv, command.environment) == (["bench", "sort"], {"A": "1"})


def test_open_mpi_gets_options_for_root_and_oversubscription(monkeypatch: pytest.MonkeyPatch) -> None:
    choice = LauncherChoice(arguments=("--bind-to", "core"))
    launcher = LocalLauncher(Mpi("/usr/bin/mpirun", "Open MPI", "4.1.4"), choice)
    monkeypatch.setattr(machine, "available_cores", lambda: 4)
    monkeypatch.setattr("os.geteuid", lambda: 0)
    command = launcher.command(cell("mpi", 4, OMPI_ALLOW_RUN_AS_ROOT="0"), ["bench"])
    assert command.argv == ["/usr/bin/mpirun", "-n", "4", "--bind-to", "core", "bench"]
    assert command.environment == {"OMPI_ALLOW_RUN_AS_ROOT": "0", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    assert "--oversubscribe" in launcher.command(cell("mpi", 5), ["bench"]).argv
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert launcher.command(cell("mpi", 2), ["bench"]).environment == {}


def test_a_command_that_calls_mpirun_itself_may_do_so_as_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    external = External("x", ("mpirun", "x"), "osu", {}, (), LaunchSettings())
    own = Cell("x", {"environment": {"A": "1"}}, {}, LaunchSettings(), external)
    environment = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "A": "1"}
    assert LocalLauncher(None).command(own, ["mpirun", "x"]).environment == environment
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert LocalLauncher(None).command(own, ["mpirun", "x"]).environment == {"A": "1"}


@pytest.mark.parametrize("kind", ["MPICH", "Intel MPI", "unknown"])
def test_other_launchers_get_no_options(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    command = LocalLauncher(Mpi("mpiexec", kind, "")).command(cell("mpi", 10_000), ["bench"])
    assert (command.argv, command.environment) == (["mpiexec", "-n", "10000", "bench"], {})


def test_programs_of_openshmem_are_started_by_oshrun_and_of_ucx_by_mpirun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("oshrun", "mpirun"):
        write_script(tmp_path / name, f"echo '{name} (Open MPI) 4.1.4'")
    monkeypatch.setenv("PATH", str(tmp_path))
    launcher = make_launcher(LauncherChoice(), [cell("shmem", 2), cell("ucx", 2)])
    started = launcher.command(cell("shmem", 2), ["bench"])
    assert Path(started.argv[0]).name == "oshrun"
    hooks = "OMPI_MCA_opal_common_ucx_opal_mem_hooks"
    assert started.environment[hooks] == "0"
    assert launcher.command(cell("shmem", 2, **{hooks: "1"}), ["bench"]).environment[hooks] == "1"
    assert hooks not in launcher.command(cell("ucx", 2), ["bench"]).environment
    assert Path(launcher.command(cell("ucx", 2), ["bench"]).argv[0]).name == "mpirun"
    (tmp_path / "oshrun").unlink()
    launcher = make_launcher(LauncherChoice(), [cell("shmem", 2)])
    assert Path(launcher.command(cell("shmem", 2), ["bench"]).argv[0]).name == "mpirun"


def test_the_program_is_found_where_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = tmp_path / "longshore-bench"
    monkeypatch.setattr("sys.argv", [str(tmp_path / "longshore")])
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("LONGSHORE_BENCH", raising=False)
    with pytest.raises(LongshoreError, match="make build"):
        find_bench()
    bench.write_text("#!/bin/sh\n", encoding="utf-8")
    with pytest.raises(LongshoreError, match="not an executable program"):
        find_bench(str(bench))
    bench.chmod(0o755)
    assert find_bench() == str(bench)
    other = write_script(tmp_path / "other")
    monkeypatch.setenv("LONGSHORE_BENCH", str(other))
    assert find_bench() == str(other)
    assert find_bench(str(bench)) == str(bench)


def spread(ranks: int, nodes: int | None = None, transport: str = "mpi") -> Cell:
    between: dict[str, object] = {"transport": transport, "ranks": ranks, "environment": {}}
    return Cell("sort", between | ({"nodes": nodes} if nodes else {}), {}, LaunchSettings())


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("Open MPI", ["--map-by", "ppr:4:node"]),
        ("MPICH", ["-ppn", "4"]),
        ("Intel MPI", ["-ppn", "4"]),
        ("unknown", []),
    ],
)
def test_ranks_are_spread_over_nodes_in_the_words_of_each_launcher(
    kind: str, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "available_cores", lambda: 4)
    launcher = LocalLauncher(Mpi("mpirun", kind, ""))
    assert launcher.command(spread(8, 2), ["bench"]).argv == ["mpirun", "-n", "8", *words, "bench"]
    assert launcher.command(spread(7, 2), ["bench"]).argv == ["mpirun", "-n", "7", *words, "bench"], (
        "the last node has 3"
    )
    assert launcher.command(spread(4, 1), ["bench"]).argv == ["mpirun", "-n", "4", *words, "bench"], "of several, one"
    by_choice = LocalLauncher(Mpi("mpirun", kind, ""), LauncherChoice(ranks_per_node=4))
    assert by_choice.command(spread(8), ["bench"]).argv == ["mpirun", "-n", "8", *words, "bench"]


def test_srun_and_flux_have_their_words() -> None:
    choice = LauncherChoice("srun", arguments=("--cpu-bind=cores", "--mpi=pmi2"))
    srun = SrunLauncher("srun", choice)
    assert srun.command(spread(8, 2), ["bench", "sort"]).argv == [
        "srun", "-N", "2", "-n", "8", "--ntasks-per-node", "4", "--cpu-bind=cores", "--mpi=pmi2", "bench", "sort",
    ]  # fmt: skip
    assert srun.command(spread(8), ["bench"]).argv == ["srun", "-n", "8", "--cpu-bind=cores", "--mpi=pmi2", "bench"]
    assert srun.command(spread(6, transport="threads"), ["bench"]).argv[:7] == ["srun", "-N", "1", "-n", "1", "-c", "6"]
    flux = FluxLauncher("flux", LauncherChoice("flux", ranks_per_node=4))
    assert flux.command(spread(8), ["bench"]).argv == ["flux", "run", "-N", "2", "-n", "8", "bench"]


def test_srun_uses_the_protocol_of_the_library_of_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The soname of the library of the program determines the protocol. The default of a site is
    not changed."""
    write_script(tmp_path / "srun", "echo 'MPI plugin types are...\n\tnone\n\tpmi2\n\tpmix'")
    write_script(tmp_path / "scontrol", 'echo "MpiDefault              = $DEFAULT"')
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.delenv("SLURM_MPI_TYPE", raising=False)
    srun = SrunLauncher("srun", LauncherChoice("srun"))
    for number, (library, default, expected) in enumerate(
        [
            ("libmpi.so.40", "none", ["--mpi=pmix"]),
            ("libmpi.so.12", "none", ["--mpi=pmi2"]),
            ("libmpi.so.40", "pmix_v4", []),
            ("libelse.so.1", "none", []),
        ]
    ):
        bench = write_script(tmp_path / f"bench-{number}")
        monkeypatch.setenv("DEFAULT", default)
        monkeypatch.setattr(elf, "read_info", lambda _path, library=library: elf.ElfInfo(needed=[library]))
        argv = srun.command(spread(2), [str(bench)]).argv
        assert argv == ["srun", "-n", "2", *expected, str(bench)]


@pytest.mark.parametrize(("kind", "words"), [("srun", "no Slurm allocation"), ("flux", "no Flux instance")])
def test_an_error_without_an_allocation_names_the_remedy(
    kind: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_script(tmp_path / kind)
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("SLURM_JOB_ID", "SLURM_JOBID", "FLUX_URI"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(LongshoreError, match=rf"{words}.*{'slurm' if kind == 'srun' else 'flux'}-batch"):
        make_launcher(LauncherChoice(kind), [spread(2)])
    assert make_launcher(LauncherChoice(kind), [spread(2)], dry_run=True).name == kind
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(LongshoreError, match='use kind = "local"'):
        make_launcher(LauncherChoice(kind), [spread(2)])
