"""The guard of a machine: judges the newest session of a study against its last good sessions. The
unpaired comparison with one session on the new side is the prediction interval that this question
needs (docs/explanation/statistics.md, "The weekly guard")."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from longshore_study.base.groups import grouped
from longshore_study.base.terminal import count
from longshore_study.compare.comparison import CompareOptions, Comparison, compare
from longshore_study.compare.judged_row import JudgedRow
from longshore_study.planning.plan import Plan
from longshore_study.stats import verdict
from longshore_study.store.guard_file import read_guard_file
from longshore_study.store.launch_store import Launch, Store
from longshore_study.store.selection import Side

REGRESSED, IMPROVED = verdict.REGRESSED, verdict.IMPROVED
UNCHANGED, UNCONFIRMED, CANNOT_TELL, ACCEPTED = "unchanged", "unconfirmed", "cannot tell", "accepted"
AT_ANOTHER_LEVEL = (REGRESSED, IMPROVED, UNCONFIRMED)
"""The verdicts on sessions that do not become part of the reference."""

MARGIN = 0.02
SESSIONS = 8
MIN_SESSIONS = 4
"""With fewer sessions in the reference, nothing is judged."""
_HOW_TO_REPEAT = " ('longshore status' shows why, --retry-failed runs them again)"
SECOND_LEVEL = 0.02
"""The significance level of a second session; it is strict, because sessions of a day are alike."""
CONFIRMING = "-confirm"
"""The end of the name of a second session, which confirms the session of the name before."""


@dataclass(frozen=True)
class GuardedSession:
    """A session of the guarded study, with what an earlier call found."""

    name: str
    launches: list[Launch]
    """Those of cells that the study file still has."""
    verdict: str | None = None
    """None if the session was not judged."""
    starts_reference: bool = False
    """Whether the user accepted the level that begins with this session."""
    lacks: str = ""
    """What makes it unfit for a reference, such as `2 launches failed`. Empty if nothing does."""

    @property
    def started(self) -> str:
        return min((str(launch.envelope.get("started") or "") for launch in self.launches), default="")

    @property
    def is_good(self) -> bool:
        return not self.lacks and self.verdict not in AT_ANOTHER_LEVEL


def read_sessions(store: Store, plan: Plan, tag: str) -> list[GuardedSession]:
    """The sessions of the study and tag, in the order of time, without those that only confirm."""
    launches = grouped(store.launches(plan.study.name, tag), lambda launch: launch.session)
    sessions = [
        _session(store, plan, tag, name, of_session)
        for name, of_session in launches.items()
        if not (name.endswith(CONFIRMING) and name.removesuffix(CONFIRMING) in launches)
    ]
    return sorted(sessions, key=lambda session: (session.started, session.name))


def read_session(store: Store, plan: Plan, tag: str, name: str) -> GuardedSession:
    return _session(store, plan, tag, name, list(store.launches(plan.study.name, tag, name)))


def _session(store: Store, plan: Plan, tag: str, name: str, launches: Sequence[Launch]) -> GuardedSession:
    found = read_guard_file(store.session_path(plan.study.name, tag, name))
    cells = {cell.cell_id for cell in plan.cells}
    launches = [launch for launch in launches if launch.cell_id in cells]
    attempts = grouped(launches, lambda launch: (launch.cell_id, launch.launch_index))
    failed = sum(all(launch.problem for launch in of_launch) for of_launch in attempts.values())
    missing = 0
    if any(_digest(launch) == plan.study.digest for launch in launches):
        missing = sum(launch.key not in attempts for launch in plan.order(name))
    lacks = [f"{count(failed, 'launch')} failed"] if failed else []
    lacks += [f"{count(missing, 'launch')} missing"] if missing else []
    lacks += [] if launches else ["no launch of the cells in the study file"]
    return GuardedSession(
        name, list(launches), found.get("verdict"), bool(found.get("starts_reference")), " and ".join(lacks)
    )


def _digest(launch: Launch) -> str:
    return str((launch.envelope.get("study_file") or {}).get("digest"))


def reference_of(
    sessions: Sequence[GuardedSession], name: str, limit: int = SESSIONS
) -> tuple[list[GuardedSession], list[GuardedSession]]:
    """The last good sessions before the session `name`, `limit` at most, and the sessions among and
    after them that do not count. `sessions` are in the order of time. Sessions before a level that
    the user accepted are not looked at."""
    names = [session.name for session in sessions]
    end = names.index(name) if name in names else len(sessions)
    starts = [index for index, session in enumerate(sessions[: end + 1]) if session.starts_reference]
    before = sessions[starts[-1] if starts else 0 : end]
    good = [session for session in before if session.is_good][-limit:]
    return good, [session for session in before if not session.is_good]


@dataclass(frozen=True)
class Finding:
    """The verdict on a session, and what it is based on."""

    verdict: str
    reference: tuple[str, ...] = ()
    """The names of the sessions of the reference."""
    comparison: Comparison | None = None
    """None if nothing could be compared."""
    rows: tuple[JudgedRow, ...] = ()
    """The rows that changed, the largest change first."""
    machine: bool = False
    """Whether the whole machine changed, as its controls show."""
    confirmed_by: str | None = None
    """The session that confirmed a regression, or failed to. None: a regression is a suspicion."""
    second: Comparison | None = None
    """The comparison of that session."""
    reasons: tuple[str, ...] = ()
    """What prevents the verdict `unchanged`, and what to do."""

    @property
    def is_suspicion(self) -> bool:
        return self.verdict == REGRESSED and self.confirmed_by is None

    @property
    def shown(self) -> Comparison | None:
        return self.second if self.verdict == UNCONFIRMED else self.comparison


def judge(
    reference: Sequence[GuardedSession], new: GuardedSession, *, left_out: Sequence[GuardedSession] = (),
    margin: float = MARGIN, before: GuardedSession | None = None,
) -> Finding:  # fmt: skip
    """Judges one session. What is slower beyond the margin at 5 % is suspected, without a
    correction. It is confirmed by the session `before` (`slow_before`), or by `confirm`. Raises
    LongshoreError if no launch of the new session has a usable figure."""
    names = tuple(session.name for session in reference)
    comparison = _compare(reference, new, margin) if len(reference) >= MIN_SESSIONS else None
    known = len(reference)
    if comparison is not None:
        known = max((row.sessions[0] for row in comparison.rows if row.new), default=0)
    if comparison is None or known < MIN_SESSIONS:
        return Finding(CANNOT_TELL, names, reasons=_too_few(known, reference, new, left_out))
    reasons = _doubts(comparison, reference, new)
    rows, machine = _slower(comparison, verdict.LEVEL)
    if rows or machine:
        suspicion = Finding(REGRESSED, names, comparison, _largest_first(rows), machine, reasons=reasons)
        confirmed = confirm(suspicion, reference, before, verdict.LEVEL) if before else suspicion
        return confirmed if confirmed.verdict == REGRESSED else suspicion
    rows, machine = comparison.rows_beyond_doubt(IMPROVED), comparison.shift_is_beyond_doubt(IMPROVED)
    if (rows or machine) and not reasons:
        return Finding(IMPROVED, names, comparison, _largest_first(rows), machine)
    return Finding(CANNOT_TELL if reasons else UNCHANGED, names, comparison, reasons=reasons)


def slow_before(sessions: Sequence[GuardedSession], name: str) -> GuardedSession | None:
    """The session directly before `name`, if it is complete and was suspected, too."""
    index = [session.name for session in sessions].index(name)
    before = sessions[index - 1] if index else None
    return before if before and not before.lacks and before.verdict in (REGRESSED, UNCONFIRMED) else None


def confirm(
    first: Finding, reference: Sequence[GuardedSession], second: GuardedSession, level: float = SECOND_LEVEL
) -> Finding:
    """The verdict after a second session. The regression of a row is confirmed if the row is slower
    beyond the margin in the second session, too, at this significance level. No correction is made,
    because the first session has named the rows."""
    assert first.comparison is not None  # noqa: S101 - only regressions are confirmed
    comparison = _compare(reference, second, first.comparison.margin)
    rows, machine = _slower(comparison, level)
    slower = {row.key for row in rows}
    confirmed = [row for row in first.rows if row.key in slower]
    machine = first.machine and machine
    if confirmed or machine:
        return replace(first, rows=tuple(confirmed), machine=machine, confirmed_by=second.name, second=comparison)
    reasons = first.reasons
    if second.lacks:
        reasons = (f"session {second.name}, which repeats a slow one, proves nothing: {second.lacks}", *reasons)
    unconfirmed = CANNOT_TELL if reasons else UNCONFIRMED
    return replace(first, verdict=unconfirmed, reasons=reasons, confirmed_by=second.name, second=comparison)


def accepted(sessions: Sequence[GuardedSession]) -> list[GuardedSession]:
    """The sessions whose level `--accept` makes the reference: those with the verdict of the newest
    session, since the last good session. Empty if the newest session is at no other level."""
    if not sessions or sessions[-1].verdict not in (REGRESSED, IMPROVED):
        return []
    since = max((index + 1 for index, session in enumerate(sessions) if session.is_good), default=0)
    return [session for session in sessions[since:] if session.verdict == sessions[-1].verdict]


def _compare(reference: Sequence[GuardedSession], new: GuardedSession, margin: float) -> Comparison:
    launches = [launch for session in reference for launch in session.launches]
    sides = Side(f"last {len(reference)} sessions", launches), Side(new.name, new.launches)
    return compare(*sides, CompareOptions(margin=margin))


def _slower(comparison: Comparison, level: float) -> tuple[list[JudgedRow], bool]:
    """The rows that are slower beyond the margin at this level, and whether the machine is."""
    shift = comparison.shift
    machine = shift.measured is not None and shift.verdict == REGRESSED and (
        verdict.beyond_margin(shift.measured, math.log1p(comparison.margin)) <= level
    )  # fmt: skip
    return [row for row in comparison.rows if _is_slower(row, level)], machine


def _is_slower(row: JudgedRow, level: float) -> bool:
    if row.judgement is None or row.estimate is None:
        return row.verdict == REGRESSED  # simulated: without noise
    return row.judgement.p <= level and row.estimate.difference < 0.0


def _largest_first(rows: Iterable[JudgedRow]) -> tuple[JudgedRow, ...]:
    return tuple(sorted(rows, key=lambda row: -abs(row.estimate.difference) if row.estimate else 0.0))


def _too_few(
    known: int, reference: Sequence[GuardedSession], new: GuardedSession, left_out: Sequence[GuardedSession]
) -> tuple[str, ...]:
    there = known + (not new.lacks)
    left = max(1, MIN_SESSIONS - there + 1)
    sessions = "session gives" if left == 1 else "sessions give"
    texts = [f"{there} of the {MIN_SESSIONS} good sessions that a reference needs; {left} more {sessions} a verdict"]
    if new.lacks:
        texts.append(f"this session does not count: {new.lacks}{_HOW_TO_REPEAT}")
    if known < len(reference):
        texts.append("the study file has changed, and the sessions before did not measure its figures")
    unfit = [session for session in left_out if session.lacks]
    if unfit:
        texts.append(f"not counted: {count(len(unfit), 'session')} before (the last: {unfit[-1].lacks})")
    return tuple(texts)


def _doubts(comparison: Comparison, reference: Sequence[GuardedSession], new: GuardedSession) -> tuple[str, ...]:
    """Why the absence of a regression would prove nothing."""
    doubts = [new.lacks + _HOW_TO_REPEAT] if new.lacks else []
    same_study = len({_digest(launch) for session in (*reference, new) for launch in session.launches}) == 1
    gone = sum(bool(row.reference) and not row.new for row in comparison.rows)
    if gone and same_study and not new.lacks:
        doubts.append(f"{count(gone, 'figure')} of the reference missing")
    invalid = comparison.counts.get(verdict.INVALID, 0)
    if invalid:
        doubts.append(f"{count(invalid, 'figure')} above the possible")
    if not any(row.judgement or row.simulated for row in comparison.rows):
        doubts.append("figures do not vary between sessions, so no row can be tested")
    return tuple(doubts)
