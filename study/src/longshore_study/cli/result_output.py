"""Writes the result of a command: text, a JSON document with --json, or a file."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from longshore_study.base.errors import LongshoreError
from longshore_study.base.json_values import print_json


def print_result(
    args: argparse.Namespace, document: Callable[[], dict[str, Any]], print_text: Callable[[], object]
) -> None:
    """Prints the document with --json, and otherwise the text. The other one is not made."""
    if args.json:
        print_json(document())
    else:
        print_text()


def write_file(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        raise LongshoreError(f"cannot write {path}: {error.strerror}; name another file with -o") from None
