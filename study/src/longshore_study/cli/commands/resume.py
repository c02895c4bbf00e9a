"""`longshore resume`: continues the session that was stopped last."""

import argparse
from dataclasses import dataclass
from pathlib import Path

from longshore_study.base.errors import EXIT_OK, LongshoreError, UsageError, require_known
from longshore_study.base.terminal import count
from longshore_study.execution.launch_runner import Summary, remaining
from longshore_study.execution.session import add_session_options, print_summaries, run_session
from longshore_study.execution.session_folder import Target, started_sessions, stored_study_files
from longshore_study.planning.plan import make_plan
from longshore_study.store.launch_store import Store
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
    named = "a study file, or a study or tag of the store (default: any)"
    parser.add_argument("study", metavar="STUDY", nargs="?", help=named)
    add_session_options(parser, "only sessions of this tag (default: any)", "only this session (default: any)")


def run(args: argparse.Namespace) -> int:
    chosen = choose_sessions(args)
    found = last_touched(chosen, retry_failed=args.retry_failed)
    args.tag, args.session = found.target.tag, found.target.session
    if found.is_unfinished:
        return run_session(args, found.path, found.turns)
    print_summaries(args, [(found.target, Summary(found.planned, found.planned))])
    return EXIT_OK


@dataclass(frozen=True)
class ChosenSessions:
    """The sessions that the arguments STUDY, --tag and --session name."""

    store: Store
    study: Study | None
    """The study file, if STUDY is one."""
    name: str | None
    """The name of the study, or STUDY if it is a tag. None without STUDY."""
    targets: list[Target]

    @property
    def of_name(self) -> str:
        return f"of '{self.name}' " if self.name else ""


def choose_sessions(args: argparse.Namespace) -> ChosenSessions:
    """Raises UsageError if STUDY is no study file, and no study or tag of the store."""
    store, given, study = Store(args.store), args.study, None
    started = started_sessions(store)
    if given is not None and (given.endswith(".toml") or Path(given).is_file()):
        study = load(given)
    elif given is not None and started:
        require_known(given, {name for target in started for name in (target.study, target.tag)}, "tag or study")
    targets = [
        target
        for target in started
        if (target.study == study.name if study else given in (None, target.study, target.tag))
        if args.tag in (None, target.tag) and args.session in (None, target.session)
    ]
    return ChosenSessions(store, study, study.name if study else given, targets)


@dataclass(frozen=True)
class ResumableSession:
    target: Target
    path: str
    """The study file."""
    planned: int
    is_unfinished: bool
    """Whether planned launches are not recorded."""
    turns: list[str]
    """The tags of the states that ran in turns in this session; empty if there was one."""


def last_touched(chosen: ChosenSessions, *, retry_failed: bool) -> ResumableSession:
    """The session that ran last, of the incomplete ones if there are any."""
    study, store = chosen.study, chosen.store
    candidates: list[ResumableSession] = []
    unreadable: list[str] = []
    failed = 0
    for target in chosen.targets:
        copies = stored_study_files(target)
        if not copies and study is None:
            continue  # an imported session
        path = study.path if study else copies[0]
        try:
            of_file = study or load(path)
            plan = make_plan(of_file.in_state(target.tag))
        except UsageError as error:
            if study is not None:
                raise
            unreadable.append(str(error))  # another version of this program wrote the copy
            continue
        left, _, failed_here = remaining(plan, target, retry_failed=retry_failed)
        failed += failed_here
        turns = [tag for tag in of_file.states if store.session_path(target.study, tag, target.session).exists()]
        in_turns = turns if target.tag in turns and len(turns) > 1 else []
        candidates.append(ResumableSession(target, path, plan.launches_per_session, bool(left), in_turns))
    unfinished = any(candidate.is_unfinished for candidate in candidates)
    if not unfinished and (failed or unreadable or not candidates):
        state, then = "'longshore run' has started none", "'longshore run STUDY.toml' starts one"
        if failed:
            state = f"all launches of {count(len(candidates), 'stored session')} have run, {failed} of them failed"
            then = "'longshore resume --retry-failed' runs these again"
        if unreadable:
            state = f"{count(len(unreadable), 'stored study file')} cannot be used ({unreadable[0]})"
            then = "'longshore resume STUDY.toml' continues with another file"
        raise LongshoreError(f"no session {chosen.of_name}to resume in {store.path}: {state}; {then}")
    return max(candidates, key=lambda found: (found.is_unfinished, found.target.folder.stat().st_mtime))
