"""`longshore show`: prints tables. Only the modules of the requested table are imported."""

import argparse
import importlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

from longshore_study.base import terminal
from longshore_study.base.errors import EXIT_INVALID, EXIT_OK, LongshoreError, UsageError, require_known
from longshore_study.cli.options import add_names, add_where
from longshore_study.cli.result_output import print_result
from longshore_study.metrics import variant_rows
from longshore_study.metrics.launch_metrics import measure
from longshore_study.metrics.variant_rows import VariantRow
from longshore_study.output import variant_table
from longshore_study.store import selection
from longshore_study.store.hosts import on_hosts
from longshore_study.store.launch_store import Launch, Store
from longshore_study.store.selection import by_machine, heading

EXAMPLES = """\
examples:
  longshore show
  longshore show new --where "mode in ['waitall', 'persistent']"
  longshore show quick --winners                    the best choices, their share of the bound, the next commands
  longshore show stream-layers --steps              the gain of each [[step]] of the study file; with the name of a
                                                    file, its steps are applied to the stored results
  longshore show stream-layers --scaling            GB/s per node and efficiency over ranks
  longshore show quick --engines                    messages, fill and waiting times of gather, hop by hop
  longshore show isx --means                        like ISx: mean, smallest and largest over launches, with an interval
  longshore show isx --means --pool environment     the same over all launches, whatever their environment
  longshore show isx --model                        measured exchanges beside the predictions of a model
  longshore show isx --counters                     page faults, context switches, waits, cycles, misses; phases
  longshore show at-scale --crossings               the fastest choice from how many nodes (or ranks) on
  longshore show mine --predicted                   simulated and measured times side by side
  longshore show --json

Figures are medians over launches. 'best' marks the best choice (mode, strategy, transport, ...) with all else equal.
'of best' is the figure of a row relative to the best one, inverted if less is better. Imported results are marked: they
are aggregates, whose repetitions are unknown. Simulated results have tables of their own, by machine; in JSON,
documents of their own, under 'simulated'.

exit status: 0; 3 damaged data (it is named, and readable data is shown); 64 usage
"""


def configure(parser: argparse.ArgumentParser) -> None:
    add_names(parser)
    parser.add_argument("--study", help="only this study")
    parser.add_argument("--session", help="only this session")
    add_where(parser)
    parser.add_argument("--sessions", action="store_true", help="one row per session")
    for option, (_, text) in _OTHER_TABLES.items():
        parser.add_argument(option, action="store_true", help=text)
    parser.add_argument(
        "--pool", metavar="FACTOR", action="append", help="with --means: merge launches that differ only in this factor"
    )


@dataclass(frozen=True)
class _Output:
    """What a table prints. Tables of different machines are never one table."""

    document: dict[str, Any]
    render: Callable[[], None]
    damaged: bool = False


def run(args: argparse.Namespace) -> int:
    if args.pool and not args.means:
        raise UsageError("--pool needs --means")
    asked = [option for option in _OTHER_TABLES if getattr(args, option.removeprefix("--"))]
    if asked:
        more = asked[1:] + (["--where"] if args.where is not None else []) + (["--sessions"] if args.sessions else [])
        if more:
            raise UsageError(f"{asked[0]} prints its own table and cannot be combined with {' or '.join(more)}")
        return _OTHER_TABLES[asked[0]][0](args)
    (launches,), where = on_hosts([list(_chosen(args))], args.where)
    found = {machine: measure(some, metrics=("all",)) for machine, some in by_machine(launches).items()}
    tables = {
        machine: variant_rows.variant_rows(measured.figures, by_session=args.json or args.sessions or args.verbose)
        for machine, measured in found.items()
    }
    if where is not None:
        selected = {id(row) for row in where.select([row for rows in tables.values() for row in rows], _factors)}
        tables = {machine: [row for row in rows if id(row) in selected] for machine, rows in tables.items()}

    outputs: dict[str | None, _Output] = {}
    for machine, rows in tables.items():
        measured = found[machine]
        render = partial(variant_table.render, rows, measured, verbose=args.verbose)
        outputs[machine] = _Output(variant_table.document(rows, measured), render, bool(measured.damaged))
    return _print_tables(args, outputs)


