#!/usr/bin/env python3
"""A slowdown planted in real measurements: does the tool find the one that matters, and only that
one?

    study/tests/planted/planted_slowdown.py --repetitions 10

Mode persistent of the halo exchange is delayed by 8 %, mode neighbor by 1 %, by a library that is
preloaded into longshore-bench (delay.c; how long 8 % are is measured first). In each repetition the
planted state is compared with the plain one, at a margin of 3 %, which lies between the two: the
first must be regressed and attributed to its mode, the second must not be regressed; and the plain
state with itself, measured under another tag in the same turns: nothing may be regressed. An hour
on a quiet machine; needs mpicc and an MPI.

What it takes is the machine's. On a virtual one, whose cores are near each other in some launches
and far in others, figures of 32^3 cells differ by 3 to 15 % from launch to launch. But they do so
for all modes of MPI together. Mode waitall sends the same messages through the same library, and
the planted library does not delay it. So `compare --noise-of "mode == 'waitall'"` leaves a spread
of 1 to 2 %. Longshore's own mode channel explains none of it: no call of MPI carries it on one
node.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SIBLING = "waitall"
"""The same messages through the same library, by calls that are not delayed."""
MODES = ("channel", SIBLING, "persistent", "neighbor", "sendrecv", "irecv-send")
MARGIN = 0.03
DELAYED = {"persistent": ("PLANTED_STARTALL_NS", 0.08), "neighbor": ("PLANTED_NEIGHBOR_NS", 0.01)}
PROBE_NS = 20_000.0
CALIBRATING = 16  # launches


def main() -> int:
    args = _arguments()
    folder = Path(tempfile.mkdtemp(prefix="planted-"))
    try:
        args.wrapped = _wrapped(folder, args.bench)
        delays = _calibrated(folder, args)
        print(
            "delays:", ", ".join(f"{mode} {DELAYED[mode][1]:.0%} = {ns:.0f} ns a call" for mode, ns in delays.items())
        )
        planted = {DELAYED[mode][0]: f"{ns:.1f}" for mode, ns in delays.items()}
        outcomes = [_repetition(folder / str(k), args, planted, k) for k in range(args.repetitions)]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return _verdict(outcomes)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", default=os.environ.get("LONGSHORE_BENCH") or shutil.which("longshore-bench"))
    parser.add_argument("--mpirun", default=os.environ.get("LONGSHORE_MPIRUN") or shutil.which("mpirun"))
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument("--sessions", type=int, default=2)
    parser.add_argument("--launches", type=int, default=20, help="of each state in a session, in turns")
    parser.add_argument("--samples", type=int, default=20, help="of each mode in a launch")
    parser.add_argument("--ranks", type=int, default=2)
    args = parser.parse_args()
    if not (args.bench and args.mpirun and shutil.which("mpicc")):
        sys.exit("longshore-bench, mpirun and mpicc are needed; --bench and --mpirun name the first two")
    args.bench = str(Path(args.bench).resolve())
    return args


def _wrapped(folder: Path, bench: str) -> str:
    """longshore-bench with the library in front of MPI, also where nothing is delayed."""
    library, script = folder / "delay.so", folder / "longshore-bench"
    compiler = shutil.which("mpicc") or "mpicc"
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", library, HERE / "delay.c"], check=True)
    script.write_text(f'#!/bin/sh\nLD_PRELOAD="{library}" exec "{bench}" "$@"\n')
    script.chmod(0o755)
    return str(script)


def _study(path: Path, args: argparse.Namespace, launches: int) -> Path:
    """The benchmark is an external program: no control cells stand between the states."""
    words = ("halo", "--transport", "mpi", "--algorithm", "faces", "--domain", "32,32,32", "--mode", ",".join(MODES))
    command = [args.mpirun, "-n", str(args.ranks), args.wrapped, *words, "--repetitions", str(args.samples)]
    path.write_text(
        f'[study]\nname = "planted"\nlaunches = {launches}\nsessions = {args.sessions}\nmargin = {MARGIN}\n'
        f'[[external]]\nname = "exchange"\nformat = "longshore-bench"\n'
        f"command = {json.dumps([*command, '--json', '-'])}\nbetween = {{ ranks = {args.ranks} }}\n"
    )
    return path


def _longshore(store: Path, *words: str, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "longshore_study", "--store", str(store), *words]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | (environment or {}), cwd=store.parent
    )


@dataclass(frozen=True)
class _State:
    """What is measured under a tag: the variables that delay.c reads."""

    tag: str
    environment: dict[str, str]


def _run(store: Path, study: Path, state: _State, session: str) -> None:
    words = ["run", str(study), "--tag", state.tag, "--session", session]
    done = _longshore(store, *words, environment=state.environment)
    if done.returncode:
        sys.exit(f"longshore run failed: {done.stderr or done.stdout}")


def _calibrated(folder: Path, args: argparse.Namespace) -> dict[str, float]:
    """Nanoseconds a call that make each mode slower by its share; a delay on trial tells calls in
    an exchange."""
    study, seconds = _study(folder / "calibration.toml", args, CALIBRATING), {}
    for tag, environment in (("plain", {}), ("probe", {name: f"{PROBE_NS}" for name, _ in DELAYED.values()})):
        _run(folder / "calibration", study, _State(tag, environment), "s")
        seconds[tag] = _medians(folder / "calibration", tag)
    return {
        mode: share * seconds["plain"][mode] / ((seconds["probe"][mode] - seconds["plain"][mode]) / PROBE_NS)
        for mode, (_, share) in DELAYED.items()
    }


def _medians(store: Path, tag: str) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for path in store.glob(f"planted/{tag}/*/*.jsonl"):
        for record in map(json.loads, path.read_text().splitlines()):
            if record["record"] == "result" and record["pattern"] == "halo":
                found.setdefault(record["variant"]["mode"], []).append(record["seconds"]["median"])
    return {mode: statistics.median(values) for mode, values in found.items()}


Outcome = dict[str, Any]


def _repetition(store: Path, args: argparse.Namespace, planted: dict[str, str], number: int) -> list[Outcome]:
    """All states in turns, in random order: a machine that drifts does so under each. One outcome
    per comparison."""
    store.mkdir()
    generator = random.Random(number)
    states = [_State("before", {}), _State("same", {}), _State("after", planted)]
    for session in range(args.sessions):
        for launches in range(1, args.launches + 1):
            study = _study(store / "study.toml", args, launches)
            for state in generator.sample(states, len(states)):
                _run(store / "results", study, state, str(session))
    return [_outcome(store / "results", tag, number) for tag in ("after", "same")]


def _outcome(results: Path, tag: str, number: int) -> Outcome:
    words = ("before", tag, "--json", "--noise-of", f"mode == '{SIBLING}'")
    compared = json.loads(_longshore(results, "compare", *words).stdout)
    attributed = json.loads(_longshore(results, "attribute", *words).stdout)
    rows = {row["variant"]["mode"]: row for row in compared["rows"]}
    rules = [rule["associated_with"] for rule in attributed["rules"]]
    told = ", ".join(f"{mode} {row['ratio']:.3f} {row['verdict']}" for mode, row in sorted(rows.items()))
    print(f"{number} {tag}: {compared['verdict']}; {told}; {'; '.join(rules) or 'no rule'}", flush=True)
    return {"tag": tag, "rows": {mode: row["verdict"] for mode, row in rows.items()}, "rules": rules}


def _verdict(repetitions: list[list[Outcome]]) -> int:
    outcomes = [outcome for repetition in repetitions for outcome in repetition]
    planted = [one for one in outcomes if one["tag"] == "after"]
    found = sum(one["rows"]["persistent"] == "regressed" for one in planted)
    attributed = sum("mode == 'persistent'" in one["rules"] for one in planted)
    small = sum(one["rows"]["neighbor"] != "regressed" for one in planted)
    false = sum("regressed" in one["rows"].values() for one in outcomes if one["tag"] == "same")
    count = len(repetitions)
    print(f"8 % found in {found}, attributed in {attributed}; 1 % not called regressed in {small} of {count}")
    print(f"false regressions in {false} of {count} comparisons of one state with itself")
    return 0 if min(found, attributed, small) >= 0.9 * count and false == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
