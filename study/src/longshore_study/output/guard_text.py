"""The output of `longshore guard`: one line, which is the subject of a mail, or JSON."""

import math
from typing import Any

from longshore_study.analyses.guard import CANNOT_TELL, IMPROVED, REGRESSED, UNCONFIRMED, Finding
from longshore_study.base import terminal
from longshore_study.base.json_values import attributes
from longshore_study.metrics.launch_metrics import names_of


def subject(finding: Finding) -> str:
    """The verdict in one line, without the name of the session."""
    changed = suspicion(finding) if finding.rows or finding.machine else ""
    if finding.verdict == CANNOT_TELL:
        return f"cannot tell: {'; '.join((*finding.reasons, *([changed] if changed else [])))}"
    if finding.verdict == REGRESSED:
        return "; ".join((f"regressed: {changed}, confirmed by session {finding.confirmed_by}", *finding.reasons))
    if finding.verdict == IMPROVED:
        return f"improved: {changed}"
    if finding.verdict == UNCONFIRMED:
        return f"unchanged: {changed} in this session, but not in session {finding.confirmed_by}"
    return f"unchanged: {_sensitivity(finding)}"


def suspicion(finding: Finding) -> str:
    """What changed, such as `halo mode waitall 9 % slower than the last 8 sessions`."""
    return f"{_changed(finding)} than the last {len(finding.reference)} sessions"


def document(finding: Finding) -> dict[str, Any]:
    return {
        "schema": 1,
        **attributes(finding, "verdict reference"),
        "margin": finding.comparison.margin if finding.comparison else None,
        "machine": finding.machine,
        "rows": [
            {
                "pattern": row.key.pattern, "variant": row.key.variant, "between": row.key.cell,
                "metric": row.key.metric, "ratio": row.ratio, "interval": row.interval,
            }
            for row in finding.rows
        ],
        **attributes(finding, "confirmed_by reasons"),
    }  # fmt: skip


def _changed(finding: Finding) -> str:
    assert finding.comparison is not None  # noqa: S101 - something changed
    shift, rows = finding.comparison.shift, finding.rows
    if finding.machine and shift.ratio is not None:
        more = f" (and {terminal.count(len(rows), 'figure')} beyond that)" if rows else ""
        return f"the whole machine {terminal.times(shift.ratio)}{more}"
    name = names_of(row.key for row in finding.comparison.rows)
    more = f" (and {len(rows) - 1} more of {len(finding.comparison.rows)} figures)" if len(rows) > 1 else ""
    how = terminal.times(math.exp(rows[0].estimate.difference)) if rows[0].estimate else rows[0].verdict
    return f"{name(rows[0].key)} {how}{more}"


def _sensitivity(finding: Finding) -> str:
    """The number of judged figures, and the slowdowns that would have been found."""
    assert finding.comparison is not None  # noqa: S101 - it was judged
    judged = [row for row in finding.comparison.rows if row.judgement or (row.simulated and row.new)]
    new = sum(bool(row.new) and row not in judged for row in finding.comparison.rows)
    text = f"{terminal.count(len(judged), 'figure')} against the last {len(finding.reference)} sessions"
    slowdowns = sorted(row.smallest_slowdown for row in judged if row.smallest_slowdown is not None)
    if slowdowns:
        low, high = terminal.percent(slowdowns[0]), terminal.percent(slowdowns[-1])
        text += f"; it finds slowdowns of {low}" + (f" to {high}" if high != low else "")
    return text + (f"; {terminal.count(new, 'figure')} without a reference yet" if new else "")
