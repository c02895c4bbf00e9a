"""Settings of the tests of the installed package longshore.

Most tests run on threads in this process. Tests over MPI start scripts.
"""

from __future__ import annotations

import os
import signal

os.environ.setdefault("LONGSHORE_TIMEOUT", "300")
os.environ.setdefault("LONGSHORE_CACHES", "near")  # plans do not depend on where the cores are
os.environ.setdefault("LONGSHORE_PROFILE", "off")  # do not use measurements of strategy auto by a user
os.environ.setdefault("LONGSHORE_TRANSPORT", "threads")
# Background jobs of a shell ignore SIGINT. The tests and their child processes must not inherit
# this setting.
signal.signal(signal.SIGINT, signal.default_int_handler)
