"""A host that dies, or is out of reach, ends the run: in time, with an error, and with nothing left
behind."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from between_hosts import FAILING, TRANSPORTS, environment, needs_hosts
from host_network import HostNetwork, first_line, hosts, until, wait_for

pytestmark = needs_hosts
CRASHES = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL)
# What the launcher takes beside: to notice a silent host, to end the others, on a core that it
# shares.
LAUNCHER_SECONDS = 120


def freeze(network: HostNetwork) -> None:
    network.signal(network.hosts[-1], FAILING.name, signal.SIGSTOP)


# What happens to the last host, the deadline of waits, and who sees it first. Of a host that is
# gone the launcher hears long before any sensible deadline, or UCX does; that ranks do no more,
# only those see that wait for them.
WAYS: dict[str, tuple[Callable[[HostNetwork], None], int, str]] = {
    "killed": (lambda network: network.kill(network.hosts[-1]), 300, "launcher"),
    "cut-off": (lambda network: network.cut(network.hosts[-1]), 300, "launcher"),
    "frozen": (freeze, 2, "deadline"),
}


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("way", WAYS)
def test_a_host_that_dies_ends_the_run(transport: str, way: str, tmp_path: Path) -> None:
    strike, timeout_seconds, seen_by = WAYS[way]
    with hosts(2, tmp_path) as network:
        settings = environment(transport, timeout_seconds) | {"LONGSHORE_TRANSPORT": transport}
        running = network.mpirun(str(FAILING), "exchange-for-ever", ranks_per_host=2, environment=settings)
        assert running.stdout is not None
        assert first_line(running.stdout) == "exchanging\n"
        survivor = network.hosts[0]
        assert network.processes(survivor).count(FAILING.name[:15]) == 2
        strike(network)
        done = wait_for(running, LAUNCHER_SECONDS)
        own = [line for line in done.stderr.splitlines() if line.startswith("longshore:")]
        assert done.returncode not in {0, *(128 + number for number in CRASHES)}, done.stderr
        if seen_by == "deadline":
            assert 1 <= len(own) <= 2, done.stderr
            assert "rank" in own[0]
            assert any("LONGSHORE_TIMEOUT=2" in line for line in own), own
        else:
            # The launcher ends the job in words of its own. UCX may see it first, in words of its
            # own, too, but a rank of ours that hears it says of which rank; ranks that end then are
            # heard of, too.
            assert not own or any(re.search(r"rank [23]\b", line) for line in own), own
        assert until(LAUNCHER_SECONDS, lambda: not network.processes(survivor)), network.processes(survivor)
