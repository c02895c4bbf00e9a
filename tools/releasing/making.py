"""Makes the files of a release: the source archive, the Python packages, the Debian packages.

All files are made from the source archive. So the archive has all that a build needs, and files
that no commit has take no part.
"""

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from releasing.running import ReleaseError, run

PYTHON_TOOLS = ("build", "check-wheel-contents", "twine")


@dataclass(frozen=True)
class Release:
    root: Path  # the checkout
    version: str
    folder: Path  # of the finished files
    work: Path  # of everything else

    @property
    def sources(self) -> Path:
        """The unpacked source archive."""
        return self.work / f"longshore-{self.version}"

    @property
    def python(self) -> Path:
        """The interpreter of the tools for Python packages."""
        return self.work / "tools" / "bin" / "python"


def prepare(release: Release) -> None:
    for folder in (release.folder, release.work):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    run([sys.executable, "-m", "venv", release.work / "tools"], release.work)
    run([release.python, "-m", "pip", "install", "--quiet", *PYTHON_TOOLS], release.work)


def make_source_archive(release: Release) -> None:
    """Packs the commit, and unpacks it again for the steps below."""
    archive = release.folder / f"longshore-{release.version}-source.tar.gz"
    prefix = f"--prefix={release.sources.name}/"
    run(["git", "archive", "--format=tar.gz", prefix, f"--output={archive}", "HEAD"], release.root)
    run(["tar", "--extract", f"--file={archive}"], release.work)


def make_source_distributions(release: Release) -> None:
    """Packs the sources of the Python packages longshore and longshore-study."""
    for project in (release.sources, release.sources / "study"):
        command: list[str | Path] = [release.python, "-m", "build", "--sdist", "--outdir", release.folder, project]
        run(command, release.work)


def make_wheels(release: Release) -> None:
    """Builds the wheels from the source distributions, as pip does for a user."""
    for name in ("longshore", "longshore_study"):
        distribution = release.folder / f"{name}-{release.version}.tar.gz"
        pip: list[str | Path] = [release.python, "-m", "pip", "wheel", "--quiet", "--no-deps"]
        run([*pip, "--wheel-dir", release.folder, distribution], release.work)


def make_debian_packages(release: Release) -> None:
    build = release.work / "packages"
    options = ["-DCMAKE_INSTALL_PREFIX=/usr", "-DCMAKE_SKIP_INSTALL_RPATH=ON", "-DLONGSHORE_EXAMPLES=OFF"]
    run(["cmake", "--preset", "release", "-B", build, *options], release.sources)
    run(["cmake", "--build", build, "--parallel", str(len(os.sched_getaffinity(0)))], release.sources)
    date = run(["git", "log", "-1", "--format=%ct"], release.root).strip()
    run(["cpack"], build, {"SOURCE_DATE_EPOCH": date})
    packages = sorted(build.glob("*.deb"))
    if not packages:
        raise ReleaseError(f"cpack made no package in {build}")
    for package in packages:
        shutil.move(package, release.folder)
