"""The command line. Help and errors cost no import of a verb: a study tool is called from login
nodes whose file systems take seconds to import a large package, so a verb's module is loaded only
when that verb is called."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import NoReturn

from longshore_study import __version__
from longshore_study.base.errors import EXIT_INTERRUPTED, EXIT_INVALID, EXIT_OK, LongshoreError, UsageError, suggestion
from longshore_study.base.terminal_escapes import escaping_streams
from longshore_study.cli.arguments import split_arguments

VERBS = {
    "init": "write a study file to start from",
    "check": "check a study file without running it",
    "plan": "say what a study will run, for how long, and what it could find",
    "run": "run what a study still lacks, in random order",
    "resume": "go on with a study that was stopped",
    "status": "how far a study is",
    "import": "store the output of another benchmark",
    "show": "tables of what is stored",
    "compare": "judge one tag against another",
    "guidelines": "what must hold on any machine, without history",
    "attribute": "with what a change is associated",
    "history": "a figure over time",
    "report": "one HTML file that explains a study",
    "export": "figures as tables for other tools and for papers",
    "stacks": "which MPI, OpenSHMEM and UCX are on this machine",
    "doctor": "what on this machine will spoil a measurement",
    "completion": "completion by the Tab key, for bash, zsh and fish",
}

_VERB_FOLDER = Path(__file__).parent / "commands"


class Parser(argparse.ArgumentParser):
    """argparse with this tool's exit status for usage errors, and with the nearest known option in
    them."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} ('{self.prog} --help' lists the options)")

    def parse_checked(self, arguments: Sequence[str]) -> argparse.Namespace:
        """As parse_args, but says which option a mistyped one is near to."""
        namespace, unknown = self.parse_known_args(arguments)
        if unknown:
            word = unknown[0].split("=")[0]
            what = "unknown option" if word.startswith("-") else "unexpected argument"
            self.error(f"{what} '{unknown[0]}'{suggestion(word, self._option_string_actions)}")
        return namespace


def module_name(verb: str) -> str:
    """The module of a verb; `import` is a keyword of Python and gets an underscore."""
    return "import_" if verb == "import" else verb


def available_verbs() -> list[str]:
    """The verbs whose module is present, in the order of VERBS."""
    return [verb for verb in VERBS if (_VERB_FOLDER / f"{module_name(verb)}.py").exists()]


def usage_text() -> str:
    lines = ["usage: longshore VERB [options]", "", "Studies of communication on HPC systems.", ""]
    lines += [f"  {verb:<12}{VERBS[verb]}" for verb in available_verbs()]
    lines += [
        "",
        "options of every verb:",
        "  --store DIR  where results are kept (default: LONGSHORE_STORE, else ./longshore-results)",
        "  --json       print one JSON document instead of tables",
        "  -v           say more",
        "  --no-color   plain text (as the environment variable NO_COLOR)",
        "",
        "'longshore VERB --help' explains a verb, with examples.",
    ]
    return "\n".join(lines)


def add_shared_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("options of every verb")
    group.add_argument(
        "--store", metavar="DIR", help="where results are kept (default: LONGSHORE_STORE, else ./longshore-results)"
    )
    group.add_argument("--json", action="store_true", help="print one JSON document instead of tables")
    group.add_argument("-v", "--verbose", action="store_true", help="say more")
    group.add_argument("--no-color", action="store_true", help="plain text")


def dispatch(arguments: Sequence[str]) -> int:
    verb, rest = split_arguments(arguments)
    if verb is None or verb in ("-h", "--help", "help"):
        print(usage_text())
        return EXIT_OK
    if verb == "--version":
        print(f"longshore {__version__}")
        return EXIT_OK
    known = available_verbs()
    if verb == "__complete":
        from longshore_study.cli.completion import candidates  # noqa: PLC0415 - for a shell alone

        print("\n".join(candidates(rest, known, lambda name: parser_of(name)[0])))
        return EXIT_OK
    if verb not in known:
        raise UsageError(f"unknown verb '{verb}'{suggestion(verb, known)} (one of {', '.join(known)})")
    parser, module = parser_of(verb)
    args = parser.parse_checked(rest)
    args.store = Path(args.store or os.environ.get("LONGSHORE_STORE") or "longshore-results")
    if args.no_color:
        os.environ["NO_COLOR"] = "1"
    return int(module.run(args))


def parser_of(verb: str) -> tuple[Parser, ModuleType]:
    """The options of a verb, and its module."""
    module = importlib.import_module(f"longshore_study.cli.commands.{module_name(verb)}")
    parser = Parser(
        prog=f"longshore {verb}",
        description=VERBS[verb],
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_shared_options(parser)
    module.configure(parser)
    return parser, module


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one verb and returns the exit status; every expected failure is one line on stderr."""
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
        _abandon_output()  # the reader of a pipe (`| head`) has gone
        return EXIT_OK
    except OSError as error:
        try:
            sys.stdout.flush()
        except OSError:  # the disk that it goes to is full
            _abandon_output()
        place = f"{error.filename}: " if error.filename else ""
        print(f"longshore: {place}{error.strerror or error}".replace("\n", "\\n"), file=sys.stderr)
        return EXIT_INVALID
    except KeyboardInterrupt:
        print("longshore: interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    return status


def _abandon_output() -> None:
    """What could not be written stays in a buffer, and Python would complain once more while
    closing stdout."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
