"""Reads the definition of the Apptainer image: its sections and the files that it copies."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from repository import REPOSITORY

DEFINITION = REPOSITORY / "packaging" / "apptainer" / "longshore.def"


def sections() -> dict[str, str]:
    """The text of each section, by name; the section '' is the header."""
    name, found = "", {"": ""}
    for line in DEFINITION.read_text(encoding="utf-8").splitlines():
        if match := re.fullmatch(r"%(\w+)", line):
            name = match[1]
            assert name not in found, f"{name} stands twice"
            found[name] = ""
        elif not line.startswith("#"):
            found[name] += line.strip() + "\n"
    return found


def copy_files(root: Path) -> None:
    """Does what %files says, into the tree `root`."""
    for line in sections()["files"].splitlines():
        if line:
            source, target = line.split()
            copy = shutil.copytree if (REPOSITORY / source).is_dir() else shutil.copy
            destination = root / target.lstrip("/")
            destination.parent.mkdir(parents=True, exist_ok=True)
            copy(REPOSITORY / source, destination)
