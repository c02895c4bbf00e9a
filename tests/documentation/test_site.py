"""The site contains every page and every public name, and its build finds broken pages."""

from __future__ import annotations

import importlib.util
import re
import runpy
import shutil
import subprocess
from pathlib import Path

import pytest
from repository import REPOSITORY

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(shutil.which("doxygen") is None, reason="doxygen is not there (apt-get install doxygen)"),
    pytest.mark.skipif(importlib.util.find_spec("sphinx") is None, reason="Sphinx is not there (make setup brings it)"),
]


def build(repository: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([repository / "tools/site", folder], capture_output=True, text=True, check=False, timeout=900)


def test_every_page_and_interface_is_in_the_site(tmp_path: Path) -> None:
    done = build(REPOSITORY, tmp_path)
    assert done.returncode == 0, done.stderr
    pages = {path.relative_to(tmp_path / "html").with_suffix("") for path in (tmp_path / "html").glob("**/*.html")}
    written = {path.relative_to(REPOSITORY).with_suffix("") for path in REPOSITORY.glob("docs/**/*.md")}
    assert written <= pages
    html = tmp_path / "html/docs/reference/api"
    assert "One rank’s view of a run" in (html / "cpp.html").read_text("utf-8")
    assert "The codes are never renumbered" in (html / "c.html").read_text("utf-8")
    assert "array%update" in (html / "fortran.html").read_text("utf-8")
    names = names_in_site(tmp_path / "html")
    assert {f"longshore::{name}" for name in public_names_of_cpp(tmp_path / "doxygen/xml")} <= names


def names_in_site(html: Path) -> set[str]:
    """Names that can be linked to: the inventory that Sphinx writes for other sites."""
    from sphinx.util.inventory import InventoryFile  # noqa: PLC0415 - not where Sphinx is missing

    inventory = InventoryFile.loads((html / "objects.inv").read_bytes(), uri="")
    return {name for names in inventory.data.values() for name in names}


def public_names_of_cpp(xml: Path) -> set[str]:
    names: set[str] = runpy.run_path(str(REPOSITORY / "docs/site/cpp_interface.py"))["public_names"](REPOSITORY, xml)
    # Options, their values, functions of namespace scope, and names of internal headers.
    assert {"halo_mode", "exchange_strategy", "reduction", "histogram", "deliver", "shareable_memory"} <= names
    assert "ring_channels" not in names
    return names


def test_every_page_is_listed_once() -> None:
    folder = REPOSITORY / "docs/site"
    entries = re.findall(r"^(?:.*<)?(\.\./[\w./*-]+)>?$", (folder / "index.md").read_text("utf-8"), re.MULTILINE)
    listed = [path.resolve() for entry in entries for path in folder.glob(f"{entry}.md")]
    assert REPOSITORY / "docs/reference/transports.md" in listed
    pages = {*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/**/*.md")} - {folder / "index.md"}
    assert sorted(listed) == sorted(pages)


def test_broken_links_and_unlisted_names_fail_the_build(tmp_path: Path) -> None:
    copy = tmp_path / "repository"
    for part in ("docs", "tools", "src", "bindings"):
        shutil.copytree(REPOSITORY / part, copy / part)
    for name in ("CMakeLists.txt", "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        shutil.copy(REPOSITORY / name, copy / name)
    with (copy / "docs/reference/sort.md").open("a", encoding="utf-8") as page:
        page.write("\n[a page](of-nobody.md)\n")
    interface = copy / "docs/reference/api/cpp.md"
    assert "; halo_mode; " in interface.read_text("utf-8")
    # A page without the other names, which take a minute.
    unknown = "```{doxygen}\nclass nothing_of_the_kind\n```\n"
    interface.write_text(f"# C++\n\n{unknown}", encoding="utf-8")
    (copy / "docs/forgotten.md").write_text("# Forgotten\n", encoding="utf-8")
    done = build(copy, tmp_path / "site")
    assert done.returncode == 1
    for wrong in ("of-nobody", "nothing_of_the_kind", "forgotten.md", "longshore::halo_mode"):
        assert wrong in done.stderr
