"""The folders of the repository and its build, and the languages of an installation."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("LONGSHORE_BUILD") or REPOSITORY / "build" / "test")


def skip_without_language(suffix: str, installed: Path) -> None:
    """Skips the test if Longshore was installed without the language of `suffix` (c, f90, cpp)."""
    if suffix == "c" and not (installed / "include" / "longshore.h").exists():
        pytest.skip("built without the C interface (LONGSHORE_C)")
    if suffix == "f90" and not list(installed.rglob("longshore.mod")):
        pytest.skip("built without the Fortran module: no Fortran compiler (apt-get install gfortran)")
