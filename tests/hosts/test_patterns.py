"""All four patterns, with every strategy, algorithm, mode and exchange, between hosts: right, and counted as what crosses between them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from between_hosts import BENCH, TRANSPORTS, environment, needs_hosts, read_records
from host_network import HostNetwork, hosts, wait_for

pytestmark = needs_hosts
RANKS_PER_HOST = 2
FAR_TOO_LONG_SECONDS = 40
Record = dict[str, Any]

PATTERNS = {
    "stream": ["--scope", "ep,global", "--kernel", "triad", "--elements", "20000"],
    "gather": [
        *("--operation", "gather,scatter,histogram", "--strategy", "agp,exstack,exstack2,conveyor,aggregator"),
        *("--requests", "2000", "--table", "500", "--hops", "1,2,3", "--buffer-items", "64"),
    ],
    "halo": [
        *("--algorithm", "standard,staged,sequenced,staged-sequenced,faces", "--domain", "12,10,8", "--fields", "2"),
        "--mode",
        "channel,direct,sendrecv,redblack,isend-recv,irecv-send,pairwise,waitall,persistent,neighbor,subarray,rma-fence,rma-pscw,rma-flush",
    ],
    "sort": [
        *("--exchange", "put,sendrecv,alltoallv,rma,channel", "--order", "round-robin,random,xor,incast"),
        *("--keys", "5000"),
    ],
}
# What another transport than mpi cannot do: sequences of MPI calls.
LEAST_RUN = {"stream": 2, "gather": 15, "halo": 10, "sort": 8}


@pytest.fixture(scope="module", params=[2, 4], ids=lambda count: f"{count}-hosts")
def network(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostNetwork]:
    with hosts(request.param, tmp_path_factory.mktemp("network")) as network:
        yield network


def bench(network: HostNetwork, transport: str, *options: str) -> list[Record]:
    records = network.folder / "records.json"
    records.unlink(missing_ok=True)
    words = [
        str(BENCH),
        *options,
        "--transport",
        transport,
        "--json",
        str(records),
        "--warmup",
        "0",
        "--repetitions",
        "1",
    ]
    done = wait_for(
        network.mpirun(*words, ranks_per_host=RANKS_PER_HOST, environment=environment(transport)), FAR_TOO_LONG_SECONDS
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return read_records(records)


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_way_of_a_pattern_is_right_between_hosts(network: HostNetwork, pattern: str, transport: str) -> None:
    launch, *rest = bench(network, transport, pattern, *PATTERNS[pattern])
    count = len(network.hosts)
    assert launch["transport"]["name"] == transport
    assert (launch["ranks"], launch["nodes"], launch["nodes_virtual"]) == (RANKS_PER_HOST * count, count, False)
    assert launch["hosts"] == [host.name for host in network.hosts]
    assert [node for _, node, _ in launch["map"]] == [rank // RANKS_PER_HOST for rank in range(RANKS_PER_HOST * count)]

    results = [record for record in rest if record["record"] == "result"]
    ran = [result for result in results if "skipped" not in result]
    assert len(ran) >= LEAST_RUN[pattern]
    assert [result["variant"] for result in ran if result["verified"] is not True] == []
    for result in ran:
        traffic = result["traffic"]
        assert traffic["offnode_bytes"] <= traffic["wire_bytes"]
        if pattern != "stream":
            assert traffic["offnode_bytes"] > 0, result["variant"]
    print(json.dumps({"ran": len(ran), "skipped": len(results) - len(ran)}))


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_ranks_of_a_host_share_memory_and_half_of_a_ring_of_pairs_crosses(network: HostNetwork, transport: str) -> None:
    """Of the links around a ring of hosts with two ranks each, every second one is within a host."""
    ranks = RANKS_PER_HOST * len(network.hosts)
    options = ["--algorithm", "faces", "--mode", "channel", "--domain", "8,8,8", "--periodic", "1,0,0"]
    _, *rest = bench(network, transport, "halo", *options, "--grid", f"{ranks},1,1", "--placement", "linear")
    traffic = next(record for record in rest if record["record"] == "result")["traffic"]
    face_bytes = 8 * 8 * 8
    assert traffic["payload_bytes"] == 2 * ranks * face_bytes
    assert traffic["offnode_bytes"] == traffic["payload_bytes"] / 2
