"""Reads and checks the tables of a study file: from TOML to the dataclasses of study.py."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from longshore_study.base.errors import suggestion
from longshore_study.base.expression import Expression, ExpressionError, canonical_name, parse
from longshore_study.patterns import FACTORS_BETWEEN_LAUNCHES, PATTERNS
from longshore_study.patterns.pattern import LARGEST_RANKS, Factor, Guideline
from longshore_study.study_file import environment_variables
from longshore_study.study_file.hypothesis_reader import read_hypothesis
from longshore_study.study_file.launcher_reader import read_launcher
from longshore_study.study_file.machine_reader import TRANSPORT as SIMULATED
from longshore_study.study_file.machine_reader import MachineReader
from longshore_study.study_file.metric_reader import METRIC_KEYS, read_metric
from longshore_study.study_file.state_reader import read_states
from longshore_study.study_file.step_reader import read_steps
from longshore_study.study_file.study import VERIFICATIONS, External, LaunchSettings, PatternBlock, Study, placeholders
from longshore_study.study_file.toml_positions import Path as KeyPath
from longshore_study.study_file.toml_positions import line_of
from longshore_study.study_file.toml_values import Values, listed, shown

SECTIONS = ("study", "pattern", "external", "launcher", "bound", "guideline", "step", "hypothesis", "states")
STUDY_KEYS = ("name", "description", "seed", "sessions", "margin")
BLOCK_KEYS = ("launches", "repetitions", "warmup", "timeout_seconds")  # in [study]; a block may override them
_LONGEST_LIST = 1000


class StudyReader(Values):
    """Reads one study file. `where` is the path of keys to a value, for messages."""

    def __init__(self, path: str, lines: dict[KeyPath, int]) -> None:
        super().__init__(path, lines)
        self.levels_of_externals: dict[str, list[Any]] = {}
        self.machines = MachineReader(self)

    def study(self, document: dict[str, Any], text: str) -> Study:
        self.known_keys(document, (), SECTIONS, "table")
        settings = self.table(document, (), "study")
        self.known_keys(settings, ("study",), (*STUDY_KEYS, *BLOCK_KEYS, "verify"), "key in [study]")
        general = self.launch_settings(settings, ("study",), LaunchSettings())
        blocks = tuple(
            part
            for index, block in enumerate(self.tables(document, "pattern"))
            for part in self.pattern(block, ("pattern", index), general)
        )
        externals = tuple(
            part
            for index, block in enumerate(self.tables(document, "external"))
            for part in self.external(block, ("external", index), general)
        )
        for external in externals:
            for name, levels in external.between.items():
                self.levels_of_externals.setdefault(name, []).extend(levels)
        if not blocks and not externals and "pattern" not in document and "external" not in document:
            self.problem((), "nothing to run: a study needs at least one [[pattern]]")
        return Study(
            path=self.path,
            text=text,
            name=self.name(settings, ("study",), "study"),
            description=self.text(settings, ("study",), "description", ""),
            seed=self.integer(settings, ("study",), "seed", default=1, least=0, most=2**63 - 1),
            sessions=self.integer(settings, ("study",), "sessions", default=1, least=1, most=10_000),
            margin=self.fraction(settings, ("study",), "margin", 0.05),
            launch_settings=general,
            patterns=blocks,
            externals=externals,
            guidelines=tuple(
                self.guideline(block, ("guideline", index))
                for index, block in enumerate(self.tables(document, "guideline"))
            ),
            steps=read_steps(self, self.tables(document, "step"), blocks),
            launcher=read_launcher(self, self.table(document, (), "launcher", required=False)),
            bound=self.bound(self.table(document, (), "bound", required=False)),
            hypothesis=read_hypothesis(self, document, blocks),
            states=read_states(self, document, externals),
        )

    def pattern(self, block: dict[str, Any], where: KeyPath, general: LaunchSettings) -> list[PatternBlock]:
        """A block for each table of `between`."""
        keys = ("program", "within", "between", "exclude", "verify", *BLOCK_KEYS)
        self.known_keys(block, where, keys, "key in [[pattern]]")
        program = self.word(block, where, "program", tuple(PATTERNS))
        if program is None:
            return []
        factors = PATTERNS[program].factors
        table = self.table(block, where, "within", required=False)
        within = self.factors(table, (*where, "within"), factors, program)
        betweens = [(self.between(table, at, factors, program), at) for table, at in self.betweens(block, where)]
        machines = [self.machines.read(at, between) for between, at in betweens]
        levels = _union([between for between, _ in betweens])
        for name in sorted(within.keys() & levels.keys()):
            self.problem((*where, "within", name), f"'{name}' is in within and in between; it can vary in one only")
        exclude = self.exclude(block, where, {**within, **levels}, {**factors, **FACTORS_BETWEEN_LAUNCHES})
        return [
            PatternBlock(
                program=program,
                within=within,
                between=between,
                exclude=exclude,
                launch_settings=self.launch_settings(block, where, general),
                line=line_of(self.lines, where),
                machines=of_table,
                simulated_launches=self.integer(block, where, "launches", default=1, least=1, most=10_000),
            )
            for (between, _), of_table in zip(betweens, machines, strict=True)
        ]

    def betweens(self, block: dict[str, Any], where: KeyPath) -> list[tuple[dict[str, Any], KeyPath]]:
        """The tables of `between`, each with its path. A list of tables has levels that go
        together."""
        given, path = block.get("between"), (*where, "between")
        if isinstance(given, list) and given and all(isinstance(table, dict) for table in given):
            return [(table, (*path, index)) for index, table in enumerate(given)]
        return [(self.table(block, where, "between", required=False), path)]

    def external(self, block: dict[str, Any], where: KeyPath, general: LaunchSettings) -> list[External]:
        """A block for each table of `between`."""
        keys = (
            "name",
            "command",
            "format",
            "launch",
            "optional",
            "ranks_per_node",
            "between",
            "exclude",
            *METRIC_KEYS,
            *BLOCK_KEYS,
        )
        self.known_keys(block, where, keys, "key in [[external]]")
        command = self.texts(block, where, "command", required=True)
        betweens = [self.external_between(table, at) for table, at in self.betweens(block, where)]
        between = _union(betweens)
        for index, argument in enumerate(command):
            for name in placeholders(argument):
                if name not in between and name != "output":
                    self.problem(
                        (*where, "command", index),
                        f"'{{{name}}}' in the command is not a factor of between{suggestion(name, between)}",
                    )
        launch = self.flag(block, where, "launch", default=False)
        if launch and not all("ranks" in table for table in betweens):
            self.problem(where, "launch = true needs a number of ranks; write between = { ranks = [2] }")
        wanted = self.word(block, where, "format", _import_formats()) or ""
        if block.get("name") in PATTERNS:
            self.problem(
                (*where, "name"), f"'{block['name']}' is one of our patterns; give the external program another name"
            )
        whole = External(
            name=self.name(block, where, "external program"),
            command=tuple(command),
            format=wanted,
            between=between,
            exclude=self.exclude(block, where, between, FACTORS_BETWEEN_LAUNCHES),
            launch_settings=self.launch_settings(block, where, general),
            launch=launch,
            metric=read_metric(self, block, where, wanted, between),
            ranks_per_node=self.optional_integer(block, where, "ranks_per_node", most=LARGEST_RANKS),
            optional=self.flag(block, where, "optional", default=False),
            line=line_of(self.lines, where),
        )
        return [replace(whole, between=table) for table in betweens]

    def launch_settings(self, owner: Mapping[str, Any], where: KeyPath, general: LaunchSettings) -> LaunchSettings:
        """Launches, repetitions and time limit of a block, with defaults from [study]."""
        million = 1_000_000
        return LaunchSettings(
            launches=self.integer(owner, where, "launches", default=general.launches, least=1, most=10_000),
            repetitions=self.integer(owner, where, "repetitions", default=general.repetitions, least=1, most=million),
            warmup=self.integer(owner, where, "warmup", default=general.warmup, least=0, most=million),
            timeout_seconds=self.seconds(owner, where, general.timeout_seconds),
            verify=(self.word(owner, where, "verify", VERIFICATIONS) if "verify" in owner else None) or general.verify,
        )

    def bound(self, block: dict[str, Any]) -> dict[str, float]:
        keys = ("injection_GBps_per_node", "memory_GBps_per_node")
        self.known_keys(block, ("bound",), keys, "key in [bound]")
        values = {}
        for key in keys:
            if key in block:
                values[key] = self.number(block, ("bound",), key, default=1.0, most=1e9, allowed="above 0, in GB/s")
        return values

    def guideline(self, block: dict[str, Any], where: KeyPath) -> Guideline:
        self.known_keys(block, where, ("faster", "than", "tolerance", "pattern"), "key in [[guideline]]")
        pattern = self.word(block, where, "pattern", tuple(PATTERNS)) if "pattern" in block else None
        known: dict[str, list[Factor]] = {}
        for program in [pattern] if pattern else PATTERNS:
            for name, factor in PATTERNS[program].factors.items():
                known.setdefault(name, []).append(factor)
        sides = []
        for side in ("faster", "than"):
            levels = self.table(block, where, side)
            if side in block and not levels:
                self.problem((*where, side), f"'{side}' is empty; it names factor levels, as {{ mode = \"waitall\" }}")
            for name, value in levels.items():
                self.guideline_level(known, name, value, (*where, side, name))
            sides.append({canonical_name(name): _level(value) for name, value in levels.items()})
        if sides[0] and sides[0] == sides[1]:
            self.problem(
                (*where, "than"), "'faster' and 'than' are the same; a guideline compares two different things"
            )
        return Guideline(sides[0], sides[1], self.fraction(block, where, "tolerance", 0.05), pattern)

    def guideline_level(self, known: dict[str, list[Factor]], name: str, value: Any, where: KeyPath) -> None:
        if name == "environment":
            self.environment([value], where)  # a single level, not a list of levels
            return
        if value in self.levels_of_externals.get(canonical_name(name), ()):
            return
        if name in FACTORS_BETWEEN_LAUNCHES:
            known = {**known, name: [FACTORS_BETWEEN_LAUNCHES[name]]}
        if canonical_name(name) not in known:
            names = {**known, **FACTORS_BETWEEN_LAUNCHES, "environment": [], **self.levels_of_externals}
            if canonical_name(name) in names:
                levels = (shown(level) for level in self.levels_of_externals[canonical_name(name)])
                self.problem(where, f"{name}: no [[external]] has the level {shown(value)}{listed(levels)}")
            else:
                self.problem(where, f"unknown factor '{name}'{suggestion(name, names) or listed(names)}")
        elif all(_factor_problem(factor, value) for factor in known[canonical_name(name)]):
            self.problem(where, f"{name}: {_factor_problem(known[canonical_name(name)][0], value)}")

    # Factors

    def factors(
        self, table: Mapping[str, Any], where: KeyPath, known: Mapping[str, Factor], program: str
    ) -> dict[str, list[Any]]:
        """The levels of each factor. A single level needs no list."""
        found: dict[str, list[Any]] = {}
        for name, given in table.items():
            key_path = (*where, name)
            factor = known.get(canonical_name(name))
            if factor is None:
                misplaced = name in (*FACTORS_BETWEEN_LAUNCHES, "environment")
                move = " (it varies between launches: move it to between)" if misplaced else ""
                hint = move or suggestion(name, known) or listed(known)
                self.problem(key_path, f"unknown factor '{name}' of {program}{hint}")
                continue
            found[canonical_name(name)] = self.levels(name, given, factor, key_path)
        return found

    def levels(self, name: str, given: Any, factor: Factor, key_path: KeyPath) -> list[Any]:
        single = not isinstance(given, list) or (
            factor.numbers_in_one > 1 and bool(given) and not any(isinstance(item, list) for item in given)
        )
        levels = [given] if single else given
        if not levels:
            self.problem(key_path, f"{name} has no levels; give at least one")
        if len(levels) > _LONGEST_LIST:
            self.problem(key_path, f"{name} has {len(levels)} levels; at most {_LONGEST_LIST} are allowed")
            return levels[:1]
        for index, level in enumerate(levels):
            wrong = _factor_problem(factor, level)
            if wrong:
                self.problem(key_path if single else (*key_path, index), f"{name}: {wrong}")
            elif level in levels[:index]:
                self.problem((*key_path, index), f"{name}: {shown(level)} is given twice")
        return levels

    def between(
        self, table: dict[str, Any], where: KeyPath, factors: Mapping[str, Factor], program: str
    ) -> dict[str, list[Any]]:
        others = {name: given for name, given in table.items() if name != "environment"}
        environment = self.environment(table.get("environment", [{}]), (*where, "environment"))
        found = self.factors(others, where, {**factors, **FACTORS_BETWEEN_LAUNCHES}, program)
        found.setdefault("transport", ["threads"])
        if "ranks" not in found and not ("nodes" in found and found["transport"] == [SIMULATED]):
            self.problem(where, "the number of ranks is missing; write between = { ranks = [2] }")
        return {**found, "environment": environment}

    def external_between(self, table: dict[str, Any], where: KeyPath) -> dict[str, list[Any]]:
        """Factors of an external program. Any name is allowed; levels are numbers and texts."""
        environment = self.environment(table.get("environment", [{}]), (*where, "environment"))
        found: dict[str, list[Any]] = {}
        for name, given in table.items():
            if name == "environment":
                continue
            key_path = (*where, name)
            levels = given if isinstance(given, list) else [given]
            if name in FACTORS_BETWEEN_LAUNCHES:
                levels = self.levels(name, given, FACTORS_BETWEEN_LAUNCHES[name], key_path)
            elif not levels or any(isinstance(level, dict | list) for level in levels):
                self.problem(key_path, f"{name} must be a list of numbers or texts, found {shown(given)}")
            found[canonical_name(name)] = levels
        return {**found, "environment": environment}

    def environment(self, given: Any, key_path: KeyPath) -> list[environment_variables.Level]:
        levels = given if isinstance(given, list) else [given]
        found: list[environment_variables.Level] = []
        for index, level in enumerate(levels):
            if not isinstance(level, dict):
                self.problem(
                    (*key_path, index), f'environment: {shown(level)} is no table such as {{ NAME = "value" }}'
                )
                continue
            values = environment_variables.read(level, partial(self._problem_at, (*key_path, index)))
            if values in found:
                self.problem((*key_path, index), f"environment: {shown(values)} is given twice")
            found.append(values)
        if not found and not levels:
            self.problem(key_path, "environment has no levels; write {} for the unchanged environment")
        return found or [{}]

    def _problem_at(self, key_path: KeyPath, name: str, what: str) -> None:
        self.problem((*key_path, name), what)

    def exclude(
        self, block: dict[str, Any], where: KeyPath, levels: Mapping[str, list[Any]], known: Mapping[str, Factor]
    ) -> tuple[Expression, ...]:
        conditions = []
        for index, text in enumerate(self.texts(block, where, "exclude")):
            key_path = (*where, "exclude", index)
            try:
                condition = parse(text)
                condition.check_names(levels)
            except ExpressionError as error:
                self.problem(key_path, str(error))
                continue
            for name, value in condition.comparisons():
                factor = known.get(name)
                if factor and factor.is_word and value not in levels[name]:
                    near = suggestion(str(value), levels[name])
                    wrong = f"the condition compares {name} with {shown(value)}, which is not one of its levels"
                    self.problem(key_path, f"{wrong}{near or listed(map(str, levels[name]))}")
            conditions.append(condition)
        return tuple(conditions)


def _union(tables: list[dict[str, list[Any]]]) -> dict[str, list[Any]]:
    """All levels of each factor."""
    found: dict[str, list[Any]] = {}
    for table in tables:
        for name, levels in table.items():
            found[name] = [*found.get(name, ()), *levels]
    return found


def _factor_problem(factor: Factor, level: Any) -> str | None:
    """Why `level` is not a level of this factor, or None."""
    if factor.free_text:
        return None if isinstance(level, str) and level.strip() else f"{shown(level)} is not {factor.allowed()}"
    if factor.is_word:
        if isinstance(level, str) and level in factor.values:
            return None
        near = suggestion(level, factor.values) if isinstance(level, str) else ""
        return f"{shown(level)} is not {factor.allowed()}{near}"
    numbers = level if factor.numbers_in_one > 1 and isinstance(level, list) else [level]
    fits = len(numbers) == factor.numbers_in_one and all(
        isinstance(number, int) and not isinstance(number, bool) and factor.least <= number <= factor.most
        for number in numbers
    )
    return None if fits else f"{shown(level)} is not {factor.allowed()}"


def _level(value: Any) -> Any:
    """A level as in a launch, where the environment variables are texts."""
    return environment_variables.read(value, lambda *_: None) if isinstance(value, dict) else value


def _import_formats() -> list[str]:
    """The formats of the output of one program. Formats of series are left out, because they hold
    results of many times."""
    from longshore_study.importers.formats import FORMATS, SERIES  # noqa: PLC0415 - only [[external]] needs it

    return sorted(set(FORMATS) - set(SERIES))
