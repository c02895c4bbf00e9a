"""Writes the result of a command: text, a JSON document with --json, or a file."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from longshore_study.base.errors import EXIT_OK, LongshoreError
from longshore_study.base.json_values import print_json


def print_result(
    args: argparse.Namespace,
    document: Callable[[], dict[str, Any]],
    print_text: Callable[[], object],
    exit_status: int = EXIT_OK,
) -> int:
    """Prints the document with --json, and otherwise the text. The other one is not made. Returns
    the exit status of the command."""
    if args.json:
        print_json(document())
    else:
        print_text()
    return exit_status


def write_file(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        raise LongshoreError(f"cannot write {path}: {error.strerror}; name another file with -o") from None
