"""Importer of bale's index-gather (ig) and histogram (histo) apps, text form: seconds and GB/s per
node of each strategy ("model"). Tables are cyclic.

    GB/s per node = bytes per request x requests per PE x PEs per node / seconds

A request has 16 bytes in ig (index and answer) and 8 bytes in histo. If bale ran without -c (PEs
per node), it prints a bandwidth of 0. Such an import needs --ranks-per-node.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from longshore_study.importers import bale_json
from longshore_study.importers.bale_json import APPS
from longshore_study.importers.imported import Imported, Options, Source, aggregate_result, whole_records
from longshore_study.importers.run_texts import spans
from longshore_study.store import records
from longshore_study.store.records import Record

MODELS = {"AGP": ("agp", 1), "AGI": ("agp", 1), "Exstack": ("exstack", 2), "Exstack2": ("exstack2", 4),
          "Conveyor": ("conveyor", 8)}  # fmt: skip
"""Our strategy for each printed name, and its bit in the line "Models Mask". AGI is the old name of
AGP."""

_COMMAND = re.compile(r"Running command on\s+(\d+)\s+PEs?:\s*(\S+)(.*)")
_VERSION = re.compile(r"Bale Version\s+([\d.]+)\s*\(([^)]*)\)")
_FIGURE = re.compile(r"^[ \t]*(\w+):[ \t]+([\d.]+)[ \t]+seconds[ \t]+([\d.]+|inf|nan|-nan)[ \t]+GB/s", re.MULTILINE)
_FAILED = re.compile(r"YOU FAILED|FAILED!!!!")
_NUMBERS = {
    "requests": re.compile(r"^\s*num_(?:requests|updates)_per_pe:\s*(\d+)", re.MULTILINE),
    "table": re.compile(r"^\s*table_size_per_pe:\s*(\d+)", re.MULTILINE),
    "buffer_items": re.compile(r"^buf_cnt.*:\s*(\d+)\s*$", re.MULTILINE),
    "cores_per_node": re.compile(r"^cores_per_node.*:\s*(\d+)\s*$", re.MULTILINE),
    "mask": re.compile(r"^Models Mask.*:\s*(\d+)\s*$", re.MULTILINE),
}


def read(source: Source, options: Options) -> list[Imported]:
    if bale_json.holds_json(source.text):
        return bale_json.read(source, options)
    commands = list(_COMMAND.finditer(source.text))
    if not commands:
        raise source.error(
            len(source.text.rstrip()), "no line 'Running command on N PEs: ...': not a complete output of bale"
        )
    return [_imported(source, options, command, end) for command, end in spans(commands, len(source.text))]


@dataclass(frozen=True, slots=True)
class _BaleRun:
    """The settings that a run prints before its results."""

    operation: str
    request_bytes: int
    ranks: int
    ranks_per_node: int
    numbers: dict[str, int]


def _imported(source: Source, options: Options, command: re.Match[str], end: int) -> Imported:
    run = _settings(source, options, command, end)
    text = source.text[:end]
    figures = list(_FIGURE.finditer(text, command.end()))
    requested = dict.fromkeys(strategy for strategy, bit in MODELS.values() if bit & run.numbers.get("mask", 15))
    printed = [MODELS[match[1]][0] for match in figures if match[1] in MODELS]
    missing = [strategy for strategy in requested if strategy not in printed]
    why_incomplete = f"bale's output ends without {', '.join(missing)}" if missing else None
    last = len(text.rstrip())
    source.refuse_incomplete(last, why_incomplete, options)
    if not printed:
        raise source.error(last, "bale's output ends before the first result")
    verified = _FAILED.search(text, command.end()) is None
    results = [_result(source, run, match, verified) for match in figures if match[1] in MODELS]
    nodes = records.node_count(run.ranks, run.ranks_per_node)
    # A file with several runs has a version above the command of each run.
    version = next(reversed([*_VERSION.finditer(source.text, 0, command.start())]), None)
    cell: dict[str, Any] = {"program": "bale", "transport": _library(version)}
    cell |= {"nodes": nodes, "ranks": run.ranks, "ranks_per_node": run.ranks_per_node}
    header = {
        "program": {"name": "bale", "version": version[1] if version else None},
        "transport": {"name": cell["transport"], "library": version[2] if version else None},
        "ranks": run.ranks, "nodes": nodes, "argv": [command[2], *command[3].split()],
    }  # fmt: skip
    warnings = [] if verified else [f"{source.name}: bale reports wrong results"]
    return Imported(cell, whole_records(header, results), warnings, why_incomplete)


def _settings(source: Source, options: Options, command: re.Match[str], end: int) -> _BaleRun:
    app = re.split(r"[/\\]", command[2])[-1].removesuffix(".exe").removesuffix("_conveyor")
    if app not in APPS:
        raise source.error(command.start(), f"there is no importer for bale's app '{app}' (known: {', '.join(APPS)})")
    operation, request_bytes, requests_line = APPS[app]
    numbers = {}
    for what, pattern in _NUMBERS.items():
        match = pattern.search(source.text, command.end(), end)
        if match:
            numbers[what] = int(match[1])
    if "requests" not in numbers:
        raise source.error(len(source.text[:end].rstrip()), f"bale's output ends without '{requests_line}'")
    ranks = int(command[1])
    per_node = options.ranks_per_node or numbers.get("cores_per_node", 0)
    if per_node < 1:
        raise source.error(
            command.start(), "bale ran without -c, so the number of PEs per node is unknown; give --ranks-per-node N"
        )
    return _BaleRun(operation, request_bytes, ranks, per_node, numbers)


def _result(source: Source, run: _BaleRun, match: re.Match[str], verified: bool) -> Record:
    seconds = float(match[2])
    if seconds <= 0.0:
        raise source.error(match.start(), f"{match[2]} seconds are too short to compute a bandwidth; use more requests")
    bytes_per_node = run.request_bytes * run.numbers["requests"] * run.ranks_per_node
    computed = bytes_per_node / seconds / 1e9
    printed = float(match[3])
    if run.numbers.get("cores_per_node") == run.ranks_per_node:
        # Seconds and GB/s have three decimals, so a larger difference is not rounding.
        tolerance = 0.0006 + computed * (0.0006 / seconds + 1e-3)
        if not abs(computed - printed) <= tolerance:
            raise source.error(
                match.start(),
                f"{printed} GB/s does not agree with the seconds, which give {computed:.3f}; was the file edited?",
            )
        bandwidth = printed if printed > 0.0 else computed
    else:
        bandwidth = computed
    variant = {"operation": run.operation, "strategy": MODELS[match[1]][0], "distribution": "cyclic"}
    sizes = {key: run.numbers[key] for key in ("requests", "table", "buffer_items") if key in run.numbers}
    return aggregate_result(
        "gather",
        variant | sizes,
        {"injection_bandwidth": records.metric(bandwidth, "GB/s")},
        verified=verified,
        seconds={"median": seconds},
        traffic={"payload_bytes": bytes_per_node},
    )


def _library(version: re.Match[str] | None) -> str:
    return "upc" if version and "upc" in version[2].lower() else "shmem"
