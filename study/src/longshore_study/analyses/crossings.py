"""Finds the fastest choice at each number of nodes (or ranks), and the numbers at which another
choice becomes the fastest: "exstack up to 8 nodes; aggregator from 16 nodes on".

Choices are compared only among measured launches, or among launches of one simulated machine.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import median
from typing import Any, NamedTuple

from longshore_study.analyses.best_choices import level_names, varying_names
from longshore_study.analyses.scaling import Layout, axis_of, following_factors, layout_of
from longshore_study.base.groups import grouped
from longshore_study.base.json_values import canonical, number_in
from longshore_study.compare.comparison import margin_of
from longshore_study.metrics.variant_results import correct_results, factors_of
from longshore_study.metrics.variant_rows import CHOICES, reading_order
from longshore_study.patterns import CONTROL, facts_of, pattern_rank
from longshore_study.store.launch_store import Launch

_PLACE = ("machine", "ranks", "nodes")
_AUTO = "auto"


@dataclass(frozen=True)
class Lead:
    """A choice that is the fastest from one number of nodes (or ranks) to another."""

    choice: str
    first: int
    last: int
    as_fast: tuple[str, ...] = ()
    """Other choices that are within the margin of the fastest at each of these numbers."""

    @property
    def names(self) -> str:
        return " or ".join((self.choice, *self.as_fast))


@dataclass(frozen=True)
class Race:
    """The choices for one piece of work, over nodes or ranks."""

    study: str
    tag: str
    simulated: str | None
    pattern: str
    axis: str
    work: Mapping[str, Any]
    """The factors in which all choices agree, without the axis."""
    seconds: Mapping[str, Mapping[int, float]]
    """The median seconds of an operation, by choice and by number of nodes or ranks."""
    margin: float
    """A choice keeps the lead while it is at most this share slower than the fastest."""
    leads: tuple[Lead, ...] = ()

    @property
    def sizes(self) -> list[int]:
        return sorted({size for of_choice in self.seconds.values() for size in of_choice})

    @property
    def sentence(self) -> str:
        """REQUIRES: there are leads."""
        if len(self.leads) == 1:
            lead = self.leads[0]
            return f"{lead.names} from {lead.first} to {lead.last} {self.axis}"
        return "; ".join(self._part(index, lead) for index, lead in enumerate(self.leads))

    def _part(self, index: int, lead: Lead) -> str:
        unit = self.axis if lead.last != 1 else self.axis.removesuffix("s")
        if index == 0:
            return f"{lead.names} up to {lead.last} {unit}"
        if index == len(self.leads) - 1:
            return f"{lead.names} from {lead.first} {self.axis} on"
        return f"{lead.names} " + (
            f"at {lead.first}" if lead.first == lead.last else f"from {lead.first} to {lead.last}"
        )


class _Time(NamedTuple):
    factors: dict[str, Any]
    layout: Layout
    seconds: float


def races_of(launches: Iterable[Launch]) -> list[Race]:
    """The races of at least two choices over at least two numbers of nodes or ranks."""
    launches = list(launches)
    groups: dict[tuple[str, str, str | None, str], list[_Time]] = defaultdict(list)
    for launch, result in correct_results(launches):
        layout, seconds = layout_of(launch), number_in(result, "seconds", "median")
        if layout and seconds and result["pattern"] != CONTROL:
            key = (launch.study, launch.tag, launch.simulated, str(result["pattern"]))
            groups[key].append(_Time(factors_of(launch, result), layout, seconds))
    margin = margin_of(launch for launch in launches if launch.problem is None and layout_of(launch))
    races = [race for key, times in groups.items() for race in _races(key, times, margin)]
    return sorted(races, key=lambda race: (race.simulated or "", pattern_rank(race.pattern), reading_order(race.work)))


def _races(key: tuple[str, str, str | None, str], times: Sequence[_Time], margin: float) -> Iterable[Race]:
    axis = axis_of([time.layout for time in times])
    if axis is None:
        return
    sized = [(int(getattr(time.layout, axis)), time) for time in times]
    following = following_factors([(size, time.factors) for size, time in sized])
    for members in grouped(sized, lambda pair: canonical(_work(pair[1], following))).values():
        choices = {canonical(_choice(time)): _choice(time) for _, time in members}
        names = varying_names(list(choices.values()), sorted({name for choice in choices.values() for name in choice}))
        found: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
        for size, time in members:
            found[" ".join(level_names(_choice(time), names))][size].append(time.seconds)
        seconds = {
            name: {size: median(values) for size, values in sorted(of_choice.items())}
            for name, of_choice in found.items()
        }
        if len(seconds) > 1 and len({size for size, _ in members}) > 1:
            fixed = {name: of for name, of in seconds.items() if not _is_auto(key[3], name, names)}
            leads = _leads(fixed, margin)
            work = _work(members[0][1], following)
            yield Race(*key, axis, work, seconds, margin, leads)


def _work(time: _Time, following: set[str]) -> dict[str, Any]:
    left_out = following | CHOICES | set(_PLACE)
    return {name: level for name, level in time.factors.items() if name not in left_out}


def _choice(time: _Time) -> dict[str, Any]:
    return {name: level for name, level in time.factors.items() if name in CHOICES and level != {}}


def _is_auto(pattern: str, choice: str, names: Sequence[str]) -> bool:
    """Whether the choice is `auto`, which never leads: it repeats a fixed choice."""
    return facts_of(pattern).auto in names and _AUTO in choice.split()


def _leads(seconds: Mapping[str, Mapping[int, float]], margin: float) -> tuple[Lead, ...]:
    leaders: list[tuple[int, str]] = []
    as_fast: dict[int, set[str]] = {}
    for size in sorted({size for of_choice in seconds.values() for size in of_choice}):
        here = {name: of_choice[size] for name, of_choice in seconds.items() if size in of_choice}
        fastest = min(here, key=lambda name: here[name])
        as_fast[size] = {name for name, time in here.items() if time <= here[fastest] * (1.0 + margin)}
        before = leaders[-1][1] if leaders else fastest
        leaders.append((size, before if before in as_fast[size] else fastest))
    found = []
    for name, part in groupby(leaders, key=lambda leader: leader[1]):
        sizes = [size for size, _ in part]
        others = set.intersection(*(as_fast[size] for size in sizes)) - {name}
        found.append(Lead(name, sizes[0], sizes[-1], tuple(other for other in seconds if other in others)))
    return tuple(found)
