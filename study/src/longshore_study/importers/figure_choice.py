"""Where a figure stands in the output of a program that no importer knows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FigureChoice:
    """Where a figure stands in the output of a program that no importer knows, and what it is."""

    name: str
    unit: str
    better: str
    expression: str | None = None
    """A regular expression."""
    path: str | None = None
    """A path into JSON."""
