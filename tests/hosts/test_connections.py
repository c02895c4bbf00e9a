"""Start does not cost a connection per rank: ranks of ucx connect when they first talk, and agree
in rounds."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from between_hosts import FAILING, built_transports, environment, needs_hosts
from host_network import HostNetwork, first_line, hosts

pytestmark = needs_hosts
HOSTS = 12


def most_connected(network: HostNetwork, way: str, **settings: str) -> int:
    """With how many other hosts the rank is connected that has most of them, when all have done
    what `way` says."""
    variables = environment("ucx") | {"LONGSHORE_TRANSPORT": "ucx"} | settings
    running = network.mpirun(str(FAILING), way, ranks_per_host=1, environment=variables)
    assert running.stdout is not None
    assert first_line(running.stdout) == "sleeping\n"
    return max(len(network.connected(host, FAILING.name)) for host in network.hosts)


def test_ranks_that_agree_connect_with_a_logarithm_of_the_others(tmp_path: Path) -> None:
    if "ucx" not in built_transports():
        pytest.skip("this build has no transport ucx")
    rounds = math.ceil(math.log2(HOSTS))
    with hosts(HOSTS, tmp_path) as network:
        by_mpi = most_connected(network, "agree-and-sleep")
        by_pmix = most_connected(network, "agree-and-sleep", LONGSHORE_UCX_START="pmix")
        to_all = most_connected(network, "talk-to-all-and-sleep")
    # In each round of a meeting a rank sends to one and hears from another.
    assert 2 <= by_pmix <= by_mpi <= 2 * rounds < HOSTS - 1
    assert to_all == HOSTS - 1  # what is counted are connections
