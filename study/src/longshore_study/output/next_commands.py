"""The command lines that a user may want to type next, for the stored launches."""

import os
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from longshore_study.analyses.best_choices import BestChoice
from longshore_study.base.default_store import store_option
from longshore_study.patterns import PATTERNS
from longshore_study.store.launch_store import Launch

_LAUNCHING = ("program", "transport", "nodes", "stack", "environment")


def next_commands(
    answers: Sequence[BestChoice], launches: Iterable[Launch], shown_by: str = ""
) -> list[tuple[str, str]]:
    """(command line, purpose) for the launches of one study and tag. Empty if all launches are
    imported, or there are several studies or tags. `shown_by` names the command that shows this
    list; the list leaves this command out."""
    measured = [launch for launch in launches if not launch.imported]
    names = {(launch.study, launch.tag) for launch in measured}
    if len(names) != 1:
        return []
    ((study, tag),) = names
    commands = [(line, "longshore and longshore-bench for this shell") for line in _activation()]
    commands += _bench_commands(answers, {str(launch.path): launch for launch in measured})
    newest = max(measured, key=lambda launch: str(launch.envelope.get("started") or ""))
    store = store_option(newest.path.parents[3])
    if file := study_file_of(newest):
        again = ["longshore", "run", file, *(["--tag", tag] if tag != study else []), "--session", _new_session(newest)]
        commands.append((shlex.join([*again, *store]), "measure once more: do the same choices win?"))
    for words, purpose in (
        (["longshore", "show", study, "--winners"], "all choices that were measured, ranked"),
        (["longshore", "report", study], "all that was measured, with plots, as one page: report.html"),
    ):
        if words[1] != shown_by:
            commands.append((shlex.join([*words, *store]), purpose))
    commands.append(("longshore init my-study.toml", "a study of your own sizes and ranks: edit it, then"))
    commands.append((shlex.join(["longshore", "run", "my-study.toml", *store]), "measure it"))
    return commands


def study_file_of(launch: Launch) -> str | None:
    """The study file of the launch, if it is still where `longshore run` read it."""
    file = (launch.envelope.get("study_file") or {}).get("path")
    return file if isinstance(file, str) and Path(file).is_file() else None


def _new_session(launch: Launch) -> str:
    taken = {folder.name for folder in launch.path.parents[1].iterdir()}
    return next(name for name in (f"s{number}" for number in count(len(taken) + 1)) if name not in taken)


def _bench_commands(answers: Sequence[BestChoice], launches: Mapping[str, Launch]) -> list[tuple[str, str]]:
    """For each pattern, the command that measures the first winner whose transport is threads. This
    transport needs no launcher. The command also measures `auto` if there is a result of `auto`."""
    commands: dict[str, tuple[str, str]] = {}
    for answer in answers:
        entry = answer.best
        launch = launches.get(entry.figures[0].launch)
        if launch is None or entry.pattern in commands or entry.how.get("transport") != "threads":
            continue
        if entry.work.get("environment") or "nodes" in entry.work:
            continue
        words, beside = ["longshore-bench", entry.pattern], ""
        for name, level in _asked(launch, {**entry.how, **entry.work}).items():
            text = ",".join(map(str, level)) if isinstance(level, list) else str(level)
            if name == PATTERNS[entry.pattern].auto and answer.auto is not None and text != "auto":
                text, beside = f"{text},auto", ", beside auto"
            words += ["--" + name.replace("_", "-"), text]
        commands[entry.pattern] = (shlex.join(words), f"the fastest {entry.pattern} alone{beside}")
    return list(commands.values())


def _asked(launch: Launch, factors: Mapping[str, Any]) -> dict[str, Any]:
    """The factors that the study sets; all other factors have their defaults."""
    asked = [*launch.cell, *(launch.envelope.get("within") or {})]
    return {name: factors[name] for name in asked if name not in _LAUNCHING and factors.get(name) is not None}


def _activation() -> list[str]:
    """The command that activates the virtual environment, if the shell has not (under `make`)."""
    script = Path(sys.prefix) / "bin" / "activate"
    if sys.prefix == sys.base_prefix or os.environ.get("VIRTUAL_ENV") or not script.is_file():
        return []
    return [f". {shlex.quote(os.path.relpath(script) if script.is_relative_to(Path.cwd()) else str(script))}"]
