"""A model of communication: predicts the time of an exchange from the cost of single messages while
all ranks send at once (docs/explanation/model.md). All times are in seconds.

As in parameterised LogP (T. Kielmann, H. Bal, K. Verstoep: Fast measurement of LogP parameters for
message passing platforms, IPDPS workshops 2000), the cost of a message is any function of its size.
Between two measured sizes, the cost is linear as in LogGP: a gap per message and a gap per byte (A.
Alexandrov et al., SPAA 1995)."""

from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from longshore_study.base.errors import LongshoreError

T = TypeVar("T")
NEAR, REMOTE, SELF = "near", "remote", "self"
"""Kinds of receivers: a rank on the same node, on another node, and the sender itself."""


class NotModelledError(LongshoreError):
    """The model does not cover an exchange, or lacks a parameter. The message says which."""


@dataclass(frozen=True)
class Gap:
    """The seconds of one message as a function of its size."""

    points: tuple[tuple[float, float], ...]
    """The measured (bytes, seconds), ascending, at least one."""

    def seconds(self, size_bytes: float) -> float:
        """Interpolates linearly between the measured sizes. Beyond the largest size the last slope
        continues; below the smallest size the result is constant."""
        sizes = [size for size, _ in self.points]
        index = bisect_right(sizes, size_bytes)
        if index == 0 or len(self.points) == 1:
            return self.points[0][1]
        low, high = self.points[index - 1 : index + 1] if index < len(self.points) else self.points[-2:]
        per_byte = (high[1] - low[1]) / (high[0] - low[0])
        return max(0.0, low[1] + per_byte * (size_bytes - low[0]))

    @property
    def per_message(self) -> float:
        return self.points[0][1]


@dataclass(frozen=True)
class Costs:
    """The parameters of the model for one layout of ranks (transport, nodes, ranks per node), as
    the control kernels measured them there. Parameters that were not measured are None or missing.
    """

    copy: Gap | None = None
    """The cost of a copy within the memory of a rank, while all ranks copy."""
    messages: Mapping[tuple[str, str], Gap] = field(default_factory=dict)
    """The cost of a message, by kind of transfer (put, channel, alltoallv, rma) and of receiver."""
    barrier: float | None = None
    fetch_add: Mapping[str, float] = field(default_factory=dict)
    """Seconds of a fetch-and-add, by kind of receiver."""


@dataclass(frozen=True)
class Exchange:
    """Every rank sends a block to every rank; all blocks have the same size."""

    strategy: str
    order: str
    near: int
    """The number of other ranks on the same node."""
    remote: int
    block_bytes: float

    @property
    def ranks(self) -> int:
        return 1 + self.near + self.remote

    def peers(self) -> list[tuple[str, int]]:
        """The kinds of receivers that exist, each with its number of ranks, near before remote."""
        return [(pair, count) for pair, count in ((NEAR, self.near), (REMOTE, self.remote)) if count]


Parts = dict[str, float]
"""Seconds by part: `copy`, `messages`, `claims`, `queue`, `barrier`. The sum is the prediction."""


def predict(exchange: Exchange, costs: Costs) -> Parts:
    """The predicted seconds, by part. Raises NotModelledError."""
    if exchange.strategy not in EXCHANGES:
        raise NotModelledError(f"the model does not know the exchange {exchange.strategy}")
    formula, transfer = EXCHANGES[exchange.strategy]
    parts = formula(exchange, costs, transfer)
    if exchange.order == "incast":
        parts["queue"] = _queue(exchange, costs, transfer)
    return parts


def _put(exchange: Exchange, costs: Costs, transfer: str) -> Parts:
    """Each rank claims an offset at every rank, also at itself, and puts a block there."""
    claims = sum(count * _claim(costs, pair) for pair, count in exchange.peers())
    # A claim at the rank itself is not measured. It counts like a claim at the nearest peer.
    return _blocks(exchange, costs, transfer) | {"claims": claims + _claim(costs, exchange.peers()[0][0])}


def _blocks(exchange: Exchange, costs: Costs, transfer: str) -> Parts:
    """A block to every other rank. With put, offsets follow from the counts, which another phase
    exchanges. With channel, every rank sends and receives at the same time."""
    gaps = [(_gap(costs, transfer, pair), count) for pair, count in exchange.peers()]
    return _copied(exchange, costs, sum(_successive_messages(gap, count, exchange) for gap, count in gaps))


def _direct(exchange: Exchange, costs: Costs, transfer: str) -> Parts:
    """Like put-scan, without the blocks for ranks of the same node, which are there already."""
    remote = exchange.remote
    messages = _successive_messages(_gap(costs, transfer, REMOTE), remote, exchange) if remote else 0.0
    return {"messages": messages, "barrier": _barrier(costs)}


