"""Importer of run reports of ReFrame (JSON, data versions 1 to 4): the performance variables of the
test cases of each run that passed.

In versions before 4, a test case has a list `perfvars` of objects. In version 4, it has an object
`perfvalues`: {"system:partition:name": [value, reference, lower, upper, unit, result]}.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from longshore_study.base.errors import LongshoreError
from longshore_study.importers.imported import Imported, Options, Source
from longshore_study.importers.series import SeriesFigure, better_of, runs_from_figures, time_of

_TIMES = ("job_completion_time_unix", "job_completion_time", "completion_time_unix", "completion_time")
_FACTORS = ("system", "partition", "environ", "environment", "num_tasks", "num_tasks_per_node", "num_cpus_per_task")


def read(source: Source, options: Options) -> list[Imported]:
    try:
        report = json.loads(source.text)
    except ValueError as error:
        raise LongshoreError(f"{source.name}: not a run report of ReFrame: {error}") from None
    if not isinstance(report, dict) or not isinstance(report.get("runs"), list):
        raise LongshoreError(f"{source.name}: not a run report of ReFrame, which has 'session_info' and 'runs'")
    found = runs_from_figures(source, options.program or "reframe", _figures(source, report), options.ranks)
    if not found:
        raise LongshoreError(f"{source.name}: no test case of the report has performance variables")
    return found


def _figures(source: Source, report: Mapping[str, Any]) -> Iterator[SeriesFigure]:
    session = report.get("session_info") or {}
    for run in report["runs"]:
        for case in run.get("testcases") or []:
            if str(case.get("result", "pass")).lower() not in ("pass", "success"):
                continue
            when = next((case[name] for name in _TIMES if case.get(name)), None) or session.get("time_start")
            if when is None:
                raise LongshoreError(f"{source.name}: the test case {case.get('name')} has no time")
            time = time_of(source, 1, when if isinstance(when, str) else f"{float(when):.3f}")
            variant = {name: case[name] for name in _FACTORS if isinstance(case.get(name), str | int)}
            variant["test"] = str(case.get("display_name") or case.get("name") or case.get("unique_name"))
            for name, value, lower, upper, unit in _variables(case):
                if isinstance(value, int | float) and not isinstance(value, bool):
                    yield SeriesFigure(1, time, None, variant, name, float(value), unit, better_of(lower, upper, unit))


def _variables(case: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any, Any, str]]:
    """Name, value, lower and upper bound, and unit."""
    for variable in case.get("perfvars") or []:
        bounds = (variable.get("thres_lower"), variable.get("thres_upper"))
        yield str(variable.get("name")), variable.get("value"), *bounds, str(variable.get("unit") or "")
    for name, values in (case.get("perfvalues") or {}).items():
        value, _, lower, upper, unit = [*values, None, None, None, None, None][:5]
        yield str(name).rpartition(":")[2], value, lower, upper, str(unit or "")
