"""A fresh Debian in a folder, in which tests install packages and run programs.

It is the release of Debian that runs the tests, because packages depend on the libraries of their
build. Making it needs root, debootstrap and a mirror of Debian.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

SOURCES = Path("/etc/apt/sources.list.d/debian.sources")


def why_no_clean_root() -> str:
    """The reason why this machine cannot make a clean root, or an empty text."""
    if os.geteuid() != 0:
        return "a clean root needs root"
    for program in ("debootstrap", "unshare", "chroot"):
        if shutil.which(program) is None:
            return f"{program} is not there (apt-get install debootstrap)"
    return ""


@dataclass(frozen=True)
class CleanRoot:
    folder: Path

    def run(self, script: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Runs a shell script in the root. Its mounts end with it."""
        mounts = 'mount -t proc proc "$0/proc" && mount -t tmpfs tmpfs "$0/dev/shm"'
        inside = f'{mounts} && exec chroot "$0" /bin/bash -c "$1"'
        command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", inside, str(self.folder), script]
        environment = {
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": "/root",
            "DEBIAN_FRONTEND": "noninteractive",
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            **{name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")},
            **variables,
        }
        return subprocess.run(
            command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )

    def check(self, script: str, **variables: str) -> str:
        done = self.run(script, **variables)
        assert done.returncode == 0, f"{script}\n{done.stdout[-4000:]}{done.stderr[-4000:]}"
        return done.stdout

    def copy_in(self, source: Path, target: str) -> None:
        destination = self.folder / target.lstrip("/")
        destination.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, destination)


def make_clean_root(folder: Path) -> None:
    """Unpacks the base of Debian into `folder`, and reads the lists of packages of its mirror.
    Skips the test if debootstrap fails."""
    release = platform.freedesktop_os_release()["VERSION_CODENAME"]
    command = ["debootstrap", "--variant=minbase", release, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = "\n".join((done.stdout + done.stderr).splitlines()[-3:])
        pytest.skip(f"debootstrap made no fresh Debian, for instance because no mirror answers: {last}")
    root = CleanRoot(folder)
    (folder / "etc/dpkg/dpkg.cfg.d/unsafe-io").write_text("force-unsafe-io\n", encoding="utf-8")  # no fsync per file
    if SOURCES.exists():  # also the updates, which the libraries of this machine may have
        (folder / "etc/apt/sources.list").unlink()
        root.copy_in(SOURCES, str(SOURCES))
    root.copy_in(Path("/etc/resolv.conf"), "/etc/resolv.conf")
    root.check("apt-get -qq update")
