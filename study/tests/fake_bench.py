"""A stand-in for longshore-bench: same options, same records, no measuring; and it misbehaves when
told to.

FAKE_BENCH holds rules "program[/transport][@seed]=action", separated by ";": fail, wrong (exit 1,
not verified), hang, die (SIGKILL), truncate, garbage, silent, skip. FAKE_BENCH_LOG names a file
that gets a line per start, and one beside it, NAME.hangs, a line per rank that hangs. With
FAKE_BENCH_SLOW="NAME=value mode,mode", those modes (* for all) are ten times as slow where the
variable has the value ("": where it is not set), figures have noise, and the environment is
recorded. FAKE_BENCH_COUNT then names a file that gets a byte per start: its length is the seed of
the noise, so a test ends the same way each time.
"""

# ruff: noqa: PTH123 - it is started hundreds of times, and pathlib takes longer to import than the rest

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import sys
import time

NO_FACTORS = (
    "--transport",
    "--machine",
    "--ranks",
    "--ranks-per-node",
    "--repetitions",
    "--warmup",
    "--seed",
    "--verify",
    "--json",
)
METRICS = {
    "stream": ("bandwidth", "GB/s", "higher"),
    "gather": ("injection_bandwidth", "GB/s", "higher"),
    "halo": ("process_bandwidth", "MiB/s", "higher"),
    "sort": ("keys_per_second", "1/s", "higher"),
    "ghost": ("ghost_bandwidth", "GB/s", "higher"),
    "toy": ("toy_bandwidth", "GB/s", "higher"),
}


RANK = os.environ.get("OMPI_COMM_WORLD_RANK") or os.environ.get("PMI_RANK") or "0"
SAID: list[str] = []
NOISE = random.Random(0)


def say(record: dict[str, object]) -> None:
    SAID.append(json.dumps(record, separators=(",", ":")) + "\n")


def write() -> None:
    if RANK == "0" and SAID:
        with open(sys.argv[sys.argv.index("--json") + 1], "w", encoding="utf-8") as file:
            file.write("".join(SAID))


def action_for(program: str, transport: str, seed: str) -> str:
    for rule in filter(None, os.environ.get("FAKE_BENCH", "").split(";")):
        condition, _, action = rule.partition("=")
        name, _, wanted_seed = condition.partition("@")
        if name in (program, f"{program}/{transport}", "*") and wanted_seed in ("", seed):
            return action
    return ""


def main() -> int:
    program, words = sys.argv[1], sys.argv[2:]
    options = dict(zip(words[::2], words[1::2], strict=True))
    transport, seed, repetitions = options["--transport"], options["--seed"], int(options["--repetitions"])
    factors = {
        option[2:].replace("-", "_"): [value] if option == "--domain" else value.split(",")
        for option, value in options.items()
        if option not in NO_FACTORS
    }
    action = action_for(program, transport, seed)
    if log := os.environ.get("FAKE_BENCH_LOG"):
        with open(log, "a", encoding="utf-8") as file:
            file.write(f"{program} {transport} {seed} {action}\n")
    time.sleep(float(os.environ.get("FAKE_BENCH_SECONDS", "0")))
    match action:
        case "fail":
            print("longshore-bench: rank 1 waited 5 s for rank 0 in barrier", file=sys.stderr)
            return 3
        case "silent":
            return 0
        case "garbage":
            SAID.append('{"record" this is not JSON\n{"record":"end","status":"ok"}\n')
            return 0
        case "die":
            os.kill(os.getpid(), signal.SIGKILL)
        case "hang":
            say({"record": "launch", "schema": 1})
            write()
            child = os.fork()  # a rank in a process group of its own, as Open MPI starts them
            if child == 0:
                os.setpgid(0, 0)
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                if log:
                    with open(log + ".hangs", "a", encoding="utf-8") as file:
                        file.write("a rank that does not end when it is asked to\n")
            time.sleep(600)
    start = {"record": "launch", "schema": 1, "program": {"name": "fake"}, "transport": transport, "seed": seed}
    if machine := options.get("--machine"):
        with open(machine, encoding="utf-8") as file:
            name = file.read().partition('name = "')[2].partition('"')[0]
        start |= {"simulated": {"machine": f"{name} 1", "file": machine}, "ranks": int(options["--ranks"])}
    if "FAKE_BENCH_SLOW" in os.environ:
        recorded = {k: v for k, v in os.environ.items() if k.startswith(("OMPI_MCA_", "LONGSHORE_"))}
        start["environment"] = recorded
        with open(os.environ["FAKE_BENCH_COUNT"], "ab") as file:
            file.write(b".")
            NOISE.seed(file.tell())
    say(start)
    print("a warning of the MPI library on stdout")
    measure(program, factors, repetitions, action)
    if action == "truncate":
        SAID.append('{"record":"resu')
        return 0
    say({"record": "end", "status": "ok"})
    return {"skip": 2, "wrong": 1}.get(action, 0)


def slowed(mode: str) -> float:
    if "FAKE_BENCH_SLOW" not in os.environ:
        return 1.0
    setting, modes = os.environ["FAKE_BENCH_SLOW"].split(" ")
    name, value = setting.split("=")
    hit = os.environ.get(name, "") == value and (mode in modes.split(",") or modes == "*")
    return (0.1 if hit and mode != "None" else 1.0) * NOISE.gauss(1.0, 0.003)


def measure(program: str, factors: dict[str, list[str]], repetitions: int, action: str) -> None:
    for number, values in enumerate(itertools.product(*factors.values())):
        variant: dict[str, object] = dict(zip(factors, values, strict=True))
        if program == "toy":  # its records are as those of the newest version
            variant = {name: int(str(level)) if str(level).isdigit() else level for name, level in variant.items()}
        start = {"record": "result", "pattern": program, "variant": variant}
        if action == "skip":
            say({**start, "skipped": "not on this transport"})
            continue
        seconds = 0.001 * (1 + number)
        for repetition in range(repetitions):
            times = {"max": seconds, "median": seconds, "min": seconds}
            say({**start, "record": "sample", "repetition": repetition, "position": number, "seconds": times})
        name, unit, better = METRICS.get(program, ("", "", ""))
        if program == "control":
            copy = variant["kernel"] == "copy"
            name, unit, better = ("bandwidth", "GB/s", "higher") if copy else ("latency_us", "us", "lower")
        value = 10.0 / (1 + number) * slowed(str(variant.get("mode")))
        metrics = {name: {"value": value, "unit": unit, "better": better}}
        if program == "toy":
            metrics[name]["per"] = "node"
        spread = {"median": seconds, "p10": seconds, "p90": seconds}
        say({**start, "verified": action != "wrong", "repetitions": repetitions, "seconds": spread, "metrics": metrics})


if __name__ == "__main__":
    STATUS = main()
    write()
    sys.exit(STATUS)
