"""Launches for tests: stored through the real store, with figures that a test chooses."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from longshore_study.cli import main
from longshore_study.records import dump, end_record, metric, result_record
from longshore_study.store import Store

PUBLISHED = Path(__file__).parent / "data" / "published"


def halo(mode: str, bandwidth: float) -> dict[str, Any]:
    return result_record(
        "halo", {"mode": mode}, {"process_bandwidth": metric(bandwidth, "MiB/s")}, seconds={"median": 1.0 / bandwidth}
    )


def control(kernel: str, value: float) -> dict[str, Any]:
    name, unit, better = ("bandwidth", "GB/s", "higher") if kernel == "copy" else ("latency_us", "us", "lower")
    return result_record("control", {"kernel": kernel}, {name: metric(value, unit, better)})


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
    **more: Any,
) -> Path:
    envelope = {
        "study": study, "tag": tag, "session": session, "cell": dict(cell or {"program": "halo", "ranks": 2}),
        "launch_index": index, "exit_status": 0, **more,
    }  # fmt: skip
    lines = ['{"record":"launch","schema":1}', *(dump(result) for result in results)]
    return store.write_launch(envelope, [*lines, dump(end_record())] if end else lines)


def import_published_images(store_path: Path) -> None:
    """The four halobench outputs: two images, each on two systems."""
    for session in ("production", "tds"):
        for tag, file in (("reference", f"{session}-reference.out"), ("new", f"{session}-new-image.out")):
            path = PUBLISHED / "halobench" / file
            options = ["--tag", tag, "--session", session]
            assert main(["--store", str(store_path), "import", "halobench", str(path), *options]) == 0


def json_of(captured: str) -> dict[str, Any]:
    return dict(json.loads(captured))
