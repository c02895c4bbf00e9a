"""The one error of this tool that a user can mend."""

from __future__ import annotations


class UsageError(Exception):
    """Something that was given makes no sense, or nothing can run. The text says what to do."""
