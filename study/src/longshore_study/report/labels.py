"""Short names of variants: factors that vary name the rows of a table, and constant factors are
stated once above the table. Works with different factors, such as halos of contiguous faces and
halos of a domain, have tables of their own."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from longshore_study.base.groups import grouped
from longshore_study.base.texts import name_text, plain_number, whole_number
from longshore_study.patterns import PATTERNS, facts_of
from longshore_study.report.markup import Child, element

# Factors whose levels are understood without the name of the factor ("persistent", "mpi"). The
# first factor of this list that a variant has is printed in bold.
SELF_EXPLAINING = (
    "strategy", "mode", "exchange", "kernel", "algorithm", "operation", "centring", "scope", "order", "transport",
    "mesh", "tasks", "memory", "distribution", "type", "key_pattern", "placement", "scaling",
)  # fmt: skip
NO_BREAK = "\u00a0"
METRIC_TITLES = {
    name: metric.title for facts in PATTERNS.values() for name, metric in facts.metrics.items() if metric.title
}


@dataclass(frozen=True)
class Naming:
    """The factors that name a row within a set of rows, and those that are constant in the set."""

    varying: tuple[str, ...]
    constant: tuple[tuple[str, Any], ...]

    def parts(self, factors: Mapping[str, Any], without: Sequence[str] = ()) -> list[str]:
        return [level_text(k, factors[k]) for k in self.varying if k in factors and k not in without]

    def text(self, factors: Mapping[str, Any], without: Sequence[str] = ()) -> str:
        return ", ".join(self.parts(factors, without)) or "the only variant"

    def markup(self, factors: Mapping[str, Any]) -> Child:
        first, *rest = self.parts(factors) or [self.text(factors)]
        parts = [
            [" " if i == 0 else " · ", element("span", part.replace(" ", NO_BREAK), class_="part")]
            for i, part in enumerate(rest)
        ]
        return [element("b", first), parts]

    @property
    def constant_text(self) -> str:
        return ", ".join(f"{name_text(k)} {value_text(v)}" for k, v in self.constant)

    @property
    def constant_note(self) -> str:
        """A sentence with a space before it; empty if no factor is constant."""
        return f" All: {self.constant_text}." if self.constant else ""


def naming(all_factors: Iterable[Mapping[str, Any]]) -> Naming:
    rows = list(all_factors)
    names = sorted({k for row in rows for k in row}, key=_rank)
    levels = {name: {value_text(row[name]) if name in row else None for row in rows} for name in names}
    varying = tuple(n for n in names if len(levels[n]) > 1)
    # Empty levels, such as an environment without variables, are not shown.
    constant = tuple((n, rows[0][n]) for n in names if len(levels[n]) == 1 and rows[0][n] not in ({}, None, ""))
    return Naming(varying, constant)


def value_text(value: object) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "–"}[value]
    if isinstance(value, int):
        return whole_number(value)
    if isinstance(value, float):
        return plain_number(value)
    if isinstance(value, Mapping):
        return " ".join(f"no {k}" if v is None else f"{k}={v}" for k, v in value.items()) or "default"
    if isinstance(value, (list, tuple)):
        return "×".join(value_text(v) for v in value)
    return str(value)


def level_text(name: str, value: object) -> str:
    text = value_text(value)
    if name in SELF_EXPLAINING and isinstance(value, str):
        return text
    if name in ("ranks", "nodes"):
        return f"{text} {name if value != 1 else name[:-1]}"
    if name == "environment" and isinstance(value, Mapping) and value:
        return text
    return f"{name_text(name)} {text}"


def levels_text(factors: Mapping[str, Any]) -> str:
    return ", ".join(level_text(name, level) for name, level in factors.items())


def pattern_title(pattern: str) -> str:
    return facts_of(pattern).title


def metric_title(metric: str) -> str:
    return METRIC_TITLES.get(metric, name_text(metric))


def _rank(name: str) -> tuple[int, str]:
    return (SELF_EXPLAINING.index(name) if name in SELF_EXPLAINING else len(SELF_EXPLAINING), name)


Item = TypeVar("Item")


def split_by_work(
    items: Iterable[Item], pattern: str, factors_of: Callable[[Item], Mapping[str, Any]]
) -> list[list[Item]]:
    """One group per kind of work, in the order of first occurrence. An item that has only some of
    the factors of a kind belongs to this kind, because an imported program may not state all
    factors."""
    names = facts_of(pattern).work
    by_factors = grouped(items, lambda item: frozenset(name for name in names if name in factors_of(item)))
    kinds = [factors for factors in by_factors if not any(factors < other for other in by_factors)]
    groups: dict[frozenset[str], list[Item]] = {}
    for factors, members in by_factors.items():
        groups.setdefault(next(kind for kind in kinds if factors <= kind), []).extend(members)
    return list(groups.values())
