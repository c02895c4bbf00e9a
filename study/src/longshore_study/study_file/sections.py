"""Reads and checks the tables of a study file: from TOML to the dataclasses of study.py."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from longshore_study.base.errors import suggestion
from longshore_study.base.expression import Expression, ExpressionError, canonical_name, parse
from longshore_study.base.groups import union_of
from longshore_study.patterns import FACTORS_BETWEEN_LAUNCHES, PATTERNS
from longshore_study.patterns.pattern import LARGEST_RANKS, Factor, Guideline, free_text
from longshore_study.study_file import environment_variables
from longshore_study.study_file.hypothesis_reader import read_hypothesis
from longshore_study.study_file.launcher_reader import check_placeholders, read_launcher, read_states
from longshore_study.study_file.machine_reader import TRANSPORT as SIMULATED
from longshore_study.study_file.machine_reader import read_machines
from longshore_study.study_file.metric_reader import METRIC_KEYS, read_metric
from longshore_study.study_file.step_reader import read_steps
from longshore_study.study_file.study import VERIFICATIONS, External, LaunchSettings, PatternBlock, Study
from longshore_study.study_file.toml_values import TomlTable, listed, shown

SECTIONS = ("study", "pattern", "external", "launcher", "bound", "guideline", "step", "hypothesis", "states")
STUDY_KEYS = ("name", "description", "seed", "sessions", "margin")
BLOCK_KEYS = ("launches", "repetitions", "warmup", "timeout_seconds")  # in [study]; a block may override them
PATTERN_KEYS = ("verify", "phases")  # as BLOCK_KEYS, but not for external programs
ENVIRONMENT = "environment"
BETWEEN = {**FACTORS_BETWEEN_LAUNCHES, ENVIRONMENT: free_text("work")}
"""The factors between launches of every program. The levels of `environment` are tables, which
`_environments` reads."""
_LONGEST_LIST = 1000
_TIMED = " and ".join(name for name, pattern in PATTERNS.items() if pattern.times_phases)


def read_study(document: TomlTable, text: str) -> Study:
    problems = document.problems
    machine_paths: dict[str, str] = {}
    document.known_keys(SECTIONS, "table")
    settings = document.table("study")
    settings.known_keys((*STUDY_KEYS, *BLOCK_KEYS, *PATTERN_KEYS), "key in [study]")
    general = _launch_settings(settings, LaunchSettings())
    blocks = tuple(part for block in document.tables("pattern") for part in _pattern(block, general, machine_paths))
    externals = tuple(part for block in document.tables("external") for part in _external(block, general))
    levels_of_externals = union_of(external.between for external in externals)
    if not blocks and not externals and "pattern" not in document and "external" not in document:
        document.problem("nothing to run: a study needs at least one [[pattern]]")
    is_read = not problems.found and (blocks or externals)
    if general.phases and is_read and not any(PATTERNS[block.program].times_phases for block in blocks):
        settings.problem(f"phases can be timed of {_TIMED}, and the study has neither; remove 'phases'", "phases")
    return Study(
        path=problems.path,
        text=text,
        name=settings.name("study"),
        description=settings.text("description"),
        seed=settings.integer("seed", default=1, least=0, most=2**63 - 1),
        sessions=settings.integer("sessions", default=1, least=1, most=10_000),
        margin=settings.fraction("margin", 0.05),
        launch_settings=general,
        patterns=blocks,
        externals=externals,
        guidelines=tuple(_guideline(block, levels_of_externals) for block in document.tables("guideline")),
        steps=read_steps(document.tables("step"), blocks),
        launcher=read_launcher(document.table("launcher", required=False)),
        bound=_bound(document.table("bound", required=False)),
        hypothesis=read_hypothesis(document, blocks),
        states=read_states(document, externals),
    )


def _pattern(block: TomlTable, general: LaunchSettings, machine_paths: dict[str, str]) -> list[PatternBlock]:
    """A block for each table of `between`."""
    keys = ("program", "within", "between", "exclude", *BLOCK_KEYS, *PATTERN_KEYS)
    block.known_keys(keys, "key in [[pattern]]")
    program = block.word("program", tuple(PATTERNS))
    if program is None:
        return []
    factors = PATTERNS[program].factors
    within = _factors(block.table("within", required=False), factors, program)
    tables = _betweens(block)
    betweens = [_between(table, factors, program) for table in tables]
    machines = [read_machines(table, between, machine_paths) for table, between in zip(tables, betweens, strict=True)]
    levels = union_of(betweens)
    for name in sorted(within.keys() & levels.keys()):
        block.problem(f"'{name}' is in within and in between; it can vary in one only", "within", name)
    exclude = _exclude(block, {**within, **levels}, {**factors, **FACTORS_BETWEEN_LAUNCHES})
    settings = _launch_settings(block, general)
    if settings.phases and not PATTERNS[program].times_phases:
        if "phases" in block:
            block.problem(f"phases can be timed of {_TIMED}, not of {program}; remove 'phases'", "phases")
        settings = replace(settings, phases=False)
    return [
        PatternBlock(
            program=program,
            within=within,
            between=between,
            exclude=exclude,
            launch_settings=settings,
            line=block.line,
            machines=of_table,
            simulated_launches=settings.launches if "launches" in block else 1,
        )
        for between, of_table in zip(betweens, machines, strict=True)
    ]


def _external(block: TomlTable, general: LaunchSettings) -> list[External]:
    """A block for each table of `between`."""
    keys = ("name", "command", "format", "launch", "optional", "ranks_per_node", "between", "exclude")
    block.known_keys((*keys, *METRIC_KEYS, *BLOCK_KEYS), "key in [[external]]")
    command = block.texts("command", required=True)
    betweens = [_external_between(table) for table in _betweens(block)]
    between = union_of(betweens)
    check_placeholders(block, "command", command, between)
    launch = block.flag("launch")
    if launch and not all("ranks" in table for table in betweens):
        block.problem("launch = true needs a number of ranks; write between = { ranks = [2] }")
    wanted = block.word("format", _import_formats()) or ""
    if (named := block.content.get("name")) in PATTERNS:
        block.problem(f"'{named}' is one of our patterns; give the external program another name", "name")
    whole = External(
        name=block.name("external program"),
        command=tuple(command),
        format=wanted,
        between=between,
        exclude=_exclude(block, between, FACTORS_BETWEEN_LAUNCHES),
        launch_settings=_launch_settings(block, general),
        launch=launch,
        metric=read_metric(block, wanted, between),
        ranks_per_node=block.optional_integer("ranks_per_node", most=LARGEST_RANKS),
        optional=block.flag("optional"),
        line=block.line,
    )
    return [replace(whole, between=table) for table in betweens]


def _guideline(block: TomlTable, of_externals: Mapping[str, list[Any]]) -> Guideline:
    """`of_externals`: the levels of factors of other programs."""
    block.known_keys(("faster", "than", "tolerance", "pattern"), "key in [[guideline]]")
    pattern = block.optional_word("pattern", tuple(PATTERNS))
    known: dict[str, list[Factor]] = {}
    for program in [pattern] if pattern else PATTERNS:
        for name, factor in PATTERNS[program].factors.items():
            known.setdefault(name, []).append(factor)
    known |= {name: [factor] for name, factor in BETWEEN.items()}
    sides = []
    for side in ("faster", "than"):
        levels = block.table(side)
        if side in block and not levels.content:
            levels.problem(f"'{side}' is empty; it names factor levels, as {{ mode = \"waitall\" }}")
        sides.append(
            {canonical_name(name): _guideline_level(known, of_externals, name, levels) for name in levels.content}
        )
    if sides[0] and sides[0] == sides[1]:
        block.problem("'faster' and 'than' are the same; a guideline compares two different things", "than")
    return Guideline(sides[0], sides[1], block.fraction("tolerance", 0.05), pattern)


def _guideline_level(
    known: Mapping[str, Sequence[Factor]], of_externals: Mapping[str, list[Any]], name: str, levels: TomlTable
) -> Any:
    value, factor = levels.content[name], canonical_name(name)
    if factor == ENVIRONMENT:
        return _environments(levels, [value])[0]  # a single level, not a list of levels
    measured = of_externals.get(factor, [])
    if value in measured:
        return value
    if factor in known:
        if all(_factor_problem(one, value) for one in known[factor]):
            levels.problem(f"{name}: {_factor_problem(known[factor][0], value)}", name)
    elif measured:
        among = listed(map(shown, measured))
        levels.problem(f"{name}: no [[external]] has the level {shown(value)}{among}", name)
    else:
        names = {**known, **of_externals}
        levels.problem(f"unknown factor '{name}'{suggestion(name, names) or listed(names)}", name)
    return value


def _between(table: TomlTable, factors: Mapping[str, Factor], program: str) -> dict[str, list[Any]]:
    found = _factors(table, {**factors, **BETWEEN}, program)
    found.setdefault("transport", ["threads"])
    if "ranks" not in found and not ("nodes" in found and found["transport"] == [SIMULATED]):
        table.problem("the number of ranks is missing; write between = { ranks = [2] }")
    found[ENVIRONMENT] = found.pop(ENVIRONMENT, [{}])  # the last: the order of factors is that of launches
    return found


def _external_between(table: TomlTable) -> dict[str, list[Any]]:
    """Factors of an external program. Any name is allowed; levels are numbers and texts."""
    found: dict[str, list[Any]] = {}
    for name, given in table.content.items():
        if name in BETWEEN:
            levels = _levels(table, name, BETWEEN[name])
        else:
            levels = given if isinstance(given, list) else [given]
            if not levels or any(isinstance(level, dict | list) for level in levels):
                table.problem(f"{name} must be a list of numbers or texts, found {shown(given)}", name)
        found[canonical_name(name)] = levels
    found[ENVIRONMENT] = found.pop(ENVIRONMENT, [{}])
    return found


def _environments(table: TomlTable, levels: list[Any]) -> list[environment_variables.Level]:
    found: list[environment_variables.Level] = []
    for index, level in enumerate(levels):
        if not isinstance(level, dict):
            what = f'environment: {shown(level)} is no table such as {{ NAME = "value" }}'
            table.problem(what, ENVIRONMENT, index)
            continue
        inside = TomlTable(table.problems, level, (*table.where, ENVIRONMENT, index))
        values = environment_variables.read(level, inside.problem)
        if values in found:
            inside.problem(f"environment: {shown(values)} is given twice")
        found.append(values)
    if not levels:
        table.problem("environment has no levels; write {} for the unchanged environment", ENVIRONMENT)
    return found or [{}]


def _betweens(block: TomlTable) -> list[TomlTable]:
    """The tables of `between`. A list of tables has levels that go together."""
    given = block.content.get("between")
    if isinstance(given, list) and given and all(isinstance(table, dict) for table in given):
        return block.tables("between")
    return [block.table("between", required=False)]


def _launch_settings(owner: TomlTable, general: LaunchSettings) -> LaunchSettings:
    """Launches, repetitions and time limit of a block, with defaults from [study]."""
    million = 1_000_000
    return LaunchSettings(
        launches=owner.integer("launches", default=general.launches, least=1, most=10_000),
        repetitions=owner.integer("repetitions", default=general.repetitions, least=1, most=million),
        warmup=owner.integer("warmup", default=general.warmup, least=0, most=million),
        timeout_seconds=owner.number(
            "timeout_seconds", default=general.timeout_seconds, most=30 * 86400.0,
            allowed="above 0, of at most 30 days",
        ),
        verify=owner.optional_word("verify", VERIFICATIONS) or general.verify,
        phases=owner.flag("phases", default=general.phases),
    )  # fmt: skip


def _bound(table: TomlTable) -> dict[str, float]:
    keys = ("injection_GBps_per_node", "memory_GBps_per_node")
    table.known_keys(keys, "key in [bound]")
    given = [key for key in keys if key in table]
    return {key: table.number(key, default=1.0, most=1e9, allowed="above 0, in GB/s") for key in given}


def _factors(table: TomlTable, known: Mapping[str, Factor], program: str) -> dict[str, list[Any]]:
    """The levels of each factor. A single level needs no list."""
    found: dict[str, list[Any]] = {}
    for name in table.content:
        factor = known.get(canonical_name(name))
        if factor is None:
            move = " (it varies between launches: move it to between)" if name in BETWEEN else ""
            hint = move or suggestion(name, known) or listed(known)
            table.problem(f"unknown factor '{name}' of {program}{hint}", name)
            continue
        found[canonical_name(name)] = _levels(table, name, factor)
    return found


def _levels(table: TomlTable, name: str, factor: Factor) -> list[Any]:
    given = table.content[name]
    if name == ENVIRONMENT:
        return _environments(table, given if isinstance(given, list) else [given])
    single = not isinstance(given, list) or (
        factor.numbers_in_one > 1 and bool(given) and not any(isinstance(item, list) for item in given)
    )
    levels = [given] if single else given
    if not levels:
        table.problem(f"{name} has no levels; give at least one", name)
    if len(levels) > _LONGEST_LIST:
        table.problem(f"{name} has {len(levels)} levels; at most {_LONGEST_LIST} are allowed", name)
        return levels[:1]
    for index, level in enumerate(levels):
        wrong = _factor_problem(factor, level)
        if wrong:
            table.problem(f"{name}: {wrong}", name, *([] if single else [index]))
        elif level in levels[:index]:
            table.problem(f"{name}: {shown(level)} is given twice", name, index)
    return levels


def _exclude(block: TomlTable, levels: Mapping[str, list[Any]], known: Mapping[str, Factor]) -> tuple[Expression, ...]:
    conditions = []
    for index, text in enumerate(block.texts("exclude")):
        try:
            condition = parse(text)
            condition.check_names(levels)
        except ExpressionError as error:
            block.problem(str(error), "exclude", index)
            continue
        for name, value in condition.comparisons():
            factor = known.get(name)
            if factor and factor.is_word and value not in levels[name]:
                near = suggestion(str(value), levels[name])
                wrong = f"the condition compares {name} with {shown(value)}, which is not one of its levels"
                block.problem(f"{wrong}{near or listed(map(str, levels[name]))}", "exclude", index)
        conditions.append(condition)
    return tuple(conditions)


def _factor_problem(factor: Factor, level: Any) -> str | None:
    """Why `level` is not a level of this factor, or None."""
    near = ""
    if factor.free_text:
        fits = isinstance(level, str) and bool(level.strip())
    elif factor.is_word:
        fits = isinstance(level, str) and level in factor.values
        near = suggestion(level, factor.values) if isinstance(level, str) else ""
    else:
        numbers = level if factor.numbers_in_one > 1 and isinstance(level, list) else [level]
        fits = len(numbers) == factor.numbers_in_one and all(
            isinstance(number, int) and not isinstance(number, bool) and factor.least <= number <= factor.most
            for number in numbers
        )
    return None if fits else f"{shown(level)} is not {factor.allowed()}{near}"


def _import_formats() -> list[str]:
    """The formats of the output of one program, without those of series of many times."""
    from longshore_study.importers.formats import FORMATS, SERIES  # noqa: PLC0415 - only [[external]] needs it

    return sorted(set(FORMATS) - set(SERIES))
