"""tools/published predicts every published cell, and its machine files differ from the files of
their machines only in the fitted numbers."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from repository import REPOSITORY

TOOL = REPOSITORY / "tools" / "published"
# A stand-in for longshore-bench: requests cost 200 ns each after 1 ms, exchanges and sorts the time
# of 10^5 bytes on a node's card.
BENCH = """#!{python}
import json, re, sys
text = open(sys.argv[sys.argv.index("--machine") + 1]).read()
numbers = dict(re.findall(r"^(\\w+) = ([\\d.]+)", text, re.MULTILINE))
seconds = float(numbers["ns_per_byte"]) * 1e-4
if sys.argv[1] == "gather":
    seconds = 1e-3 + int(sys.argv[sys.argv.index("--requests") + 1]) * 200e-9
print(json.dumps({{"record": "result", "verified": {verified}, "seconds": {{"median": seconds}}}}))
"""


def tool(folder: Path, *options: str, verified: bool = True) -> subprocess.CompletedProcess[str]:
    bench = folder / "longshore-bench"
    bench.write_text(BENCH.format(python=sys.executable, verified=verified))
    bench.chmod(0o755)
    environment = os.environ | {"PATH": f"{folder}:{os.environ['PATH']}"}
    return subprocess.run(
        [sys.executable, TOOL, *options], capture_output=True, text=True, check=False, env=environment
    )


def test_every_published_cell_has_a_prediction_and_two_are_fitted(tmp_path: Path) -> None:
    done = tool(tmp_path)
    assert done.returncode == 0, done.stderr
    tables = done.stdout.partition("| exchange of ISx |")[0]
    cells = re.findall(r"(?<=\| )[\d.]+ \| [\d.]+( \(fitted\))? \|", tables)
    assert len(cells) == 8 + 12 + 18 + 1
    assert sum(bool(fitted) for fitted in cells) == 2
    assert " of 37 predictions are within 25 % of the published time." in done.stdout


def test_requests_are_extrapolated_from_two_runs(tmp_path: Path) -> None:
    done = tool(tmp_path, "--only", "bale: Conveyor")
    assert "| bale: Conveyor | 3.395 | 0.59 | 4.299 | 0.47 |" in done.stdout


def test_a_wrong_result_is_no_prediction(tmp_path: Path) -> None:
    done = tool(tmp_path, verified=False)
    assert done.returncode == 1
    assert "status 0" in done.stderr


def test_misses_are_varied(tmp_path: Path) -> None:
    done = tool(tmp_path, "--vary", "--only", "128/")
    assert re.search(r"\| halo, raw MPI staged, 128/1/1, MPI's order \| .*`ns_per_byte` [\d.]+, [\d.]+", done.stdout)


def read(name: str) -> dict[str, Any]:
    return tomllib.loads((REPOSITORY / "machines" / name).read_text())


@pytest.mark.parametrize(
    ("name", "origin", "fitted"),
    [
        ("cray-xc-bale.toml", "cray-xc.toml", {"push_ns", "pull_ns"}),
        ("halo-27-fitted.toml", "halo-27-nodes.toml", {"ns_per_byte"}),
    ],
)
def test_nothing_but_the_fitted_numbers_differs(name: str, origin: str, fitted: set[str]) -> None:
    ours, theirs = read(name), read(origin)
    changed = {key for part, numbers in ours.items() for key in numbers if numbers[key] != theirs[part].get(key)}
    assert changed == fitted | {"name"}
    assert all(set(ours[part]) == set(theirs[part]) for part in theirs)
