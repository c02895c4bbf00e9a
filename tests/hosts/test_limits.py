"""What the network between hosts allows is what is measured: bandwidth of a limited one, latency of a slow one."""

from __future__ import annotations

from pathlib import Path

import pytest
from between_hosts import BENCH, TRANSPORTS, environment, needs_hosts, read_records
from host_network import HostNetwork, hosts, wait_for

pytestmark = needs_hosts
LIMIT = "200mbit"
LIMIT_BYTES_PER_SECOND = 200e6 / 8
DELAY_SECONDS = 0.002


def measure(network: HostNetwork, transport: str, *options: str) -> dict[str, float]:
    records = network.folder / "records.json"
    records.unlink(missing_ok=True)
    words = [str(BENCH), "control", *options, "--transport", transport, "--json", str(records)]
    done = wait_for(network.mpirun(*words, ranks_per_host=1, environment=environment(transport)), 60)
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
        measured = measure(network, transport, *options)["rank_bandwidth"] * 1e9
    assert 0.5 < measured / LIMIT_BYTES_PER_SECOND < 1.1


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_the_latency_between_hosts_grows_by_the_delay_of_their_network(transport: str, tmp_path: Path) -> None:
    if not Path("/dev/net/tun").exists():
        pytest.skip("a switch with a delay needs /dev/net/tun")
    with hosts(2, tmp_path, delay_seconds=DELAY_SECONDS) as network:
        measured = measure(network, transport, "--kernel", "pingpong", "--repetitions", "5")["latency_us"] * 1e-6
    # A message is one packet, or a put that needs an answer, and a core that is busy makes all of it later.
    assert DELAY_SECONDS < measured < 5 * DELAY_SECONDS