def _winners(args: argparse.Namespace) -> int:
    from longshore_study.output import winner_table  # noqa: PLC0415

    if len(args.names) != 1:
        raise UsageError("--winners needs the name of one study or tag")
    store = Store(args.store)
    asked = (store, args.names[0], args.session)
    render = partial(winner_table.render, *asked, verbose=args.verbose)
    return print_result(args, partial(winner_table.document, *asked), render)


def _means(args: argparse.Namespace) -> int:
    from longshore_study.analyses import means  # noqa: PLC0415
    from longshore_study.output import mean_table  # noqa: PLC0415

    def rows_of(launches: list[Launch]) -> list[means.Mean]:
        return means.means_of(measure(launches, metrics=("all",)).figures, pooled=args.pool or ())

    return _print_rows(args, rows_of, mean_table, "nothing stored has results")


def _predicted(args: argparse.Namespace) -> int:
    from longshore_study.analyses import simulated_and_measured  # noqa: PLC0415
    from longshore_study.output import simulated_table  # noqa: PLC0415

    launches = list(_chosen(args))
    found = simulated_and_measured.lay_side_by_side(launches)
    if not found.pairs:
        raise LongshoreError(
            f"no cell is both simulated and measured ({found.why_none}); measure the same variants with the same "
            'ranks and nodes, for instance with transport = ["mpi", "simulated"] in one [[pattern]]'
        )
    status = EXIT_INVALID if measure(launches).damaged else EXIT_OK
    return print_result(args, partial(simulated_table.document, found), partial(simulated_table.render, found), status)


@dataclass(frozen=True)
class _TableOfRows:
    """A table of the rows that a function finds in launches."""

    rows_of: str
    """The function that finds the rows of launches, with its module."""
    table: str
    """The module with `document` and `render` for these rows."""
    nothing: str
    """The error if there are no rows."""

    def __call__(self, args: argparse.Namespace) -> int:
        module, _, function = self.rows_of.rpartition(".")
        rows_of = getattr(importlib.import_module(f"longshore_study.{module}"), function)
        table = importlib.import_module(f"longshore_study.output.{self.table}")
        return _print_rows(args, rows_of, table, self.nothing)


def _print_rows(
    args: argparse.Namespace, rows_of: Callable[[list[Launch]], Sequence[Any]], table: ModuleType, nothing: str
) -> int:
    """Prints a table of the measured launches, then one of those of each simulated machine."""
    outputs: dict[str | None, _Output] = {}
    problems: list[str] = []
    for machine, launches in by_machine(_chosen(args)).items():
        measured = measure(launches)
        problems += measured.problems
        if rows := rows_of(launches):
            outputs[machine] = _Output(table.document(rows), partial(table.render, rows), bool(measured.damaged))
    if not outputs:
        raise LongshoreError("; ".join([nothing, *problems[:1]]))
    return _print_tables(args, outputs)


def _print_tables(args: argparse.Namespace, outputs: dict[str | None, _Output]) -> int:
    """Prints one document, with those of simulated machines in a list, or all tables."""
    machines = {machine: output for machine, output in outputs.items() if machine is not None}
    document = dict(outputs[None].document) if None in outputs else _empty(next(iter(machines.values())).document)
    document["simulated"] = [{"machine": machine, **output.document} for machine, output in machines.items()]

    def render() -> None:
        for machine, output in outputs.items():
            if machine is not None:
                terminal.print_line(f"{heading(machine)}:\n")
            output.render()

    status = EXIT_INVALID if any(output.damaged for output in outputs.values()) else EXIT_OK
    return print_result(args, lambda: document, render, status)


def _empty(document: dict[str, Any]) -> dict[str, Any]:
    return {name: [] if isinstance(value, list) else value for name, value in document.items()}


