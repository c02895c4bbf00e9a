"""The files in which the system describes itself."""

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

    def matching(self, pattern: str) -> list[str]:
        try:
            return sorted(str(path.relative_to(self.root)) for path in self.root.glob(pattern.lstrip("/")))
        except OSError:
            return []
