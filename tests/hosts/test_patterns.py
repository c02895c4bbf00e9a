"""Every strategy, mode and exchange of the five patterns is verified between hosts.

The bytes counted as off-node are those that cross between hosts.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest
from bench_runs import BENCH, read_records
from between_hosts import TRANSPORTS, environment, needs_hosts
from host_network import HostNetwork, hosts, wait_for

pytestmark = needs_hosts
RANKS_PER_HOST = 2
FAR_TOO_LONG_SECONDS = 300
Record = dict[str, Any]

HALO_MODES = [
    *("channel", "direct", "sendrecv", "redblack", "isend-recv", "irecv-send", "pairwise", "waitall", "persistent"),
    *("neighbor", "subarray", "rma-fence", "rma-pscw", "rma-flush"),
]
GHOST_STRATEGIES = [
    *("standard", "direct", "node-aware-2", "node-aware", "mpi-waitall", "mpi-persistent", "mpi-neighbor"),
]
# All levels run between two hosts. Four hosts add messages to several targets.
PATTERNS = {
    2: {
        "stream": ["--scope", "ep,global", "--kernel", "triad", "--elements", "2000", "--stores", "ordinary"],
        "gather": [
            *("--operation", "gather,scatter,histogram", "--strategy", "agp,exstack,exstack2,conveyor,aggregator"),
            *("--requests", "50", "--table", "50", "--hops", "1,2,3", "--buffer-items", "16"),
        ],
        "halo": [
            *("--algorithm", "standard,staged,sequenced,staged-sequenced,faces", "--mode", ",".join(HALO_MODES)),
            *("--domain", "12,10,8", "--fields", "2"),
        ],
        "sort": [
            *("--exchange", "put,put-scan,sendrecv,alltoallv,rma,channel,two-hop", "--order", "round-robin,xor"),
            *("--keys", "500"),
        ],
        "ghost": [
            *("--strategy", ",".join(GHOST_STRATEGIES), "--operation", "update,accumulate"),
            *("--mesh", "random,tetrahedra", "--elements", "300", "--ghosts", "100", "--fields", "2"),
        ],
    },
    4: {
        "gather": [
            *("--operation", "gather", "--strategy", "exstack,exstack2,conveyor,aggregator"),
            *("--requests", "200", "--table", "100", "--hops", "2", "--buffer-items", "16"),
        ],
        "halo": ["--algorithm", "standard,staged", "--domain", "12,10,8", "--mode", "channel,waitall"],
        "sort": ["--exchange", "put,channel,alltoallv,two-hop", "--keys", "100000"],
        "ghost": [
            *("--strategy", "standard,node-aware-2,node-aware,mpi-persistent"),
            *("--elements", "300", "--ghosts", "100", "--placement", "auto"),
        ],
    },
}
# All levels of this factor must run, except that levels of ONLY_MPI need the transport mpi.
FACTOR = {"stream": "scope", "gather": "strategy", "halo": "mode", "sort": "exchange", "ghost": "strategy"}
ONLY_MPI = {"halo": set(HALO_MODES) - {"channel", "direct"}, "sort": {"rma"}, "ghost": set(GHOST_STRATEGIES[4:])}
CASES = [(count, pattern) for count, patterns in PATTERNS.items() for pattern in patterns]


@pytest.fixture(scope="module")
def networks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[int, HostNetwork]]:
    with contextlib.ExitStack() as stack:
        yield {count: stack.enter_context(hosts(count, tmp_path_factory.mktemp("network"))) for count in PATTERNS}


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
@pytest.mark.parametrize(("count", "pattern"), CASES)
def test_every_strategy_of_a_pattern_is_verified_between_hosts(
    networks: dict[int, HostNetwork], count: int, pattern: str, transport: str
) -> None:
    network = networks[count]
    launch, *rest = bench(network, transport, pattern, *PATTERNS[count][pattern])
    assert launch["transport"]["name"] == transport
    assert (launch["ranks"], launch["nodes"], launch["nodes_virtual"]) == (RANKS_PER_HOST * count, count, False)
    assert launch["hosts"] == [host.name for host in network.hosts]
    assert [node for _, node, _ in launch["map"]] == [rank // RANKS_PER_HOST for rank in range(RANKS_PER_HOST * count)]

    results = [record for record in rest if record["record"] == "result"]
    ran = [result for result in results if "skipped" not in result]
    factor, options = FACTOR[pattern], PATTERNS[count][pattern]
    asked = set(options[options.index(f"--{factor}") + 1].split(","))
    expected = asked if transport == "mpi" else asked - ONLY_MPI.get(pattern, set())
    assert {result["variant"][factor] for result in ran} == expected
    assert [result["variant"] for result in ran if result["verified"] is not True] == []
    for result in ran:
        traffic = result["traffic"]
        assert traffic["offnode_bytes"] <= traffic["wire_bytes"]
        if pattern != "stream":
            assert traffic["offnode_bytes"] > 0, result["variant"]


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_half_of_the_traffic_on_a_ring_with_two_ranks_per_host_crosses_between_hosts(
    networks: dict[int, HostNetwork], transport: str
) -> None:
    network = networks[4]
    ranks = RANKS_PER_HOST * len(network.hosts)
    options = ["--algorithm", "faces", "--mode", "channel", "--domain", "8,8,8", "--periodic", "1,0,0"]
    _, *rest = bench(network, transport, "halo", *options, "--grid", f"{ranks},1,1", "--placement", "linear")
    traffic = next(record for record in rest if record["record"] == "result")["traffic"]
    face_bytes = 8 * 8 * 8
    assert traffic["payload_bytes"] == 2 * ranks * face_bytes
    assert traffic["offnode_bytes"] == traffic["payload_bytes"] / 2
