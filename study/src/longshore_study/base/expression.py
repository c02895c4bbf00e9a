"""Conditions over factors, for `exclude` of a study file and `--where` of the command line.

    transport == 'threads' and environment != {}
    1 < nodes <= 4 and mode in ['waitall', 'persistent'] and not (halo == 3)

expression_parser.py turns the text into a tree. The text never reaches eval or a shell. If a row
lacks a factor, every relation on that factor is false, except != and `not in`, which are true.
"""

from __future__ import annotations

import operator
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from longshore_study.base.errors import LongshoreError, nearest, suggestion
from longshore_study.base.expression_parser import (
    Chain,
    ExpressionError,
    FactorName,
    Literal,
    Logical,
    Node,
    Not,
    canonical_name,
    parse_tree,
)

_ORDERS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
__all__ = ["Expression", "ExpressionError", "canonical_name", "parse"]

R = TypeVar("R")


class Absent:
    """The value of a factor that a row does not have."""

    def __repr__(self) -> str:
        return "absent"


ABSENT = Absent()


@dataclass(frozen=True)
class Expression:
    """A parsed condition. Error messages quote `text`."""

    text: str
    tree: Node

    @property
    def names(self) -> frozenset[str]:
        return frozenset(node.name for node in _nodes(self.tree) if isinstance(node, FactorName))

    def comparisons(self) -> Iterator[tuple[str, Any]]:
        """The pairs (factor, literal) that the condition compares. They show mistyped words."""
        for node in _nodes(self.tree):
            if not isinstance(node, Chain):
                continue
            for left, relation, right in zip(node.operands, node.operators, node.operands[1:], strict=False):
                match left, right:
                    case (FactorName(name), Literal(value)) | (Literal(value), FactorName(name)):
                        listed = relation in ("in", "not in") and isinstance(value, list)
                        yield from ((name, literal) for literal in (value if listed else [value]))

    def check_names(self, known: Iterable[str]) -> None:
        """Raises ExpressionError when the condition names a factor that is not in `known`."""
        names = sorted({canonical_name(name) for name in known})
        for name in sorted(self.names):
            if name not in names:
                near = nearest(name, names)
                hint = f"did you mean '{near}'?" if near else f"known: {', '.join(names)}"
                raise ExpressionError(f'unknown factor {name!r} in the condition "{self.text}"; {hint}')

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
                values[canonical_name(name)].add(str(value))
        for name, word in self.comparisons():
            if isinstance(word, str) and word not in values[name]:
                known = f" (known: {', '.join(sorted(values[name]))})"
                return f": no row has {name} '{word}'{suggestion(word, values[name]) or known}"
        return ""

    def matches(self, values: Mapping[str, Any]) -> bool:
        levels = {canonical_name(name): value for name, value in values.items()}
        return _truth(_value(self.tree, levels, self.text), self.text)


def parse(text: str) -> Expression:
    """Reads a condition. Raises ExpressionError with the column of the first mistake."""
    return Expression(text, parse_tree(text))


def _nodes(node: Node) -> Iterator[Node]:
    yield node
    match node:
        case Not(term):
            yield from _nodes(term)
        case Logical(_, terms) | Chain(terms, _):
            for term in terms:
                yield from _nodes(term)


def _value(node: Node, values: Mapping[str, Any], text: str) -> Any:
    match node:
        case Literal(value):
            return value
        case FactorName(name):
            value = values.get(name, ABSENT)
            return ABSENT if value is None else value
        case Not(term):
            return not _truth(_value(term, values, text), text)
        case Logical("and", terms):
            return all(_truth(_value(term, values, text), text) for term in terms)
        case Logical(_, terms):
            return any(_truth(_value(term, values, text), text) for term in terms)
        case Chain(operands, operators):
            compared = [_value(operand, values, text) for operand in operands]
            return all(
                _related(left, relation, right, text)
                for left, relation, right in zip(compared, operators, compared[1:], strict=False)
            )


def _truth(value: Any, text: str) -> bool:
    if isinstance(value, bool):
        return value
    if value is ABSENT:
        return False
    raise ExpressionError(f'the condition "{text}" uses {value!r} as true or false; compare it with a value')


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


def _related(left: Any, relation: str, right: Any, text: str) -> bool:
    if relation == "==":
        return _equal(left, right)
    if relation == "!=":
        return not _equal(left, right)
    if relation in ("in", "not in"):
        return _contains(left, right, text) is (relation == "in")
    if left is ABSENT or right is ABSENT:
        return False
    left_number, right_number = _number(left), _number(right)
    if left_number is not None and right_number is not None:
        left, right = left_number, right_number
    elif not (isinstance(left, str) and isinstance(right, str)):
        raise ExpressionError(f'the condition "{text}" cannot order {left!r} and {right!r}')
    return bool(_ORDERS[relation](left, right))


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
