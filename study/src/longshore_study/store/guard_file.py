"""The file in the folder of a session in which `longshore guard` keeps its verdict on the session.
Later calls read the verdict, because it decides whether the session is part of the reference."""

import json
from pathlib import Path
from typing import Any

from longshore_study.base.errors import LongshoreError
from longshore_study.store.whole_file import write_whole

NAME = "guard.json"
SCHEMA = 1


def read_guard_file(folder: Path) -> dict[str, Any]:
    """The content of the file. Empty without a file. Raises LongshoreError if it is damaged."""
    path = folder / NAME
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise LongshoreError(f"{path} cannot be read ({error}); remove it: the session then counts as good") from None
    return content if isinstance(content, dict) else {}


def update_guard_file(folder: Path, changes: dict[str, Any]) -> None:
    """Replaces the file by one with these changes, completely or not at all."""
    content = {"schema": SCHEMA, **read_guard_file(folder), **changes}
    try:
        write_whole(folder / NAME, json.dumps(content, indent=1))
    except OSError as error:
        raise LongshoreError(
            f"cannot write to {folder}: {error.strerror}; free space or choose another --store"
        ) from None
