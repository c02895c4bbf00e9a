"""The command line: options, completion, and one module per command. Imports all other packages."""

from longshore_study.cli.command_line import main

__all__ = ["main"]
