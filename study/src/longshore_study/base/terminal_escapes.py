"""Text of others on a terminal: names of tags, factors and files, and the last words of programs,
may hold escape sequences that move the cursor, set the title or hide what follows. They are shown,
not obeyed."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO, cast

# C0 but tab and newline, DEL, C1, marks that turn the direction of writing, and halves of
# characters.
_CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff"
_ANY = re.compile(f"[{_CONTROLS}]")
# Colours and weights of our own tables; they do nothing but look.
_ANY_BUT_STYLE = re.compile(f"(\x1b\\[[0-9;]*m)|([{_CONTROLS}])")


def readable(text: str) -> str:
    r"""The text with every control character written as \u001b is, which JSON reads too."""
    return _ANY.sub(_written, text)


def _written(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


class ReadableStream:
    """A stream for text that passes on all but control characters; styles, too, where somebody sees
    them."""

    def __init__(self, stream: TextIO) -> None:
        self.raw_stream = stream
        self._style = stream.isatty()

    def write(self, text: str) -> int:
        if self._style:
            text = _ANY_BUT_STYLE.sub(lambda match: match[1] or f"\\u{ord(match[2]):04x}", text)
        else:
            text = readable(text)
        return self.raw_stream.write(text)

    def writelines(self, lines: Iterator[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.raw_stream, name)


def raw(stream: TextIO) -> TextIO:
    """The stream itself, for a display that moves the cursor and makes its own text readable."""
    return cast("TextIO", getattr(stream, "raw_stream", stream))


@contextmanager
def readable_streams() -> Iterator[None]:
    before: tuple[TextIO | None, TextIO | None] = sys.stdout, sys.stderr
    # One that was closed (`>&-`) is None: there is nobody to read, and no reason to fail.
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        sys.stdout, sys.stderr = (cast("TextIO", ReadableStream(stream or nowhere)) for stream in before)
        try:
            yield
        finally:
            sys.stdout, sys.stderr = cast("tuple[TextIO, TextIO]", before)
