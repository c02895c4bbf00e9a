"""Studies for the tests of the report, made by arithmetic: what the page must show of them is
known."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import exp, inf, log
from pathlib import Path
from typing import Any

from longshore_study.base.json_values import canonical
from longshore_study.compare.common_shift import CommonShift
from longshore_study.compare.comparison import Comparison
from longshore_study.compare.estimate import COMMON_SHIFT, Estimate
from longshore_study.compare.guideline_check import GuidelineRow
from longshore_study.compare.judged_row import JudgedRow
from longshore_study.metrics.launch_metrics import Figure, Key
from longshore_study.patterns.pattern import Guideline
from longshore_study.stats.effect import paired
from longshore_study.stats.student import quantile
from longshore_study.stats.verdict import Judgement, Measured
from longshore_study.store import records
from longshore_study.store.launch_store import Store
from longshore_study.store.records import Record
from longshore_study.store.selection import Side

HEADER: Record = {
    "record": "launch",
    "schema": 1,
    "launch": "x",
    "program": {"version": "0.1.0", "git": "abc1234", "compiler": "GCC 12.2.0", "flags": "-O3 -march=native"},
    "system": {
        "host": "node17",
        "cpu": "Example CPU 9999 @ 2.0 GHz",
        "kernel": "6.1.0-9-amd64",
        "cores": 4,
        "nodes": 1,
    },
    "transport": {"name": "mpi", "library": "Open MPI 4.1.4"},
    "ranks": 4,
    "map": [[0, 0, 0], [1, 0, 1], [2, 0, 2], [3, 0, 3]],
    "environment": {"OMPI_MCA_btl": "self,vader"},
}


def header_of(cell: Mapping[str, Any]) -> Record:
    """The record of a program that ran as the cell asks."""
    known = {name: cell[name] for name in ("ranks", "nodes") if name in cell}
    if "transport" in cell:
        known["transport"] = {"name": cell["transport"], "library": HEADER["transport"]["library"]}
    return HEADER | known


COPY_GBPS = 20.0
HALO_BASE = {"waitall": 900.0, "persistent": 950.0, "channel": 1500.0}
GATHER_BASE = {"agp": 0.4, "exstack": 2.2, "direct": 12.0}


def result(
    pattern: str, variant: dict[str, Any], name: str, value: float, unit: str, *, better: str = "higher"
) -> Record:
    seconds = 1 / value
    return records.result_record(
        pattern,
        variant,
        {name: records.metric(value, unit, better)},
        verified=True,
        repetitions=10,
        seconds={"median": seconds, "p10": seconds * 0.98, "p90": seconds * 1.04},
    )


def machine_results(cell: dict[str, Any], noise: random.Random) -> Iterator[Record]:
    """One launch: controls, halo over widths, gather, stream; with 2 % of noise."""

    def noisy(value: float) -> float:
        return value * exp(noise.gauss(0, 0.02))

    mpi = cell["transport"] == "mpi"
    yield result("control", {"kernel": "copy"}, "bandwidth", noisy(COPY_GBPS), "GB/s")
    yield result("control", {"kernel": "pingpong"}, "latency_us", noisy(0.9 if mpi else 0.2), "us", better="lower")
    variant: dict[str, Any]
    for kernel in ("copy", "triad"):
        for elements in (10_000, 100_000, 1_000_000):
            variant = {"scope": "ep", "kernel": kernel, "elements": elements, "type": "double"}
            yield result("stream", variant, "bandwidth", noisy(19.0 if elements > 10_000 else 27.0), "GB/s")
    for strategy, base in GATHER_BASE.items():
        variant = {"operation": "gather", "strategy": strategy, "requests": 1_000_000, "table": 10_000}
        yield result("gather", variant, "injection_bandwidth", noisy(base * (0.6 if mpi else 1.0)), "GB/s")
    for mode, base in HALO_BASE.items():
        for fields in (1, 8):
            for width in (1, 2, 3):
                variant = {
                    "algorithm": "faces",
                    "mode": mode,
                    "halo": width,
                    "fields": fields,
                    "domain": [64, 64, 64],
                }
                if mode != "channel" and not mpi:
                    yield {"record": "result", "pattern": "halo", "variant": variant, "skipped": "needs MPI"}
                else:
                    yield result("halo", variant, "process_bandwidth", noisy(base * (0.7 + 0.1 * width)), "MiB/s")


def write_study(path: Path, *, study: str = "quick", tag: str = "quick", launches: int = 5, seed: int = 1) -> Store:
    """Two transports, `launches` launches each, in random order, all well."""
    store = Store(path)
    noise = random.Random(seed)
    order = [(t, i) for t in ("threads", "mpi") for i in range(launches)]
    noise.shuffle(order)
    for position, (transport, index) in enumerate(order):
        cell = {"transport": transport, "ranks": 4}
        header = HEADER | {"launch": f"{tag}-{position}", "transport": {"name": transport, "library": "Open MPI 4.1.4"}}
        lines = [records.dump(r) for r in (header, *machine_results(cell, noise), records.end_record())]
        store.write_launch(envelope(study, tag, "2026-01-05", cell, index=index, position=position), lines)
    return store


def write_failure(store: Store, study: str = "quick", tag: str = "quick") -> None:
    """A launch that died with a message."""
    cell = {"transport": "mpi", "ranks": 64}
    head = envelope(study, tag, "2026-01-05", cell, position=99)
    store.write_launch(head | {"exit_status": 3, "stderr_tail": ["rank 3 died"]}, [records.dump(HEADER)])


def envelope(
    study: str, tag: str, session: str, cell: dict[str, Any], *, index: int = 0, position: int | None = None
) -> dict[str, Any]:
    return {
        "study": study,
        "tag": tag,
        "session": session,
        "cell": cell,
        "launch_index": index,
        "position": position,
        "command": ["mpirun", "-n", "4", "longshore-bench", "halo"],
        "started": f"2026-01-05T10:{index:02d}:00Z",
        "exit_status": 0,
        "source": "longshore-bench",
    }


# The published halobench figures, MiB/s: (production, test system) of the reference and of the new
# image.
HALOBENCH: dict[str, tuple[tuple[float, float], tuple[float, float]]] = {
    "sendrecv": ((6131.2, 5989.4), (3256.1, 3330.3)),
    "redblack": ((7383.8, 7315.0), (5909.6, 7038.2)),
    "isend-recv": ((8250.9, 8215.6), (4727.6, 5050.8)),
    "irecv-send": ((7956.3, 7803.6), (7872.7, 7807.9)),
    "pairwise": ((8116.4, 7761.1), (4103.6, 4213.3)),
    "waitall": ((12155.6, 12027.7), (12024.4, 12166.6)),
    "persistent": ((6991.8, 7001.3), (381.8, 421.0)),
    "neighbor": ((13015.1, 13215.1), (12434.7, 12215.6)),
}


def write_halobench(path: Path, reference: str = "reference", new: str = "new") -> Store:
    """Both images in two sessions each, as an importer stores them: aggregates, no order of
    running."""
    store = Store(path)
    for side, tag in enumerate((reference, new)):
        for number, session in enumerate(("production", "tds")):
            results = [
                records.result_record(
                    "halo", {"mode": mode}, {"process_bandwidth": records.metric(figures[side][number], "MiB/s")}
                )
                for mode, figures in HALOBENCH.items()
            ]
            head = envelope("halobench", tag, session, {"ranks": 128})
            head |= {"source": "import halobench", "command": None}
            store.write_launch(head, [records.dump(r) for r in (*results, records.end_record())])
    return store


def compared_halobench(reference: str = "reference", new: str = "new") -> Comparison:
    """A comparison of them with plausible intervals."""
    rows = [_compared_row(mode, before, after) for mode, (before, after) in HALOBENCH.items()]
    return Comparison(Side(reference, []), Side(new, []), 0.05, rows, CommonShift(), [], 0)


def _compared_row(mode: str, before: tuple[float, float], after: tuple[float, float]) -> JudgedRow:
    ratio = (after[0] * after[1] / before[0] / before[1]) ** 0.5
    key = Key("", "halo", "process_bandwidth", canonical({"mode": mode}), "{}")
    redblack = mode == "redblack"
    regressed = ratio < 0.7
    return JudgedRow(
        key,
        _figures_of(key, "reference", before),
        _figures_of(key, "new", after),
        estimate=estimate_of(ratio, 1.12 if redblack else 1.04),
        judgement=Judgement("regressed", (0.0, 0.0), 0.01, 0.01, 0.01, 1.0) if regressed else None,
        verdict="regressed" if regressed else "inconclusive" if redblack else "same",
        warnings=("two sessions per side",) if redblack else (),
    )


def _figures_of(key: Key, tag: str, values: tuple[float, float]) -> tuple[Figure, ...]:
    sessions = zip(("production", "tds"), values, strict=True)
    return tuple(
        Figure(key, tag, session, f"{tag}/{session}", None, None, value, "MiB/s", "higher")
        for session, value in sessions
    )


def estimate_of(ratio: float, reach: float, raw: tuple[float, float] | None = None) -> Estimate:
    """A ratio whose interval is from ratio / reach to ratio * reach. `raw`: ratio and reach of the
    raw ratio, from which the common shift was removed."""
    judged = Measured(log(ratio), log(reach) / quantile(0.975, inf), inf)
    if raw is None:
        return Estimate(log(ratio), judged, log(ratio), (log(ratio / reach), log(ratio * reach)), ())
    bounds = (log(raw[0] / raw[1]), log(raw[0] * raw[1]))
    return Estimate(log(ratio), judged, log(raw[0]), bounds, (COMMON_SHIFT,))


def with_levels(row: JudgedRow, **levels: Any) -> JudgedRow:
    """The same row of a variant with other levels."""
    return replace(row, key=replace(row.key, variant_text=canonical(row.key.variant | levels)))


def checked_guideline(faster: str, ratio: float, verdict: str) -> GuidelineRow:
    """The guideline that this mode is not slower than waitall; `ratio` of the two bandwidths."""
    effect = paired({"a": 0.0}, {"a": log(ratio)})
    guideline = Guideline({"mode": faster}, {"mode": "waitall"})
    values = (1000.0 * ratio, 1000.0)
    return GuidelineRow(
        guideline, "s", "halo", "process_bandwidth", {}, "MiB/s", "higher", values, effect, "launch", verdict
    )


GUIDELINES = [checked_guideline("persistent", 0.033, "broken"), checked_guideline("neighbor", 1.02, "holds")]
