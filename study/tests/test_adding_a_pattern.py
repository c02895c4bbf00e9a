"""A toy pattern, added as CONTRIBUTING says: one module in patterns/. Every command then knows its
factors, labels, units, bound and guideline. No other module of the study tool names a pattern."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import longshore_study
import started_programs
from longshore_study.patterns import MEASURED, PATTERNS
from started_programs import write_bench

SOURCES = Path(longshore_study.__file__).parent
TOY = """
from longshore_study.patterns.pattern import Guideline, MemoryUse, Metric, Pattern, count, words

PATTERN = Pattern(
    name="toy",
    title="Toy ring",
    order=6,
    metrics={"toy_bandwidth": Metric("GB/s", per="node", title="bandwidth of the toy")},
    main="toy_bandwidth",
    factors={"route": words("way", "fast slow"), "items": count("work")},
    sizes={"items": "items per rank"},
    guidelines=(Guideline({"route": "fast"}, {"route": "slow"}, why="fast could be slow"),),
    traffic=lambda _: [MemoryUse("copy", 2.0, None)],
    traffic_text="each byte read and written",
)
"""
STUDY = """
[study]
name = "toys"
launches = 3
repetitions = 2
[[pattern]]
program = "toy"
within = { route = ["fast", "slow"], items = [10, 1000] }
between = { transport = "threads", ranks = [1, 2] }
"""

Longshore = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def longshore(tmp_path: Path) -> Longshore:
    """Starts a copy of the study tool, to which a test adds a module."""
    shutil.copytree(SOURCES, tmp_path / "copy" / "longshore_study", ignore=shutil.ignore_patterns("__pycache__"))
    bench = write_bench(tmp_path / "longshore-bench")
    (tmp_path / "study.toml").write_text(STUDY, encoding="utf-8")
    settings = {"PYTHONPATH": str(tmp_path / "copy"), "LONGSHORE_BENCH": str(bench), "COLUMNS": "200"}

    def start(*arguments: str, status: int = 0) -> subprocess.CompletedProcess[str]:
        done = started_programs.longshore(tmp_path, *arguments, **settings)
        assert done.returncode == status, done.stdout + done.stderr
        return done

    return start


def add_toy(place: Path) -> None:
    (place / "copy" / "longshore_study" / "patterns" / "toy.py").write_text(TOY, encoding="utf-8")


def test_one_module_makes_a_pattern_known_to_every_command(tmp_path: Path, longshore: Longshore) -> None:
    add_toy(tmp_path)
    for tag in ("before", "after"):
        longshore("run", "study.toml", "--tag", tag)
    shown = longshore("show", "after").stdout
    assert "GB/s per node" in shown
    assert "of best" in shown
    winners = longshore("show", "--winners", "after").stdout
    assert "each byte read and written, relative to what memory allows" in winners
    assert "GB/s per node" in longshore("compare", "before", "after", status=2).stdout
    guidelines = json.loads(longshore("guidelines", "after", "--json").stdout)["rows"]
    assert {row["pattern"] for row in guidelines} == {"toy"}
    assert "GB/s per node" in longshore("export", "after", "--format", "markdown").stdout
    longshore("report", "--compare", "before", "after", "-o", "r.html")
    longshore("report", "toys", "-o", "all.html")
    page = (tmp_path / "all.html").read_text(encoding="utf-8")
    for text in ("Toy ring", "andwidth of the toy", "items per rank", "memory copy"):
        assert text in page
    longshore("init", "new.toml")
    assert "ghost or toy" in (tmp_path / "new.toml").read_text(encoding="utf-8")
    longshore("init", "--reframe", "checks.py")
    assert '"toy": "toy_bandwidth"' in (tmp_path / "checks.py").read_text(encoding="utf-8")


def test_without_its_module_a_pattern_is_refused(longshore: Longshore) -> None:
    assert 'found "toy"' in longshore("check", "study.toml", status=64).stderr


@pytest.mark.parametrize("field", ["title", "metrics", "main", "factors"])
def test_a_module_without_a_fact_is_refused(tmp_path: Path, longshore: Longshore, field: str) -> None:
    lines = [line for line in TOY.splitlines() if not line.startswith(f"    {field}=")]
    (tmp_path / "copy" / "longshore_study" / "patterns" / "toy.py").write_text("\n".join(lines), encoding="utf-8")
    assert field in longshore("check", "study.toml", status=1).stderr


def test_no_other_module_names_a_pattern() -> None:
    """Importers name the patterns to which the figures of other programs belong."""
    named = [
        f"{path.relative_to(SOURCES)}:{node.lineno}: {node.value}"
        for path in SOURCES.rglob("*.py")
        if path.relative_to(SOURCES).parts[0] not in ("patterns", "importers")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and node.value in PATTERNS
    ]
    assert not named


@pytest.mark.parametrize("name", MEASURED)
def test_the_facts_of_a_pattern_agree(name: str) -> None:
    facts = PATTERNS[name]
    assert facts.main in facts.metrics
    assert {facts.auto, *facts.sizes, *facts.mean_metrics} <= {"", *facts.factors, *facts.metrics}
    assert facts.traffic is not None
    assert facts.traffic_text
    assert not facts.auto or "auto" in facts.factors[facts.auto].values
