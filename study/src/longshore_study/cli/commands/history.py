"""`longshore history`: shows figures over sessions and tags, and the times of changes."""

import argparse
from functools import partial
from pathlib import Path

from longshore_study.analyses import history
from longshore_study.base.errors import EXIT_INVALID, EXIT_OK, EXIT_REGRESSED, EXIT_UNDECIDED, LongshoreError
from longshore_study.cli.options import add_margin, add_metric, add_names, add_where
from longshore_study.cli.result_output import print_result
from longshore_study.output import history_table
from longshore_study.stats.change_points import MIN_SESSIONS
from longshore_study.store import selection
from longshore_study.store.launch_store import Store
from longshore_study.study_file import events

EXAMPLES = """\
examples:
  longshore history                                   all stored sessions
  longshore history nightly --where "mode == 'persistent'"
  longshore history nightly --events events.toml      with the dates of known events
  longshore history nightly --exit-status             status 1 if a figure is at a worse level than before
  longshore history --json

A point is a session of a tag. A change is significantly larger than the margin (95 %, for all rows together), even if
consecutive sessions are correlated. 'step': between two sessions; 'drift': a slope explains it as well. The dates of
known events (--events, else STORE/events.toml) and changes of the tag are tested first. An event is a table:

  [[event]]
  date = 2026-03-01
  text = "new release of the MPI library"
  factors = { transport = "mpi" }                     the affected rows; default: all

exit status: 0; 3 nothing to show, or damaged data; 64 usage. With --exit-status also: 1 the last change of a row was
             for the worse, 2 no row has enough sessions
"""


def configure(parser: argparse.ArgumentParser) -> None:
    add_names(parser)
    add_where(parser)
    add_metric(parser)
    add_margin(parser, "ignore changes below it: 5%% or 0.05")
    parser.add_argument("--events", metavar="FILE", type=Path, help="known events (default: STORE/events.toml)")
    parser.add_argument(
        "--exit-status", action="store_true", help="end with status 1 if the last change of a row was for the worse"
    )


def run(args: argparse.Namespace) -> int:
    store = Store(args.store)
    known = events.of_store(store.path, args.events)
    launches = [one for names in selection.named_sessions(store, args.names) for one in store.launches(*names)]
    table = history.build(
        launches, known, tags=args.names, margin=args.margin, where=args.where, metrics=tuple(args.metric)
    )
    if not table.rows:
        problem = "".join(f"; {p}" for p in table.measured.problems[:1])
        raise LongshoreError(f"no results to show a history of{problem}")
    status = EXIT_INVALID if table.measured.damaged else _status(table) if args.exit_status else EXIT_OK
    render = partial(history_table.render, table, everything=args.verbose)
    return print_result(args, lambda: history_table.document(table, known), render, status)


def _status(table: history.HistoryTable) -> int:
    if any(row.changes and row.changes[-1].difference < 0.0 for row in table.rows):
        return EXIT_REGRESSED
    return EXIT_OK if any(len(row.points) >= MIN_SESSIONS for row in table.rows) else EXIT_UNDECIDED
