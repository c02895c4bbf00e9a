"""The files in which the system describes itself, and the cores that this process may use."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Machine:
    """The files of the system, read below a root folder that tests replace."""

    root: Path = Path("/")

    def text(self, path: str) -> str | None:
        """The content of a file, or None if it cannot be read."""
        try:
            return (self.root / path.lstrip("/")).read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            return None

    def number(self, path: str) -> int | None:
        text = self.text(path)
        try:
            return int(text) if text is not None else None
        except ValueError:
            return None

    def lines(self, path: str, name: str) -> Iterator[str]:
        """The first word behind `name` in each line of a file that begins with it."""
        lines = (self.text(path) or "").splitlines()
        return (words[1] for words in map(str.split, lines) if words[:1] == [name] and len(words) > 1)

    def matching(self, pattern: str) -> list[str]:
        try:
            return sorted(str(path.relative_to(self.root)) for path in self.root.glob(pattern.lstrip("/")))
        except OSError:
            return []


def available_cores() -> int:
    """Cores (not hardware threads) that this process may use."""
    text = Machine().text
    folders = ((cpu, f"sys/devices/system/cpu/cpu{cpu}/topology") for cpu in available_cpus())
    return len({(text(f"{of}/physical_package_id"), text(f"{of}/core_id") or f"cpu {cpu}") for cpu, of in folders})


def available_cpus() -> list[int]:
    """Hardware threads that this process may use."""
    return sorted(os.sched_getaffinity(0))
