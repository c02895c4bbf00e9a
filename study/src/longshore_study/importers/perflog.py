"""Importer of performance logs of ReFrame 4, tables with a line per run of a test."""

from __future__ import annotations

from longshore_study.importers.series_csv import read_log as read

__all__ = ["read"]
