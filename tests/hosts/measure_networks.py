"""Measures patterns between hosts whose network has a limit of bandwidth and a delay.

Prints, per network and transport, the share of the network that each strategy uses: its bytes
between hosts per second, over those of a plain stream of large messages. For modes of halo it
prints the time as a multiple of MPI's best mode, which is measured over transport mpi; for `auto`,
as a multiple of the best strategy. The share of a sort is that of its exchange. Its time is that of
the whole sort, because exchanges leave different work to what follows. The last lines name the rows
that miss a goal.

The hosts are namespaces of this machine (host_network.py), so this program needs root. If several
programs are given, they run by turns, and the table has a column for each.

Example:
    python3 tests/hosts/measure_networks.py --rates 1gbit --delays 0,0.001 --transports mpi

"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from host_network import HostNetwork, hosts, wait_for, why_not

REPOSITORY = Path(__file__).resolve().parents[2]
PROGRAM = REPOSITORY / "build/study/bench/longshore-bench"
LAUNCH_SECONDS = 300
Record = dict[str, Any]
Row = tuple[str, ...]  # what was measured, for example ("gather", "conveyor")

STREAMS = ("channel", "alltoallv")
# The goals of rows, relative to the plain stream and to the best strategy.
GOAL_OF_SHARE = 0.8
GOAL_OF_AUTO = 1.1
MPI_MODES = (
    *("sendrecv", "redblack", "isend-recv", "irecv-send", "pairwise", "waitall", "persistent"),
    *("neighbor", "subarray"),
)


@dataclass(frozen=True)
class Settings:
    """What a launch measures. The sizes are for each rank."""

    requests: int
    buffer_items: str
    keys: int
    stream_bytes: int
    domains: str
    fields: str
    repetitions: int
    only: frozenset[str]  # strategies, exchanges and algorithms to measure; if empty, all

    def of(self, *names: str) -> str:
        """The names that are to be measured, with commas."""
        return ",".join(name for name in names if not self.only or name in self.only)


@dataclass
class Network:
    """Times of one network, by program and row: a median for each launch."""

    seconds: defaultdict[tuple[str, Row], list[float]] = field(default_factory=lambda: defaultdict(list))
    bytes_per_second: defaultdict[tuple[str, Row], list[float]] = field(default_factory=lambda: defaultdict(list))


def launches(pattern: str, transport: str, settings: Settings) -> Iterator[tuple[str, list[str]]]:
    """The launches that measure a pattern: a transport and options."""
    if pattern == "stream":
        over = ",".join(STREAMS)
        words = ["control", "--kernel", "shift", "--over", over, "--pair", "remote"]
        yield transport, [*words, "--bytes", str(settings.stream_bytes)]
    if pattern == "latency":
        yield transport, ["control", "--kernel", "pingpong"]
    if pattern == "gather" and (names := settings.of("exstack", "exstack2", "conveyor", "aggregator", "auto")):
        words = ["gather", "--operation", "gather,histogram,scatter", "--strategy", names]
        yield transport, [*words, "--requests", str(settings.requests), "--buffer-items", settings.buffer_items]
    exchanges = ("put", "put-scan", "sendrecv", "alltoallv", "channel", "two-hop", "auto")
    if pattern == "sort" and (names := settings.of(*exchanges)):
        yield transport, ["sort", "--exchange", names, "--keys", str(settings.keys), "--meet", "yes"]
    if pattern == "halo" and (names := settings.of("standard", "staged", "hybrid", "auto")):
        common = ["halo", "--domain", settings.domains.replace(";", ","), "--fields", settings.fields]
        yield transport, [*common, "--algorithm", names, "--mode", "channel"]
        yield "mpi", [*common, "--algorithm", "standard,staged", "--mode", ",".join(MPI_MODES)]


def row_of(result: Record) -> Row:
    variant = result["variant"]
    pattern = result["pattern"]
    if pattern == "control":
        return (variant["kernel"], variant.get("over", "channel"))
    if pattern == "gather":
        items = variant.get("buffer_items", 0)  # absent with auto
        return (variant["operation"], variant["strategy"], *([f"{items} items"] if items else []))
    if pattern == "sort":
        return ("sort", variant["exchange"])
    fields = f" {variant['fields']} fields" if variant["fields"] > 1 else ""
    return (f"halo {variant['domain']}{fields}", variant["algorithm"], variant["mode"])


def take(result: Record, hosts_count: int, network: Network, program: str) -> None:
    """Adds a result record to the times of a network."""
    row = row_of(result)
    seconds = result["seconds"]["median"]
    sent = result["traffic"]["offnode_bytes"]
    if result["pattern"] == "control":
        seconds = result["phases"]["shift"] if row[0] == "shift" else result["metrics"]["latency_us"]["value"] * 1e-6
    network.seconds[program, row].append(seconds)
    if result["pattern"] == "sort":
        seconds = result["phases"]["exchange"]
        sent = result["counters"]["phases"]["exchange"]["offnode_bytes"]
    network.bytes_per_second[program, row].append(sent / hosts_count / seconds)


def measure(network: HostNetwork, command: list[str], transport: str, ranks_per_host: int) -> list[Record]:
    """The result records of one launch. Raises SystemExit if the launch fails."""
    records = network.folder / "records.json"
    records.unlink(missing_ok=True)
    profile = network.folder / "profile"
    profile.unlink(missing_ok=True)
    settings = {"LONGSHORE_TIMEOUT": "120", "LONGSHORE_PIN": "0", "LONGSHORE_PROFILE": str(profile)}
    words = [*command, "--transport", transport, "--json", str(records)]
    done = wait_for(network.mpirun(*words, ranks_per_host=ranks_per_host, environment=settings), LAUNCH_SECONDS)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(words)} failed:\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    found = [json.loads(line) for line in records.read_text(encoding="utf-8").splitlines()]
    return [record for record in found if record["record"] == "result" and "skipped" not in record]


def stream_of(network: Network, program: str) -> float:
    """Bytes per second and direction of a host, in the faster of the plain streams."""
    return max(median(network.bytes_per_second[program, ("shift", over)]) for over in STREAMS)


def is_control(row: Row) -> bool:
    return row[0] in ("pingpong", "shift")


def print_table(network: Network, programs: list[str]) -> None:
    rows = sorted({row for _, row in network.seconds}, key=lambda row: (not is_control(row), row))
    best: dict[tuple[str, str], float] = {}
    best_of_mpi: dict[tuple[str, str], float] = {}
    for (program, row), times in network.seconds.items():
        group = (program, row[0])
        if row[1] != "auto":
            best[group] = min(best.get(group, 1e300), median(times))
        if row[0].startswith("halo") and row[2] in MPI_MODES:
            best_of_mpi[group] = min(best_of_mpi.get(group, 1e300), median(times))
    misses: list[str] = []
    for row in rows:
        words = [f"{' '.join(row):36}"]
        for program in programs:
            seconds = median(network.seconds[program, row])
            group = (program, row[0])
            figures = []
            if row[0] != "pingpong":
                rate = median(network.bytes_per_second[program, row])
                share = rate / stream_of(network, program)
                figures.append(f"{1e-6 * rate:7.1f} MB/s {share:5.2f}")
                if not row[0].startswith("halo") and not is_control(row) and share < GOAL_OF_SHARE:
                    misses.append(f"{program}: {' '.join(row)}: {share:.2f} of the stream")
            if group in best_of_mpi and row[2] not in MPI_MODES:
                figures.append(f" x{seconds / best_of_mpi[group]:5.2f} of MPI")
                if seconds > best_of_mpi[group]:
                    misses.append(f"{program}: {' '.join(row)}: {seconds / best_of_mpi[group]:.2f} of MPI's best")
            if row[1] == "auto" and group in best:
                figures.append(f" x{seconds / best[group]:5.2f} of best")
                if seconds > GOAL_OF_AUTO * best[group]:
                    misses.append(f"{program}: {' '.join(row)}: {seconds / best[group]:.2f} of the best")
            text = " ".join([f"{1e3 * seconds:9.3f} ms", *figures])
            words.append(f"{text:46}")
        print(" | ".join(words), flush=True)
    for miss in misses:
        print(f"misses  {miss}", flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", action="append", default=[], metavar="NAME=PATH", help="a longshore-bench")
    parser.add_argument("--rates", default="1gbit,10gbit", help="limits of a host, in the notation of tc")
    parser.add_argument("--delays", default="0,0.001", help="seconds per packet; 0: without a switch that delays")
    parser.add_argument("--transports", default="mpi,ucx")
    parser.add_argument("--ranks-per-host", default="2,4")
    parser.add_argument("--hosts", type=int, default=2)
    parser.add_argument("--patterns", default="gather,sort,halo")
    parser.add_argument("--rounds", type=int, default=3, help="launches of each program")
    parser.add_argument("--repetitions", type=int, default=3, help="in a launch")
    parser.add_argument("--requests", type=int, default=1000000, help="of gather, for each rank")
    parser.add_argument("--buffer-items", default="0", help="of gather; 0: as the library chooses")
    parser.add_argument("--keys", type=int, default=2000000, help="of sort, for each rank")
    parser.add_argument("--stream-bytes", type=int, default=8000000, help="of the plain stream, for each rank")
    parser.add_argument("--domains", default="32,32,32;64,64,64", help="of halo, for each rank")
    parser.add_argument("--fields", default="1", help="of halo")
    parser.add_argument(
        "--only", default="", metavar="NAME,...", help="strategies, exchanges and algorithms to measure"
    )
    return parser.parse_args()


def main() -> None:
    given = arguments()
    reason = why_not()
    if reason is not None:
        raise SystemExit(reason)
    programs = dict(word.split("=", 1) for word in given.program or [f"built={PROGRAM}"])
    settings = Settings(
        requests=given.requests,
        buffer_items=given.buffer_items,
        keys=given.keys,
        stream_bytes=given.stream_bytes,
        domains=given.domains,
        fields=given.fields,
        repetitions=given.repetitions,
        only=frozenset(filter(None, given.only.split(","))),
    )
    patterns = ["latency", "stream", *given.patterns.split(",")]
    for rate in given.rates.split(","):
        for delay in map(float, given.delays.split(",")):
            with (
                tempfile.TemporaryDirectory() as folder,
                hosts(given.hosts, Path(folder), rate=rate, delay_seconds=delay) as joined,
            ):
                for ranks_per_host in map(int, given.ranks_per_host.split(",")):
                    for transport in given.transports.split(","):
                        print(f"{rate}, delay {delay} s, {given.hosts} hosts x {ranks_per_host} ranks, {transport}")
                        network = Network()
                        wanted = [launch for p in patterns for launch in launches(p, transport, settings)]
                        for number in range(given.rounds):
                            turns = list(programs.items())[:: -1 if number % 2 else 1]
                            for over, options in wanted:
                                for name, program in turns:
                                    words = [program, *options, "--repetitions", str(given.repetitions)]
                                    for result in measure(joined, words, over, ranks_per_host):
                                        take(result, given.hosts, network, name)
                        print_table(network, list(programs))


if __name__ == "__main__":
    main()
