"""Stored figures as a run report of ReFrame (JSON schema runreport.json, data version 4.2), for the
dashboards of a site. A session is a run, a variant is a test case, and its metrics are performance
variables.
"""

import datetime as dt
import hashlib
import os
import time
import uuid
from collections.abc import Iterable, Sequence
from typing import Any

from longshore_study import __version__
from longshore_study.base import terminal
from longshore_study.base.groups import grouped
from longshore_study.base.json_values import canonical, number_in
from longshore_study.metrics.launch_metrics import Measurements
from longshore_study.metrics.variant_rows import VariantRow, variant_rows
from longshore_study.store.launch_store import Launch

DATA_VERSION = "4.2"
_NAMESPACE = uuid.UUID("6f1c2f0e-2d0b-4f0e-9a55-6c6f6e677368")
_UNKNOWN = ("fail_info", "build_jobid", "build_stderr", "build_stdout", "job_stderr", "job_stdout", "outputdir",
            "time_compile", "time_performance", "time_run", "time_sanity", "time_setup")  # fmt: skip
"""Members that the schema requires, and for which Longshore has no value."""
_FORMAT = "%Y-%m-%dT%H:%M:%S%z"


def run_report(launches: Sequence[Launch], measured: Measurements) -> dict[str, Any]:
    """The report. The same figures give the same report, with the same identifiers."""
    rows = variant_rows(measured.figures, by_session=True)
    sessions = grouped(rows, lambda row: (row.study, row.tag, row.session or ""))
    content = canonical({"rows": [[r.tag, r.session, r.metrics] for r in rows]})
    identity = str(uuid.uuid5(_NAMESPACE, content.encode("utf-8", "replace").decode()))  # tags are bytes
    times = [stamp for launch in launches if (stamp := _seconds(launch)) is not None]
    # Imported figures have no times, but the schema requires numbers here.
    begin, end = (min(times), max(times)) if times else (0.0, 0.0)
    failures = len(measured.failed)
    own = grouped(launches, lambda launch: (launch.study, launch.tag, launch.session))
    runs = [_run(number, members, own[key], identity) for number, (key, members) in enumerate(sessions.items())]
    return {
        "session_info": {
            "data_version": DATA_VERSION, "version": f"longshore {__version__}", "uuid": identity,
            "hostname": _host(launches), "cmdline": "longshore export --format reframe", "config_files": [],
            "log_files": [], "prefix_output": "", "prefix_stage": "", "user": "", "workdir": os.path.curdir,
            "num_cases": sum(run["num_cases"] for run in runs), "num_failures": failures, "num_aborted": 0,
            "num_skipped": len(measured.absent), "time_start": _text(begin) if times else "", "time_start_unix": begin,
            "time_end": _text(end) if times else "", "time_end_unix": end, "time_elapsed": end - begin,
        },
        "runs": runs,
        "restored_cases": [],
    }  # fmt: skip


def _run(number: int, rows: Sequence[VariantRow], launches: Sequence[Launch], identity: str) -> dict[str, Any]:
    cases = [_case(number, index, row, launches, identity) for index, row in enumerate(rows)]
    return {
        "num_cases": len(cases), "num_failures": sum(case["result"] == "fail" for case in cases), "num_aborted": 0,
        "num_skipped": 0, "run_index": number, "testcases": cases,
    }  # fmt: skip


def _case(number: int, index: int, row: VariantRow, launches: Sequence[Launch], identity: str) -> dict[str, Any]:
    system, partition = _host(launches), str(row.cell.get("transport", "default"))
    parameters = {**row.cell, **row.variant}
    content = canonical({"pattern": row.pattern, **parameters})
    digest = hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()[:8]
    done = max((stamp for launch in launches if (stamp := _seconds(launch)) is not None), default=None)
    doubt = "; ".join(row.doubts) or None
    words = " ".join(f"%{name}={terminal.factor(value)}" for name, value in sorted(parameters.items()))
    return {
        "name": f"longshore_{row.pattern} {words}".rstrip(), "unique_name": f"longshore_{row.pattern}_{digest}",
        "display_name": f"longshore_{row.pattern} {words}".rstrip(), "hashcode": digest,
        "filename": "longshore", "fixture": False, "system": system, "partition": partition, "environ": row.tag,
        "scheduler": "local", "result": "fail" if doubt else "pass", "fail_phase": "performance" if doubt else None,
        "fail_reason": doubt, "fail_severe": False, "dependencies_actual": [], "dependencies_conceptual": [],
        "job_completion_time": None if done is None else _text(done), "job_completion_time_unix": done,
        "time_total": _total(launches), "run_index": number, **dict.fromkeys(_UNKNOWN),
        "session_uuid": identity, "uuid": f"{identity}:{number}:{index}",
        "perfvalues": {
            f"{system}:{partition}:{name}":
                [metric["value"], 0, None, None, metric["unit"], "fail" if doubt else "pass"]
            for name, metric in row.metrics.items()
        },
        "longshore_study": row.study, "longshore_session": row.session, "longshore_launches": row.launches,
        **{f"longshore_{name}": value for name, value in parameters.items()},
    }  # fmt: skip


def _total(launches: Iterable[Launch]) -> float | None:
    known = [seconds for launch in launches if (seconds := number_in(launch.envelope, "seconds")) is not None]
    return sum(known) if known else None


def _host(launches: Iterable[Launch]) -> str:
    """The name of the host, without characters that ReFrame forbids in names, such as colons."""
    for launch in launches:
        host = ((launch.header or {}).get("system") or {}).get("host")
        if isinstance(host, str) and host:
            return "".join(mark if mark.isalnum() or mark in "-_." else "_" for mark in host)
    return "generic"


def _seconds(launch: Launch) -> float | None:
    started = launch.envelope.get("started")
    try:
        return dt.datetime.fromisoformat(started).timestamp() if isinstance(started, str) else None
    except ValueError:
        return None


def _text(stamp: float) -> str:
    return time.strftime(_FORMAT, time.localtime(stamp))
