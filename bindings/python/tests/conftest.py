"""Tests of the installed package longshore: on threads within the process, and over MPI by scripts of their own."""

from __future__ import annotations

import os

os.environ.setdefault("LONGSHORE_TIMEOUT", "60")
os.environ.setdefault("LONGSHORE_PROFILE", "off")  # what strategy auto measured for a user is not theirs
os.environ.setdefault("LONGSHORE_TRANSPORT", "threads")
