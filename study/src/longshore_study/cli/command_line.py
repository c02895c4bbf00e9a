"""The command line. The module of a command is imported only when the command is called, because
the import of a large package takes seconds on the file systems of login nodes."""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import NoReturn

from longshore_study import __version__
from longshore_study.base.default_store import default_store
from longshore_study.base.errors import EXIT_INTERRUPTED, EXIT_INVALID, EXIT_OK, LongshoreError, UsageError, suggestion
from longshore_study.base.terminal import abandon
from longshore_study.base.terminal_escapes import escaping_streams

COMMANDS = {
    "init": "write a study file to start from",
    "check": "check a study file without running it",
    "plan": "show what a study will run, how long it takes, and what it can detect",
    "run": "run the launches that a session lacks, in random order",
    "resume": "continue a study that was stopped",
    "status": "show the progress of a study",
    "import": "store the output of another benchmark",
    "show": "print tables of stored results",
    "compare": "judge one tag against another",
    "guidelines": "check rules such as 'A is not slower than B' within one tag",
    "attribute": "find what a change is associated with",
    "guard": "measure every week, and say in one line whether the machine became slower",
    "history": "show a figure over time, and when it changed",
    "report": "write one HTML file that explains a study",
    "export": "write results as tables for other tools and for papers",
    "stacks": "list the MPI, OpenSHMEM and UCX of this machine, and build with them",
    "doctor": "check this machine for faults that spoil measurements",
    "completion": "print the completion script for bash, zsh or fish",
}


class Parser(argparse.ArgumentParser):
    """argparse with the exit status of longshore for usage errors."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} ('{self.prog} --help' lists the options)")

    def parse_checked(
        self, arguments: Sequence[str], namespace: argparse.Namespace | None = None
    ) -> argparse.Namespace:
        """Like parse_args, with a suggestion for a mistyped option."""
        found, unknown = self.parse_known_args(arguments, namespace or argparse.Namespace())
        if unknown:
            word = unknown[0].split("=")[0]
            problem = "unknown option" if word.startswith("-") else "unexpected argument"
            self.error(f"{problem} '{unknown[0]}'{suggestion(word, self._option_string_actions)}")
        return found


def module_name(command: str) -> str:
    """The module of a command. `import` gets an underscore, because it is a keyword of Python."""
    return "import_" if command == "import" else command


def root_parser() -> Parser:
    """Reads the options before the command, and the words from the command on."""
    commands = "\n".join(f"  {command:<12}{description}" for command, description in COMMANDS.items())
    parser = Parser(
        prog="longshore",
        usage="longshore COMMAND [options]",
        description=f"Studies of communication on HPC systems.\n\n{commands}",
        epilog="'longshore COMMAND --help' explains a command, with examples.",
        add_help=False,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_shared_options(parser)
    parser.add_argument("-h", "--help", action="store_true", dest="asks_help", help=argparse.SUPPRESS)
    parser.add_argument("--version", action="store_true", dest="asks_version", help=argparse.SUPPRESS)
    parser.add_argument("words", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser


def add_shared_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("options of every command")
    group.add_argument(
        "--store", metavar="DIR", help="where results are kept (default: LONGSHORE_STORE, else ./longshore-results)"
    )
    group.add_argument("--json", action="store_true", help="print one JSON document instead of tables")
    group.add_argument("-v", "--verbose", action="store_true", help="print more details")
    group.add_argument("--no-color", action="store_true", help="plain text, as with the variable NO_COLOR")


def dispatch(arguments: Sequence[str]) -> int:
    root = root_parser()
    before = root.parse_checked(arguments)
    if before.asks_version:
        print(f"longshore {__version__}")
        return EXIT_OK
    if before.asks_help or before.words in ([], ["help"]):
        print(root.format_help(), end="")
        return EXIT_OK
    command, *rest = before.words
    if command not in COMMANDS:
        raise UsageError(f"unknown command '{command}'{suggestion(command, COMMANDS)} (one of {', '.join(COMMANDS)})")
    parser, module = parser_of(command)
    args = parser.parse_checked(rest, before)
    args.store = Path(args.store) if args.store else default_store()
    if args.no_color:
        os.environ["NO_COLOR"] = "1"
    return int(module.run(args))


def parser_of(command: str) -> tuple[Parser, ModuleType]:
    """The parser and the module of a command."""
    module = importlib.import_module(f"longshore_study.cli.commands.{module_name(command)}")
    parser = Parser(
        prog=f"longshore {command}",
        description=COMMANDS[command],
        epilog=module.EXAMPLES,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_shared_options(parser)
    module.configure(parser)
    return parser, module


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command. Returns its exit status, after one line on stderr if it failed."""
    if "_ARGCOMPLETE" in os.environ:
        from longshore_study.cli.completion import complete  # noqa: PLC0415 - only shells call it

        complete()
    with escaping_streams():
        return _main(arguments)


def _main(arguments: Sequence[str] | None) -> int:
    try:
        status = dispatch(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()
    except LongshoreError as error:
        line = str(error).replace("\n", "\\n")
        print(f"longshore: {line}", file=sys.stderr)
        return error.exit_status
    except BrokenPipeError:
        abandon(sys.stdout)  # the reader of the pipe (`| head`) is gone
        return EXIT_OK
    except OSError as error:
        try:
            sys.stdout.flush()
        except OSError:  # the disk of stdout is full
            abandon(sys.stdout)
        place = f"{error.filename}: " if error.filename else ""
        print(f"longshore: {place}{error.strerror or error}".replace("\n", "\\n"), file=sys.stderr)
        return EXIT_INVALID
    except KeyboardInterrupt:
        print("longshore: interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    return status
