"""The figures of launches: values of one metric of one variant in one launch."""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from longshore_study.base import terminal
from longshore_study.base.errors import LongshoreError, require_known
from longshore_study.base.groups import grouped, mean_by
from longshore_study.base.json_values import canonical, number_in, positive_in
from longshore_study.base.near_and_far import CacheLineSeconds, cache_line_seconds
from longshore_study.base.units import Unit, unit_of
from longshore_study.metrics.memory_bound import MemorySpeeds, memory_speeds
from longshore_study.metrics.plausibility import PlausibilityLimits
from longshore_study.patterns import CONTROL, facts_of
from longshore_study.patterns.control import MACHINE_METRICS
from longshore_study.patterns.pattern import product_of
from longshore_study.store.launch_store import Launch
from longshore_study.store.records import Record


@dataclass(frozen=True, slots=True)
class Key:
    """Identifies the measured quantity of a figure. Figures with equal keys are compared. Mappings
    are stored as JSON texts, so that keys can be compared and hashed."""

    study: str
    pattern: str
    metric: str
    variant_text: str
    cell_text: str

    @property
    def variant(self) -> dict[str, Any]:
        return dict(json.loads(self.variant_text))

    @property
    def cell(self) -> dict[str, Any]:
        return dict(json.loads(self.cell_text))

    @property
    def factors(self) -> dict[str, Any]:
        return {"pattern": self.pattern, **self.cell, **self.variant}

    @property
    def told(self) -> dict[str, Any]:
        """The study and the factors, as rows of tables name them."""
        return {"study": self.study, **self.cell, **self.variant}

    @property
    def shown_factors(self) -> dict[str, Any]:
        """The factors without those that name the pattern."""
        return {name: level for name, level in self.factors.items() if name not in ("pattern", "program")}


def names_of(keys: Iterable[Key]) -> Callable[[Key], str]:
    """A function that names a row: pattern, and the factors that tell its rows apart."""
    rows = grouped(keys, lambda key: key.pattern)
    telling = {pattern: terminal.varying([key.told for key in of_it])[1] for pattern, of_it in rows.items()}

    def name(key: Key) -> str:
        told = {name: key.told[name] for name in telling[key.pattern] or key.variant if name in key.told}
        return f"{key.pattern} {terminal.factors(terminal.chosen(told))}".rstrip()

    return name


def unit_of_whom(unit: str, per: str) -> str:
    """The unit with its reference, such as `GB/s per node`: a plain GB/s could be of all ranks."""
    return f"{unit} per {per}" if per else unit


# A store has many measured values (figures) but few different keys, so figures with equal keys
# share one key object.
_shared_key = lru_cache(maxsize=200_000)(Key)


@dataclass(frozen=True, slots=True)
class Figure:
    key: Key
    tag: str
    session: str
    launch: str
    """The file of the launch, as an identifier."""
    started: str | None
    position: int | None
    value: float
    unit: str
    better: str
    per: str = ""
    """What the value refers to: "node" or "rank". Empty for all ranks together, or if not known."""
    main: bool = True
    imported: bool = False
    why_implausible: str | None = None
    """The bound that the value exceeds, in words. None if the value is plausible."""
    pulse: float | None = None
    """Logarithm of the machine's speed during the launch, from the noise probe."""
    cache_line: CacheLineSeconds | None = None
    """The distance of the ranks' cores. None if it was not measured."""
    chosen_level: str | None = None
    """The level that `auto` chose. None if the record does not state the level."""
    nodes: int | None = None
    """The number of nodes of the launch, including virtual nodes. None if it is not recorded."""
    simulated: str | None = None
    """Name and version of the simulated machine. None if the value was measured."""
    speeds: MemorySpeeds | None = None
    """The speeds of memory and network, if this is the figure of control's copy."""
    traffic_levels: Mapping[str, Any] = field(default_factory=dict)
    """For `Pattern.traffic`: the bytes that a rank sends, and the level that `auto` chose."""
    signal_share: float | None = None
    """Round trips of a cache line as a share of the time, if measured and within a node."""
    remote_messages: float | None = None
    """The messages of a rank to other nodes in a second. None if there are none."""

    @property
    def goodness(self) -> float:
        """The logarithm of the value, negated if less is better."""
        return math.log(self.value) if self.better != "lower" else -math.log(self.value)


@dataclass(slots=True)
class Measurements:
    """The figures of some launches, and the launches and results that did not become figures."""

    figures: list[Figure] = field(default_factory=list)
    absent: dict[Key, str] = field(default_factory=dict)
    """The reason for each result without a figure: skipped or failed."""
    failed: list[Launch] = field(default_factory=list)
    """Launches that failed and were not repeated with success."""
    damaged: list[Launch] = field(default_factory=list)
    """The failed launches with records that are cut short or unreadable."""
    partial: list[Launch] = field(default_factory=list)
    """Launches whose output is cut short. They were imported with --partial."""
    launches: int = 0

    @property
    def problems(self) -> list[str]:
        return [launch.problem for launch in self.failed if launch.problem]


