"""`longshore resume`: continues the session that was stopped last."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from longshore_study.base.errors import EXIT_OK, LongshoreError, UsageError, require_known
from longshore_study.base.terminal import count
from longshore_study.execution.launch_runner import Summary, remaining
from longshore_study.execution.session import add_session_options, print_summaries, run_session
from longshore_study.execution.session_folder import Target, stored_study_files
from longshore_study.planning.plan import make_plan
from longshore_study.store.launch_store import Store, name_of
from longshore_study.study_file.reader import load
from longshore_study.study_file.study import Study

EXAMPLES = """examples:
  longshore resume                    the incomplete session that ran last
  longshore resume study.toml         the same, of this study file
  longshore resume new-image          the same, of this tag or study
  longshore resume --session a        this session

Without a study file, the copy beside the launches is used.
exit status: as for 'longshore run'; 0 also if all sessions are complete, 3 also if launches have failed"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    parser.add_argument(
        "study",
        metavar="STUDY",
        nargs="?",
        help="a study file, or a study or tag of the store (default: any)",
    )
    add_session_options(parser, "only sessions of this tag (default: any)", "only this session (default: any)")


def run(args: argparse.Namespace) -> int:
    store = Store(args.store)
    study, name = study_or_name(store, args.study)
    found = last_touched(store, study, name, args.tag, args.session, retry_failed=args.retry_failed)
    args.tag, args.session = found.target.tag, found.target.session
    if found.left:
        return run_session(args, found.path, found.turns)
    print_summaries(args, [(found.target, Summary(found.planned, found.planned))])
    return EXIT_OK


def study_or_name(store: Store, given: str | None) -> tuple[Study | None, str | None]:
    """The study if `given` is a study file, or `given` if it is a study or tag of the store."""
    if given is None:
        return None, None
    if given.endswith(".toml") or Path(given).is_file():
        return load(given), None
    known = {name for study, tag, _ in session_names(store) for name in (study, tag)}
    if known:
        require_known(given, known, "tag or study")
    return None, given


@dataclass(frozen=True)
class ResumableSession:
    target: Target
    path: str
    """The study file."""
    planned: int
    """The number of planned launches."""
    left: int
    """The number of planned launches that are not recorded."""
    turns: list[str]
    """The tags of the states that ran in turns in this session; empty if there was one."""


def last_touched(
    store: Store, study: Study | None, name: str | None, tag: str | None, session: str | None, *, retry_failed: bool
) -> ResumableSession:
    """The incomplete session that ran last. If all sessions are complete, the session that ran
    last."""
    candidates: list[tuple[bool, float, ResumableSession]] = []
    unreadable: list[str] = []
    examined = failed = 0
    for a_study, a_tag, a_session in session_names(store):
        if (study.name if study else a_study) != a_study or name not in (None, a_study, a_tag):
            continue
        if (tag or a_tag) != a_tag or (session or a_session) != a_session:
            continue
        target = Target(store, a_study, a_tag, a_session)
        copies = stored_study_files(target)
        if not copies and study is None:
            continue  # an imported session, or a session of a version that stored no copies
        path = study.path if study else copies[0]
        try:
            of_file = study or load(path)
            plan = make_plan(of_file.in_state(a_tag))
        except UsageError as error:
            if study is not None:
                raise
            unreadable.append(str(error))  # another version of this program wrote the copy
            continue
        examined += 1
        left, _, failed_here = remaining(plan, target, retry_failed=retry_failed)
        failed += failed_here
        turns = [name for name in of_file.states if store.session_path(a_study, name, a_session).exists()]
        in_turns = turns if a_tag in turns and len(turns) > 1 else []
        found = ResumableSession(target, path, plan.launches_per_session, len(left), in_turns)
        candidates.append((bool(left), target.folder.stat().st_mtime, found))
    unfinished = any(is_left for is_left, _, _ in candidates)
    if not unfinished and (failed or unreadable or not candidates):
        of_name = f"of '{study.name if study else name}' " if study or name else ""
        state, then = "'longshore run' has started none", "'longshore run STUDY.toml' starts one"
        if failed:
            state = f"all launches of {count(examined, 'stored session')} have run, {failed} of them failed"
            then = "'longshore resume --retry-failed' runs these again"
        if unreadable:
            state = f"{count(len(unreadable), 'stored study file')} cannot be used ({unreadable[0]})"
            then = "'longshore resume STUDY.toml' continues with another file"
        raise LongshoreError(f"no session {of_name}to resume in {store.path}: {state}; {then}")
    return max(candidates, key=lambda candidate: candidate[:2])[2]


def session_names(store: Store) -> list[tuple[str, str, str]]:
    """(study, tag, session) of every session, even of sessions that were stopped before the first
    launch ended."""
    names = store.names()
    folders = {store.session_path(*triple) for triple in names}
    started = {path.parent for path in store.path.glob("*/*/*/study-*.toml")} - folders
    more = (tuple(name_of(part) for part in folder.relative_to(store.path).parts) for folder in started)
    return sorted({*names, *((a, b, c) for a, b, c in more)})
