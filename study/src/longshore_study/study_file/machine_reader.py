"""The factor `machine` of a [[pattern]]: the machine files of the transport `simulated`.

A relative path begins at the folder of the study file. Records and tables show the name that the
machine file gives. longshore-bench checks the rest of the file.
"""

import hashlib
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from longshore_study.study_file.study import MachineFile
from longshore_study.study_file.toml_positions import Path as KeyPath
from longshore_study.study_file.toml_values import Problems, shown

TRANSPORT = "simulated"
_PAGE = "docs/reference/machine-file.md describes machine files"


@dataclass(frozen=True)
class MachineReader:
    """Reads the machines of all blocks of one study file."""

    problems: Problems
    paths: dict[str, str] = field(default_factory=dict)
    """The path of the first file with each name."""

    def read(self, where: KeyPath, between: dict[str, list[Any]]) -> dict[str, MachineFile]:
        """The machines of one block, by name. Replaces the paths in `between` by the names."""
        simulated = TRANSPORT in between["transport"]
        if "machine" not in between:
            if simulated:
                remedy = 'write machine = ["FILE.toml"], relative to the folder of this study file'
                self.problems.add((*where, "transport"), f"transport simulated needs a machine; {remedy}; {_PAGE}")
            return {}
        if not simulated:
            del between["machine"]
            remedy = 'write transport = "simulated", or remove machine'
            self.problems.add((*where, "machine"), f"a machine is for transport simulated only; {remedy}")
            return {}
        given = between["machine"]
        machines = [machine for path in given if isinstance(path, str) and (machine := self._machine(where, path))]
        between["machine"] = [machine.name for machine in machines]
        return {machine.name: machine for machine in machines}

    def _machine(self, where: KeyPath, given: str) -> MachineFile | None:
        folder = Path(self.problems.path).parent
        path = folder / given
        if not path.exists() and (copy := folder / copy_name(given)).exists():
            path = copy
        try:
            about = tomllib.loads(path.read_text(encoding="utf-8"))["machine"]
            found = (about["name"], about["version"], about["nodes"], about["ranks_per_node"])
        except OSError as error:
            what = f"cannot read the machine file {path}: {error.strerror}"
            remedy = f"a relative path begins at the folder of the study file, {folder}"
            self.problems.add((*where, "machine"), f"{what}; {remedy}")
            return None
        except (ValueError, KeyError, TypeError) as error:
            what = f"{error} is missing" if isinstance(error, KeyError) else str(error)
            needed = "[machine] needs name, version, nodes and ranks_per_node"
            self.problems.add((*where, "machine"), f"{path} is not a machine file: {what}; {needed}; {_PAGE}")
            return None
        if tuple(map(type, found)) != (str, str, int, int) or min(found[2:]) < 1:
            needed = "[machine] needs two texts, name and version, and two positive integers, nodes and ranks_per_node"
            self.problems.add((*where, "machine"), f"{path}: {needed}; found {shown(list(found))}")
            return None
        machine = MachineFile(found[0], *found[2:], given=given, path=str(path))
        if self.paths.setdefault(machine.name, machine.path) != machine.path:
            same = f"{self.paths[machine.name]} and {machine.path} are both named {shown(machine.name)}"
            self.problems.add((*where, "machine"), f"{same}; tables could not distinguish them: rename one")
            return None
        return machine


def copy_name(given: str) -> str:
    """The name of the copy of a machine file, from its path in the study file."""
    return f"machine-{hashlib.sha256(given.encode()).hexdigest()[:12]}.toml"
