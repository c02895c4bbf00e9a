"""Writes a confirming study (confirming_study.py) as TOML, with an explanation for its readers."""

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from longshore_study.attribution.association import Attribution, rule_text
from longshore_study.attribution.rules import Rule
from longshore_study.attribution.suspected_variables import Suspected
from longshore_study.compare.comparison import Comparison
from longshore_study.compare.estimate import metric_ratio
from longshore_study.patterns import FACTORS_OF_A_LAUNCH, PATTERNS
from longshore_study.store.launch_store import Launch
from longshore_study.study_file.environment_variables import descriptions, to_table
from longshore_study.study_file.hypothesis_reader import ENVIRONMENTS

_LAUNCHES = 5


@dataclass(frozen=True)
class Draft:
    """What a confirming study measures, before it is written as TOML."""

    attribution: Attribution
    rule: Rule
    name: str
    program: str
    levels: Mapping[str, tuple[bool, list[Any]]]
    """For each factor: whether it varies between launches, and its levels."""
    suspected: tuple[str, ...]
    """The factors of the rule for which other levels can be measured."""
    variables: Suspected

    @property
    def comparison(self) -> Comparison:
        return self.attribution.comparison

    @property
    def ratio(self) -> float:
        return metric_ratio(self.rule.difference, "higher")

    @property
    def question(self) -> str:
        """The suspected cause: the rule, the variables, or both."""
        causes = [rule_text(self.rule)] if self.suspected else []
        causes += [", ".join(descriptions(self.variables.new))] if self.variables.new else []
        return " or ".join(causes)


def study_text(
    draft: Draft, levels: Mapping[str, tuple[bool, list[Any]]], left_out: Sequence[str], sessions: int
) -> str:
    of_pattern = PATTERNS[draft.program].factors
    between = {n: v for n, (of_cell, v) in levels.items() if n in FACTORS_OF_A_LAUNCH or (of_cell and n in of_pattern)}
    within = {n: v for n, (_, v) in levels.items() if n not in between}
    measured = between.get("environment") or [{}]
    settings = [{**measured[0], **level} for level in (draft.variables.reference, draft.variables.new) if level]
    if settings:
        between["environment"] = [*measured, *(level for level in settings if level not in measured)]
    between.setdefault("transport", ["mpi"])
    between.setdefault("ranks", [2])
    environment = between.pop("environment", None)
    suspected = {
        c.factor: [level for level in levels[c.factor][1] if level in c.levels]
        for c in draft.rule.conditions
        if c.factor in draft.suspected
    }
    lines = [
        *_head(draft, left_out),
        "[study]",
        f"name = {_toml(draft.name)}",
        f"description = {_toml(f'Is {draft.question} the cause?')}",
        f"sessions = {sessions}",
        f"launches = {_LAUNCHES}",
        "repetitions = 30",
        f"margin = {draft.comparison.margin:g}",
        "",
        "[[pattern]]",
        f"program = {_toml(draft.program)}",
        "[pattern.within]",
        *(f"{name} = {_toml(values)}" for name, values in within.items()),
        "[pattern.between]",
        *(f"{name} = {_toml(values)}" for name, values in between.items()),
        *([f"environment = {_toml([to_table(level) for level in environment])}"] if environment else []),
        "",
        "[hypothesis]",
        *([f"factors = {_toml(suspected)}"] if suspected else []),
        f"ratio = {draft.ratio:.6g}",
        *(
            f"{name} = {_toml(to_table(level))}   # as {whose} had it"
            for name, whose, level in zip(ENVIRONMENTS, ("the reference", "the new side"), settings, strict=False)
        ),
        *_launcher(draft.comparison.new.launches),
    ]
    return "\n".join(lines) + "\n"


def _head(draft: Draft, left_out: Sequence[str]) -> list[str]:
    reference, new = (_comment(side.name) for side in (draft.comparison.reference, draft.comparison.new))
    measured = ["these levels", "others beside them"] if draft.suspected else []
    measured += ["the effect of the variables"] if draft.variables.new else []
    variables = [
        "#",
        f"# Variables differ between {new} and {reference}. The study measures with the environment as it is,",
        "# with these variables as in the reference, and with these variables as on the new side.",
    ]
    return [
        f"# Is it the cause? From {reference} to {new}, a change by a factor of {draft.ratio:.3g}",
        f"# is associated with {_comment(rule_text(draft.rule))}.",
        f"# This study measures {' and '.join(measured)}, in",
        "# the same launches or alternately. Run it in both states of the machine, with the same session names:",
        "#",
        "#   longshore run THIS --tag before --session monday       (and so on, as many sessions as below)",
        "#   longshore run THIS --tag after --session monday",
        "#   longshore attribute before after --confirm THIS",
        *(variables if draft.variables.new else []),
        *(f"# not set, since longshore-bench has no such factor or level: {_comment(factor)}" for factor in left_out),
        *(f"# not set, since its value is not recorded: {_comment(name)}" for name in draft.variables.masked),
        "",
    ]


def _launcher(launches: Sequence[Launch]) -> list[str]:
    """The launcher of the study file that is stored beside the launches, if any."""
    for launch in launches:
        if path := launch.study_file:
            try:
                block = tomllib.loads(path.read_text(encoding="utf-8")).get("launcher")
            except (OSError, ValueError):
                return []
            if isinstance(block, dict):
                return ["", "[launcher]", *(f"{_key(name)} = {_toml(value)}" for name, value in block.items())]
    return []


def _comment(text: str) -> str:
    return "".join(mark if mark.isprintable() else " " for mark in text)


def _toml(value: Any) -> str:
    """A JSON value as TOML. JSON and TOML quote texts in the same way."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(k)} = {_toml(v)}" for k, v in value.items()) + " }" if value else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(name: str) -> str:
    bare = name.replace("_", "").replace("-", "").isalnum() and name.isascii()
    return name if bare else json.dumps(name)
