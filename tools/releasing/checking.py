"""Checks the files of a release, and writes their checksums."""

import hashlib
import shutil
import sys
import tempfile
from pathlib import Path

from releasing.making import Release
from releasing.running import ReleaseError, run

CHECKSUMS = "SHA256SUMS"
PROGRAM = """
import longshore
table_sums = longshore.run(lambda team: team.allreduce(team.rank, "sum"), ranks=3)
print("longshore", longshore.__version__)
"""
# A file that each package must have.
FILES_OF_PACKAGES = {
    "longshore-bench": "./usr/bin/longshore-bench",
    "liblongshore-dev": "./usr/include/longshore/longshore.hpp",
}


def check_python_packages(release: Release) -> None:
    """The metadata and the pages of all packages, and the content of the wheels."""
    # Two packages, each as source and as wheel.
    distributions = sorted([*release.folder.glob("*.whl"), *release.folder.glob(f"*-{release.version}.tar.gz")])
    if len(distributions) != 4:
        raise ReleaseError(f"expected four Python distributions, found {[one.name for one in distributions]}")
    run([release.python, "-m", "twine", "check", "--strict", *distributions], release.work)
    wheels = [one for one in distributions if one.suffix == ".whl"]
    run([release.python, "-m", "check_wheel_contents", *wheels], release.work)


def check_wheels_in_a_clean_environment(release: Release) -> None:
    """Installs both wheels without the tree, and starts their programs."""
    environment = release.work / "clean"
    run([sys.executable, "-m", "venv", environment], release.work)
    wheels = sorted(release.folder.glob("*.whl"))
    run([environment / "bin" / "python", "-m", "pip", "install", "--quiet", *wheels], release.work)
    printed = run([environment / "bin" / "longshore", "--version"], release.work)
    expect(f"longshore {release.version}", printed, "longshore --version")
    expect("longshore run", run([environment / "bin" / "longshore", "--help"], release.work), "longshore --help")
    printed = run([environment / "bin" / "python", "-c", PROGRAM], release.work, {"LONGSHORE_TRANSPORT": "threads"})
    expect(f"longshore {release.version}", printed, "a program with the package longshore")


def expect(wanted: str, printed: str, what: str) -> None:
    if wanted not in printed:
        raise ReleaseError(f"{what} should print '{wanted}', but printed: {printed.strip()}")


def check_debian_packages(release: Release) -> None:
    packages = {package.name.split("_")[0]: package for package in release.folder.glob("*.deb")}
    for name, file in FILES_OF_PACKAGES.items():
        if name not in packages:
            raise ReleaseError(f"the package {name} is missing; there are {sorted(packages)}")
        check_debian_package(packages[name], name, release.version, file)
    if shutil.which("lintian"):
        run(["lintian", "--fail-on", "error", *packages.values()], release.work, {"LC_ALL": "C.UTF-8"})
    with tempfile.TemporaryDirectory() as folder:
        run(["dpkg-deb", "--extract", packages["longshore-bench"], folder], release.work)
        printed = run([Path(folder) / "usr/bin/longshore-bench", "--version"], release.work)
        expect(release.version, printed, "longshore-bench --version")


def check_debian_package(package: Path, name: str, version: str, file: str) -> None:
    """Name, version, dependencies and content of one package."""
    for field, wanted in (("Package", name), ("Version", f"{version}-")):
        found = run(["dpkg-deb", "--field", package, field], package.parent).strip()
        if not found.startswith(wanted):
            raise ReleaseError(f"{package.name} has {field} '{found}', not '{wanted}'")
    if not run(["dpkg-deb", "--field", package, "Depends"], package.parent).strip():
        raise ReleaseError(f"{package.name} depends on no package, not even on a library")
    listed = run(["dpkg-deb", "--contents", package], package.parent)
    if not any(line.endswith(f" {file}") for line in listed.splitlines()):
        raise ReleaseError(f"{package.name} does not have {file}")


def write_checksums(folder: Path) -> None:
    """Writes the checksums of all files, in the form that `sha256sum --check` reads."""
    files = sorted(file for file in folder.iterdir() if file.name != CHECKSUMS)
    if not files:
        raise ReleaseError(f"{folder} has no files")
    lines = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files]
    (folder / CHECKSUMS).write_text("".join(lines), encoding="utf-8")
    run(["sha256sum", "--check", "--strict", CHECKSUMS], folder)
