"""The look of verdicts, the same in every table and plot: a glyph, a shape and a word beside the
colour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from longshore_study.report.markup import Child, Element, element


@dataclass(frozen=True)
class Verdict:
    """The glyph, shape and meaning of a verdict."""

    glyph: str
    shape: str
    open: bool
    meaning: str


VERDICTS = {
    "regressed": Verdict("▼", "down", open=False, meaning="worse by more than the margin"),
    "improved": Verdict("▲", "up", open=False, meaning="better by more than the margin"),
    "same": Verdict("=", "square", open=False, meaning="any difference is within the margin"),
    "inconclusive": Verdict("?", "circle", open=True, meaning="the data cannot tell"),
    "untestable": Verdict("–", "diamond", open=True, meaning="too few sessions to judge; the effect is shown"),
    "failed": Verdict("✕", "cross", open=False, meaning="a launch failed"),
    "invalid": Verdict("!", "plus", open=False, meaning="above its bound or not verified"),
    "missing": Verdict("∅", "bar", open=True, meaning="measured on one side only"),
}  # fmt: skip
UNKNOWN = Verdict("·", "circle", open=True, meaning="")
# The order of tables: the verdicts that need attention come first.
ORDER = ("regressed", "failed", "invalid", "missing", "improved", "inconclusive", "untestable", "same")


def verdict_of(name: str) -> Verdict:
    return VERDICTS.get(base_name(name), UNKNOWN)


def base_name(name: str) -> str:
    """`invalid?` is drawn as `invalid`."""
    return name.rstrip("?")


def badge(name: str) -> Element:
    """Glyph and word."""
    return element(
        "span",
        element("span", verdict_of(name).glyph, class_="glyph", aria_hidden="true"),
        " ",
        name,
        class_=f"badge v-{base_name(name)}" if base_name(name) in VERDICTS else "badge",
    )


def order_of(name: str) -> int:
    return ORDER.index(base_name(name)) if base_name(name) in ORDER else len(ORDER)


def glyph_list(names: Sequence[str]) -> Child:
    """The legend of a forest plot."""
    return element(
        "ul",
        [
            element(
                "li",
                element(
                    "svg",
                    element("use", href=f"#m-{verdict_of(n).shape}", x="8", y="8", class_=f"mark {mark_style(n)}"),
                    class_="key",
                    aria_hidden="true",
                ),
                n,
            )
            for n in names
        ],
        class_="legend",
    )


def mark_style(name: str) -> str:
    look = verdict_of(name)
    return f"v-{base_name(name)}" + (" open" if look.open else "")
