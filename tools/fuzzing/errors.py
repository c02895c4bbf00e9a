"""The error that a user of tools/fuzz can correct."""

from __future__ import annotations


class UsageError(Exception):
    """An argument is wrong, or nothing can run. The text says how to continue."""
