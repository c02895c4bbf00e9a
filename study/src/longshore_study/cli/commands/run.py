"""`longshore run`: runs the launches that a session of a study lacks."""

from __future__ import annotations

import argparse

from longshore_study.execution.session import add_session_options, run_session

EXAMPLES = """examples:
  longshore run study.toml                               the tag is the study's name, the session is today's date
  longshore run study.toml --tag new-image --session a   names both; the same command continues a stopped session
  longshore run study.toml --retry-failed                run failed launches again
  longshore run study.toml --dry-run                     only print the commands, in their order

exit status: 0 all recorded, 1 a launch failed (it is recorded as failed), 3 cannot run, 64 usage or study file,
             75 the time of --stop-after is used up and launches are left, 130 Ctrl-C"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    parser.add_argument("study", metavar="STUDY.toml", help="the study file ('longshore init' writes one)")
    add_session_options(parser)


def run(args: argparse.Namespace) -> int:
    return run_session(args, args.study)
