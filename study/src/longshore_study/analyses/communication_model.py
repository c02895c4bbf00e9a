"""A model of communication: predicts the time of an exchange from the cost of single messages while
all ranks send at once.

The parameters are measured on the machine at hand by kernels of pattern control
(`model_parameters.py` reads them): a shift, in which every rank sends one message of s bytes to
the next one; a barrier; and a fetch-and-add. As in parameterised LogP (T. Kielmann, H. Bal, K.
Verstoep: Fast measurement of LogP parameters for message passing platforms, IPDPS workshops
2000) the gap is a function of the size and not a line, because caches and protocols bend it;
between two measured sizes it is LogGP's line, a gap per message and a gap per byte (A.
Alexandrov et al., SPAA 1995). All times are in seconds.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from longshore_study.base.errors import LongshoreError

NEAR, REMOTE, SELF = "near", "remote", "self"
"""Peers on the same node and on other nodes; the rank itself, where a call moves its own block
too."""


class NotModelledError(LongshoreError):
    """The model does not cover this exchange, or lacks a parameter; the message says which."""


@dataclass(frozen=True)
class Gap:
    """The seconds of one message as a function of its bytes, measured at some sizes."""

    points: tuple[tuple[float, float], ...]
    """(bytes, seconds), ascending, at least one."""

    def seconds(self, size_bytes: float) -> float:
        """Interpolates linearly between the measured sizes. Beyond the largest it continues the
        last slope; below the smallest it is constant."""
        sizes = [size for size, _ in self.points]
        place = bisect_right(sizes, size_bytes)
        if place == 0 or len(self.points) == 1:
            return self.points[0][1]
        low, high = self.points[place - 1 : place + 1] if place < len(self.points) else self.points[-2:]
        per_byte = (high[1] - low[1]) / (high[0] - low[0])
        return max(0.0, low[1] + per_byte * (size_bytes - low[0]))

    @property
    def per_message(self) -> float:
        """The seconds of the shortest message."""
        return self.points[0][1]


@dataclass(frozen=True)
class Costs:
    """The parameters that were measured in one layout of ranks."""

    copy: Gap | None = None
    """A copy within the memory of each rank, on all ranks at once."""
    messages: Mapping[tuple[str, str], Gap] = field(default_factory=dict)
    """By kind of transfer (put, channel, alltoallv, rma) and peer (near, remote)."""
    barrier: float | None = None
    fetch_add: Mapping[str, float] = field(default_factory=dict)


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
        return [(pair, count) for pair, count in ((NEAR, self.near), (REMOTE, self.remote)) if count]


Parts = dict[str, float]
"""Seconds by part: `copy`, `messages`, `claims`, `queue`, `barrier`. Their sum is the
prediction."""


def predict(exchange: Exchange, costs: Costs) -> Parts:
    """The predicted seconds, by part. Raises NotModelledError."""
    formula = EXCHANGES.get(exchange.strategy)
    if formula is None:
        raise NotModelledError(f"the model does not know the exchange {exchange.strategy}")
    parts = formula(exchange, costs)
    if exchange.order == "incast":
        parts["queue"] = _queue(exchange, costs, CARRIERS[exchange.strategy])
    return parts


def _put(exchange: Exchange, costs: Costs) -> Parts:
    """Each rank claims a place at every rank, itself included, and puts a block there."""
    claims = sum(count * _claim(costs, pair) for pair, count in exchange.peers())
    return _put_scan(exchange, costs) | {"claims": claims + _claim(costs, exchange.peers()[0][0])}


def _put_scan(exchange: Exchange, costs: Costs) -> Parts:
    """As put, without claims: places follow from the counts, which another phase exchanges."""
    return _copied(exchange, costs, _messages(exchange, costs, "put"))


def _direct(exchange: Exchange, costs: Costs) -> Parts:
    """As put-scan, without the blocks for the same node, which are in place when the phase
    begins."""
    messages = sum(_train(_gap(costs, "put", pair), n, exchange) for pair, n in exchange.peers() if pair == REMOTE)
    return {"messages": messages, "barrier": _barrier(costs)}


def _one_sided(exchange: Exchange, costs: Costs) -> Parts:
    """MPI's one-sided calls for all blocks, the rank's own included.

    The measured kernel exchanges one block: a claim, a put, two calls that reset a counter, and a
    barrier. Each of the two calls costs about as much as a claim.
    """
    own, others = _barrier(costs), 0.0
    claim = 0.0
    for pair, count in exchange.peers():
        gap = _gap(costs, "rma", pair)
        others += max(0.0, _train(gap, count, exchange) - count * gap.per_message)
        own = max(own, gap.per_message)
        claim = max(claim, (gap.per_message - _barrier(costs)) / CALLS_OF_RMA)
    claims = own - _barrier(costs) + claim * (exchange.ranks - 1)
    return _copied(exchange, costs, others, "rma") | {"claims": claims}


def _channels(exchange: Exchange, costs: Costs) -> Parts:
    """Blocks are sent and received at the same time, in pieces."""
    return _copied(exchange, costs, _messages(exchange, costs, "channel"))


def _two_hop(exchange: Exchange, costs: Costs) -> Parts:
    """The first hop sends to each rank of the same node the blocks that it keeps or forwards. The
    second hop sends to one rank of each other node the blocks of the whole node for it. A rank
    copies the blocks that it forwards for itself."""
    node = exchange.near + 1
    nodes = exchange.ranks // node
    block = exchange.block_bytes
    first = _train(_gap(costs, "channel", NEAR), exchange.near, exchange, block * nodes) if exchange.near else 0.0
    second = _train(_gap(costs, "channel", REMOTE), nodes - 1, exchange, block * node) if nodes > 1 else 0.0
    parts = _copied(exchange, costs, first + second)
    return parts | {"copy": parts["copy"] * nodes}


def _collective(exchange: Exchange, costs: Costs) -> Parts:
    """One collective call: its fixed cost counts once, however many blocks it moves."""
    once = 0.0
    moving = 0.0
    for pair, count in exchange.peers():
        gap = _gap(costs, "alltoallv", pair)
        once = max(once, gap.per_message)
        moving += _train(gap, count, exchange) - count * gap.per_message
    return _copied(exchange, costs, once + max(0.0, moving), "alltoallv")


EXCHANGES: dict[str, Callable[[Exchange, Costs], Parts]] = {
    "put": _put,
    "put-scan": _put_scan,
    "direct": _direct,
    "rma": _one_sided,
    "sendrecv": _channels,
    "channel": _channels,
    "two-hop": _two_hop,
    "alltoallv": _collective,
}
CARRIERS = {
    "put": "put",
    "put-scan": "put",
    "direct": "put",
    "rma": "rma",
    "sendrecv": "channel",
    "channel": "channel",
    "two-hop": "channel",
    "alltoallv": "alltoallv",
}
CALLS_OF_RMA = 3


def _messages(exchange: Exchange, costs: Costs, over: str) -> float:
    return sum(_train(_gap(costs, over, pair), count, exchange) for pair, count in exchange.peers())


def _copied(exchange: Exchange, costs: Costs, messages: float, call: str = "") -> Parts:
    """Adds the rank's own block and the barrier that ends every exchange. `call`: the kind of
    transfer that moves the own block too."""
    return {"copy": _own_block(exchange, costs, call), "messages": messages, "barrier": _barrier(costs)}


def _barrier(costs: Costs) -> float:
    return _known(costs.barrier, "kernel barrier")


def _train(gap: Gap, count: int, exchange: Exchange, message_bytes: float | None = None) -> float:
    """The seconds of `count` messages, one after the other, of a block each or `message_bytes`.

    This is the larger of two costs: `count` times that of one message; and the cost of their bytes
    at the size of the whole exchange, because blocks that each fit into a cache need not fit
    together.
    """
    block = exchange.block_bytes if message_bytes is None else message_bytes
    work = exchange.ranks * exchange.block_bytes
    one_by_one = count * gap.seconds(block)
    share = count * block / work if work > 0 else 0.0
    together = count * gap.per_message + max(0.0, gap.seconds(work) - gap.per_message) * share
    return max(one_by_one, together)


def _own_block(exchange: Exchange, costs: Costs, call: str = "") -> float:
    by_call = costs.messages.get((call, SELF))
    if by_call is not None:
        return max(0.0, _train(by_call, 1, exchange) - by_call.per_message)
    if costs.copy is None:
        raise NotModelledError("kernel shift over copy was not measured here")
    work = exchange.ranks * exchange.block_bytes
    return max(costs.copy.seconds(exchange.block_bytes), costs.copy.seconds(work) / exchange.ranks)


def _queue(exchange: Exchange, costs: Costs, over: str) -> float:
    """Incast: all ranks start with the same target, which receives their blocks one after the
    other; after that they follow each other from target to target. Only remote blocks queue: within
    a node the sender writes into memory by itself."""
    if exchange.remote < 2:
        return 0.0
    return (exchange.remote - 1) * _gap(costs, over, REMOTE).seconds(exchange.block_bytes)


def _claim(costs: Costs, pair: str) -> float:
    return _known(costs.fetch_add.get(pair), f"kernel fetch-add to a {pair} rank")


def _gap(costs: Costs, over: str, pair: str) -> Gap:
    gap = costs.messages.get((over, pair))
    if gap is None:
        raise NotModelledError(f"kernel shift over {over} to a {pair} rank was not measured here")
    return gap


def _known(value: float | None, what: str) -> float:
    if value is None:
        raise NotModelledError(f"{what} was not measured here")
    return value
