"""tools/release refuses a tree that is no release, and files that are wrong."""

from __future__ import annotations

import re
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from releasing import command
from releasing.checking import check_debian_package, write_checksums
from releasing.facts import date_of_changelog, problems, version_of, wrong_dates, wrong_versions
from releasing.making import Release, make_source_archive
from releasing.running import ReleaseError, run, take_steps
from repository import REPOSITORY

FILES = {
    "CMakeLists.txt": "cmake_minimum_required(VERSION 3.25)\nproject(longshore VERSION 1.2.3 LANGUAGES C CXX)\n",
    "CHANGELOG.md": "# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2031-05-06\n\n## [1.2.2] - 2030-01-02\n",
    "CITATION.cff": "cff-version: 1.2.0\nversion: 1.2.3\ndate-released: 2031-05-06\n",
    "study/pyproject.toml": '[project]\nname = "longshore-study"\nversion = "1.2.3"\n',
    "study/src/longshore_study/__init__.py": '__version__ = "1.2.3"\n',
}


def git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=A Tester", "-c", "user.email=tester@example.org"]
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A committed tree that is a release."""
    root = tmp_path / "tree"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    git(root, "init", "--quiet")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "--message", "all")
    return root


def change(root: Path, name: str, old: str, new: str) -> None:
    text = (root / name).read_text(encoding="utf-8")
    assert old in text
    (root / name).write_text(text.replace(old, new), encoding="utf-8")
    git(root, "commit", "--quiet", "--all", "--message", "a change")


def test_a_committed_tree_with_one_version_is_a_release(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert problems(tree) == []
    assert command.main(["--check"], tree) == 0
    assert capsys.readouterr().out == "release: this tree is version 1.2.3\n"


@pytest.mark.parametrize("name", ["CHANGELOG.md", "a_new_file"])
def test_a_tree_with_changes_is_refused(tree: Path, name: str) -> None:
    with (tree / name).open("a", encoding="utf-8") as file:
        file.write("more\n")
    assert problems(tree) == [f"commit or remove the changes in {name}"]


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("CHANGELOG.md", "## [1.2.3] - 2031-05-06", "", r"CHANGELOG.md has no section '## \[1.2.3\] - YYYY-MM-DD'"),
        ("CHANGELOG.md", "[1.2.3] - 2031-05-06", "[1.2.3]", r"CHANGELOG.md has no section"),
        (
            "CITATION.cff",
            "version: 1.2.3",
            "version: 1.2.2",
            "CITATION.cff has version 1.2.2, and CMakeLists.txt 1.2.3",
        ),
        ("CITATION.cff", "2031-05-06", "2031-05-07", "CITATION.cff needs the line 'date-released: 2031-05-06'"),
        ("study/pyproject.toml", "1.2.3", "1.3.0", "study/pyproject.toml has version 1.3.0"),
        ("study/src/longshore_study/__init__.py", "1.2.3", "1.3.0", "__init__.py has version 1.3.0"),
    ],
)
def test_each_disagreement_is_named(tree: Path, name: str, old: str, new: str, message: str) -> None:
    change(tree, name, old, new)
    assert any(re.search(message, problem) for problem in problems(tree))


def test_a_refused_tree_builds_nothing_and_lists_all_problems(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(tree, "CMakeLists.txt", "1.2.3", "2.0.0")
    assert command.main([], tree) == 1
    printed = capsys.readouterr()
    assert "release: 1/10 the tree" in printed.out
    assert "2/10" not in printed.out
    for part in ("CHANGELOG.md has no section", "CITATION.cff has version", "study/pyproject.toml has version"):
        assert part in printed.err
    assert not (tree / "build").exists()


def test_a_folder_that_is_no_repository_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--check"], tmp_path) == 1
    assert "CMakeLists.txt is missing: run this in a whole checkout" in capsys.readouterr().err


def test_the_source_archive_holds_the_commit_and_nothing_else(tree: Path, tmp_path: Path) -> None:
    (tree / "not_committed").touch()
    release = Release(tree, "1.2.3", tmp_path / "dist", tmp_path / "work")
    release.folder.mkdir()
    release.work.mkdir()
    make_source_archive(release)
    with tarfile.open(release.folder / "longshore-1.2.3-source.tar.gz") as archive:
        files = {member.name for member in archive.getmembers() if member.isfile()}
    assert files == {f"longshore-1.2.3/{name}" for name in FILES}
    assert version_of(release.sources) == "1.2.3"


def test_checksums_notice_a_changed_file(tmp_path: Path) -> None:
    (tmp_path / "a.whl").write_bytes(b"one")
    (tmp_path / "b.deb").write_bytes(b"two")
    write_checksums(tmp_path)
    check = ["sha256sum", "--check", "--strict", "SHA256SUMS"]
    assert run(check, tmp_path) == "a.whl: OK\nb.deb: OK\n"
    (tmp_path / "b.deb").write_bytes(b"six")
    with pytest.raises(ReleaseError, match=r"b\.deb: FAILED"):
        run(check, tmp_path)


def test_a_folder_without_files_has_no_checksums(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="has no files"):
        write_checksums(tmp_path)


@pytest.fixture
def package(tmp_path: Path) -> Callable[..., Path]:
    """Makes a small Debian package."""
    if shutil.which("dpkg-deb") is None:
        pytest.skip("dpkg-deb, which makes Debian packages, is not there")

    def make(depends: str = "libc6") -> Path:
        tree = tmp_path / "package"
        (tree / "DEBIAN").mkdir(parents=True)
        (tree / "DEBIAN").chmod(0o755)  # dpkg-deb wants it so, whatever the umask is
        (tree / "usr/bin").mkdir(parents=True)
        (tree / "usr/bin/longshore-bench").touch()
        fields = ["Package: longshore-bench", "Version: 1.2.3-1", "Architecture: all", "Maintainer: A <a@example.org>"]
        fields += [f"Depends: {depends}"] if depends else []
        (tree / "DEBIAN/control").write_text("\n".join([*fields, "Description: a test\n"]), encoding="utf-8")
        file = tmp_path / "longshore-bench_1.2.3-1_all.deb"
        run(["dpkg-deb", "--root-owner-group", "--build", tree, file], tmp_path)
        return file

    return make


def test_a_right_debian_package_passes(package: Callable[..., Path]) -> None:
    check_debian_package(package(), "longshore-bench", "1.2.3", "./usr/bin/longshore-bench")


@pytest.mark.parametrize(
    ("name", "version", "file", "message"),
    [
        ("liblongshore-dev", "1.2.3", "./usr/bin/longshore-bench", "has Package 'longshore-bench'"),
        ("longshore-bench", "1.2.30", "./usr/bin/longshore-bench", "has Version '1.2.3-1'"),
        ("longshore-bench", "1.2.3", "./usr/bin/longshore", r"does not have \./usr/bin/longshore$"),
    ],
)
def test_a_wrong_debian_package_is_refused(
    package: Callable[..., Path], name: str, version: str, file: str, message: str
) -> None:
    with pytest.raises(ReleaseError, match=message):
        check_debian_package(package(), name, version, file)


def test_a_debian_package_without_dependencies_is_refused(package: Callable[..., Path]) -> None:
    with pytest.raises(ReleaseError, match="depends on no package"):
        check_debian_package(package(depends=""), "longshore-bench", "1.2.3", "./usr/bin/longshore-bench")


def test_a_failing_step_ends_the_release_with_the_end_of_its_output(tmp_path: Path) -> None:
    shown: list[str] = []
    script = "seq 100; echo the reason; exit 4"
    steps = [("good", lambda: None), ("bad", lambda: run(["sh", "-c", script], tmp_path)), ("later", lambda: None)]
    with pytest.raises(ReleaseError, match=r"exit status 4 of: sh -c [^\0]*\n100\nthe reason$") as error:
        take_steps(steps, shown.append)
    assert "\n1\n" not in str(error.value)
    assert shown == ["release: 1/3 good", "release: 1/3 done in 0 seconds", "release: 2/3 bad"]


def test_a_missing_program_is_named(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="no_such_program is not installed"):
        run(["no_such_program"], tmp_path)


def test_this_repository_has_one_version_and_one_date() -> None:
    version = version_of(REPOSITORY)
    assert wrong_versions(REPOSITORY, version) == []
    assert wrong_dates(REPOSITORY, version) == []


def test_a_version_is_found_whole_in_the_changelog(tree: Path) -> None:
    assert date_of_changelog(tree, "1.2.3") == "2031-05-06"
    assert date_of_changelog(tree, "1.2.30") is None
    assert date_of_changelog(tree, "1x2.3") is None


def test_the_study_tool_has_the_licence_of_the_repository() -> None:
    licences = [(REPOSITORY / name).read_text(encoding="utf-8") for name in ("LICENSE", "study/LICENSE")]
    assert licences[0] == licences[1]
