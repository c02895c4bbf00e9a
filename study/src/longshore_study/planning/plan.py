"""Plans the launches of a study: the cells from the cross product of the factors `between`, the
sweep of each cell over the factors `within`, control cells, and a random but reproducible order.

The order is a sequence of shuffles of all cells. So even an interrupted session has measured all
cells about equally often, and a drift of the machine affects all cells alike.
"""

import math
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from longshore_study.base.errors import UsageError
from longshore_study.base.groups import combinations_of
from longshore_study.base.terminal import count
from longshore_study.patterns import CONTROL, FACTORS_OF_A_LAUNCH, PATTERNS
from longshore_study.store import launch_store
from longshore_study.study_file import environment_variables
from longshore_study.study_file.machine_reader import TRANSPORT as SIMULATED
from longshore_study.study_file.study import External, LaunchSettings, MachineFile, PatternBlock, Study

MAX_LAUNCHES = 1_000_000
MAX_VARIANTS = 100_000  # of one launch
_CONTROL_REPETITIONS = 10  # few, since the arrays exceed the caches and a repetition is slow


@dataclass(frozen=True)
class Cell:
    """The measurements of one launch: its fixed factors (`between`), and its sweep (`within`)."""

    program: str
    between: dict[str, Any]
    within: dict[str, list[Any]]
    launch_settings: LaunchSettings
    external: External | None = None
    machine: MachineFile | None = None
    """The machine of a simulated cell."""

    @property
    def factors(self) -> dict[str, Any]:
        """The factors of the cell as they are stored, by which comparisons match rows."""
        return {"program": self.program, **self.between}

    @cached_property
    def cell_id(self) -> str:
        """An identifier that does not depend on the numbers of launches and repetitions."""
        return launch_store.cell_id({"cell": self.factors, "within": self.within})

    @property
    def environment(self) -> environment_variables.Level:
        return dict(self.between.get("environment", {}))

    @property
    def ranks(self) -> int:
        return int(self.between.get("ranks", 1))

    @property
    def variants(self) -> int:
        return math.prod(len(levels) for levels in self.within.values())

    @property
    def label(self) -> str:
        """A text for people: program, transport, and the other factors of the cell."""
        words = [self.program]
        for name, value in self.between.items():
            if name == "environment":
                words += environment_variables.descriptions(value)
            elif name == "transport":
                words.append(str(value))
            elif name == "ranks":
                words.append(count(value, "rank"))
            else:
                words.append(f"{name.replace('_', '-')}={_option_text(value)}")
        return " ".join(words)

    @property
    def detail(self) -> str:
        """The factors `within` that have a single level, to distinguish cells of one program."""
        single = {name: levels[0] for name, levels in self.within.items() if len(levels) == 1}
        return " ".join(f"{name.replace('_', '-')}={_option_text(level)}" for name, level in single.items())

    def options(self, seed: int, json_file: str = "-") -> list[str]:
        """The command line of longshore-bench after the name of the program."""
        words = [self.program, "--transport", str(self.between["transport"])]
        if self.machine is not None:
            words += ["--machine", self.machine.path]
        if self.between["transport"] in ("threads", SIMULATED):
            words += ["--ranks", str(self.ranks)]
        if "ranks_per_node" in self.between:
            words += ["--ranks-per-node", str(self.between["ranks_per_node"])]
        for name in PATTERNS[self.program].factors:
            if name in self.within:
                words += [_option_name(name), ",".join(_option_text(level) for level in self.within[name])]
            elif name in self.between:
                words += [_option_name(name), _option_text(self.between[name])]
        words += ["--repetitions", str(self.launch_settings.repetitions)]
        words += ["--warmup", str(self.launch_settings.warmup), "--seed", str(seed)]
        if self.launch_settings.verify != LaunchSettings.verify:
            words += ["--verify", self.launch_settings.verify]
        if self.launch_settings.phases:
            words.append("--phases")
        return [*words, "--json", json_file]


@dataclass(frozen=True)
class PlannedLaunch:
    cell: Cell
    launch_index: int
    position: int
    """Position in the random order of the whole session, from 0."""

    @property
    def key(self) -> tuple[str, int]:
        return self.cell.cell_id, self.launch_index


@dataclass(frozen=True)
class Plan:
    study: Study
    cells: list[Cell] = field(default_factory=list)
    left_out: tuple[External, ...] = ()
    """Optional programs that this machine lacks."""

    @property
    def launches_per_session(self) -> int:
        return sum(cell.launch_settings.launches for cell in self.cells)

    @cached_property
    def labels(self) -> dict[str, str]:
        """The shortest unique name of each cell, by cell_id."""
        shorts = [cell.label for cell in self.cells]
        return {
            cell.cell_id: cell.label if shorts.count(cell.label) == 1 else f"{cell.label} {cell.detail}".rstrip()
            for cell in self.cells
        }

    def seed_of(self, launch_index: int) -> int:
        """The seed of a launch, for data and order of the sweep: the same for the same index."""
        return (self.study.seed + launch_index) % 2**31

    def order(self, session: str) -> list[PlannedLaunch]:
        """All launches of a session in order, which depends only on the study and the session."""
        shuffler = random.Random(f"{self.study.seed}/{self.study.name}/{session}")  # noqa: S311 - an order, not a secret
        launches: list[PlannedLaunch] = []
        for index in range(max((cell.launch_settings.launches for cell in self.cells), default=0)):
            wanted = [cell for cell in self.cells if index < cell.launch_settings.launches]
            shuffler.shuffle(wanted)
            launches += [PlannedLaunch(cell, index, len(launches) + k) for k, cell in enumerate(wanted)]
        return launches


