"""The records of longshore-bench have the commit of the sources that were built."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from repository import REPOSITORY

BUILD_SCRIPT = REPOSITORY / "bench" / "write_git_header.cmake"


def test_the_commit_is_that_of_the_sources(tmp_path: Path) -> None:
    repository, header = tmp_path / "repository", tmp_path / "git.hpp"
    repository.mkdir()
    script = BUILD_SCRIPT.resolve()

    def git(*words: str) -> str:
        identity = ["-c", "user.name=test", "-c", "user.email=test@example.org"]
        own = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        done = subprocess.run(
            ["git", *identity, *words], cwd=repository, env=own, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def written() -> str:
        subprocess.run(
            ["cmake", f"-DSOURCE={repository}", f"-DHEADER={header}", "-P", script], check=True, capture_output=True
        )
        return header.read_text(encoding="utf-8")

    assert 'git_commit = "";' in written()  # no repository
    git("init", "--quiet")
    (repository / "source").write_text("1\n", encoding="utf-8")
    git("add", "source")
    git("commit", "--quiet", "-m", "first")
    text = written()
    assert f'git_commit = "{git("rev-parse", "HEAD")}";' in text
    assert "git_dirty = false;" in text
    before = header.stat().st_mtime_ns
    written()
    assert header.stat().st_mtime_ns == before, "rewritten without a change: each build compiles again"
    (repository / "source").write_text("2\n", encoding="utf-8")
    assert "git_dirty = true;" in written()
    git("commit", "--quiet", "-a", "-m", "second")
    text = written()
    assert f'git_commit = "{git("rev-parse", "HEAD")}";' in text
    assert "git_dirty = false;" in text
