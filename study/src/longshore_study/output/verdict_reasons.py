"""Why a row of a comparison has its verdict, in one line for people: `longshore compare -v`."""

from longshore_study.base import terminal
from longshore_study.compare.judged_row import JudgedRow
from longshore_study.stats import verdict
from longshore_study.stats.verdict import Judgement

_OTHER = {
    verdict.UNTESTABLE: "the data do not show how much sessions differ",
    verdict.FAILED: "launches of one side failed",
    verdict.INVALID: "a figure is above the bound of this machine, so the measurement is doubtful",
    verdict.MISSING: "one side did not measure it",
}


def reason(row: JudgedRow, margin: float) -> str:
    """The reason, with the p value that decided. A verdict needs 0.05 or less."""
    of_margin = f"the margin of {terminal.percent(margin)}"
    judged = row.judgement
    if row.simulated and row.verdict not in _OTHER:
        place = "within" if row.verdict == verdict.SAME else "beyond"
        return f"simulated figures have no noise, and the ratio is {place} {of_margin}"
    if judged is None:
        return _OTHER.get(row.verdict, "it was not tested")
    corrected = f"p {terminal.significant(judged.adjusted_p, 2)} after the correction for the number of rows"
    if row.verdict in (verdict.REGRESSED, verdict.IMPROVED):
        return f"the interval lies beyond {of_margin}; {corrected}"
    if row.verdict == verdict.SAME:
        p = terminal.significant(judged.equivalence_p, 2)
        return f"a difference larger than {of_margin} is ruled out, p {p}"
    return _why_inconclusive(judged, of_margin, corrected)


def _why_inconclusive(judged: Judgement, of_margin: str, corrected: str) -> str:
    low, high = judged.interval
    if judged.p <= verdict.LEVEL:
        return f"the interval lies beyond {of_margin}, as one of many rows may by chance; {corrected}"
    if low <= 0.0 <= high:
        return f"the interval holds both no change and changes beyond {of_margin}"
    word = "slower" if high < 0 else "faster"
    return f"it is {word}, but the interval does not tell whether by more than {of_margin}"
