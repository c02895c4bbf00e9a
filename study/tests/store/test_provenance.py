"""Where a launch ran: image, environment, firmware and libraries, kept with the session; and what
of it differs is part of every comparison."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from longshore_study.cli.command_line import main
from longshore_study.compare.differences import differences, in_words
from longshore_study.execution.session_folder import Target
from longshore_study.host import elf
from longshore_study.host.machine import Machine
from longshore_study.store import launch_properties, provenance
from longshore_study.store.launch_store import Store
from longshore_study.store.provenance import Program, collect, of_launch, store_provenance
from longshore_study.store.selection import Side
from stored_launches import halo, json_of, store_launch


def write(root: Path, path: str, text: str) -> None:
    target = root / path.lstrip("/")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")


def test_image_firmware_and_environment_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "/etc/os-release", 'PRETTY_NAME="SUSE Linux Enterprise 15 SP5"\nBUILD_ID=2030-01\nODD\n')
    write(tmp_path, "/etc/cray-release", "CPE 23.09\nmore\n")
    write(tmp_path, "/sys/class/dmi/id/bios_version", "1.7.2\n")
    write(tmp_path, "/sys/class/infiniband/mlx5_0/fw_ver", "20.31.1014\n")
    write(tmp_path, "/sys/class/cxi/cxi0/device/fw_version", "1.5.41\n")
    write(tmp_path, "/proc/cpuinfo", "processor : 0\nmicrocode\t: 0xa0011d1\n")
    write(tmp_path, "/proc/cmdline", "ro iommu=pt api_key=abc\n")
    monkeypatch.setenv("LOADEDMODULES", "craype:cray-mpich/8.1.27")
    monkeypatch.setenv("PE_ENV", "GNU")
    assert collect([], Machine(tmp_path)) == {
        "image pretty_name": "SUSE Linux Enterprise 15 SP5",
        "image build_id": "2030-01",
        "image /etc/cray-release": "CPE 23.09",
        "environment PE_ENV": "GNU",
        "modules": "craype:cray-mpich/8.1.27",
        "firmware bios": "1.7.2",
        "firmware mlx5_0": "20.31.1014",
        "firmware cxi0": "1.5.41",
        "firmware microcode": "0xa0011d1",
        "kernel options": "ro iommu=pt api_key=(masked)",
    }
    assert collect([], Machine(tmp_path / "nowhere")).keys() == {"modules", "environment PE_ENV"}
    monkeypatch.setenv("PE_ENV", "\udcff")  # a byte that is no text
    assert collect([], Machine(tmp_path / "nowhere"))["environment PE_ENV"] == "?"


def test_fractions_among_properties_have_no_exponents(tmp_path: Path) -> None:
    store = Store(tmp_path)
    header = {"record": "launch", "schema": 1, "system": {"clock_MHz": 12345.6, "tick_s": 2.5e-6}}
    store_launch(store, "t", "a", [header, halo("waitall", 1.0)])
    (launch,) = store.launches(tag="t")
    told = dict(launch_properties.properties(launch))
    assert "12350" in told.values()
    assert "0.0000025" in told.values()


def test_each_environment_variable_is_a_property(tmp_path: Path) -> None:
    many = {f"UCX_{number:02}": "as ever" for number in range(40)}
    store = Store(tmp_path)
    for tag, own in (("old", {"UCX_RNDV": "8K", "FI_OLD": "1"}), ("new", {"UCX_RNDV": "64K"})):
        header = {"record": "launch", "schema": 1, "environment": {**many, **own}}
        store_launch(store, tag, "s", [header, halo("waitall", 1.0)])
    found = differences(*(Side(tag, list(store.launches(tag=tag))) for tag in ("old", "new")))
    assert {one.name: (one.reference, one.new) for one in found} == {
        "environment: UCX_RNDV": (("8K",), ("64K",)),
        "environment: FI_OLD": (("1",), ("not set",)),
    }


def test_the_values_of_a_side_fit_one_line() -> None:
    assert in_words([]) == "not recorded"
    assert in_words(["a", "b"]) == "a or b"
    assert in_words(["x" * 80, *"abc"]) == f"{'x' * 57}... or a or b and 1 more"


def test_the_build_ids_are_those_that_readelf_prints(tmp_path: Path) -> None:
    shell = Path(shutil.which("bash") or "/bin/bash")
    found = collect([Program(str(shell))], Machine(tmp_path))
    libraries = {name.removeprefix("build-id ") for name in found}
    assert "libc.so.6" in libraries
    listed = subprocess.run(["ldd", shell], capture_output=True, text=True, check=True).stdout
    assert libraries - {"bash"} >= {
        line.split()[0] for line in listed.splitlines() if "=>" in line and "vdso" not in line
    }
    if shutil.which("readelf") is None:
        pytest.skip("readelf is not installed, so nothing says what the build-id is")
    said = subprocess.run(["readelf", "-n", shell], capture_output=True, text=True, check=True).stdout
    assert f"Build ID: {found['build-id bash']}" in said


def test_without_ldd_the_libraries_are_told_to_be_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provenance, "answer_of", lambda _argv: None)
    found = collect([Program(sys.executable)], Machine(tmp_path))
    assert found["build-id libraries"] == "not known: ldd cannot run"
    assert f"build-id {Path(sys.executable).name}" in found


def test_a_replaced_library_has_another_identity(tmp_path: Path) -> None:
    (tmp_path / "libx.so").write_bytes(b"one")
    before = provenance.identity(tmp_path / "libx.so")
    (tmp_path / "libx.so").write_bytes(b"two")
    assert provenance.identity(tmp_path / "libx.so") != before
    assert before.startswith("sha256 ")


@pytest.mark.parametrize("cut", [0, 4, 5, 16, 60, 64, 100, 700, 4000])
def test_a_damaged_executable_has_an_empty_description(tmp_path: Path, cut: int) -> None:
    content = Path(sys.executable).resolve().read_bytes()
    (tmp_path / "x").write_bytes(content[:cut])
    assert elf.read_info(tmp_path / "x").needed == []
    damaged = bytearray(content[: 1 << 20])
    for place in range(32, 4096, 7):
        damaged[place] = (damaged[place] * 31 + cut) % 256
    (tmp_path / "y").write_bytes(bytes(damaged))
    elf.read_info(tmp_path / "y")


def test_compare_lists_differences_in_provenance(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = Store(tmp_path / "results")
    for tag, build in (("old", "1.0"), ("new", "2.0"), ("same", "1.0")):
        for number, session in enumerate(("a", "b")):
            target = Target(results, "s", tag, session)
            target.folder.mkdir(parents=True)
            digest = store_provenance(target.folder, [])
            told = json.loads((target.folder / f"provenance-{digest}.json").read_text())
            assert told == collect([])
            own = f"provenance-{'f' * 12}.json"
            (target.folder / own).write_text(json.dumps({"image build_id": build, "kernel options": "quiet"}))
            store_launch(results, tag, session, [halo("waitall", 100.0 + number)], provenance="f" * 12)
    (launch, _) = results.launches("s", "old")
    assert of_launch(launch) == {"image build_id": "1.0", "kernel options": "quiet"}
    main(["--store", str(results.path), "compare", "old", "new", "--json"])
    found = json_of(capsys.readouterr().out)["differences"]
    assert found == [{"property": "image build_id", "reference": ["1.0"], "new": ["2.0"]}]
    main(["--store", str(results.path), "compare", "old", "new"])
    assert "  image build_id: 1.0 -> 2.0" in capsys.readouterr().out
    main(["--store", str(results.path), "compare", "old", "same"])
    assert "other recorded differences" not in capsys.readouterr().out


@pytest.mark.parametrize("digest", ["../../../etc/passwd", "", 7, None, "x" * 12])
def test_an_invalid_provenance_is_ignored(tmp_path: Path, digest: object) -> None:
    results = Store(tmp_path)
    store_launch(results, "t", "s", [halo("waitall", 1.0)], provenance=digest)
    (launch,) = results.launches()
    assert of_launch(launch) == {}
