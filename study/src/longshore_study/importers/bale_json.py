"""Importer of bale's JSON form (-j FILE): per run, an object of texts with the seconds of each
strategy.

    {"bale_version": "3.00", "app": "./ig", "pes": "4", "num_requests_per_pe": "1000000",
     "buf_cnt": "1024", "AGP": "0.123456", "Exstack": "0.012345"}

The importer computes the bandwidth as bale's text form does (bale.py). The number of PEs per node
is not in the output.
"""

from __future__ import annotations

import re
from typing import Any

from longshore_study.base.errors import LongshoreError
from longshore_study.importers.imported import Imported, Options, Source, aggregate_result, whole_records
from longshore_study.importers.json_document import parsed
from longshore_study.store import records

_OBJECT = re.compile(r"\{\s*\"bale_version\"[^{}]*\}?")
_PAIR = re.compile(r'"(\w+)"\s*:\s*"([^"\n]*)"')
_MODELS = {"AGP": "agp", "AGI": "agp", "Exstack": "exstack", "Exstack2": "exstack2", "Conveyor": "conveyor"}
APPS = {"ig": ("gather", 16, "num_requests_per_pe"), "histo": ("histogram", 8, "num_updates_per_pe")}
"""Our operation for each app, the bytes per request, and the line with the number of requests."""


def holds_json(text: str) -> bool:
    return _OBJECT.search(text) is not None


def read(source: Source, options: Options) -> list[Imported]:
    return [_imported(source, options, match) for match in _OBJECT.finditer(source.text)]


def _imported(source: Source, options: Options, match: re.Match[str]) -> Imported:
    why_incomplete = None if match[0].endswith("}") else "bale's object is cut short: the run did not finish"
    source.refuse_incomplete(match.end(), why_incomplete, options)
    values: dict[str, Any] = dict(_PAIR.findall(match[0])) if why_incomplete else parsed(source, match[0])

    def count(key: str) -> int:
        try:
            number = int(values[key])
        except (KeyError, TypeError, ValueError):
            number = 0
        if number < 1:
            raise source.error(match.start(), f"bale's object has no number '{key}'")
        return number

    app = re.split(r"[/\\]", str(values.get("app", "")))[-1]
    if app not in APPS:
        raise source.error(match.start(), f"there is no importer for bale's app '{app}' (known: {', '.join(APPS)})")
    operation, request_bytes, requests_key = APPS[app]
    ranks, requests = count("pes"), count(requests_key)
    per_node = options.ranks_per_node
    if per_node is None:
        raise source.error(match.start(), "bale's JSON lacks the number of PEs per node; give --ranks-per-node N")
    variant: dict[str, Any] = {"operation": operation, "distribution": "cyclic", "requests": requests}
    for key, factor in (("table_size_per_pe", "table"), ("buf_cnt", "buffer_items")):
        if key in values:
            variant[factor] = count(key)
    results = []
    for model in (name for name in _MODELS if name in values):
        seconds = _seconds(source, match, model, values[model])
        volume = request_bytes * requests * per_node
        results.append(
            aggregate_result(
                "gather", {**variant, "strategy": _MODELS[model]},
                {"injection_bandwidth": records.metric(volume / seconds / 1e9, "GB/s")},
                seconds={"median": seconds}, traffic={"payload_bytes": volume},
                original={"name": model, "value": seconds, "unit": "s"},
            )
        )  # fmt: skip
    if not results:
        raise LongshoreError(f"{source.name}: bale's object has no seconds of any strategy ({', '.join(_MODELS)})")
    nodes = records.node_count(ranks, per_node)
    cell = {"program": "bale", "transport": "shmem", "nodes": nodes, "ranks": ranks, "ranks_per_node": per_node}
    header = {"program": {"name": "bale", "version": values.get("bale_version")}, "transport": {"name": "shmem"},
              "ranks": ranks, "nodes": nodes}  # fmt: skip
    return Imported(cell, whole_records(header, results), why_incomplete=why_incomplete)


def _seconds(source: Source, match: re.Match[str], model: str, text: Any) -> float:
    try:
        seconds = float(text)
    except (TypeError, ValueError):
        seconds = 0.0
    if not 0.0 < seconds < 1e9:
        raise source.error(match.start(), f"{model}: {text!r:.40} is not a time from which to compute a bandwidth")
    return seconds
