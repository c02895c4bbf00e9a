"""Runs sessions: child processes, launchers, batch systems, the session lock, and progress. Imports
planning and the packages below it."""