def make_plan(study: Study) -> Plan:
    """All cells and controls, without missing optional programs. UsageError if none or many."""
    _refuse_absurd_sizes(study)
    left_out = tuple(block for block in study.externals if block.optional and block.is_missing)
    externals = [block for block in study.externals if block not in left_out]
    cells_and_lines = [(cell, block.line) for block in study.patterns for cell in _cells_of_pattern(study, block)]
    cells_and_lines += [(cell, block.line) for block in externals for cell in _cells_of_external(block)]
    unique = _without_duplicates(study, cells_and_lines)
    if not unique and left_out:
        raise UsageError(f"{study.path}: nothing to run: {missing_programs(left_out)}; install one or put it on PATH")
    if not unique:
        line = next(block.line for block in study.blocks if block.exclude)
        raise UsageError(f"{study.path}:{line}: the conditions of 'exclude' leave nothing to run")
    for cell, line in cells_and_lines:
        _refuse_full_nodes(study, cell, line)
    plan = Plan(study, [*_control_cells(unique), *unique], left_out)
    launches = plan.launches_per_session * study.sessions
    if launches > MAX_LAUNCHES:
        raise UsageError(f"{study.path}: {launches} launches in all; at most {MAX_LAUNCHES} are allowed")
    return plan


def missing_programs(externals: Sequence[External]) -> str:
    """A sentence about programs that this machine lacks, or ""."""
    names = list(dict.fromkeys(f"'{external.command[0]}' of [[external]] {external.name}" for external in externals))
    return f"{', '.join(names)} {'was' if len(names) == 1 else 'were'} not found here" if names else ""


def _refuse_absurd_sizes(study: Study) -> None:
    for block in study.patterns:
        variants = math.prod(len(levels) for levels in block.within.values())
        if variants > MAX_VARIANTS:
            what = f"{variants} variants in one launch; at most {MAX_VARIANTS} are allowed"
            raise UsageError(f"{study.path}:{block.line}: [[pattern]] {block.program} has {what}")
    for any_block in study.blocks:
        cells = math.prod(len(levels) for levels in any_block.between.values())
        if cells > MAX_LAUNCHES:
            raise UsageError(f"{study.path}: {cells} cells in one block; at most {MAX_LAUNCHES} launches are allowed")


def _refuse_full_nodes(study: Study, cell: Cell, line: int) -> None:
    """Raises UsageError if the cell has more ranks than its nodes, as far as [launcher] tells."""
    most, nodes = study.launcher.ranks_per_node, cell.between.get("nodes")
    if most and nodes and cell.machine is None and cell.ranks > most * nodes:
        what = f"{cell.ranks} ranks on {count(nodes, 'node')}, but ranks_per_node of [launcher] is {most}"
        remedy = f"write levels that go together: between = [{{ ranks = {most * nodes}, nodes = {nodes} }}, ...]"
        raise UsageError(f"{study.path}:{line}: {cell.label}: {what}; {remedy}")


def _without_duplicates(study: Study, cells_and_lines: Iterable[tuple[Cell, int]]) -> list[Cell]:
    """The cells, with their lines, without duplicates, which must have the same settings."""
    unique: dict[str, tuple[Cell, int]] = {}
    for cell, line in cells_and_lines:
        known, first = unique.setdefault(cell.cell_id, (cell, line))
        if known is cell:
            continue
        settings = _settings(known)
        differing = [name for name, value in _settings(cell).items() if settings.get(name, value) != value]
        if differing:
            raise UsageError(
                f"{study.path}:{line}: {cell.label} is also in the block of line {first}, with a different "
                f"{' and '.join(differing)}; remove it from one of them, or give it another name or factor"
            )
    return [cell for cell, _ in unique.values()]


def _settings(cell: Cell) -> dict[str, Any]:
    """The settings that are not part of the cell_id."""
    names = ("command", "format", "metric", "launch", "ranks_per_node") if cell.external is not None else ()
    return {**vars(cell.launch_settings), **{name: getattr(cell.external, name) for name in names}}


