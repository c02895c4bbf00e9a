"""Conditions over factors, for `exclude` of a study file and `--where` of the command line.

    transport == 'threads' and environment != {}
    1 < nodes <= 4 and mode in ['waitall', 'persistent'] and not (halo == 3)

Python's `ast` reads the text, which never reaches eval or a shell. Three things are unlike Python:
a name may have hyphens, `true` and `false` are values, and the keys of a table need no quotes and
may stand before `=`. If a row lacks a factor, every relation on that factor is false, except != and
`not in`, which are true. A factor may have several levels at once, as a frozenset: a relation is
then true if one of the levels meets it, and != and `not in` are the negations of == and `in`.
"""

from __future__ import annotations

import ast
import operator
import re
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from longshore_study.base.errors import LongshoreError, UsageError, suggestion

DEEPEST_NESTING = 50  # deeper nesting is a mistake and could end in a RecursionError
_ORDERS = {ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge}
_RELATIONS = (*_ORDERS, ast.Eq, ast.NotEq, ast.In, ast.NotIn)
_TRUTH_VALUES = {"true": True, "false": False}

R = TypeVar("R")


class ExpressionError(UsageError):
    """The condition cannot be read, or cannot be applied to the given values."""


ABSENT: Any = object()
"""The value of a factor that a row does not have."""


@dataclass(frozen=True)
class Expression:
    """A parsed condition. Error messages quote `text`."""

    text: str
    tree: ast.expr
    """Consists of BoolOp, UnaryOp with Not, Compare, Name for factors, and Constant for values."""

    @property
    def names(self) -> frozenset[str]:
        return frozenset(node.id for node in ast.walk(self.tree) if isinstance(node, ast.Name))

    def comparisons(self) -> Iterator[tuple[str, Any]]:
        """The pairs (factor, literal) that the condition compares, to find mistyped words."""
        for node in ast.walk(self.tree):
            if not isinstance(node, ast.Compare):
                continue
            for left, relation, right in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
                match left, right:
                    case (ast.Name(name), ast.Constant(value)) | (ast.Constant(value), ast.Name(name)):
                        among: Any = value
                        listed = isinstance(relation, ast.In | ast.NotIn) and isinstance(among, list)
                        yield from ((name, literal) for literal in (among if listed else [among]))

    def split(self, name: str) -> tuple[Expression, Expression | None]:
        """The condition that names only this factor, and the rest, joined by `and`.

        Raises ExpressionError if another operator joins the factor with other factors.
        """
        terms = list(_terms(self.tree))
        of_factor = [term for term in terms if name in Expression(self.text, term).names]
        for term in of_factor:
            if others := sorted(Expression(self.text, term).names - {name}):
                raise ExpressionError(
                    f"the condition \"{self.text}\" joins {name} and {others[0]}; only 'and' between them is possible"
                )
        rest = [term for term in terms if term not in of_factor]
        joined = [Expression(self.text, ast.BoolOp(ast.And(), part)) if part else None for part in (of_factor, rest)]
        return joined[0] or self, joined[1]

    def check_names(self, known: Iterable[str]) -> None:
        """Raises ExpressionError when the condition names a factor that is not in `known`."""
        names = sorted({canonical_name(name) for name in known})
        for name in sorted(self.names):
            if name not in names:
                hint = suggestion(name, names) or f"; known: {', '.join(names)}"
                raise ExpressionError(f'unknown factor {name!r} in the condition "{self.text}"{hint}')

    def select(self, rows: Sequence[R], factors: Callable[[R], Mapping[str, Any]]) -> list[R]:
        """The rows whose factors meet the condition.

        Raises ExpressionError when no row has a factor that the condition names. Raises
        LongshoreError, with a suggestion for a mistyped word, when no row meets the condition.
        """
        if rows:
            self.check_names({name for row in rows for name in factors(row)})
        chosen = [row for row in rows if self.matches(factors(row))]
        if rows and not chosen:
            raise LongshoreError(f'the condition "{self.text}" leaves nothing{self._unknown_word(map(factors, rows))}')
        return chosen

    def _unknown_word(self, rows: Iterable[Mapping[str, Any]]) -> str:
        """A message about the first literal that no row has as a level. Empty if there is none."""
        values: dict[str, set[str]] = defaultdict(set)
        for row in rows:
            for name, value in row.items():
                values[canonical_name(name)].update(map(str, value if isinstance(value, frozenset) else [value]))
        for name, word in self.comparisons():
            if isinstance(word, str) and word not in values[name]:
                known = f" (known: {', '.join(sorted(values[name]))})"
                return f": no row has {name} '{word}'{suggestion(word, values[name]) or known}"
        return ""

    def matches(self, values: Mapping[str, Any]) -> bool:
        levels = {canonical_name(name): value for name, value in values.items()}
        return _truth(_value(self.tree, levels, self.text), self.text)