def _steps(args: argparse.Namespace) -> int:
    from longshore_study.analyses import steps  # noqa: PLC0415
    from longshore_study.output import step_table  # noqa: PLC0415
    from longshore_study.study_file import reader  # noqa: PLC0415

    problems: list[str] = []
    given = None
    if len(args.names) == 1 and args.names[0].endswith(".toml"):
        given = reader.load(args.names[0])
        args.names = [given.name]
    stepped = steps.stepped_launches(_chosen(args), problems, given)
    if not stepped:
        why = f"; {problems[0]}" if problems else ""
        raise LongshoreError(f"no study here has steps{why}; add [[step]] tables to the study file")
    measured = [measure(of_study.launches) for of_study in stepped]
    tables = [table for pair in zip(stepped, measured, strict=True) for table in steps.step_tables(*pair)]

    def render() -> None:
        step_table.render(tables)
        for problem in problems:
            terminal.print_line(f"warning: {problem}", "failed")

    status = EXIT_INVALID if any(measurements.damaged for measurements in measured) else EXIT_OK
    return print_result(args, partial(step_table.document, tables), render, status)


def _chosen(args: argparse.Namespace) -> Iterator[Launch]:
    store = Store(args.store)
    names = selection.stored_names(store)
    chosen = selection.named_sessions(store, args.names)
    if args.study is not None:
        require_known(args.study, {study for study, _, _ in names}, "study")
    if args.session is not None:
        require_known(args.session, {session for _, _, session in names}, "session")
    chosen = [triple for triple in chosen if args.study in (None, triple[0]) and args.session in (None, triple[2])]
    if not chosen:
        raise LongshoreError("nothing stored matches all of these names")
    for study, tag, session in chosen:
        yield from store.launches(study, tag, session)


def _factors(row: VariantRow) -> dict[str, Any]:
    names = {"study": row.study, "tag": row.tag, "metric": row.main, "pattern": row.pattern}
    return {**names, **row.cell, **row.variant}


_SCALING = _TableOfRows(
    "analyses.scaling.curves_of", "scaling_table", "no stored results with more than one number of ranks or nodes"
)
_ENGINES = _TableOfRows(
    "metrics.engines.engine_summaries", "engine_table",
    "no stored record has data of aggregation engines; gather with exstack and others writes it",
)  # fmt: skip
_MODEL = _TableOfRows(
    "analyses.predictions.predictions_of", "prediction_table",
    "no predictions for the stored results: measure sort and, in a [[pattern]] of program 'control', the kernels "
    "shift, barrier and fetch-add in the same layouts (as studies/isx.toml does)",
)  # fmt: skip
_COUNTERS = _TableOfRows(
    "metrics.counters.counter_summaries", "counter_table",
    "no stored record has counters; a newer longshore-bench writes them",
)  # fmt: skip
_CROSSINGS = _TableOfRows(
    "analyses.crossings.races_of", "crossing_table",
    "no stored results of several choices over more than one number of nodes or ranks",
)  # fmt: skip
_OTHER_TABLES: dict[str, tuple[Callable[[argparse.Namespace], int], str]] = {
    "--winners": (_winners, "for one study or tag: the winners of its newest session, and what to choose"),
    "--scaling": (_SCALING, "figure per node and efficiency, over ranks or nodes"),
    "--engines": (_ENGINES, "messages and waiting times of aggregation engines"),
    "--steps": (_steps, "the gain of each step of the study file"),
    "--means": (_means, "mean, smallest and largest over launches, with an interval"),
    "--model": (_MODEL, "measured exchanges beside the predictions of a model"),
    "--counters": (_COUNTERS, "counters of kernel, processor and waits; times of phases"),
    "--crossings": (_CROSSINGS, "the fastest choice over nodes or ranks, and where it changes"),
    "--predicted": (_predicted, "simulated and measured times side by side"),
}
"""The options that print another table, each with its function and its help."""