def measure(launches: Iterable[Launch], *, metrics: Iterable[str] = (), with_study: bool = True) -> Measurements:
    """The figures of the main metrics and of `metrics`. The name "all" selects all metrics.

    If `with_study` is False, the keys do not name the study, so that two studies can be compared.
    Raises LongshoreError if figures of one quantity have units that measure different things.
    """
    return measure_sides([launches], metrics=metrics, with_study=with_study)[0]


def measure_sides(
    sides: Iterable[Iterable[Launch]], *, metrics: Iterable[str] = (), with_study: bool = True
) -> list[Measurements]:
    """Like `measure`, for launches that are compared with each other."""
    wanted = frozenset(metrics)
    found = [_measurements(list(launches), wanted, with_study=with_study) for launches in sides]
    _convert_units(found)
    return found


def _measurements(launches: Sequence[Launch], wanted: frozenset[str], *, with_study: bool) -> Measurements:
    measured = Measurements(launches=len(launches))
    succeeded = {_launch_key(launch) for launch in launches if launch.problem is None}
    limits = PlausibilityLimits(launches)
    for launch in launches:
        if launch.problem is not None:
            if _launch_key(launch) not in succeeded:
                measured.failed.append(launch)
                if not launch.complete and not launch.exit_status:
                    measured.damaged.append(launch)
            continue
        if launch.envelope.get("partial"):
            measured.partial.append(launch)
        for figure_or_reason in _of_launch(launch, wanted, limits, with_study=with_study):
            if isinstance(figure_or_reason, Figure):
                measured.figures.append(figure_or_reason)
            else:
                key, reason = figure_or_reason
                measured.absent[key] = reason
    return measured


def _convert_units(sides: Sequence[Measurements]) -> None:
    """Gives all figures of one metric of a pattern the unit of the first figure.

    Raises LongshoreError if figures of a metric have units that measure different things, or do not
    agree whether higher values are better.
    """
    units: dict[str, Unit] = {}
    firsts: dict[tuple[str, str], Figure] = {}

    def converted(figure: Figure) -> Figure:
        first = firsts.setdefault((figure.key.pattern, figure.key.metric), figure)
        if figure.unit == first.unit and figure.better == first.better:
            return figure
        ours, theirs = (units.setdefault(one.unit, unit_of(one.unit)) for one in (figure, first))
        if ours.dimension != theirs.dimension or figure.better != first.better:
            raise LongshoreError(
                f"the figure {figure.key.metric} of {figure.key.pattern} is in '{first.unit}' ({first.better} is "
                f"better) in {first.launch}, and in '{figure.unit}' ({figure.better} is better) in {figure.launch}: "
                "these are two quantities; select one with --tag or --study, or import one under another --figure"
            )
        return replace(figure, value=figure.value * (ours.scale / theirs.scale), unit=first.unit)

    for measured in sides:
        measured.figures = [converted(figure) for figure in measured.figures]


def require_metrics(wanted: Iterable[str], launches: Iterable[Launch]) -> None:
    """Raises UsageError for a metric that no launch has."""
    names = set(wanted) - {"all"}
    if not names:
        return
    known = {name for launch in launches for result in launch.results for name in result.get("metrics") or {}}
    for name in sorted(names - known) if known else ():
        require_known(name, known, "figure")


def one_simulated_machine(figures: Iterable[Figure], what: str) -> str | None:
    """The simulated machine of all figures, or None if all are measured. Raises LongshoreError if
    `what` would mix measured and simulated figures, or those of two machines."""
    kinds = sorted({figure.simulated or "" for figure in figures})
    if len(kinds) > 1:
        names = " and ".join(f"figures simulated on {name}" if name else "measured figures" for name in kinds)
        raise LongshoreError(
            f"{what} would pool {names}, which are never pooled: select one kind with --where or --study, keep "
            "transport and machine out of --ignore, or lay both side by side with 'longshore show --predicted'"
        )
    return kinds[0] or None if kinds else None


def main_metric(pattern: str, variant: Mapping[str, Any], metrics: Mapping[str, Any]) -> str | None:
    """The metric that compares variants of a pattern, or the first of the record if unknown."""
    name = MACHINE_METRICS.get(str(variant.get("kernel"))) if pattern == CONTROL else facts_of(pattern).main
    return name if name in metrics else next(iter(metrics), None)


def _launch_key(launch: Launch) -> tuple[str, str, str, str, int]:
    """The same key for all attempts of a launch."""
    return (launch.study, launch.tag, launch.session, launch.cell_id, launch.launch_index)


