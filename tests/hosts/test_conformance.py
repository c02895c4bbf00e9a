"""Transports keep their contract between two hosts of two ranks each.

Some pairs of ranks share memory, others do not.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from between_hosts import TRANSPORTS, environment, needs_hosts
from host_network import hosts, wait_for
from repository import BUILD

pytestmark = needs_hosts
SUITE = BUILD / "src" / "longshore" / "transport" / "transport_spmd_tests"
CONTRACT = "--gtest_filter=Team.*:Segment.*:Channel.*"  # of conformance_test.cpp


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_transport_conforms_between_hosts(transport: str, tmp_path: Path) -> None:
    with hosts(2, tmp_path) as network:
        command = [str(SUITE), "--transport", transport, CONTRACT, "--gtest_color=no"]
        done = wait_for(network.mpirun(*command, ranks_per_host=2, environment=environment(transport)), 600)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert "[  PASSED  ]" in done.stdout
