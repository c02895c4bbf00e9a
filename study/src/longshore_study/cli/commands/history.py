"""`longshore history`: figures over sessions and tags, and when they changed."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from longshore_study.analyses import history
from longshore_study.base import expression
from longshore_study.base.errors import EXIT_INVALID, EXIT_OK, LongshoreError, UsageError, suggestion
from longshore_study.compare.comparison import parse_margin
from longshore_study.output import history_table
from longshore_study.store import selection
from longshore_study.store.launch_store import Launch, Store
from longshore_study.study_file import events

EXAMPLES = """\
examples:
  longshore history                                   all that is stored, session by session
  longshore history nightly --where "mode == 'persistent'"
  longshore history nightly --events events.toml      dates at which something is known to have changed
  longshore history --json

A point is a session of a tag. A change is larger than the margin beyond doubt (95 %, of all rows together), also where
sessions resemble the ones before them. 'step': from one session to the next; 'drift': as well told by a slope. Known
events (--events, else STORE/events.toml) and changes of the tag are looked at first. Each event is a table:

  [[event]]
  date = 2026-03-01
  text = "new release of the MPI library"
  factors = { transport = "mpi" }                     which rows it touches; all, when not given

exit status: 0, 3 when there is nothing to show or stored data is damaged, 64 usage
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    parser.add_argument("names", metavar="NAME", nargs="*", help="tags or studies (default: all that is stored)")
    parser.add_argument("--where", metavar="CONDITION", help="only rows for which it holds, such as 'nodes > 1'")
    parser.add_argument("--metric", action="append", default=[], metavar="NAME", help="also this metric; 'all' for all")
    parser.add_argument("--margin", metavar="M", help="changes below it do not matter: 5%% or 0.05")
    parser.add_argument("--events", metavar="FILE", type=Path, help="known events (default: STORE/events.toml)")


def run(args: argparse.Namespace) -> int:
    store = Store(args.store)
    known = events.of_store(store.path, args.events)
    table = history.build(
        chosen(store, args.names),
        known,
        tags=args.names,
        margin=parse_margin(args.margin) if args.margin is not None else None,
        where=expression.parse(args.where) if args.where is not None else None,
        metrics=tuple(args.metric),
    )
    if not table.rows:
        problem = "".join(f"; {p}" for p in table.measured.problems[:1])
        raise LongshoreError(f"no figure to show a history of{problem}")
    if args.json:
        print(json.dumps(history_table.document(table, known), indent=1, ensure_ascii=False))
    else:
        history_table.render(table, everything=args.verbose)
    return EXIT_INVALID if table.measured.damaged else EXIT_OK


def chosen(store: Store, names: Sequence[str]) -> list[Launch]:
    stored = selection.stored_names(store)
    known = {name for triple in stored for name in triple[:2]}
    for name in names:
        if name not in known:
            listed = ", ".join(sorted(known))
            raise UsageError(f"unknown tag or study '{name}'{suggestion(name, known)} (known: {listed})")
    return [
        launch
        for study, tag, session in stored
        if not names or {study, tag} & set(names)
        for launch in store.launches(study, tag, session)
    ]
