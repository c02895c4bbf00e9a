"""`longshore guard`: measures a session, and judges it against the last good ones in one line."""

import argparse
import contextlib
import math
import shlex
import sys
import time
from dataclasses import replace
from pathlib import Path

from longshore_study.analyses import guard
from longshore_study.analyses.guard import Finding
from longshore_study.base.default_store import store_option
from longshore_study.base.durations import duration_of, today
from longshore_study.base.errors import EXIT_OK, EXIT_REGRESSED, EXIT_UNDECIDED, LongshoreError, UsageError
from longshore_study.base.json_values import attributes
from longshore_study.base.terminal import count
from longshore_study.cli.commands.report import facts_of
from longshore_study.cli.options import add_margin, add_output
from longshore_study.cli.result_output import print_result, write_file
from longshore_study.execution.launch_runner import EXIT_LAUNCH_FAILED, remaining
from longshore_study.execution.session import add_session_options, run_session
from longshore_study.execution.session_folder import Target
from longshore_study.output import guard_text
from longshore_study.planning.plan import Plan, make_plan
from longshore_study.report.page import build_page
from longshore_study.store.guard_file import update_guard_file
from longshore_study.store.launch_store import Store
from longshore_study.store.selection import Side
from longshore_study.study_file.reader import load

EXAMPLES = """examples:
  longshore guard study.toml                     measures today's session; the same command continues a stopped one
  longshore guard study.toml -o /www/guard.html  names the report (default: guard.html)
  longshore guard study.toml --accept            measures nothing: the changed level becomes the reference

The session is judged against the last good sessions of the same study and tag. A slowdown beyond --margin counts if
the session before, or a second session that guard runs at once, shows it, too. Sessions at another level do not
become part of the reference.
stdout has one line, for the subject of a mail; stderr has the progress.

exit status: 0 unchanged or improved, 1 regressed, 2 cannot tell (the line says what to do), 64 usage or study file,
             75 the time of --stop-after is used up, 130 Ctrl-C: then the same command with --session continues"""
STATUS = {
    guard.UNCHANGED: EXIT_OK, guard.IMPROVED: EXIT_OK, guard.UNCONFIRMED: EXIT_OK,
    guard.REGRESSED: EXIT_REGRESSED, guard.CANNOT_TELL: EXIT_UNDECIDED,
}  # fmt: skip


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("study", metavar="STUDY.toml", help="the study file ('longshore init' writes one)")
    parser.add_argument(
        "--sessions", metavar="N", type=_sessions, default=guard.SESSIONS,
        help=f"how many good sessions are the reference (default: {guard.SESSIONS})",
    )  # fmt: skip
    add_margin(parser, f"ignore slowdowns below it: 2%% or 0.02 (default: {100 * guard.MARGIN:g}%%)", guard.MARGIN)
    parser.add_argument(
        "--confirm-after", metavar="TIME", type=duration_of("--confirm-after"), default=0,
        help="wait before the second session, such as 1h, so that a slow hour can pass (default: no time)",
    )  # fmt: skip
    parser.add_argument("--accept", action="store_true", help="take the newest, changed level as the reference")
    add_output(parser, "default: guard.html", Path("guard.html"))
    add_session_options(parser)


def run(args: argparse.Namespace) -> int:
    plan = make_plan(load(args.study))
    args.session = today() if args.session is None else args.session
    if args.session.endswith(guard.CONFIRMING):
        raise UsageError(f"--session {args.session}: guard gives names that end with {guard.CONFIRMING} itself")
    if not args.output.parent.is_dir():
        raise UsageError(f"-o {args.output}: there is no folder {args.output.parent}")
    target = Target(Store(args.store), plan.study.name, plan.study.name if args.tag is None else args.tag, args.session)
    if args.accept:
        return _accept(args, plan, target)
    if args.dry_run:
        return run_session(args, args.study)
    try:
        return _guard(args, plan, target)
    except UsageError:
        raise
    except LongshoreError as error:
        return _end(args, target, Finding(guard.CANNOT_TELL, reasons=(str(error),)))


