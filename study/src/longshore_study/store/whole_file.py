"""Writes a file completely or not at all."""

import os
from pathlib import Path

from longshore_study.store.launch_store import process_namespace


def write_whole(path: Path, text: str) -> None:
    """Writes a hidden temporary file beside `path`, and renames it. Its name tells the process, so
    that later sessions remove it if this process is killed. Raises OSError."""
    temporary = path.parent / f".{path.name}-{os.urandom(4).hex()}.{process_namespace()}.{os.getpid()}.tmp"
    try:
        temporary.write_text(text, encoding="utf-8")
        temporary.rename(path)
    finally:
        temporary.unlink(missing_ok=True)
