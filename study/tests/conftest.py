"""What all tests of the study tool need."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from longshore_study.store.launch_store import Store

# A shell that starts the tests in the background has SIGINT ignored, and so would they and what
# they start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# What a terminal is, and how wide, is said by the tests that are about it.
os.environ["TERM"] = "xterm"
for name in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR"):
    os.environ.pop(name, None)


@pytest.fixture
def results(tmp_path: Path) -> Store:
    """A store without launches."""
    return Store(tmp_path / "results")
