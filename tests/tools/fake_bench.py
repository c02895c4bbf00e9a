#!/usr/bin/env python3
"""A stand-in for longshore-bench in test_fuzz.py. The variable FAKE_FAULT names its fault.

If FAKE_LIMIT is set, the fault needs kind bad, at least 7 items and at least 3 ranks.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ANYWHERE = ["mpi", "threads"]
FACTORS: list[dict[str, Any]] = [
    {"name": "kind", "type": "word", "default": ["good"]},
    {"name": "items", "type": "integer", "default": [1], "low": 1, "high": 1 << 40},
    {"name": "shape", "type": "triple", "default": [[1, 1, 1]], "low": 1, "high": 50},
    {"name": "new_one", "type": "word", "default": []},
]
LEVELS = {"kind": ["good", "odd", "bad"], "new_one": ["this", "that"]}


def listed(factor: dict[str, Any]) -> dict[str, Any]:
    names = LEVELS.get(factor["name"], [])
    levels = [{"level": level, "available": True, "transports": ANYWHERE} for level in names]
    option = "--" + factor["name"].replace("_", "-")
    return factor | {"option": option} | ({"levels": levels} if levels else {})


def listing() -> dict[str, Any]:
    transports = [{"name": name, "available": name == "threads"} for name in ANYWHERE]
    return {"transports": transports, "patterns": [{"name": "ring", "factors": [listed(one) for one in FACTORS]}]}


def fault_of(options: dict[str, str]) -> str:
    fault = os.environ.get("FAKE_FAULT", "none")
    if "FAKE_LIMIT" not in os.environ:
        return fault
    most = max(int(count) for count in options.get("--items", "1").split(","))
    here = "bad" in options.get("--kind", "").split(",") and most >= 7 and int(options["--ranks"]) >= 3
    return fault if here else "none"


def records(fault: str) -> list[dict[str, Any]]:
    variant = {"kind": "good"}
    samples = 0 if fault == "no sample" else 1
    verified = {"unverified": None, "quietly wrong": False}.get(fault, True)
    result = {"record": "result", "variant": variant, "verified": verified, "repetitions": 1}
    end = {"record": "end", "status": "ok", "results": 1, "skipped": 0, "wrong": int(verified is not True)}
    if fault == "throw":
        end = {"record": "end", "status": "failed", "error": {"kind": "transport", "message": "it fell off the ring"}}
    last = [] if fault == "no end" else [end]
    return [{"record": "launch"}, *[{"record": "sample", "variant": variant}] * samples, result, *last]


def misbehave(fault: str) -> None:
    if fault == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if fault == "hang":
        Path(os.environ.get("FAKE_FILE", "hangs")).touch()
        time.sleep(3600)
    if fault == "process":
        subprocess.Popen(["sleep", "3600"], start_new_session=True)
    if fault == "file":
        Path(os.environ["FAKE_FILE"]).touch()


def main(words: list[str]) -> int:
    if words == ["--list"]:
        print(json.dumps(listing()))
        return 0
    options = dict(zip(words[1:], [*words[2:], ""], strict=True))
    fault = fault_of(options)
    misbehave(fault)
    if fault in ("refuse", "no reason"):
        print("longshore-bench: nothing could run: not here" if fault == "refuse" else "hm", file=sys.stderr)
        return 2
    text = "".join(json.dumps(record) + "\n" for record in records(fault))
    if fault == "nan":
        text = text.replace('"repetitions": 1', '"repetitions": NaN')
    if fault != "no file":
        Path(options["--json"]).write_text(text[:-3] if fault == "torn" else text)
    return {"wrong": 1, "throw": 3, "odd status": 77}.get(fault, 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
