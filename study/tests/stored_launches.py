"""Launches for tests: stored through the real store, with figures that a test chooses."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from longshore_study.cli.command_line import main
from longshore_study.store.launch_store import Store
from longshore_study.store.records import dump, end_record, metric, result_record

PUBLISHED = Path(__file__).parent / "data" / "published"


def halo(mode: str, bandwidth: float) -> dict[str, Any]:
    return result_record(
        "halo", {"mode": mode}, {"process_bandwidth": metric(bandwidth, "MiB/s")}, seconds={"median": 1.0 / bandwidth}
    )


def control(kernel: str, value: float) -> dict[str, Any]:
    name, unit, better = ("bandwidth", "GB/s", "higher") if kernel == "copy" else ("latency_us", "us", "lower")
    return result_record("control", {"kernel": kernel}, {name: metric(value, unit, better)})


def sort(exchange: str, seconds: float, **factors: Any) -> dict[str, Any]:
    """A sort of 2 ranks with 1000 keys of 4 bytes each, whose phase exchange took so long; a
    quarter of it waited."""
    share = {"waited_seconds": {"mean": seconds / 4, "max": seconds / 2}, "messages": 2, "wire_bytes": 4000}
    return result_record(
        "sort",
        {"exchange": exchange, "order": "round-robin", **factors},
        {
            "keys_per_second": metric(2000 / (10 * seconds), "keys/s"),
            "total_seconds": metric(10 * seconds, "s", "lower"),
            "exchange_seconds": metric(seconds, "s", "lower"),
        },
        seconds={"median": 9 * seconds},
        phases={"exchange": seconds},
        traffic={"messages": 2, "payload_bytes": 8000, "wire_bytes": 4000, "offnode_bytes": 0},
        counters=counted({"exchange": share}),
    )


def counted(phases: Mapping[str, Any]) -> dict[str, Any]:
    """What a machine counts whose processor counts cycles only."""
    return {
        "repetitions": 3, "operations": 6, "page_faults": {"minor": 12.5, "major": 0.0},
        "context_switches": {"voluntary": 1.0, "involuntary": 2.0}, "waited_seconds": {"mean": 1e-3, "max": 2e-3},
        "hardware": {"cycles": 1e6, "instructions": None}, "hardware_why_not": {"instructions": "not supported: so"},
        "phases": dict(phases),
    }  # fmt: skip


def parameter(kernel: str, microseconds: float, **variant: Any) -> dict[str, Any]:
    """Of the model: a kernel of control that lasted so long."""
    name = {"shift": "shift_us", "barrier": "barrier_us", "fetch-add": "fetch_add_us"}[kernel]
    return result_record("control", {"kernel": kernel, **variant}, {name: metric(microseconds, "us", "lower")})


def sort_with_model(exchange: str, seconds: float) -> list[dict[str, Any]]:
    """Puts and copies at 1 ns per byte after 1 us (of a put), claims of 2 us, barriers of 3 us."""
    sizes = (8, 4096)
    return [
        sort(exchange, seconds),
        *(parameter("shift", 1 + size / 1000, over="put", pair="near", bytes=size) for size in sizes),
        *(parameter("shift", size / 1000, over="copy", bytes=size) for size in sizes),
        parameter("barrier", 3.0),
        parameter("fetch-add", 2.0, pair="near"),
    ]


def store_launch(  # noqa: PLR0917 - a test names study and cell only where they matter
    store: Store,
    tag: str,
    session: str,
    results: list[dict[str, Any]],
    index: int = 0,
    cell: Mapping[str, Any] | None = None,
    study: str = "s",
    *,
    end: bool = True,
    simulated: Mapping[str, str] | None = None,
    hosts: Sequence[str] = (),
    **more: Any,
) -> Path:
    envelope = {
        "study": study, "tag": tag, "session": session, "cell": dict(cell or {"program": "halo", "ranks": 2}),
        "launch_index": index, "exit_status": 0, **more,
    }  # fmt: skip
    header: dict[str, Any] = {"record": "launch", "schema": 1} | ({"simulated": simulated} if simulated else {})
    header |= {"hosts": list(hosts)} if hosts else {}
    lines = [dump(header), *(dump(result) for result in results)]
    return store.write_launch(envelope, [*lines, dump(end_record())] if end else lines)


def simulate(  # noqa: PLR0917 - as store_launch
    store: Store,
    tag: str,
    results: list[dict[str, Any]],
    machine: str = "cray",
    version: str = "1",
    index: int = 0,
    *,
    study: str = "s",
    **cell: Any,
) -> Path:
    """Stores a launch that ran on a simulated machine."""
    factors = {"program": "halo", "transport": "simulated", "machine": machine, "ranks": 2} | cell
    about = {"machine": f"{machine} {version}", "file": f"machines/{machine}.toml"}
    return store_launch(store, tag, "day", results, index, factors, study, simulated=about)


MACHINE = """[machine]
name = "{name}"
version = "1"
nodes = 16
ranks_per_node = 4
"""
"""The part of a machine file that the study tool reads."""


def write_machine(path: Path, name: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(MACHINE.format(name=name))
    return path


def import_published_images(store_path: Path) -> None:
    """The four halobench outputs: two images, each on two systems."""
    for session in ("production", "tds"):
        for tag, file in (("reference", f"{session}-reference.out"), ("new", f"{session}-new-image.out")):
            path = PUBLISHED / "halobench" / file
            options = ["--tag", tag, "--session", session]
            assert main(["--store", str(store_path), "import", "halobench", str(path), *options]) == 0


def json_of(captured: str) -> dict[str, Any]:
    return dict(json.loads(captured))
