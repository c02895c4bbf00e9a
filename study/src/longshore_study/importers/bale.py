"""Importer of bale's index-gather (ig) and histogram (histo) apps: the seconds of each strategy
("model"), as printed text, or as JSON (-j FILE) with an object of texts per run. Tables are cyclic.

    Running command on 4 PEs: ./ig -c 4
         AGP:    0.123 seconds     0.520 GB/s injection bandwidth

    {"bale_version": "3.00", "app": "./ig", "pes": "4", "num_requests_per_pe": "1000000",
     "buf_cnt": "1024", "AGP": "0.123456", "Exstack": "0.012345"}

GB/s per node = bytes per request x requests per PE x PEs per node / seconds. A request has 16 bytes
in ig (index and answer) and 8 bytes in histo. JSON lacks the number of PEs per node. Text has it if
bale ran with -c; otherwise bale prints a bandwidth of 0.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from longshore_study.base.errors import LongshoreError
from longshore_study.importers.imported import Imported, Options, Source, aggregate_result, whole_records
from longshore_study.importers.json_document import parsed
from longshore_study.importers.run_texts import finite_or_nan, runs_of
from longshore_study.store import records
from longshore_study.store.records import Record

APPS = {"ig": ("gather", 16, "num_requests_per_pe"), "histo": ("histogram", 8, "num_updates_per_pe")}
"""Our operation for each app, the bytes per request, and the name of the number of requests."""
MODELS = {"AGP": ("agp", 1), "AGI": ("agp", 1), "Exstack": ("exstack", 2), "Exstack2": ("exstack2", 4),
          "Conveyor": ("conveyor", 8)}  # fmt: skip
"""Our strategy for each printed name, and its bit in "Models Mask". AGI is the old name of AGP."""
_ALL_MODELS = 15

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
_OBJECT = re.compile(r"\{\s*\"bale_version\"[^{}]*\}?")
_PAIR = re.compile(r'"(\w+)"\s*:\s*"([^"\n]*)"')


def read(source: Source, options: Options) -> list[Imported]:
    if objects := list(_OBJECT.finditer(source.text)):
        return [_from_json(source.part(match.start(), match.end()), options) for match in objects]
    commands = runs_of(source, _COMMAND, "Running command on N PEs: ...")
    return [_from_text(text, options, command) for command, text in commands]


@dataclass(frozen=True, slots=True)
class _BaleRun:
    """The settings of a run."""

    operation: str
    request_bytes: int
    ranks: int
    ranks_per_node: int
    sizes: dict[str, int]
    """The number of requests of a PE, and other sizes that are known."""

    @property
    def bytes_per_node(self) -> int:
        return self.request_bytes * self.sizes["requests"] * self.ranks_per_node

    def result(self, model: str, bandwidth: float, seconds: float, **more: Any) -> Record:
        variant = {"operation": self.operation, "strategy": MODELS[model][0], "distribution": "cyclic", **self.sizes}
        return aggregate_result(
            "gather", variant, {"injection_bandwidth": records.metric(bandwidth, "GB/s")}, **more,
            seconds={"median": seconds}, traffic={"payload_bytes": self.bytes_per_node},
        )  # fmt: skip

    def imported(
        self, version: str | None, transport: Mapping[str, Any], results: list[Record], why_incomplete: str | None,
        warnings: Sequence[str] = (), **more: Any,
    ) -> Imported:  # fmt: skip
        nodes = records.node_count(self.ranks, self.ranks_per_node)
        cell: dict[str, Any] = {"program": "bale", "transport": transport["name"]}
        cell |= {"nodes": nodes, "ranks": self.ranks, "ranks_per_node": self.ranks_per_node}
        program = {"name": "bale", "version": version}
        header = {"program": program, "transport": dict(transport), "ranks": self.ranks, "nodes": nodes, **more}
        return Imported(cell, whole_records(header, results), list(warnings), why_incomplete)


def _app(run: Source, path: str) -> tuple[str, int, str]:
    name = re.split(r"[/\\]", path)[-1].removesuffix(".exe").removesuffix("_conveyor")
    if name not in APPS:
        raise run.error(f"there is no importer for bale's app '{name}' (known: {', '.join(APPS)})")
    return APPS[name]


def _from_text(printed: Source, options: Options, command: re.Match[str]) -> Imported:
    run, numbers = _settings(printed, options, command)
    figures = [match for match in _FIGURE.finditer(printed.text) if match[1] in MODELS]
    mask = numbers.get("mask", _ALL_MODELS)
    requested = dict.fromkeys(strategy for strategy, bit in MODELS.values() if bit & mask)
    found = [MODELS[match[1]][0] for match in figures]
    missing = [strategy for strategy in requested if strategy not in found]
    why_incomplete = f"bale's output ends without {', '.join(missing)}" if missing else None
    printed.refuse_incomplete(why_incomplete, options)
    if not figures:
        raise printed.error_at_end("bale's output ends before the first result")
    verified = _FAILED.search(printed.text) is None
    printed_bandwidths = numbers.get("cores_per_node") == run.ranks_per_node
    results = [_printed_result(printed, run, match, printed_bandwidths, verified=verified) for match in figures]
    # A file with several runs has a version above the command of each run.
    version = next(reversed([*_VERSION.finditer(printed.before)]), None)
    library = version[2] if version else None
    transport = {"name": "upc" if "upc" in (library or "").lower() else "shmem", "library": library}
    warnings = [] if verified else [f"{printed.name}: bale reports wrong results"]
    argv = [command[2], *command[3].split()]
    return run.imported(version and version[1], transport, results, why_incomplete, warnings, argv=argv)


def _settings(printed: Source, options: Options, command: re.Match[str]) -> tuple[_BaleRun, dict[str, int]]:
    """The settings of a run, and all numbers that bale printed above its results."""
    operation, request_bytes, requests_line = _app(printed, command[2])
    found = {name: pattern.search(printed.text) for name, pattern in _NUMBERS.items()}
    numbers = {name: int(match[1]) for name, match in found.items() if match}
    if "requests" not in numbers:
        raise printed.error_at_end(f"bale's output ends without '{requests_line}'")
    per_node = options.ranks_per_node or numbers.get("cores_per_node", 0)
    if per_node < 1:
        raise printed.error("bale ran without -c, so the number of PEs per node is unknown; give --ranks-per-node N")
    sizes = {name: number for name, number in numbers.items() if name in ("requests", "table", "buffer_items")}
    return _BaleRun(operation, request_bytes, int(command[1]), per_node, sizes), numbers


def _printed_result(
    printed: Source, run: _BaleRun, match: re.Match[str], has_bandwidth: bool, *, verified: bool
) -> Record:
    seconds, bandwidth = float(match[2]), float(match[3])
    if seconds <= 0.0:
        raise printed.at(match).error(f"{match[2]} seconds are too short to compute a bandwidth; use more requests")
    computed = run.bytes_per_node / seconds / 1e9
    # Seconds and GB/s have three decimals, so a larger difference is not rounding.
    tolerance = 0.0006 + computed * (0.0006 / seconds + 1e-3)
    if has_bandwidth and not abs(computed - bandwidth) <= tolerance:
        raise printed.at(match).error(
            f"{bandwidth} GB/s does not agree with the seconds, which give {computed:.3f}; was the file edited?",
        )
    return run.result(
        match[1], bandwidth if has_bandwidth and bandwidth > 0.0 else computed, seconds, verified=verified
    )


def _from_json(printed: Source, options: Options) -> Imported:
    why_incomplete = None if printed.text.endswith("}") else "bale's object is cut short: the run did not finish"
    printed.refuse_incomplete(why_incomplete, options)
    values: dict[str, Any] = dict(_PAIR.findall(printed.text)) if why_incomplete else parsed(printed, printed.text)

    def count(key: str) -> int:
        try:
            number = int(values[key])
        except (KeyError, TypeError, ValueError):
            number = 0
        if number < 1:
            raise printed.error(f"bale's object has no number '{key}'")
        return number

    operation, request_bytes, requests_key = _app(printed, str(values.get("app", "")))
    keys = {"requests": requests_key, "table": "table_size_per_pe", "buffer_items": "buf_cnt"}
    sizes = {name: count(key) for name, key in keys.items() if key == requests_key or key in values}
    if options.ranks_per_node is None:
        raise printed.error("bale's JSON lacks the number of PEs per node; give --ranks-per-node N")
    run = _BaleRun(operation, request_bytes, count("pes"), options.ranks_per_node, sizes)
    results = []
    for model in (name for name in MODELS if name in values):
        seconds = finite_or_nan(values[model])
        if not 0.0 < seconds < 1e9:
            what = f"{model}: {values[model]!r:.40} is not a time from which to compute a bandwidth"
            raise printed.error(what)
        original = {"name": model, "value": seconds, "unit": "s"}
        results.append(run.result(model, run.bytes_per_node / seconds / 1e9, seconds, original=original))
    if not results:
        raise LongshoreError(f"{printed.name}: bale's object has no seconds of any strategy ({', '.join(MODELS)})")
    return run.imported(values.get("bale_version"), {"name": "shmem"}, results, why_incomplete)
