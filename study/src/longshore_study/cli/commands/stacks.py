"""`longshore stacks`: lists the communication stacks here, and builds longshore-bench with them."""

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from longshore_study.base import terminal
from longshore_study.base.errors import EXIT_OK, LongshoreError, UsageError, suggestion
from longshore_study.base.json_values import print_json
from longshore_study.cli.result_output import print_result
from longshore_study.host import stack_builds
from longshore_study.host.stacks import MPI, Stack, find_stacks

EXAMPLES = """examples:
  longshore stacks                                   list the stacks, and the builds of longshore-bench
  longshore stacks --search DIR                      also search this installation, with DIR/bin/mpirun
  longshore stacks build openmpi-4.1.4               build longshore-bench with this stack, in its own folder
  longshore stacks build all --source ~/longshore    build with every MPI

A study compares them: between = { stack = ["openmpi-4.1.4", "mpich-4.3.2"], transport = "mpi", ranks = 4 }
Builds are in LONGSHORE_STACKS, else in ~/.local/share/longshore/stacks, which all nodes must see.

exit status: 0; 3 no stack found, or a build failed; 64 usage"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action", metavar="ACTION", nargs="?", default="list", choices=("list", "build"), help="list, build"
    )
    parser.add_argument("names", metavar="NAME", nargs="*", help="stacks to build; 'all' for every MPI")
    parser.add_argument("--search", metavar="DIR", action="append", default=[], help="also search this installation")
    parser.add_argument("--source", metavar="DIR", help="source tree of Longshore (default: around this program)")
    parser.add_argument(
        "-j", "--jobs", metavar="N", type=int, default=0, help="parallel compilers (default: all cores)"
    )


def run(args: argparse.Namespace) -> int:
    for folder in args.search:
        if not Path(folder).is_dir():
            raise UsageError(
                f"--search {folder}: no such folder; name one in which an MPI is installed (DIR/bin/mpirun)"
            )
    # The installations of all builds are also searched.
    builds = stack_builds.builds()
    folders = [str(folder) for build in builds if (folder := Path(build.mpirun).parent.parent).is_dir()]
    found = stack_builds.with_unique_names(find_stacks([*args.search, *folders]))
    if args.action == "build":
        return _build(args, found)
    if args.names:
        raise UsageError(f"unexpected argument '{args.names[0]}' ('longshore stacks build NAME' builds)")
    bench = {build.name: build.bench for build in builds}
    rows = [{**asdict(stack), "bench": bench.pop(stack.name, None)} for stack in found]
    # Builds whose installation is not found are listed, because they stay usable.
    rows += [
        {"name": b.name, "what": MPI, "kind": "", "version": b.version, "launcher": b.mpirun, "bench": b.bench}
        for b in builds
        if b.name in bench
    ]
    if not rows and not args.json:
        raise LongshoreError("no MPI, OpenSHMEM or UCX found; load a module, or name a folder with --search DIR")
    document = {"schema": 1, "place": str(stack_builds.stacks_home()), "stacks": rows}
    return print_result(args, lambda: document, lambda: _print(rows))


def _print(rows: Sequence[Mapping[str, Any]]) -> None:
    columns = ["name", "what", "version", "standard", "path", "longshore-bench", "modules"]
    body = [
        [
            str(row["name"]), str(row["what"]), str(row["version"]) or "-", str(row.get("standard") or "-"),
            str(row["launcher"] or row.get("prefix")), "built" if row.get("bench") else "-",
            " ".join(row.get("modules") or ()) or "-",
        ]
        for row in rows
    ]  # fmt: skip
    terminal.print_table("communication stacks", columns, body)


def _build(args: argparse.Namespace, found: list[Stack]) -> int:
    known = {stack.name: stack for stack in found if stack.what == MPI}
    if not args.names:
        raise UsageError(f"name the stack to build (found: {', '.join(known) or 'none'}), or 'all'")
    names = list(known) if args.names == ["all"] else args.names
    for name in names:
        if name not in known:
            listed = f"(found: {', '.join(known)})" if known else "(none found; name a folder with --search DIR)"
            raise UsageError(f"no MPI named '{name}' found{suggestion(name, known)} {listed}")
    if not names:
        raise LongshoreError("no MPI found; load a module, or name a folder with --search DIR")
    source = stack_builds.find_source(args.source)
    jobs = args.jobs if args.jobs > 0 else len(os.sched_getaffinity(0))
    made = []
    failed: list[tuple[str, LongshoreError]] = []
    for name in names:
        try:
            build = stack_builds.build_stack(known[name], source, jobs=jobs, verbose=args.verbose)
        except LongshoreError as error:
            failed.append((name, error))
            if len(names) > 1:  # continue with the others
                print(f"longshore: {name} was not built: {error}", file=sys.stderr, flush=True)
            continue
        made.append(asdict(build))
        if not args.json:
            print(f"{name}: built {build.bench}", flush=True)
    if args.json:
        failures = [{"name": name, "why": str(error)} for name, error in failed]
        print_json({"schema": 1, "built": made, "failed": failures})
    if failed and len(names) == 1:
        raise failed[0][1]
    if failed:
        raise LongshoreError(f"{len(failed)} of {len(names)} stacks were not built: {', '.join(n for n, _ in failed)}")
    return EXIT_OK
