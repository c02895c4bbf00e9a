"""The version of a tree of sources, and the files that must agree with it."""

import re
import subprocess
import tomllib
from pathlib import Path

from releasing.running import ReleaseError

SHOWN_FILES = 5


def read(root: Path, path: str) -> str:
    file = root / path
    if not file.is_file():
        raise ReleaseError(f"{file} is missing: run this in a whole checkout of Longshore")
    return file.read_text(encoding="utf-8")


def only(pattern: str, text: str, where: str) -> str:
    """The group of `pattern`, which `text` has exactly once."""
    found = re.findall(pattern, text, re.MULTILINE)
    if len(found) != 1:
        raise ReleaseError(f"{where} has {len(found)} lines like {pattern}; it must have one")
    return str(found[0])


def version_of(root: Path) -> str:
    """The version in CMakeLists.txt. All others are compared with it."""
    return only(r"^project\(longshore VERSION (\d+\.\d+\.\d+)\b", read(root, "CMakeLists.txt"), "CMakeLists.txt")


def date_of_changelog(root: Path, version: str) -> str | None:
    """The date of the section of `version` in CHANGELOG.md; None without such a section."""
    pattern = rf"^## \[{re.escape(version)}\] - (\d{{4}}-\d\d-\d\d)$"
    found = re.search(pattern, read(root, "CHANGELOG.md"), re.MULTILINE)
    return found[1] if found else None


def wrong_versions(root: Path, version: str) -> list[str]:
    """A line for each file whose version is not `version`."""
    study = tomllib.loads(read(root, "study/pyproject.toml"))["project"]["version"]
    module = "study/src/longshore_study/__init__.py"
    versions = {
        "study/pyproject.toml": study,
        module: only(r'^__version__ = "(.*)"$', read(root, module), module),
        "CITATION.cff": only(r'^version: "?([^"\s]+)"?$', read(root, "CITATION.cff"), "CITATION.cff"),
    }
    return [
        f"{file} has version {found}, and CMakeLists.txt {version}: change one of them"
        for file, found in versions.items()
        if found != version
    ]


def wrong_dates(root: Path, version: str) -> list[str]:
    """A line if the dates in CITATION.cff and CHANGELOG.md differ. Both may lack a date."""
    found = re.search(r'^date-released: "?([^"\s]+)"?$', read(root, "CITATION.cff"), re.MULTILINE)
    cited, released = found[1] if found else None, date_of_changelog(root, version)
    if cited == released:
        return []
    if released is None:
        return [f"CITATION.cff has date-released {cited}, but CHANGELOG.md has no section '## [{version}] - DATE'"]
    return [f"CITATION.cff needs the line 'date-released: {released}', the date of {version} in CHANGELOG.md"]


def changed_files(root: Path) -> list[str]:
    """Files that differ from the commit, or that no commit has."""
    command = ["git", "status", "--porcelain", "--untracked-files=normal"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ReleaseError(f"a release is made of a git commit, and git says: {done.stderr.strip()}")
    return [line[3:] for line in done.stdout.splitlines()]


def problems(root: Path) -> list[str]:
    """The reasons why this tree is no release; an empty list if it is one."""
    version = version_of(root)
    found = []
    if changed := changed_files(root):
        more = f" and {len(changed) - SHOWN_FILES} more" if len(changed) > SHOWN_FILES else ""
        found.append(f"commit or remove the changes in {', '.join(changed[:SHOWN_FILES])}{more}")
    if date_of_changelog(root, version) is None:
        found.append(
            f"CHANGELOG.md has no section '## [{version}] - YYYY-MM-DD': rename [Unreleased], or set another version"
        )
    return [*found, *wrong_versions(root, version), *wrong_dates(root, version)]
