"""Escapes control characters before a terminal sees them. Names of tags, factors and files, and the
output of programs, may hold sequences that move the cursor, set the title or hide text."""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO, cast

# The ranges: C0 without tab and newline, DEL, C1, marks that change the direction of writing,
# surrogates.
_CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff"
_ANY = re.compile(f"[{_CONTROLS}]")
# Group 1 matches the styles of our own tables, which change nothing but the look.
_ANY_BUT_STYLE = re.compile(f"(\x1b\\[[0-9;]*m)|([{_CONTROLS}])")


def escape_controls(text: str) -> str:
    r"""The text with each control character in the form \u001b, which JSON can also read."""
    return _ANY.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


class EscapingStream:
    """A text stream that escapes control characters, except styles for a terminal."""

    def __init__(self, stream: TextIO) -> None:
        self.raw_stream = stream
        self._style = stream.isatty()

    def write(self, text: str) -> int:
        if self._style:
            text = _ANY_BUT_STYLE.sub(lambda match: match[1] or f"\\u{ord(match[2]):04x}", text)
        else:
            text = escape_controls(text)
        return self.raw_stream.write(text)

    def writelines(self, lines: Iterator[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.raw_stream, name)


def raw(stream: TextIO) -> TextIO:
    """The stream below an EscapingStream, for a display that escapes texts itself."""
    return cast("TextIO", getattr(stream, "raw_stream", stream))


@contextmanager
def escaping_streams() -> Iterator[None]:
    """Makes sys.stdout and sys.stderr escape control characters."""
    before: tuple[TextIO | None, TextIO | None] = sys.stdout, sys.stderr
    # A closed stream (`>&-`) is None. Writing to it must not fail.
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        sys.stdout, sys.stderr = (cast("TextIO", EscapingStream(stream or nowhere)) for stream in before)
        try:
            yield
        finally:
            sys.stdout, sys.stderr = cast("tuple[TextIO, TextIO]", before)
