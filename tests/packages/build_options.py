"""The options and the requirements of the build, as its CMakeLists.txt declare them."""

from __future__ import annotations

import re

from repository import REPOSITORY

CMAKE_LISTS = (REPOSITORY / "CMakeLists.txt").read_text(encoding="utf-8")

# Options for people who work on Longshore, or build it within a project. Packages leave them alone,
# or set them to OFF.
OF_DEVELOPERS = {"INSTALL", "TESTS", "TEST_ALL_LAYOUTS", "EXAMPLES", "UNITY", "WERROR", "SANITIZE"}


def build_options() -> set[str]:
    """The names of all options, without LONGSHORE_."""
    options = re.findall(r"^option\((?:LONGSHORE_)?(\w+)", CMAKE_LISTS, re.MULTILINE)
    settings = re.findall(r"^set\(LONGSHORE_(\w+)\s[^)]*?\sCACHE\s", CMAKE_LISTS, re.MULTILINE)
    assert len(options) > 10
    assert "FORTRAN" in settings
    return {*options, *settings}


def required_version(package: str) -> str:
    """The version that find_package wants, for instance '9' for fmt."""
    texts = [CMAKE_LISTS, (REPOSITORY / "bench" / "CMakeLists.txt").read_text(encoding="utf-8")]
    [version] = re.findall(rf"find_package\({package} ([\d.]*)", "".join(texts))
    return str(version)
