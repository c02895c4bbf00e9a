"""`longshore status`: shows the progress of sessions, their failed and their missing launches."""

import argparse
from collections import Counter
from pathlib import Path
from typing import Any

from longshore_study.base.errors import LongshoreError
from longshore_study.base.json_values import attributes
from longshore_study.cli.commands.resume import choose_sessions
from longshore_study.cli.result_output import print_result
from longshore_study.execution import batch_systems
from longshore_study.execution.batch_session import submitted_jobs
from longshore_study.execution.session_folder import Target, stored_study_files
from longshore_study.planning.plan import Plan, make_plan
from longshore_study.store.launch_store import Launch
from longshore_study.store.records import EXIT_ALL_SKIPPED
from longshore_study.study_file.reader import load
from longshore_study.study_file.study import Study

EXAMPLES = """examples:
  longshore status                 all studies of the store
  longshore status study.toml      one study, compared with its current file
  longshore status -v              also the cells that lack launches

exit status: 0, even if launches are missing or failed; 3 nothing is stored"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("study", metavar="STUDY", nargs="?", help="a study file, or a study or tag of the store")
    parser.add_argument("--tag", help="only this tag")
    parser.add_argument("--session", help="only this session")


def run(args: argparse.Namespace) -> int:
    chosen = choose_sessions(args)
    study, place = chosen.study, chosen.store.path
    sessions = [_session(target, study) for target in chosen.targets]
    if not sessions and study is None:
        raise LongshoreError(
            f"nothing {chosen.of_name}is stored in {place}; 'longshore run STUDY.toml' measures a study"
        )

    def render() -> None:
        if not sessions and study:
            print(f"{study.name}: nothing is stored in {place} yet; 'longshore run {study.path}' measures it")
        for session in sessions:
            _print(session, verbose=args.verbose)

    return print_result(args, lambda: {"schema": 1, "sessions": sessions}, render)


def _session(target: Target, study: Study | None) -> dict[str, Any]:
    plan = _plan(target, study)
    best: dict[tuple[str, int], Launch] = {}
    for launch in target.launches():
        if launch.key not in best or best[launch.key].problem is not None:
            best[launch.key] = launch
    order = plan.order(target.session) if plan else []
    planned = {launch.key for launch in order} if plan else best.keys()
    lacking = Counter(launch.cell.cell_id for launch in order if launch.key not in best)
    # Launches that skipped every variant with a reason are neither measurements nor failures.
    skipped = {key for key, launch in best.items() if launch.exit_status == EXIT_ALL_SKIPPED and not launch.problem}
    failed = [launch for launch in best.values() if launch.problem is not None]
    good = {key for key, launch in best.items() if launch.problem is None} - skipped
    return {
        **attributes(target, "study tag session"),
        # Each planned launch is recorded, failed, missing, or had nothing to run.
        "recorded": len(good & planned),
        "nothing_to_run": len(skipped & planned),
        "failed": [
            {"cell": f.cell, "launch": f.launch_index, "problem": f.problem, "planned": f.key in planned}
            for f in failed
        ],
        "planned": len(order) if plan else None,
        "missing": lacking.total() if plan else None,
        "not_in_the_study_file": len(best.keys() - planned),
        "missing_cells": [{"cell": plan.labels[cell], "launches": n} for cell, n in lacking.items()] if plan else [],
        "jobs": [_job(row) for row in submitted_jobs(target)],
    }


def _job(row: dict[str, Any]) -> dict[str, Any]:
    state, why = batch_systems.state_of(batch_systems.SYSTEMS[row["system"]], row["id"])
    document = {key: row.get(key) for key in ("id", "system", "nodes", "submitted", "output")}
    output_exists = isinstance(row.get("output"), str) and Path(row["output"]).exists()
    return document | {"state": state, "why_unknown": why or None, "output_exists": output_exists}


def _plan(target: Target, study: Study | None) -> Plan | None:
    """The plan, from the given file, else from the copy beside the launches."""
    try:
        if study is None and (copies := stored_study_files(target)):
            study = load(copies[0])
        return make_plan(study) if study else None
    except LongshoreError:
        return None  # another version of this program wrote the copy


def _print(session: dict[str, Any], *, verbose: bool) -> None:
    parts = [f"{session['recorded']} recorded"]
    failed = sum(failure["planned"] for failure in session["failed"])
    if session["planned"] is not None:
        parts[0] += f" of {session['planned']}"
        if session["missing"]:
            parts.append(f"{session['missing']} missing")
        elif not failed:
            parts.append("none missing")
    if session["nothing_to_run"]:
        parts.append(f"{session['nothing_to_run']} with nothing to run")
    if failed:
        parts.append(f"{failed} FAILED ('longshore resume --retry-failed' runs them again)")
    if session["not_in_the_study_file"]:
        others = len(session["failed"]) - failed
        parts.append(
            f"besides {session['not_in_the_study_file']} that the study file no longer contains"
            + (f", {others} of them FAILED" if others else "")
        )
    print(f"{session['study']}, tag {session['tag']}, session {session['session']}: {', '.join(parts)}")
    for job in session["jobs"]:
        state = job["state"] + (f" ({job['why_unknown']})" if job["why_unknown"] else "")
        lost = ""
        if job["state"] == batch_systems.ENDED and not job["output_exists"]:
            lost = ", which does not exist: the job never started, or could not write"
        print(f"  job {job['id']} ({job['nodes']} nodes): {state}; its output: {job['output']}{lost}")
    for failure in session["failed"]:
        print(f"  failed: {failure['problem']}")
    if verbose:
        for cell in session["missing_cells"]:
            print(f"  missing: {cell['launches']} x {cell['cell']}")
