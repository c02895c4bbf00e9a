"""The look of verdicts in tables and plots: a glyph, a shape and a word, because colour alone must
not carry information; and the ratio of a compared row as text."""

from collections.abc import Sequence
from dataclasses import dataclass

from longshore_study.base.texts import ratio
from longshore_study.compare.estimate import STATISTIC
from longshore_study.compare.judged_row import JudgedRow
from longshore_study.report.marks import legend
from longshore_study.report.markup import Child, Element, element


@dataclass(frozen=True)
class VerdictLook:
    glyph: str
    shape: str
    open: bool
    meaning: str


# In the order of tables: the verdicts that need attention come first.
VERDICTS = {
    "regressed": VerdictLook("▼", "down", open=False, meaning="worse by more than the margin"),
    "failed": VerdictLook("✕", "cross", open=False, meaning="a launch failed"),
    "invalid": VerdictLook("!", "plus", open=False, meaning="above its bound or not verified"),
    "missing": VerdictLook("∅", "bar", open=True, meaning="measured on one side only"),
    "improved": VerdictLook("▲", "up", open=False, meaning="better by more than the margin"),
    "inconclusive": VerdictLook("?", "circle", open=True, meaning="the data cannot tell"),
    "untestable": VerdictLook("–", "diamond", open=True, meaning="too few sessions to judge; the effect is shown"),
    "same": VerdictLook("=", "square", open=False, meaning="any difference is within the margin"),
}


def look_of(name: str) -> VerdictLook:
    return VERDICTS[base_name(name)]


def base_name(name: str) -> str:
    """The verdict without its question mark: `invalid?` is drawn as `invalid`."""
    return name.rstrip("?")


def badge(name: str) -> Element:
    return state_badge(look_of(name).glyph, name, base_name(name))


def state_badge(glyph: str, word: str, style: str) -> Element:
    """Glyph and word in the colours of the verdict `style`."""
    return element("span", glyph_mark(glyph), f" {word}", class_=f"badge v-{style}")


def glyph_mark(glyph: str) -> Element:
    """A glyph that a word beside it explains to screen readers."""
    return element("span", glyph, class_="glyph", aria_hidden="true")


def order_of(name: str) -> int:
    return list(VERDICTS).index(base_name(name))


def glyph_list(names: Sequence[str]) -> Child:
    return legend([(look_of(name).shape, mark_style(name), name) for name in names])


def mark_style(name: str) -> str:
    look = look_of(name)
    return f"v-{base_name(name)}" + (" open" if look.open else "")


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
