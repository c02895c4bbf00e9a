"""Running a session: child processes, launchers, batch systems, the lock of a session and its
progress. It imports planning and the packages below it.
"""
