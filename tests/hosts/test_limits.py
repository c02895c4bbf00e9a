"""Measured bandwidth and latency between hosts follow the limit and the delay of their network."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench_runs import BENCH, read_records
from between_hosts import TRANSPORTS, environment, needs_hosts
from host_network import HostNetwork, hosts, wait_for

pytestmark = needs_hosts
LIMIT = "200mbit"
LIMIT_BYTES_PER_SECOND = 200e6 / 8
DELAY_SECONDS = 0.002
TRIES = 10  # a busy machine makes the network look slower, never faster


def measure(network: HostNetwork, transport: str, *options: str) -> dict[str, float]:
    records = network.folder / "records.json"
    records.unlink(missing_ok=True)
    words = [str(BENCH), "control", *options, "--transport", transport, "--json", str(records)]
    done = wait_for(network.mpirun(*words, ranks_per_host=1, environment=environment(transport)), 300)
    assert done.returncode == 0, done.stderr[-4000:]
    metrics = next(record for record in read_records(records) if record["record"] == "result")["metrics"]
    return {name: metric["value"] for name, metric in metrics.items()}


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_the_bandwidth_between_hosts_is_that_of_their_network(transport: str, tmp_path: Path) -> None:
    with hosts(2, tmp_path, rate=LIMIT) as network:
        options = [
            "--kernel",
            "shift",
            "--over",
            "channel",
            "--bytes",
            "4000000",
            "--pair",
            "remote",
            "--repetitions",
            "3",
        ]
        for _ in range(TRIES):
            share = measure(network, transport, *options)["rank_bandwidth"] * 1e9 / LIMIT_BYTES_PER_SECOND
            assert share < 1.1
            if share > 0.5:
                return
    pytest.fail(f"{share:.2f} of the bandwidth in the last of {TRIES} tries")


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_the_latency_between_hosts_grows_by_the_delay_of_their_network(transport: str, tmp_path: Path) -> None:
    if not Path("/dev/net/tun").exists():
        pytest.skip("a switch with a delay needs /dev/net/tun")
    with hosts(2, tmp_path, delay_seconds=DELAY_SECONDS) as network:
        for _ in range(TRIES):
            measured = measure(network, transport, "--kernel", "pingpong", "--repetitions", "5")["latency_us"] * 1e-6
            assert measured > DELAY_SECONDS
            # A message is one packet, or a put that needs an answer. A busy core delays both.
            if measured < 5 * DELAY_SECONDS:
                return
    pytest.fail(f"a latency of {measured} s in the last of {TRIES} tries")
