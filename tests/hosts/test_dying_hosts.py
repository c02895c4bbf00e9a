"""A dead or unreachable host ends the run in time, with an error, and leaves no process."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from bench_runs import FAILING
from between_hosts import TRANSPORTS, environment, needs_hosts
from host_network import HostNetwork, first_line, hosts, until, wait_for

pytestmark = needs_hosts
CRASHES = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL)
# Time for the launcher to notice a silent host and to end the other hosts, on shared cores.
LAUNCHER_SECONDS = 120


def freeze(network: HostNetwork) -> None:
    network.signal(network.hosts[-1], FAILING.name, signal.SIGSTOP)


# The failure of the last host, the deadline of waits, and the first to notice. The launcher or UCX
# notices a lost host long before any sensible deadline. Frozen ranks are noticed only by ranks that
# wait for them.
FAILURES: dict[str, tuple[Callable[[HostNetwork], None], int, str]] = {
    "killed": (lambda network: network.kill(network.hosts[-1]), 300, "launcher"),
    "cut-off": (lambda network: network.cut(network.hosts[-1]), 300, "launcher"),
    "frozen": (freeze, 2, "deadline"),
}


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("failure", FAILURES)
def test_a_host_that_dies_ends_the_run(transport: str, failure: str, tmp_path: Path) -> None:
    strike, timeout_seconds, noticed_by = FAILURES[failure]
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
        if noticed_by == "deadline":
            assert 1 <= len(own) <= 2, done.stderr
            assert "rank" in own[0]
            assert any("the deadline is 2 s" in line and "LONGSHORE_TIMEOUT" in line for line in own), own
        else:
            # The launcher or UCX ends the job and prints its own error. An error of Longshore
            # names the lost rank, or a rank that ended because the lost rank was missing.
            assert not own or any(re.search(r"rank [23]\b", line) for line in own), own
        assert until(LAUNCHER_SECONDS, lambda: not network.processes(survivor)), network.processes(survivor)
