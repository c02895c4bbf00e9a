"""Tests of the installed package longshore: on threads within the process, and over MPI by scripts
of their own."""

from __future__ import annotations

import os
import signal

os.environ.setdefault("LONGSHORE_TIMEOUT", "300")
os.environ.setdefault("LONGSHORE_PROFILE", "off")  # what strategy auto measured for a user is not theirs
os.environ.setdefault("LONGSHORE_TRANSPORT", "threads")
# A shell that starts the tests in the background has SIGINT ignored, and so would they and what
# they start.
signal.signal(signal.SIGINT, signal.default_int_handler)