def _of_launch(
    launch: Launch, wanted: frozenset[str], limits: PlausibilityLimits, *, with_study: bool
) -> Iterator[Figure | tuple[Key, str]]:
    cell_text = canonical(launch.cell)
    started = launch.envelope.get("started")
    nodes, simulated = _nodes(launch), launch.simulated
    for result in launch.results:
        pattern, variant, metrics = result["pattern"], result["variant"], result.get("metrics") or {}
        main = main_metric(pattern, variant, metrics)
        names = [n for n in metrics if n == main or n in wanted or "all" in wanted] or [facts_of(pattern).main]
        variant_text = canonical(variant)
        pulse = _pulse(result) if simulated is None else None
        cache_line = cache_line_seconds(result.get("cache_line_seconds"))
        chosen = _chosen_level(result)
        traffic_levels: dict[str, Any] = {facts_of(pattern).auto: chosen} if chosen else {}
        traffic_levels |= {name: _of_rank(launch, result, name) for name in ("payload_bytes", "offnode_bytes")}
        for name in names:
            key = _shared_key(launch.study if with_study else "", pattern, name, variant_text, cell_text)
            reason = _why_no_figure(result, name, main)
            if reason is not None:
                yield key, reason
                continue
            metric = metrics[name]
            yield Figure(
                key=key,
                tag=launch.tag,
                session=launch.session,
                launch=str(launch.path),
                started=started,
                position=launch.position,
                value=float(metric["value"]),
                unit=str(metric.get("unit", "")),
                better=str(metric.get("better", "higher")),
                per=_per(pattern, name, metric),
                main=name == main,
                imported=launch.imported,
                why_implausible=limits.exceeded(launch, result, name),
                pulse=pulse,
                cache_line=cache_line,
                chosen_level=chosen,
                nodes=nodes,
                simulated=simulated,
                speeds=memory_speeds(result, float(metric["value"])),
                traffic_levels=traffic_levels,
                signal_share=_signal_share(launch, result, cache_line) if nodes == 1 else None,
                remote_messages=_remote_messages(launch, result),
            )


def _of_rank(launch: Launch, result: Record, name: str) -> float | None:
    """The mean over the ranks of a number in `traffic`."""
    ranks = number_in(launch.header, "ranks")
    return product_of(number_in(result, "traffic", name), 1 / ranks if ranks else None)


def _remote_messages(launch: Launch, result: Record) -> float | None:
    """All messages of a rank count as equally long. At least one goes to another node."""
    messages = _of_rank(launch, result, "messages")
    offnode, wire = (number_in(result, "traffic", name) for name in ("offnode_bytes", "wire_bytes"))
    seconds = number_in(result, "seconds", "median")
    if messages is None or not offnode or not wire or not seconds:
        return None
    return max(messages * offnode / wire, 1.0) / seconds


def _signal_share(launch: Launch, result: Record, line: CacheLineSeconds | None) -> float | None:
    """Each message needs a signal that it is there, and one that its memory is free again. Direct
    reads need these signals at least once, and are not counted as messages."""
    messages, seconds = _of_rank(launch, result, "messages"), number_in(result, "seconds", "median")
    if line is None or messages is None or not seconds:
        return None
    least = 1.0 if number_in(result, "traffic", "payload_bytes") else 0.0
    return max(messages, least) * line.median / seconds


def _per(pattern: str, name: str, metric: Mapping[str, Any]) -> str:
    """What the figure refers to, such as a node, by the record or else by the pattern."""
    return str(metric.get("per") or facts_of(pattern).metric(name).per)


def _nodes(launch: Launch) -> int | None:
    nodes = (launch.header or {}).get("nodes", launch.cell.get("nodes"))
    return nodes if isinstance(nodes, int) else None


def _chosen_level(result: Record) -> str | None:
    """The level that `auto` chose, from the keys that docs/reference/records.md defines."""
    factor = facts_of(result["pattern"]).auto
    if result["variant"].get(factor) != "auto":
        return None
    chosen = result.get("chosen")
    level = chosen.get(factor) if isinstance(chosen, dict) else result.get(factor)
    return level if isinstance(level, str) else None


def _pulse(result: Record) -> float | None:
    seconds = positive_in(result, "pulse_seconds")
    return -math.log(seconds) if seconds is not None and math.isfinite(seconds) else None


def _why_no_figure(result: Record, name: str, main: str | None) -> str | None:
    if result.get("skipped"):
        return f"skipped: {result['skipped']}"
    if result.get("verified") is False:
        return "failed: its result was wrong"
    metric = (result.get("metrics") or {}).get(name)
    value = metric.get("value") if isinstance(metric, dict) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "failed: it has no figure"
    if value == 0 and name != main:
        return "skipped: a figure of 0 has no ratio"  # other programs print an overlap of 0 %
    if not (math.isfinite(value) and value > 0):
        return f"failed: a figure of {value} is not possible"
    return None


def by_launch(
    figures: Iterable[Figure], value: Callable[[Figure], float] = lambda figure: figure.goodness
) -> dict[Any, float]:
    """The mean of each launch, which has several figures of a row with `--ignore`."""
    return mean_by(figures, lambda figure: figure.launch, value)


def by_session(
    figures: Iterable[Figure], value: Callable[[Figure], float] = lambda figure: figure.goodness
) -> dict[str, dict[Any, float]]:
    """The mean of each launch, by session."""
    return {name: by_launch(members, value) for name, members in grouped(figures, lambda f: f.session).items()}