def _one_sided(exchange: Exchange, costs: Costs, transfer: str) -> Parts:
    """MPI's one-sided calls for all blocks, also the own block of the rank. The measured kernel
    exchanges one block: a claim, a put, two resets of a counter, and a barrier."""
    barrier = _barrier(costs)
    first_block, messages, claim = barrier, 0.0, 0.0
    for pair, count in exchange.peers():
        gap = _gap(costs, transfer, pair)
        messages += max(0.0, _successive_messages(gap, count, exchange) - count * gap.per_message)
        first_block = max(first_block, gap.per_message)
        claim = max(claim, (gap.per_message - barrier) / CALLS_OF_RMA)
    claims = first_block - barrier + claim * (exchange.ranks - 1)
    return _copied(exchange, costs, messages, transfer) | {"claims": claims}


def _two_hop(exchange: Exchange, costs: Costs, transfer: str) -> Parts:
    """First to each rank of the node the blocks that it keeps or forwards; then the blocks of the
    whole node to one rank of each other node. A rank copies what it keeps or forwards itself."""
    node = exchange.near + 1
    nodes = exchange.ranks // node
    messages = sum(
        _successive_messages(_gap(costs, transfer, pair), count, exchange, exchange.block_bytes * blocks)
        for pair, count, blocks in ((NEAR, exchange.near, nodes), (REMOTE, nodes - 1, node))
        if count
    )
    parts = _copied(exchange, costs, messages)
    return parts | {"copy": parts["copy"] * nodes}


def _collective(exchange: Exchange, costs: Costs, transfer: str) -> Parts:
    """One collective call, whose fixed cost does not depend on the number of blocks."""
    fixed, moving = 0.0, 0.0
    for pair, count in exchange.peers():
        gap = _gap(costs, transfer, pair)
        fixed = max(fixed, gap.per_message)
        moving += _successive_messages(gap, count, exchange) - count * gap.per_message
    return _copied(exchange, costs, fixed + max(0.0, moving), transfer)


EXCHANGES: dict[str, tuple[Callable[[Exchange, Costs, str], Parts], str]] = {
    "put": (_put, "put"),
    "put-scan": (_blocks, "put"),
    "direct": (_direct, "put"),
    "rma": (_one_sided, "rma"),
    "sendrecv": (_blocks, "channel"),
    "channel": (_blocks, "channel"),
    "two-hop": (_two_hop, "channel"),
    "alltoallv": (_collective, "alltoallv"),
}
"""The formula of each strategy, and the kind of transfer of its blocks."""
CALLS_OF_RMA = 3
"""A claim and two resets of a counter, which cost about as much (_one_sided)."""


def _copied(exchange: Exchange, costs: Costs, messages: float, call: str = "") -> Parts:
    """Adds the cost of the block that a rank keeps, and of the barrier that ends every exchange. A
    transfer of the kind `call` may move the kept block, too."""
    kept = costs.messages.get((call, SELF))
    if kept is not None:
        own_block = max(0.0, _successive_messages(kept, 1, exchange) - kept.per_message)
    else:
        copy, work = _known(costs.copy, "kernel shift over copy"), exchange.ranks * exchange.block_bytes
        own_block = max(copy.seconds(exchange.block_bytes), copy.seconds(work) / exchange.ranks)
    return {"copy": own_block, "messages": messages, "barrier": _barrier(costs)}


def _barrier(costs: Costs) -> float:
    return _known(costs.barrier, "kernel barrier")


def _successive_messages(gap: Gap, count: int, exchange: Exchange, message_bytes: float | None = None) -> float:
    """The seconds of `count` successive messages of `message_bytes` (default: one block): at least
    those of all bytes at the rate of one message of the size of the whole exchange, because all
    blocks together may not fit into a cache."""
    block = exchange.block_bytes if message_bytes is None else message_bytes
    work = exchange.ranks * exchange.block_bytes
    one_by_one = count * gap.seconds(block)
    share = count * block / work if work > 0 else 0.0
    together = count * gap.per_message + max(0.0, gap.seconds(work) - gap.per_message) * share
    return max(one_by_one, together)


def _queue(exchange: Exchange, costs: Costs, transfer: str) -> float:
    """The waiting time in order incast: the target with which all ranks start receives the blocks
    one after the other. Only remote blocks queue: others are written directly into memory."""
    if exchange.remote < 2:
        return 0.0
    return (exchange.remote - 1) * _gap(costs, transfer, REMOTE).seconds(exchange.block_bytes)


def _claim(costs: Costs, pair: str) -> float:
    return _known(costs.fetch_add.get(pair), f"kernel fetch-add to a {pair} rank")


def _gap(costs: Costs, transfer: str, pair: str) -> Gap:
    return _known(costs.messages.get((transfer, pair)), f"kernel shift over {transfer} to a {pair} rank")


def _known(value: T | None, what: str) -> T:
    if value is None:
        raise NotModelledError(f"{what} was not measured here")
    return value
