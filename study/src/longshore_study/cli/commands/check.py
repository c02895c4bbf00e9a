"""`longshore check`: reports all mistakes in study files, and programs that this machine lacks."""

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from longshore_study.base.errors import EXIT_OK, EXIT_USAGE, LongshoreError
from longshore_study.base.terminal import count
from longshore_study.cli.result_output import print_result
from longshore_study.execution.batch_session import refuse_too_few_nodes
from longshore_study.execution.launch_resolver import make_launch_resolver
from longshore_study.planning.plan import make_plan, missing_programs
from longshore_study.study_file.reader import StudyFileError, load

EXAMPLES = """examples:
  longshore check study.toml

exit status: 0 the file is correct (missing launchers and programs are only reported), 64 it is not"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("study", metavar="STUDY.toml", nargs="+", help="one or more study files")


def run(args: argparse.Namespace) -> int:
    answers = [_check(path) for path in args.study]
    status = EXIT_USAGE if any(answer["problems"] for answer in answers) else EXIT_OK
    return print_result(args, lambda: {"schema": 1, "files": answers}, lambda: _print(answers), status)


def _print(answers: Sequence[dict[str, Any]]) -> None:
    for answer in answers:
        for problem in answer["problems"]:
            print(problem, file=sys.stderr)
        if not answer["problems"]:
            launches = f"{count(answer['cells'], 'cell')}, {count(answer['launches'], 'launch')} per session"
            print(f"{answer['file']}: correct; {launches} ('longshore plan' shows details)")
        for remark in answer["remarks"]:
            print(f"{answer['file']}: note: {remark}")


def _check(path: str) -> dict[str, Any]:
    answer: dict[str, Any] = {"file": path, "problems": [], "remarks": [], "cells": 0, "launches": 0}
    try:
        plan = make_plan(load(path))
        refuse_too_few_nodes(plan.study, plan.cells)
    except StudyFileError as error:
        return {**answer, "problems": error.problems}
    except LongshoreError as error:
        return {**answer, "problems": [str(error)]}
    remarks = []
    try:
        make_launch_resolver(plan, dry_run=plan.study.launcher.job is not None)
    except LongshoreError as error:
        remarks.append(str(error))
    for external in plan.study.externals:
        if external.is_missing:
            without = "; the study runs without it" if external.optional else ""
            remarks.append(missing_programs([external]) + without)
    return {**answer, "remarks": remarks, "cells": len(plan.cells), "launches": plan.launches_per_session}
