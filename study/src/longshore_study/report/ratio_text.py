"""The ratio of a compared row as text, with its interval and, if a common shift was removed, the
raw ratio."""

from collections.abc import Sequence

from longshore_study.base.texts import ratio
from longshore_study.compare.estimate import STATISTIC
from longshore_study.compare.judged_row import JudgedRow


def ratio_text(row: JudgedRow) -> str:
    text = f"ratio {ratio(row.ratio)}"
    if row.interval:
        text += f", 95 % interval {ratio(row.interval[0])} to {ratio(row.interval[1])}"
    if shows_raw(row):
        text += f" ({row.ratio_kind}; raw ratio {ratio(row.raw_ratio)})"
    return text


def shows_raw(row: JudgedRow) -> bool:
    """The raw ratio is shown only if its text differs from the text of the ratio."""
    return row.raw_ratio is not None and ratio(row.raw_ratio) != ratio(row.ratio)


def kinds_text(rows: Sequence[JudgedRow]) -> str:
    """Explains the figures and the ratios of a table."""
    kinds = list(dict.fromkeys(row.ratio_kind for row in rows if row.ratio_kind))
    figures = f"The two figures: {STATISTIC}."
    if not kinds:
        return figures
    raw = " Raw: new / reference." if any(shows_raw(row) for row in rows) else ""
    return f"{figures} Ratio: {' or '.join(kinds)}.{raw}"
