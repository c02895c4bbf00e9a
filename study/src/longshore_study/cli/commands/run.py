"""`longshore run`: runs the launches that a session of a study lacks."""

import argparse

from longshore_study.base.errors import UsageError
from longshore_study.execution.session import add_session_options, run_session

EXAMPLES = """examples:
  longshore run study.toml                               the tag is the study's name, the session is today's date
  longshore run study.toml --tag new-image --session a   names both; the same command continues a stopped session
  longshore run study.toml --turns old new               the two states [states.old] and [states.new] in turns
  longshore run study.toml --retry-failed                run failed launches again
  longshore run study.toml --dry-run                     only print the commands, in their order

exit status: 0 all recorded, 1 a launch failed (it is recorded as failed), 3 cannot run, 64 usage or study file,
             75 the time of --stop-after is used up and launches are left, 130 Ctrl-C"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("study", metavar="STUDY.toml", help="the study file ('longshore init' writes one)")
    add_session_options(parser)
    states = "run these states of the study file ([states.TAG]) in turns, each launch once in every state"
    parser.add_argument("--turns", nargs="+", metavar="TAG", default=(), help=states)


def run(args: argparse.Namespace) -> int:
    if args.turns and args.tag is not None:
        raise UsageError("--turns names the tags itself; remove --tag")
    return run_session(args, args.study, args.turns)