def _cells_of_pattern(study: Study, block: PatternBlock) -> Iterator[Cell]:
    factors = PATTERNS[block.program].factors
    # A command line has lists of words and numbers, but no lists of tuples: `--domain 64,64,64` is
    # one domain. So a factor with tuples as levels varies between launches.
    tuples = {name: levels for name, levels in block.within.items() if factors[name].numbers_in_one > 1}
    lists = {name: levels for name, levels in block.within.items() if name not in tuples}
    for between in combinations_of(block.between):
        for chosen in combinations_of(tuples):
            swept = {**lists, **{name: [level] for name, level in chosen.items()}}
            within = _not_excluded(study, block, between, swept)
            if within is None:
                continue
            if between["transport"] == SIMULATED:
                yield _simulated_cell(study, block, between, within)
            else:
                others = {name: level for name, level in between.items() if name != "machine"}
                yield Cell(block.program, others, within, block.launch_settings)


def _simulated_cell(
    study: Study, block: PatternBlock, between: Mapping[str, Any], within: dict[str, list[Any]]
) -> Cell:
    machine = block.machines[between["machine"]]
    layout = _layout_on(machine, between, f"{study.path}:{block.line}")
    settings = replace(block.launch_settings, launches=block.simulated_launches)
    return Cell(block.program, {**between, **layout}, within, settings, machine=machine)


def _layout_on(machine: MachineFile, between: Mapping[str, Any], where: str) -> dict[str, int]:
    """The factor `ranks`, and `ranks_per_node` if the other factors determine it. If only `nodes`
    is given, the nodes are full. Raises UsageError, which begins with `where`, if the machine has
    no such layout."""
    nodes, ranks, given = between.get("nodes"), between.get("ranks"), between.get("ranks_per_node")
    per_node = given or (-(-ranks // nodes) if ranks and nodes else machine.ranks_per_node)
    total = ranks or (nodes or 1) * per_node
    name = f"machine '{machine.name}'"
    if nodes and -(-total // per_node) != nodes:
        what = f"{total} ranks with {per_node} on each node do not make {nodes} nodes of {name}"
        raise UsageError(f"{where}: {what}; remove ranks, nodes or ranks_per_node, which follows from the others")
    if total > machine.nodes * per_node:
        most = f"at most {machine.nodes * per_node} ranks with {per_node} on each node"
        what = f"{total} are too many: write fewer, or raise nodes in {machine.given}"
        raise UsageError(f"{where}: {name} has {count(machine.nodes, 'node')}, so {most}; {what}")
    return {"ranks": total} | ({"ranks_per_node": per_node} if given or (ranks and nodes) else {})


def _not_excluded(
    study: Study, block: PatternBlock, between: Mapping[str, Any], within: dict[str, list[Any]]
) -> dict[str, list[Any]] | None:
    """The levels of one launch that `exclude` keeps, or None if it keeps nothing. Raises UsageError
    if the kept combinations are not a full cross product, which a launch needs."""
    if not block.exclude:
        return within
    compared = frozenset().union(*(condition.names for condition in block.exclude))
    if not compared & within.keys():
        return None if any(condition.matches(between) for condition in block.exclude) else within
    kept = [
        variant
        for variant in combinations_of(within)
        if not any(condition.matches({**between, **variant}) for condition in block.exclude)
    ]
    if not kept:
        return None
    left = {name: [level for level in levels if any(level == v[name] for v in kept)] for name, levels in within.items()}
    if math.prod(len(levels) for levels in left.values()) != len(kept):
        names = ", ".join(sorted(compared & within.keys()))
        raise UsageError(
            f"{study.path}:{block.line}: 'exclude' leaves combinations of {names} that are not a full cross product, "
            "which a launch needs; write two [[pattern]] blocks instead"
        )
    return left


def _cells_of_external(external: External) -> Iterator[Cell]:
    for between in combinations_of(external.between):
        if not any(condition.matches(between) for condition in external.exclude):
            yield Cell(external.name, between, {}, external.launch_settings, external)


def _control_cells(cells: list[Cell]) -> list[Cell]:
    """Cells with memory copy and ping-pong for each launch configuration. They show a change of the
    machine. A simulated machine does not change, and gets no control cells."""
    controls: dict[str, Cell] = {}
    for cell in cells:
        if cell.external is not None or cell.machine is not None:
            continue
        between = {name: cell.between[name] for name in FACTORS_OF_A_LAUNCH if name in cell.between}
        kernels = ["copy", "pingpong"] if cell.ranks > 1 else ["copy"]
        of_cell = cell.launch_settings
        launch_settings = LaunchSettings(
            of_cell.launches, _CONTROL_REPETITIONS, timeout_seconds=of_cell.timeout_seconds
        )
        control = Cell(CONTROL, between, {"kernel": kernels}, launch_settings)
        known = controls.get(control.cell_id)
        if known is None or known.launch_settings.launches < launch_settings.launches:
            controls[control.cell_id] = control
    return list(controls.values())


def _option_name(factor: str) -> str:
    return "--" + factor.replace("_", "-")


def _option_text(level: Any) -> str:
    return ",".join(map(str, level)) if isinstance(level, list) else str(level)
