"""Line numbers of the keys of a TOML text, for error messages. tomllib does not keep line numbers.
The scanner follows only the structure, since tomllib has accepted the text before."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

Path = tuple[str | int, ...]
"""The path to a value: ("pattern", 0, "within", "mode", 2) is the third mode of the first
[[pattern]]."""

_SPACE = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_STRING = re.compile(
    r'"""(?:\\.|[^\\])*?"""+' r"|'''.*?'''+" r'|"(?:\\.|[^"\\\n])*"' r"|'[^'\n]*'",
    re.DOTALL,
)
_SCALAR = re.compile(r"[^,\]}\n#]+")


@dataclass
class _Scanner:
    text: str
    position: int = 0
    lines: dict[Path, int] = field(default_factory=dict)
    array_tables: dict[Path, int] = field(default_factory=dict)

    def line(self) -> int:
        return self.text.count("\n", 0, self.position) + 1

    def skip_space(self) -> None:
        match = _SPACE.match(self.text, self.position)
        self.position = match.end() if match else self.position

    def at(self, mark: str) -> bool:
        return self.text.startswith(mark, self.position)

    def take(self, mark: str) -> bool:
        if self.at(mark):
            self.position += len(mark)
            return True
        return False

    def key(self) -> Path:
        """The parts of a key. A dotted key has several parts."""
        parts: list[str] = []
        while self.position < len(self.text):
            self.skip_space()
            match = _STRING.match(self.text, self.position) or _BARE_KEY.match(self.text, self.position)
            if match is None:
                break
            parts.append(match.group().strip("'\""))
            self.position = match.end()
            self.skip_space()
            if not self.take("."):
                break
        return tuple(parts)

    def document(self) -> None:
        table: Path = ()
        self.skip_space()
        while self.position < len(self.text):
            before, line = self.position, self.line()
            if self.take("[["):
                table = self._header(self.key(), new_element=True)
                self._note(table, line)
                self.take("]]")
            elif self.take("["):
                table = self._header(self.key(), new_element=False)
                self._note(table, line)
                self.take("]")
            else:
                self.pair(table)
            self.skip_space()
            if self.position == before:  # unknown syntax: stop, do not hang
                return

    def _note(self, table: Path, line: int) -> None:
        """Sets the line of a header, and of enclosing tables without a line."""
        self.lines[table] = line
        for depth in range(1, len(table)):
            self.lines.setdefault(table[:depth], line)

    def _header(self, name: Path, *, new_element: bool) -> Path:
        """The path of a table header. After the name of an array of tables, the path has the index
        of the current element."""
        path: Path = ()
        for depth, part in enumerate(name):
            path = (*path, part)
            if new_element and depth == len(name) - 1:
                self.array_tables[path] = self.array_tables.get(path, -1) + 1
            if path in self.array_tables:
                path = (*path, self.array_tables[path])
        return path

    def pair(self, table: Path) -> None:
        line = self.line()
        path = table
        for part in self.key():
            path = (*path, part)
            self.lines.setdefault(path, line)
        self.skip_space()
        if self.take("="):
            self.skip_space()
            self.value(path)

    def value(self, path: Path) -> None:
        if self.take("["):
            self._members(path, "]")
        elif self.take("{"):
            self._members(path, "}")
        else:
            pattern = _STRING if self.at('"') or self.at("'") else _SCALAR
            match = pattern.match(self.text, self.position)
            self.position = match.end() if match else self.position

    def _members(self, path: Path, end: str) -> None:
        index = 0
        self.skip_space()
        while self.position < len(self.text) and not self.take(end):
            before = self.position
            if end == "}":
                self.pair(path)
            else:
                self.lines[(*path, index)] = self.line()
                self.value((*path, index))
                index += 1
            self.skip_space()
            self.take(",")
            self.skip_space()
            if self.position == before:
                return


def key_lines(text: str) -> dict[Path, int]:
    """The line of every key and of every element of an array, for a text that tomllib accepts."""
    scanner = _Scanner(text)
    scanner.document()
    return scanner.lines


def line_of(lines: dict[Path, int], path: Path) -> int:
    """The line of `path`, or of the nearest enclosing element that has one."""
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path, 1)
