"""Formats the file of a confirming study (confirming_study.py): a comment for its reader, and TOML
that is valid for any names.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from longshore_study.attribution.association import Attribution, rule_text
from longshore_study.attribution.rules import Rule
from longshore_study.attribution.suspected_variables import Suspected
from longshore_study.compare.comparison import Comparison
from longshore_study.compare.estimate import ratio
from longshore_study.store.launch_store import Launch
from longshore_study.study_file.environment_variables import descriptions, to_table
from longshore_study.study_file.factors import BETWEEN, FACTORS
from longshore_study.study_file.hypothesis_reader import ENVIRONMENTS

_LAUNCHES = 5


@dataclass(frozen=True)
class Draft:
    attribution: Attribution
    rule: Rule
    name: str
    program: str
    levels: Mapping[str, tuple[bool, list[Any]]]
    """For each factor: whether it varies between launches, and its levels."""
    suspected: tuple[str, ...]
    """The factors of the rule with other levels to compare with."""
    variables: Suspected

    @property
    def comparison(self) -> Comparison:
        return self.attribution.comparison

    @property
    def ratio(self) -> float:
        return ratio(self.rule.difference, "higher")

    @property
    def question(self) -> str:
        """The tested cause: the rule, the variables, or both."""
        named = [rule_text(self.rule)] if self.suspected else []
        return " or ".join([*named, *([", ".join(descriptions(self.variables.new))] if self.variables.new else [])])


def study_text(
    draft: Draft, levels: Mapping[str, tuple[bool, list[Any]]], left_out: Sequence[str], sessions: int
) -> str:
    own = FACTORS[draft.program]
    launching = {*BETWEEN, "environment"}
    between = {n: v for n, (of_cell, v) in levels.items() if n in launching or (of_cell and n in own)}
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
        f"description = {_toml(f'Is {draft.question} the cause?'[:90])}",
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
    """The comment at the beginning of the file."""
    reference, new = (_comment(side.name) for side in (draft.comparison.reference, draft.comparison.new))
    what = ["these levels", "others beside them"] if draft.suspected else []
    what += ["the effect of the variables"] if draft.variables.new else []
    variables = [
        "#",
        f"# Variables differ between {new} and {reference}. The study measures with the environment as it is,",
        "# with these variables as in the reference, and with these variables as on the new side.",
    ]
    return [
        f"# Is it the cause? From {reference} to {new}, a change by a factor of {draft.ratio:.3g}",
        f"# is associated with {_comment(rule_text(draft.rule))}.",
        f"# This study measures {' and '.join(what)}, in",
        "# the same launches or alternately. Run it in both states of the machine, with the same session names:",
        "#",
        "#   longshore run THIS --tag before --session monday       (and so on, as many sessions as below)",
        "#   longshore run THIS --tag after --session monday",
        "#   longshore attribute before after --confirm THIS",
        *(variables if draft.variables.new else []),
        *(f"# not set, since longshore-bench has no such factor or level: {_comment(one)}" for one in left_out),
        *(f"# not set, since its value is not recorded: {_comment(one)}" for one in draft.variables.masked),
        "",
    ]


def _launcher(launches: Sequence[Launch]) -> list[str]:
    """The launcher of the study file that is stored beside the launches, if any."""
    for launch in launches:
        digest = (launch.envelope.get("study_file") or {}).get("digest")
        path = launch.path.parent / f"study-{digest}.toml"
        if digest and path.exists():
            try:
                block = tomllib.loads(path.read_text(encoding="utf-8")).get("launcher")
            except (OSError, ValueError):
                return []
            if isinstance(block, dict):
                return ["", "[launcher]", *(f"{_key(name)} = {_toml(value)}" for name, value in block.items())]
    return []


def _comment(text: str) -> str:
    return "".join(one if one.isprintable() else " " for one in text)


def _toml(value: Any) -> str:
    """A JSON value as TOML. Quoted texts are the same in both."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(k)} = {_toml(v)}" for k, v in value.items()) + " }" if value else "{}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_toml(one) for one in value) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(name: str) -> str:
    bare = name.replace("_", "").replace("-", "").isalnum() and name.isascii()
    return name if bare else json.dumps(name)
