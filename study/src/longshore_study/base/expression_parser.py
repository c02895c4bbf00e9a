"""Parser of conditions: text to tree. expression.py evaluates the tree. The grammar:

condition   = conjunction ("or" conjunction)*
conjunction = negation ("and" negation)*
negation    = "not" negation | operand (relation operand)*
relation    = == != < <= > >= in "not in"
operand     = "(" condition ")" | factor | number | text in quotes | true | false | [list] | {table}
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from longshore_study.base.errors import UsageError

DEEPEST_NESTING = 50  # deeper nesting is a mistake and could end in a RecursionError


class ExpressionError(UsageError):
    """The condition cannot be read, or cannot be applied to the given values."""


@dataclass(frozen=True)
class Literal:
    value: Any


@dataclass(frozen=True)
class FactorName:
    name: str


@dataclass(frozen=True)
class Chain:
    """Relations in a row, read as in mathematics: 1 < x <= 4 means 1 < x and x <= 4."""

    operands: tuple[Node, ...]
    operators: tuple[str, ...]


@dataclass(frozen=True)
class Logical:
    operator: str  # "and" | "or"
    terms: tuple[Node, ...]


@dataclass(frozen=True)
class Not:
    term: Node


Node = Literal | FactorName | Chain | Logical | Not


def canonical_name(name: str) -> str:
    """The name with underscores. Options have hyphens: task-count and task_count are one factor."""
    return name.replace("-", "_")


def parse_tree(text: str) -> Node:
    """The tree of a condition. Raises ExpressionError with the column of the first mistake."""
    return _Parser(text).whole()


_TOKEN = re.compile(
    r"""\s*(?:
      (?P<number>[-+]?(?:\d[\d_]*)(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.]))
    | (?P<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    | (?P<word>[A-Za-z_](?:[\w.]|-(?=[A-Za-z]))*)
    | (?P<mark>==|!=|<=|>=|<|>|[()\[\]{},:=])
    )""",
    re.VERBOSE,
)
_RELATIONS = ("==", "!=", "<=", ">=", "<", ">")
_RESERVED = ("and", "or", "not", "in")
_CONSTANTS = {"true": True, "false": False, "True": True, "False": False}


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    column: int


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = list(self._tokens())
        self.next = 0
        self.depth = 0

    def _tokens(self) -> Iterator[_Token]:
        position = 0
        while self.text[position:].strip():
            match = _TOKEN.match(self.text, position)
            if match is None:
                position += len(self.text[position:]) - len(self.text[position:].lstrip())
                self._fail(f"{self.text[position]!r} is not part of a condition", position)
            kind = str(match.lastgroup)
            yield _Token(kind, match.group(kind), match.start(kind))
            position = match.end()

    def _fail(self, why: str, column: int | None = None) -> NoReturn:
        if column is None:
            column = self.tokens[self.next].column if self.next < len(self.tokens) else len(self.text)
        text = self.text if len(self.text) <= 80 else f"{self.text[:77]}..."
        raise ExpressionError(f'cannot read the condition "{text}" at column {column + 1}: {why}')

    def _peek(self) -> str:
        """The text of the next token if the token is a word or a mark, else ""."""
        if self.next < len(self.tokens) and self.tokens[self.next].kind in ("word", "mark"):
            return self.tokens[self.next].text
        return ""

    def _take(self, *wanted: str) -> bool:
        if self._peek() in wanted:
            self.next += 1
            return True
        return False

    def _need(self, wanted: str) -> None:
        if not self._take(wanted):
            self._fail(f"expected {wanted!r}")

    def whole(self) -> Node:
        if not self.tokens:
            self._fail("it is empty")
        tree = self._logical("or")
        if self.next < len(self.tokens):
            hint = "; equality is '=='" if self._peek() == "=" else ""
            self._fail(f"{self.tokens[self.next].text!r} was not expected here{hint}")
        return tree

    def _logical(self, operator: str) -> Node:
        def term() -> Node:
            return self._logical("and") if operator == "or" else self._negation()

        terms = [term()]
        while self._take(operator):
            terms.append(term())
        return terms[0] if len(terms) == 1 else Logical(operator, tuple(terms))

    def _negation(self) -> Node:
        self.depth += 1
        if self.depth > DEEPEST_NESTING:
            self._fail("it is nested too deeply")
        term = Not(self._negation()) if self._take("not") else self._chain()
        self.depth -= 1
        return term

    def _chain(self) -> Node:
        operands, operators = [self._operand()], []
        while (operator := self._relation()) is not None:
            operators.append(operator)
            operands.append(self._operand())
        return Chain(tuple(operands), tuple(operators)) if operators else operands[0]

    def _relation(self) -> str | None:
        word = self._peek()
        if word in _RELATIONS or word == "in":
            self.next += 1
            return word
        if word == "not" and self.next + 1 < len(self.tokens) and self.tokens[self.next + 1].text == "in":
            self.next += 2
            return "not in"
        return None

    def _operand(self) -> Node:
        if self._take("("):
            inner = self._logical("or")
            self._need(")")
            return inner
        if self._peek() in ("[", "{") or self.next >= len(self.tokens):
            return Literal(self._constant())
        token = self.tokens[self.next]
        if token.kind == "word" and token.text not in _CONSTANTS:
            if token.text in _RESERVED:
                self._fail(f"a factor or a value is missing before {token.text!r}")
            self.next += 1
            return FactorName(canonical_name(token.text))
        return Literal(self._constant())

    def _constant(self) -> Any:
        if self.next >= len(self.tokens):
            self._fail("it ends too early")
        self.depth += 1
        if self.depth > DEEPEST_NESTING:
            self._fail("it is nested too deeply")
        token = self.tokens[self.next]
        self.next += 1
        value: Any
        if token.kind == "number":
            plain = token.text.replace("_", "")
            value = float(plain) if any(mark in plain for mark in ".eE") else int(plain)
        elif token.kind == "string":
            value = re.sub(r"\\(.)", r"\1", token.text[1:-1])
        elif token.text in _CONSTANTS:
            value = _CONSTANTS[token.text]
        elif token.text == "[":
            value = self._list()
        elif token.text == "{":
            value = self._table()
        else:
            self.next -= 1
            self._fail(f"{token.text!r} is not a value; text is written in quotes")
        self.depth -= 1
        return value

    def _list(self) -> list[Any]:
        values: list[Any] = []
        while not self._take("]"):
            values.append(self._constant())
            if not self._take(","):
                self._need("]")
                break
        return values

    def _table(self) -> dict[str, Any]:
        values: dict[str, Any] = {}
        while not self._take("}"):
            token = self.tokens[self.next] if self.next < len(self.tokens) else None
            if token is None or token.kind not in ("word", "string"):
                self._fail("a key of the table was expected")
                break
            self.next += 1
            if not self._take(":", "="):
                self._fail("expected '=' after the key of the table")
            values[token.text.strip("'\"")] = self._constant()
            if not self._take(","):
                self._need("}")
                break
        return values