def canonical_name(name: str) -> str:
    """The name with underscores. Options have hyphens: task-count and task_count are one factor."""
    return name.replace("-", "_")


def parse(text: str) -> Expression:
    """Reads a condition. Raises ExpressionError with the column of the first mistake."""
    text = text.strip()
    reader = _Reader(text)
    if not text:
        raise reader.problem("it is empty", 0)
    try:
        with warnings.catch_warnings(action="ignore"):  # about escape sequences
            tree = ast.parse(_python(text), mode="eval").body
        return Expression(text, reader.checked(tree))
    except SyntaxError as error:
        raise reader.problem(*_reason_and_column(error, text)) from None
    except (RecursionError, MemoryError):
        raise reader.problem("it is nested too deeply", 0) from None
    except ValueError as error:  # a number with thousands of digits
        raise reader.problem(str(error), 0) from None


_TOKEN = re.compile(
    r"""(?P<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*") | (?P<space>\s+) | (?P<mark>[{}]|(?<![=!<>])=(?!=))
    | (?P<word>[A-Za-z_](?:[\w.]|-(?=[A-Za-z]))*)""",
    re.VERBOSE,
)


def _python(text: str) -> str:
    """Translates the condition to Python. Every character keeps its position, for errors."""
    depth = 0

    def translated(token: re.Match[str]) -> str:
        nonlocal depth
        word = token.group()
        match token.lastgroup, word:
            case "space", _:
                return " " * len(word)
            case "mark", "{" | "}":
                depth += 1 if word == "{" else -1
            case "mark", _:
                return ":" if depth else word
            case "word", _:
                return word if depth else canonical_name(word)
        return word

    return _TOKEN.sub(translated, text)


def _reason_and_column(error: SyntaxError, text: str) -> tuple[str, int]:
    """The reason and the column of a syntax error; Python often says only "invalid syntax"."""
    column = (error.offset or 0) - 1
    if "invalid syntax" not in error.msg:
        return error.msg.split(" (detected")[0], max(column, 0)
    found = re.compile(r"\w+|[^\w\s]+").match(text, column) if column >= 0 else None
    if found is None:
        return "it ends too early", len(text)
    hint = "; equality is '=='" if found.group() == "=" else ""
    return f"{found.group()!r} was not expected here{hint}", column


@dataclass(frozen=True)
class _Reader:
    text: str

    def problem(self, why: str, column: int) -> ExpressionError:
        text = self.text if len(self.text) <= 80 else f"{self.text[:77]}..."
        return ExpressionError(f'cannot read the condition "{text}" at column {column + 1}: {why}')

    def problem_of(self, node: ast.expr, why: str) -> ExpressionError:
        return self.problem(why, len(self.text.encode()[: node.col_offset].decode(errors="ignore")))

    def checked(self, node: ast.expr, depth: int = 0) -> ast.expr:
        """The tree with values folded into constants. Fails for what a condition cannot contain."""
        if depth > DEEPEST_NESTING:
            raise self.problem_of(node, "it is nested too deeply")

        def below(inner: ast.expr) -> ast.expr:
            return self.checked(inner, depth + 1)

        match node:
            case ast.BoolOp(op, terms):
                return ast.BoolOp(op, [below(term) for term in terms])
            case ast.UnaryOp(ast.Not() as op, term):
                return ast.UnaryOp(op, below(term))
            case ast.Compare(left, ops, others) if all(isinstance(op, _RELATIONS) for op in ops):
                return ast.Compare(below(left), ops, [below(other) for other in others])
            case ast.Name() | ast.Attribute() if (name := ast.unparse(node)) not in _TRUTH_VALUES:
                return ast.Name(name)
            case _:
                return ast.Constant(self.value(node))

    def value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(bool() | int() | float() | str() as value):
                return value
            case ast.UnaryOp(ast.USub() | ast.UAdd() as sign, ast.Constant(int() | float() as value)):
                return -value if isinstance(sign, ast.USub) else value
            case ast.Name(name) if name in _TRUTH_VALUES:
                return _TRUTH_VALUES[name]
            case ast.List(members):
                return [self.value(member) for member in members]
            case ast.Dict(keys, values):
                return {self.key(node, key): self.value(value) for key, value in zip(keys, values, strict=True)}
            case _:
                raise self.problem_of(node, f"{ast.unparse(node)!r} is not a value; text is written in quotes")

    def key(self, table: ast.Dict, key: ast.expr | None) -> str:
        match key:
            case ast.Name(name) | ast.Constant(str() as name):
                return name
            case _:
                raise self.problem_of(key or table, "a key of the table was expected")


