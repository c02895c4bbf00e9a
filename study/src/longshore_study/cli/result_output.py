"""Writes the result of a command: text, a JSON document with --json, or a file."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from longshore_study.base.errors import LongshoreError


def print_json(document: dict[str, Any]) -> None:
    print(json.dumps(document, indent=1, ensure_ascii=False))


def print_result(args: argparse.Namespace, document: dict[str, Any], print_text: Callable[[], None]) -> None:
    if args.json:
        print_json(document)
    else:
        print_text()


def write_file(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        raise LongshoreError(f"cannot write {path}: {error.strerror}; name another file with -o") from None
