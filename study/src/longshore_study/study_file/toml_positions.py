"""Line numbers of the keys of a TOML text, for error messages. Neither tomllib nor tomlkit keeps
them. The scanner follows only the structure, because tomllib has already accepted the text."""

import re
from collections import deque

Path = tuple[str | int, ...]
"""A path: ("pattern", 0, "within", "mode", 2) is the third mode of the first [[pattern]]."""

_TOKEN = re.compile(
    r"""\s+ | \#[^\n]* | ( "{3}(?:\\.|[^\\])*?"{3,5} | '{3}.*?'{3,5} | "(?:\\.|[^"\\\n])*" | '[^'\n]*'
    | [][{}=,.] | [^][{}=,.\#"'\s]+ )""",
    re.DOTALL | re.VERBOSE,
)


class _Scanner:
    def __init__(self, text: str) -> None:
        self.lines: dict[Path, int] = {}
        self.array_tables: dict[Path, int] = {}
        """The index of the last element of each array of tables."""
        self.tokens: deque[tuple[str, int]] = deque()
        """The rest of the text, each token with its line."""
        line = 1
        for match in _TOKEN.finditer(text):
            if match[1]:
                self.tokens.append((match[1], line))
            line += match[0].count("\n")
        self.tokens.append(("", line))

    def take(self, *wanted: str) -> str:
        """Removes the next token and returns it; "" if it is not one of `wanted`."""
        return self.tokens.popleft()[0] if len(self.tokens) > 1 and self.tokens[0][0] in wanted else ""

    def take_any(self) -> str:
        return self.take(self.tokens[0][0])

    def key(self) -> Path:
        """The parts of a key. A dotted key has several parts."""
        parts: list[str] = []
        while not parts or self.take("."):
            parts.append(self.take_any().strip("'\""))
        return tuple(parts)

    def document(self) -> None:
        table: Path = ()
        while len(self.tokens) > 1:
            line = self.tokens[0][1]
            if not self.take("["):
                self.pair(table)
                continue
            is_array = self.take("[") != ""
            table, name = (), self.key()
            for depth, part in enumerate(name, 1):
                table = (*table, part)
                self.lines.setdefault(table, line)
                if is_array and depth == len(name):
                    self.array_tables[table] = self.array_tables.get(table, -1) + 1
                if table in self.array_tables:
                    table = (*table, self.array_tables[table])
            self.lines[table] = line
            for _ in range(1 + is_array):
                self.take("]")

    def pair(self, table: Path) -> None:
        line = self.tokens[0][1]
        path = table
        for part in self.key():
            path = (*path, part)
            self.lines.setdefault(path, line)
        self.take("=")
        self.value(path)

    def value(self, path: Path) -> None:
        opening, index = self.take_any(), 0
        if opening not in ("[", "{"):
            # Numbers and times may be several tokens: `1.5`, `2026-03-01 12:00:00`.
            while self.take(".") or re.match(r"\d\d:", self.tokens[0][0]):
                self.take_any()
            return
        while self.tokens[0][0] not in ("]", "}", ""):
            if opening == "{":
                self.pair(path)
            else:
                self.lines[(*path, index)] = self.tokens[0][1]
                self.value((*path, index))
                index += 1
            self.take(",")
        self.take_any()


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
