"""Finds numbers of which a match has only a part: `([0-9.]+)` matches 11 of 11,5, and 1.15 of
1.15e+03. If a pattern itself contains a mark, such as the comma between two groups, the mark
separates two numbers."""

import re

_CONTEXT = 24
_MARKS = ",'\N{RIGHT SINGLE QUOTATION MARK}_\N{NO-BREAK SPACE}\N{THIN SPACE}\N{NARROW NO-BREAK SPACE}"
"""Marks of a fraction or between groups of digits, besides the point."""
_MINUS = "-\N{MINUS SIGN}"
_TIMES = "*x\N{MULTIPLICATION SIGN}"
_AFTER = re.compile(
    rf"""\d | \.\d | (?P<mark>[{_MARKS}])\d | \.?[EeDd][-+]?\d
       | (?P<fortran>[-+])\d{{3}}(?!\d) | (?P<hexadecimal>[xX])[0-9a-fA-F]
       | [ ]?[{_TIMES}][ ]?10(?:\^|\*\*)""",
    re.VERBOSE,
)
_BEFORE = re.compile(
    rf"""(?: \d | \d\. | \d(?P<mark>[{_MARKS}]) | (?<![\w.])\. | \d\.?[EeDd][-+]?
       | (?<![\w).\]])(?P<minus>[{_MINUS}]) )\Z""",
    re.VERBOSE,
)
_NO_LITERALS = re.compile(r"\[\^?\]?[^]]*\]|\{[^}]*\}|\\[A-Za-z]|\(\?(?:P?<\w+>|:|=|!|<=|<!)")
"""Parts of a pattern that name no single character: sets, repetitions, classes, kinds of groups."""


def whole_number(match: re.Match[str], group: str | int) -> str | None:
    """The number of which the group has only a part, with some text around. None if the group has
    all of it."""
    text, begin, end = match.string, match.start(group), match.end(group)
    named = _NO_LITERALS.sub("", match.re.pattern)

    def separates(mark: str | None, place: int) -> bool:
        return mark is not None and mark in named and match.start() <= place < match.end()

    before = _BEFORE.search(text[max(0, begin - _CONTEXT) : begin])
    if before and separates(before["mark"] or before["minus"], begin - 1):
        before = None
    after = _AFTER.match(text, end)
    if after and (
        separates(after["mark"], end)
        or (after["fortran"] and "." not in match[group])  # 1.0-100, but not 1-100
        or (after["hexadecimal"] and match[group].lstrip("+-") != "0")
    ):
        after = None
    if not before and not after:
        return None
    first = re.split(r"[ \t\n]", text[max(0, begin - _CONTEXT) : begin])[-1]
    rest = re.split(r"[ \t\n]", text[end : end + _CONTEXT])[0]
    return first + match[group] + max(rest, after[0] if after else "", key=len)
