"""The site contains every page and every public name, and its build finds broken pages."""

from __future__ import annotations

import ast
import importlib.util
import re
import runpy
import shutil
import subprocess
from collections import Counter
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
    assert written - pages <= {Path("docs/reference/api/python")}
    html = tmp_path / "html/docs/reference/api"
    assert "One rank’s view of a run" in (html / "cpp.html").read_text("utf-8")
    assert "The codes are never renumbered" in (html / "c.html").read_text("utf-8")
    fortran = (html / "fortran.html").read_text("utf-8")
    for words in ("array%update", "neither read nor write the halo", "longshore_error_timeout", "subroutine"):
        assert words in fortran
    names = names_in_site(tmp_path / "html")
    assert {f"longshore::{name}" for name in public_names_of_cpp(tmp_path / "doxygen/xml")} <= names
    assert public_names_of_c() <= names
    if (html / "python.html").exists():  # only where the Python package is installed
        assert {f"longshore.{name}" for name in public_names_of_python()} <= names


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


def public_names_of_c() -> set[str]:
    headers = [path for path in (REPOSITORY / "bindings/c").glob("*.h") if path.name != "checked.h"]
    found = {
        name
        for path in headers
        for name in re.findall(r"^\w[^\n(/]*?\b(longshore_\w+)\(", path.read_text("utf-8"), re.MULTILINE)
    }
    assert {"longshore_run", "longshore_join", "longshore_update_create"} <= found
    return found


def public_names_of_python() -> set[str]:
    module = ast.parse((REPOSITORY / "bindings/python/longshore/__init__.py").read_text("utf-8"))
    (names,) = (
        ast.literal_eval(one.value) for one in module.body if isinstance(one, ast.Assign) and is_list_of_all(one)
    )
    return set(names)


def is_list_of_all(assignment: ast.Assign) -> bool:
    return any(isinstance(target, ast.Name) and target.id == "__all__" for target in assignment.targets)


def test_every_page_is_listed_once() -> None:
    listed = re.findall(
        r"^(?:.*<)?(\.\./[\w./-]+)>?$", (REPOSITORY / "docs/site/index.md").read_text("utf-8"), re.MULTILINE
    )
    assert "../reference/transports" in listed
    assert [page for page, times in Counter(listed).items() if times > 1] == []


def test_broken_links_and_unlisted_or_undocumented_names_fail_the_build(tmp_path: Path) -> None:
    copy = tmp_path / "repository"
    for part in ("docs", "tools", "src", "bindings"):
        shutil.copytree(REPOSITORY / part, copy / part)
    for name in ("CMakeLists.txt", "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        shutil.copy(REPOSITORY / name, copy / name)
    with (copy / "docs/reference/sort.md").open("a", encoding="utf-8") as page:
        page.write("\n[a page](of-nobody.md)\n")
    interface = copy / "docs/reference/api/cpp.md"
    assert "enum halo_algorithm; halo_mode; " in interface.read_text("utf-8")
    # A page without the other names, which take a minute.
    unknown = "```{doxygen}\nclass nothing_of_the_kind\n```\n"
    interface.write_text(f"# C++\n\n{unknown}", encoding="utf-8")
    module = copy / "bindings/fortran/longshore.f90.in"
    lines = module.read_text("utf-8").splitlines(keepends=True)
    told = [line for line in lines if line.strip() != "!> The number of elements on all ranks."]
    assert len(told) == len(lines) - 1
    module.write_text("".join(told), encoding="utf-8")
    (copy / "docs/forgotten.md").write_text("# Forgotten\n", encoding="utf-8")
    done = build(copy, tmp_path / "site")
    assert done.returncode == 1
    for wrong in ("of-nobody", "nothing_of_the_kind", "forgotten.md", "longshore_array%size", "longshore::halo_mode"):
        assert wrong in done.stderr