def _guard(args: argparse.Namespace, plan: Plan, target: Target) -> int:
    begun = time.monotonic()
    if (status := _measure(args, plan, target)) is not None:
        return status
    sessions = guard.read_sessions(target.store, plan, target.tag)
    new = next(session for session in sessions if session.name == target.session)
    reference, left_out = guard.reference_of(sessions, new.name, args.sessions)
    before = guard.slow_before(sessions, new.name)
    finding = guard.judge(reference, new, left_out=left_out, margin=args.margin, before=before)
    if finding.is_suspicion:
        print(f"longshore: {guard_text.suspicion(finding)}; a second session follows", file=sys.stderr)
        second = replace(target, session=target.session + guard.CONFIRMING)
        if remaining(plan, second)[0]:
            time.sleep(args.confirm_after)
        if args.stop_after is not None:
            args.stop_after = max(1, args.stop_after - math.ceil(time.monotonic() - begun))
        if (status := _measure(args, plan, second)) is not None:
            return status
        repeated = guard.read_session(target.store, plan, target.tag, second.session)
        finding = guard.confirm(finding, reference, repeated)
    update_guard_file(target.folder, {"verdict": finding.verdict})
    shown = finding.shown
    tag = Side(target.tag, [launch for session in sessions for launch in session.launches])
    facts = facts_of(target.store, [shown.reference, shown.new] if shown else [tag], shown)
    write_file(args.output, build_page(facts).encode("utf-8", "replace"))
    if finding.verdict in (guard.REGRESSED, guard.IMPROVED):
        print(f"longshore: if this level is right: {_command(args, target)} --accept", file=sys.stderr)
    return _end(args, target, finding, str(args.output))


def _measure(args: argparse.Namespace, plan: Plan, target: Target) -> int | None:
    """Runs what the session lacks. Returns the exit status if launches are left, else None."""
    words = argparse.Namespace(**vars(args) | {"session": target.session, "json": False})
    with contextlib.redirect_stdout(sys.stderr):
        status = run_session(words, args.study)
    left = len(remaining(plan, target)[0])
    if not left:
        return None
    again = f"{_command(args, target)} --session {shlex.quote(args.session)}"
    reason = f"{count(left, 'launch')} of session {target.session} are not recorded yet; then type: {again}"
    _end(args, target, Finding(guard.CANNOT_TELL, reasons=(reason,)))
    return status if status not in (EXIT_OK, EXIT_LAUNCH_FAILED) else EXIT_UNDECIDED


def _accept(args: argparse.Namespace, plan: Plan, target: Target) -> int:
    sessions = guard.read_sessions(target.store, plan, target.tag)
    chosen = guard.accepted(sessions)
    if not chosen:
        newest = f"the newest session {sessions[-1].name} is {sessions[-1].verdict or 'not judged'}" if sessions else (
            "no session is stored"
        )  # fmt: skip
        raise LongshoreError(f"there is no changed level to accept: {newest}; 'longshore guard' judges a new session")
    for session in chosen:
        state = {"verdict": guard.ACCEPTED, "starts_reference": session is chosen[0]}
        update_guard_file(replace(target, session=session.name).folder, state)
    there = f"{len(chosen)} of the {guard.MIN_SESSIONS} sessions that it needs"
    line = f"{_name(target)}: accepted: the reference begins with session {chosen[0].name}; it has {there}"
    names = [session.name for session in chosen]
    document = {"schema": 1, "verdict": guard.ACCEPTED, "reference": names, "subject": line}
    print_result(args, lambda: document, lambda: print(line))
    return EXIT_OK


def _end(args: argparse.Namespace, target: Target, finding: Finding, report: str | None = None) -> int:
    line = f"{_name(target)} {target.session}: {guard_text.subject(finding)}"
    about = {**attributes(target, "study tag session"), "subject": line, "report": report}
    document = guard_text.document(finding) | about
    return print_result(args, lambda: document, lambda: print(line), STATUS[finding.verdict])


def _name(target: Target) -> str:
    return target.study if target.tag == target.study else f"{target.study} {target.tag}"


def _command(args: argparse.Namespace, target: Target) -> str:
    words = ["longshore", "guard", args.study]
    words += ["--tag", target.tag] if target.tag != target.study else []
    return shlex.join([*words, *store_option(target.store.path)])


def _sessions(text: str) -> int:
    if not text.isdecimal() or int(text) < guard.MIN_SESSIONS:
        raise UsageError(f"--sessions {text}: a reference has {guard.MIN_SESSIONS} sessions or more")
    return int(text)
