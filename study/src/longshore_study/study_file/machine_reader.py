"""The factor `machine` of a [[pattern]]: the machine files of the transport `simulated`.

A relative path begins at the folder of the study file. Records and tables show the name that the
machine file gives. longshore-bench checks the rest of the file.
"""

import hashlib
import tomllib
from pathlib import Path
from typing import Any

from longshore_study.base.errors import UsageError
from longshore_study.study_file.study import MachineFile
from longshore_study.study_file.toml_values import TomlTable, shown

TRANSPORT = "simulated"
_PAGE = "docs/reference/machine-file.md describes machine files"


def read_machines(table: TomlTable, between: dict[str, list[Any]], paths: dict[str, str]) -> dict[str, MachineFile]:
    """The machines of one table of `between`, by name. Replaces the paths in `between` by names.
    `paths` collects the machine files of the study file by name, to find two with the same name."""
    simulated = TRANSPORT in between["transport"]
    if "machine" not in between:
        if simulated:
            remedy = 'write machine = ["FILE.toml"], relative to the folder of this study file'
            table.problem(f"transport simulated needs a machine; {remedy}; {_PAGE}", "transport")
        return {}
    if not simulated:
        del between["machine"]
        remedy = 'write transport = "simulated", or remove machine'
        table.problem(f"a machine is for transport simulated only; {remedy}", "machine")
        return {}
    machines = {}
    for given in (level for level in between["machine"] if isinstance(level, str)):
        try:
            machine = _machine(Path(table.problems.path).parent, given)
            if paths.setdefault(machine.name, machine.path) != machine.path:
                same = f"{paths[machine.name]} and {machine.path} are both named {shown(machine.name)}"
                raise UsageError(f"{same}; tables could not distinguish them: rename one")
        except UsageError as error:
            table.problem(str(error), "machine")
        else:
            machines[machine.name] = machine
    between["machine"] = list(machines)
    return machines


def _machine(folder: Path, given: str) -> MachineFile:
    """Raises UsageError if the file is missing or is no machine file."""
    path = folder / given
    if not path.exists() and (copy := folder / copy_name(given)).exists():
        path = copy
    try:
        about = tomllib.loads(path.read_text(encoding="utf-8"))["machine"]
        found = (about["name"], about["version"], about["nodes"], about["ranks_per_node"])
    except OSError as error:
        remedy = f"a relative path begins at the folder of the study file, {folder}"
        raise UsageError(f"cannot read the machine file {path}: {error.strerror}; {remedy}") from None
    except (ValueError, KeyError, TypeError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        needed = "[machine] needs name, version, nodes and ranks_per_node"
        raise UsageError(f"{path} is not a machine file: {what}; {needed}; {_PAGE}") from None
    if tuple(map(type, found)) != (str, str, int, int) or min(found[2:]) < 1:
        needed = "[machine] needs two texts, name and version, and two positive integers, nodes and ranks_per_node"
        raise UsageError(f"{path}: {needed}; found {shown(list(found))}")
    return MachineFile(found[0], *found[2:], given=given, path=str(path))


def copy_name(given: str) -> str:
    """The name of the copy of a machine file, from its path in the study file."""
    return f"machine-{hashlib.sha256(given.encode()).hexdigest()[:12]}.toml"
