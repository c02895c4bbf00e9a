"""Prints the result of a command: a JSON document with --json, else text.

New commands use this module. Some older commands print JSON themselves, with escapes instead of
the characters outside of ASCII, and keep this form. Programs that read JSON see no difference.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from typing import Any


def print_json(document: dict[str, Any]) -> None:
    print(json.dumps(document, indent=1, ensure_ascii=False))


def print_result(args: argparse.Namespace, document: dict[str, Any], print_text: Callable[[], None]) -> None:
    if args.json:
        print_json(document)
    else:
        print_text()
