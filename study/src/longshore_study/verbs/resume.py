"""`longshore resume`: goes on with the session of a study that was stopped last."""

from __future__ import annotations

import argparse

from longshore_study.errors import LongshoreError, UsageError
from longshore_study.plan import make_plan
from longshore_study.run import remaining
from longshore_study.session import add_session_options, run_session
from longshore_study.session_folder import Target, kept_study_files
from longshore_study.store import Store, name_of
from longshore_study.study import Study
from longshore_study.study_file import load
from longshore_study.terminal import count

EXAMPLES = """examples:
  longshore resume                    the session that was worked on last and is not complete
  longshore resume study.toml         the same, of this study file
  longshore resume --session a        this session

Without a study file, the copy that is kept beside the launches is used.
exit status: as of 'longshore run'"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    parser.add_argument(
        "study", metavar="STUDY.toml", nargs="?", help="the study file; default: the copy kept in the store"
    )
    add_session_options(parser, "only sessions of this tag (default: of any)", "only this session (default: any)")


def run(args: argparse.Namespace) -> int:
    store = Store(args.store)
    study = load(args.study) if args.study else None
    target, path = unfinished(store, study, args.tag, args.session, retry_failed=args.retry_failed)
    args.tag, args.session = target.tag, target.session
    return run_session(args, path)


def unfinished(
    store: Store, study: Study | None, tag: str | None, session: str | None, *, retry_failed: bool
) -> tuple[Target, str]:
    """The session touched last that lacks launches, and the study file to go on with."""
    candidates: list[tuple[float, Target, str]] = []
    unread: list[str] = []
    looked_at = failed = 0
    for name, a_tag, a_session in session_names(store):
        if (study and study.name != name) or (tag or a_tag) != a_tag or (session or a_session) != a_session:
            continue
        target = Target(store, name, a_tag, a_session)
        kept = kept_study_files(target)
        if not kept and study is None:
            continue  # imported, or of a program that kept no study file
        path = study.path if study else kept[0]
        try:
            plan = make_plan(study or load(path))
        except UsageError as error:
            if study is not None:
                raise
            unread.append(str(error))  # a copy of a version of this program that knew other keys
            continue
        looked_at += 1
        left, _, failed_here = remaining(plan, target, retry_failed=retry_failed)
        failed += failed_here
        if left:
            folder = store.session_path(name, a_tag, a_session)
            candidates.append((folder.stat().st_mtime, target, path))
    if not candidates:
        what = f"'{study.name}' " if study else ""
        state = f"all {looked_at} stored sessions are complete" if looked_at else "none is stored"
        then = "'longshore run STUDY.toml' starts one"
        if failed:
            state = f"all launches of {count(looked_at, 'stored session')} have run, {failed} of them failed"
            then = "'longshore resume --retry-failed' runs these again"
        if unread:
            state = f"{count(len(unread), 'kept study file')} cannot be used ({unread[0]})"
            then = "'longshore resume STUDY.toml' goes on with a file of yours"
        raise LongshoreError(f"no session {what}to resume in {store.path}: {state}; {then}")
    _, target, path = max(candidates, key=lambda candidate: candidate[0])
    return target, path


def session_names(store: Store) -> list[tuple[str, str, str]]:
    """(study, tag, session) of every session folder: also of one that was stopped before its first launch."""
    names = store.names()
    folders = {store.session_path(*triple) for triple in names}
    begun = {path.parent for path in store.path.glob("*/*/*/study-*.toml")} - folders
    more = (tuple(name_of(part) for part in folder.relative_to(store.path).parts) for folder in begun)
    return sorted({*names, *((a, b, c) for a, b, c in more)})
