"""tools/header_costs: the table of what headers cost."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

HEADER_COSTS = Path(__file__).resolve().parents[2] / "tools" / "header_costs"


def costs(folder: Path, *headers: str) -> subprocess.CompletedProcess[str]:
    command = [str(HEADER_COSTS), "--runs", "1", "--include", str(folder), *headers]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_each_header_has_a_row_with_its_lines(tmp_path: Path) -> None:
    (tmp_path / "two.hpp").write_text("int a;\n// a comment is no line\nint b;\n")
    (tmp_path / "three.hpp").write_text("#include <two.hpp>\nint c;\n")
    done = costs(tmp_path, "two.hpp", "three.hpp")
    assert done.returncode == 0, done.stderr
    rows = done.stdout.splitlines()
    assert rows[0] == "| header | CPU seconds | lines |"
    assert [re.sub(r"\d+\.\d\d", "S", row) for row in rows[2:]] == ["| `two.hpp` | S | 2 |", "| `three.hpp` | S | 3 |"]


def test_a_header_that_does_not_compile_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "bad.hpp").write_text("int a\n")
    done = costs(tmp_path, "bad.hpp")
    assert done.returncode == 1
    assert "bad.hpp does not compile" in done.stderr
