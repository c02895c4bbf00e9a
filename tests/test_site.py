"""The site of the documentation: it is built of every page, and what is wrong in a page is found."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
pytestmark = [
    pytest.mark.skipif(shutil.which("doxygen") is None, reason="doxygen is not there (apt-get install doxygen)"),
    pytest.mark.skipif(importlib.util.find_spec("sphinx") is None, reason="Sphinx is not there (make setup brings it)"),
]


def build(repository: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([repository / "tools/site", folder], capture_output=True, text=True, check=False, timeout=300)


def test_every_page_and_interface_is_in_the_site(tmp_path: Path) -> None:
    done = build(REPOSITORY, tmp_path)
    assert done.returncode == 0, done.stderr
    pages = {path.relative_to(tmp_path / "html").with_suffix("") for path in (tmp_path / "html").glob("**/*.html")}
    written = {path.relative_to(REPOSITORY).with_suffix("") for path in REPOSITORY.glob("docs/**/*.md")}
    assert written - pages <= {Path("docs/api/python")}
    html = tmp_path / "html/docs/api"
    assert "One rank’s view of a run" in (html / "cpp.html").read_text("utf-8")
    assert "Codes are never renumbered" in (html / "c.html").read_text("utf-8")
    fortran = (html / "fortran.html").read_text("utf-8")
    for words in ("array%update", "between it and wait() neither", "longshore_error_timeout", "subroutine"):
        assert words in fortran
    if (html / "python.html").exists():  # that is made of the package, where it is installed
        assert "Halo" in (html / "python.html").read_text("utf-8")


def test_what_leads_nowhere_is_found(tmp_path: Path) -> None:
    copy = tmp_path / "repository"
    for part in ("docs", "tools", "src", "bindings"):
        shutil.copytree(REPOSITORY / part, copy / part)
    for name in ("CMakeLists.txt", "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        shutil.copy(REPOSITORY / name, copy / name)
    with (copy / "docs/sort.md").open("a", encoding="utf-8") as page:
        page.write("\n[a page](of-nobody.md)\n")
    with (copy / "docs/api/cpp.md").open("a", encoding="utf-8") as page:
        page.write("\n```{doxygenclass} longshore::nothing_of_the_kind\n```\n")
    module = copy / "bindings/fortran/longshore.f90.in"
    lines = module.read_text("utf-8").splitlines(keepends=True)
    told = [line for line in lines if line.strip() != "!> Elements in all."]
    assert len(told) == len(lines) - 1
    module.write_text("".join(told), encoding="utf-8")
    (copy / "docs/forgotten.md").write_text("# Forgotten\n", encoding="utf-8")
    done = build(copy, tmp_path / "site")
    assert done.returncode == 1
    for wrong in ("of-nobody", "nothing_of_the_kind", "forgotten.md", "longshore_array%size"):
        assert wrong in done.stderr
