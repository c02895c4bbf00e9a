"""The scripts that cpack runs for Debian packages find dependencies and complete the packages.

tests/clean_root installs whole packages.
"""

from __future__ import annotations

import gzip
import shutil
import subprocess
from pathlib import Path

import pytest
from repository import REPOSITORY

SCRIPTS = REPOSITORY / "packaging" / "debian"
needs_dpkg = pytest.mark.skipif(shutil.which("dpkg-query") is None, reason="dpkg-query is not there")
SETTINGS = """
set(CPACK_PACKAGE_VERSION 1.2.3)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_PACKAGE_CONTACT "A <a@example.org>")
set(CPACK_COMPONENTS_ALL longshore_tools)
set(CPACK_DEBIAN_LONGSHORE_TOOLS_PACKAGE_NAME longshore-bench)
"""


def run_script(folder: Path, name: str, before: str, after: str = "") -> subprocess.CompletedProcess[str]:
    """Runs a script between other lines of CMake, as cpack does with its variables."""
    script = folder / "script.cmake"
    script.write_text(f'{SETTINGS}{before}\ninclude("{SCRIPTS / name}")\n{after}\n', encoding="utf-8")
    return subprocess.run(["cmake", "-P", script], cwd=folder, capture_output=True, text=True, check=False)


def show(name: str) -> str:
    return f'message("{name}=${{CPACK_DEBIAN_LONGSHORE_{name}}}")\n'


@needs_dpkg
def test_a_file_gives_its_package_and_the_least_version(tmp_path: Path) -> None:
    before = "set(CPACK_LONGSHORE_NEEDED_FILES /usr/bin/dpkg-query /bin/ls)\nset(CPACK_LONGSHORE_LAUNCHER /bin/ls)"
    after = show("DEVELOPMENT_PACKAGE_DEPENDS") + show("TOOLS_PACKAGE_RECOMMENDS")
    done = run_script(tmp_path, "dependencies.cmake", before, after)
    assert done.returncode == 0, done.stderr
    query = ["dpkg-query", "--show", "--showformat=${Version}"]
    dpkg, coreutils = (
        subprocess.run([*query, name], capture_output=True, text=True, check=True).stdout
        for name in ("dpkg", "coreutils")
    )
    coreutils = coreutils.rpartition("-")[0] or coreutils
    depends = f"DEVELOPMENT_PACKAGE_DEPENDS=coreutils (>= {coreutils}), dpkg (>= {dpkg.rpartition('-')[0] or dpkg})"
    assert depends in done.stderr.splitlines()
    assert f"TOOLS_PACKAGE_RECOMMENDS=coreutils (>= {coreutils})" in done.stderr.splitlines()


def owner(file: Path) -> str:
    done = subprocess.run(["dpkg-query", "--search", file], capture_output=True, text=True, check=False)
    return done.stdout.split(":")[0]


@needs_dpkg
def test_a_link_gives_its_own_package_and_not_that_of_its_file(tmp_path: Path) -> None:
    links = (link for link in Path("/usr/lib").glob("*-linux-gnu/lib*.so") if link.is_symlink())
    link = next((link for link in links if owner(link) and owner(link) != owner(link.resolve())), None)
    if link is None:
        pytest.skip("no library for development is installed")
    needed = f'set(CPACK_LONGSHORE_NEEDED_FILES "{link}")'
    done = run_script(tmp_path, "dependencies.cmake", needed, show("DEVELOPMENT_PACKAGE_DEPENDS"))
    assert f"DEVELOPMENT_PACKAGE_DEPENDS={owner(link)} (" in done.stderr


@needs_dpkg
def test_a_library_without_a_debian_package_is_refused(tmp_path: Path) -> None:
    own = tmp_path / "mpi.h"
    own.touch()
    done = run_script(tmp_path, "dependencies.cmake", f'set(CPACK_LONGSHORE_NEEDED_FILES "{own}")')
    assert done.returncode != 0
    message = " ".join(done.stderr.split())
    assert f"Longshore was built with {own}, which belongs to no Debian package" in message
    assert "Install the library by apt-get, or build without it" in message


@needs_dpkg
def test_packages_depend_on_the_shared_libraries_of_the_same_build(tmp_path: Path) -> None:
    before = (
        "list(APPEND CPACK_COMPONENTS_ALL longshore_runtime)\n"
        "set(CPACK_DEBIAN_LONGSHORE_RUNTIME_PACKAGE_NAME liblongshore1.2)\n"
    )
    after = show("DEVELOPMENT_PACKAGE_DEPENDS") + show("TOOLS_PACKAGE_DEPENDS")
    done = run_script(tmp_path, "dependencies.cmake", before, after)
    assert done.stderr.splitlines() == [
        "DEVELOPMENT_PACKAGE_DEPENDS=liblongshore1.2 (= 1.2.3-1)",
        "TOOLS_PACKAGE_DEPENDS=liblongshore1.2 (= 1.2.3-1)",
    ]


def stage(folder: Path) -> str:
    """Makes the files of a package, as cpack stages them."""
    tree = folder / "staged" / "longshore_tools" / "usr"
    for name in ("share/man/man1/longshore-bench.1", "share/modulefiles/longshore/1.2.3"):
        (tree / name).parent.mkdir(parents=True)
        (tree / name).write_text("a page\n", encoding="utf-8")
    return f'set(CPACK_TEMPORARY_INSTALL_DIRECTORY "{folder}/staged")'


def test_a_package_gets_licence_and_changelogs_and_no_environment_module(tmp_path: Path) -> None:
    done = run_script(tmp_path, "complete_packages.cmake", stage(tmp_path))
    assert done.returncode == 0, done.stderr
    share = tmp_path / "staged/longshore_tools/usr/share"
    files = {path.relative_to(share).as_posix() for path in share.rglob("*") if path.is_file()}
    documents = "doc/longshore-bench"
    assert files == {
        f"{documents}/copyright",
        f"{documents}/changelog.gz",
        f"{documents}/changelog.Debian.gz",
        "man/man1/longshore-bench.1.gz",
    }
    licence = (REPOSITORY / "LICENSE").read_text(encoding="utf-8")
    assert (share / documents / "copyright").read_text(encoding="utf-8") == licence
    with gzip.open(share / documents / "changelog.Debian.gz", "rt", encoding="utf-8") as changelog:
        assert changelog.readline() == "longshore (1.2.3-1) unstable; urgency=medium\n"


def test_a_component_without_files_is_an_error(tmp_path: Path) -> None:
    before = f'set(CPACK_TEMPORARY_INSTALL_DIRECTORY "{tmp_path}/nothing")'
    done = run_script(tmp_path, "complete_packages.cmake", before)
    assert done.returncode != 0
    assert "The component longshore_tools of package longshore-bench has no file." in " ".join(done.stderr.split())
