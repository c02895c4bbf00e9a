"""The site of all pages, with the interface of C++ from the comments of its headers (`make docs`)."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from sphinx.util import logging

REPOSITORY = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(REPOSITORY / "docs" / "site"))
from cpp_interface import directives, names_without_a_page  # noqa: E402  (Sphinx runs this file from elsewhere)

BUILD = Path(os.environ.get("LONGSHORE_SITE_BUILD", REPOSITORY / "build" / "site"))


def _version() -> str:
    found = re.search(
        r"project\(\s*longshore\s+VERSION\s+([0-9.]+)",
        (REPOSITORY / "CMakeLists.txt").read_text("utf-8"),
    )
    if found is None:
        raise SystemExit("CMakeLists.txt has no version of project longshore")
    return found.group(1)


def _read_headers() -> str:
    """Runs Doxygen; returns the folder of its XML."""
    folder = BUILD / "doxygen"
    folder.mkdir(parents=True, exist_ok=True)
    environment = os.environ | {"REPOSITORY": str(REPOSITORY)}
    subprocess.run(["doxygen", str(REPOSITORY / "docs/site/Doxyfile")], cwd=folder, env=environment, check=True)
    return str(folder / "xml")


project = "Longshore"
version = release = _version()
root_doc = "docs/site/index"
include_patterns = ["*.md", "docs/*.md", "docs/*/*.md", "docs/reference/api/*.md"]
extensions = ["myst_parser", "breathe"]
source_suffix = {".md": "markdown"}

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
myst_all_links_external = False

breathe_projects = {"longshore": _read_headers()}
breathe_default_project = "longshore"
breathe_default_members = ("members",)
breathe_show_include = False

primary_domain = "cpp"
highlight_language = "text"
nitpicky = False

html_theme = "furo"
html_title = f"Longshore {version}"
html_copy_source = False
html_show_copyright = False


def _drop_links_to_folders(app: Any, page: str, source: list[str]) -> None:
    """Replaces a link to a folder of sources by its text. A dead link stays, and is an error."""
    here = (REPOSITORY / page).parent

    def text_of(link: re.Match[str]) -> str:
        return link[1] if (here / link[2]).is_dir() else link[0]

    source[0] = re.sub(r"\[([^\]]+)\]\(([^)#:]+)\)", text_of, source[0])


def _cpp_interface(app: Any, page: str, source: list[str]) -> None:
    """Makes the page of C++ from its lists of names, and reports public names that they lack."""
    if page == "docs/reference/api/cpp":
        source[0] = directives(source[0])
        for name in names_without_a_page(REPOSITORY, Path(breathe_projects["longshore"])):
            logging.getLogger(__name__).warning(
                "docs/reference/api/cpp.md does not show the public name longshore::%s", name
            )


def setup(app: Any) -> None:
    app.connect("source-read", _cpp_interface)
    app.connect("source-read", _drop_links_to_folders)
