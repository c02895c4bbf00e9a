"""Ranks of ucx connect on first use, and start in rounds. So a start needs few connections."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from bench_runs import FAILING
from between_hosts import built_transports, environment, needs_hosts
from host_network import HostNetwork, first_line, hosts

pytestmark = needs_hosts
HOSTS = 12


def most_connected(network: HostNetwork, way: str, **settings: str) -> int:
    """The most hosts that any rank is connected with, after failing_program ran `way`."""
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
    # In each round of an agreement a rank sends to one rank and receives from another.
    assert 2 <= by_pmix <= by_mpi <= 2 * rounds < HOSTS - 1
    assert to_all == HOSTS - 1  # the count includes every connection