def _terms(tree: ast.expr) -> Iterator[ast.expr]:
    """The parts of a condition that `and` joins."""
    if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And):
        for term in tree.values:
            yield from _terms(term)
    else:
        yield tree


def _value(node: ast.expr, values: Mapping[str, Any], text: str) -> Any:
    match node:
        case ast.Constant(value):
            return value
        case ast.Name(name):
            value = values.get(name, ABSENT)
            return ABSENT if value is None else value
        case ast.UnaryOp(_, term):
            return not _truth(_value(term, values, text), text)
        case ast.BoolOp(op, terms):
            among = all if isinstance(op, ast.And) else any
            return among(_truth(_value(term, values, text), text) for term in terms)
        case ast.Compare(left, ops, others):
            compared = [_value(operand, values, text) for operand in (left, *others)]
            return all(map(_related, compared, ops, compared[1:], len(ops) * [text]))
    raise AssertionError(node)


def _truth(value: Any, text: str) -> bool:
    if isinstance(value, bool):
        return value
    if value is ABSENT:
        return False
    shown = sorted(value) if isinstance(value, frozenset) else value
    raise ExpressionError(f'the condition "{text}" uses {shown!r} as true or false; compare it with a value')


def _number(value: Any) -> float | None:
    """The value as a number, or None. Records and TOML may hold numbers as text."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return value
    if isinstance(value, str) and re.fullmatch(r"[-+]?\d+(\.\d*)?([eE][-+]?\d+)?", value):
        return float(value) if any(mark in value for mark in ".eE") else int(value)
    return None


def _equal(left: Any, right: Any) -> bool:
    if left is ABSENT or right is ABSENT:
        return False
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_equal, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_equal(left[key], right[key]) for key in left)
    left_number, right_number = _number(left), _number(right)
    if left_number is not None and right_number is not None:
        return left_number == right_number
    return type(left) is type(right) and bool(left == right)


def _related(left: Any, relation: ast.cmpop, right: Any, text: str) -> bool:
    if isinstance(left, frozenset) or isinstance(right, frozenset):
        return _one_related(left, relation, right, text)
    if isinstance(relation, ast.Eq | ast.NotEq):
        return _equal(left, right) is isinstance(relation, ast.Eq)
    if isinstance(relation, ast.In | ast.NotIn):
        return _contains(left, right, text) is isinstance(relation, ast.In)
    if left is ABSENT or right is ABSENT:
        return False
    left_number, right_number = _number(left), _number(right)
    if left_number is not None and right_number is not None:
        left, right = left_number, right_number
    elif not (isinstance(left, str) and isinstance(right, str)):
        raise ExpressionError(f'the condition "{text}" cannot order {left!r} and {right!r}')
    return bool(_ORDERS[type(relation)](left, right))


def _one_related(left: Any, relation: ast.cmpop, right: Any, text: str) -> bool:
    """Whether one of several levels meets the relation."""
    among = isinstance(relation, ast.In | ast.NotIn) and not isinstance(right, frozenset)
    positive = relation if type(relation) in _ORDERS else ast.In() if among else ast.Eq()
    lefts, rights = (side if isinstance(side, frozenset) else [side] for side in (left, right))
    found = any(_related(one, positive, other, text) for one in lefts for other in rights)
    return found is not isinstance(relation, ast.NotEq | ast.NotIn)


def _contains(item: Any, among: Any, text: str) -> bool:
    if item is ABSENT or among is ABSENT:
        return False
    if isinstance(among, list):
        return any(_equal(item, member) for member in among)
    if isinstance(among, dict):
        return item in among
    if isinstance(among, str) and isinstance(item, str):
        return item in among
    raise ExpressionError(f'the condition "{text}" searches {among!r} for {item!r}; it is not a list, table or text')
