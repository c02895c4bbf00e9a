"""tools/check_includes.py finds names of the standard library without their header."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from repository import REPOSITORY

PROGRAM = REPOSITORY / "tools" / "check_includes.py"


def check(path: Path) -> tuple[int, str]:
    done = subprocess.run([sys.executable, str(PROGRAM), str(path)], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.returncode, done.stdout


def test_a_name_needs_its_header_or_a_header_of_longshore_that_includes_it(tmp_path: Path) -> None:
    own = tmp_path / "own.hpp"
    file = tmp_path / "file.cpp"
    code = '// std::min\nauto t = "std::max";\nauto n = std::clamp(1, 2, std::int8_t{3});\n'
    own.write_text("#include <vector>\n")
    file.write_text(f'#include "own.hpp"\n{code}')
    status, printed = check(file)
    assert status == 1
    assert printed.splitlines() == [
        f"{file}: #include <algorithm> for std::clamp",
        f"{file}: #include <cstdint> for std::int8_t",
    ]
    own.write_text("#include <algorithm>\n#include <cstdint>\n")
    assert check(file) == (0, "")


def test_a_part_of_another_file_is_not_checked(tmp_path: Path) -> None:
    part = tmp_path / "part.hpp"
    part.write_text("auto n = std::min(1, 2);\n")
    assert check(part) == (0, "")
