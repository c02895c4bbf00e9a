"""A host that dies, or cannot be reached any more, ends the run: in time, with an error that says so, and with nothing left behind."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from between_hosts import FAILING, TRANSPORTS, environment, needs_hosts
from host_network import HostNetwork, hosts, until, wait_for

pytestmark = needs_hosts
TIMEOUT_SECONDS = 3
# What the launcher takes beside: to notice a host that is silent, to end the others, and a core that it does not have for itself.
LAUNCHER_SECONDS = 20
WAYS: dict[str, Callable[[HostNetwork], None]] = {
    "killed": lambda network: network.kill(network.hosts[-1]),
    "cut off": lambda network: network.cut(network.hosts[-1]),
}


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("way", WAYS)
def test_a_host_that_dies_ends_the_run(transport: str, way: str, tmp_path: Path) -> None:
    with hosts(2, tmp_path) as network:
        settings = environment(transport, TIMEOUT_SECONDS) | {"LONGSHORE_TRANSPORT": transport}
        running = network.mpirun(str(FAILING), "exchange-for-ever", ranks_per_host=2, environment=settings)
        assert running.stdout is not None
        assert running.stdout.readline() == "exchanging\n"
        survivor = network.hosts[0]
        assert network.processes(survivor).count(FAILING.name) == 2
        began = time.monotonic()
        WAYS[way](network)
        done = wait_for(running, TIMEOUT_SECONDS + LAUNCHER_SECONDS)
        took = time.monotonic() - began
        own = [line for line in done.stderr.splitlines() if line.startswith("longshore:")]
        launcher = [line for line in done.stderr.splitlines() if "lost communication" in line or "h1" in line]
        assert done.returncode != 0
        assert own or launcher, done.stderr
        assert len(own) <= 2, own  # one for each host
        for line in own:
            assert "rank" in line
            assert "LONGSHORE_TIMEOUT" in line or "gone" in line, line
        left = network.processes(survivor)
        assert until(LAUNCHER_SECONDS, lambda: not network.processes(survivor)), (took, left, done.stderr[-3000:])
