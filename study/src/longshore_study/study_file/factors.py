"""The factors of each pattern and their allowed values, as on the command line of longshore-bench.

Readers check a study file against these tables before anything runs, since a study may run all
night. A build of longshore-bench may support a subset, which `longshore-bench --list` prints.
"""

from __future__ import annotations

from dataclasses import dataclass

LARGEST_COUNT = 2**40  # items per rank
LARGEST_RANKS = 2**20


@dataclass(frozen=True)
class Factor:
    """The allowed values of a factor: words (`values`), integers from `least` to `most`, or lists
    of `numbers_in_one` such integers, for instance a domain."""

    values: tuple[str, ...] = ()
    least: int = 1
    most: int = LARGEST_COUNT
    numbers_in_one: int = 1
    free_text: bool = False
    """Whether any text is allowed."""

    @property
    def is_word(self) -> bool:
        return bool(self.values)

    def allowed(self) -> str:
        """The allowed values in words, to follow "is" in an error message."""
        if self.free_text:
            return "a text"
        if self.is_word:
            return f"one of {', '.join(self.values)}"
        integer = f"an integer from {self.least} to {self.most}"
        return integer if self.numbers_in_one == 1 else f"a list of {self.numbers_in_one} numbers, each {integer}"


def _words(text: str) -> Factor:
    return Factor(values=tuple(text.split()))


def _count(least: int = 1, most: int = LARGEST_COUNT) -> Factor:
    return Factor(least=least, most=most)


def _triple(least: int, most: int) -> Factor:
    return Factor(least=least, most=most, numbers_in_one=3)


_TASKS = {"tasks": _words("serial threads openmp tbb"), "task_count": _count(1, 4096)}
_LEVELS = {level: _triple(1, 2**24) for level in ("node", "socket", "numa", "l3", "core")}

FACTORS: dict[str, dict[str, Factor]] = {
    "stream": {
        "scope": _words("ep global"),
        "kernel": _words("copy scale add triad"),
        "elements": _count(1, 2**48),
        "type": _words("float double"),
        **_TASKS,
        "memory": _words("malloc calloc huge huge-transparent huge-explicit interleave jemalloc mimalloc tcmalloc"),
        "first_touch": _words("serial parallel"),
        "distribution": _words("block cyclic block-cyclic"),
        "stores": _words("auto ordinary streaming"),
    },
    "gather": {
        "operation": _words("gather scatter histogram"),
        "strategy": _words("agp exstack exstack2 conveyor aggregator direct auto"),
        "requests": _count(),
        "table": _count(1, 2**48),
        "distribution": _words("cyclic block block-cyclic"),
        "block_items": _count(),
        "index_pattern": _words("uniform zipf"),
        "combine": _words("no yes"),
        "buffer_items": _count(0, 2**24),
        "hops": _count(1, 3),
    },
    "halo": {
        "algorithm": _words("standard staged sequenced staged-sequenced faces hybrid auto"),
        "mode": _words(
            "channel direct sendrecv redblack isend-recv irecv-send pairwise waitall persistent neighbor partitioned "
            "subarray rma-fence rma-pscw rma-flush"
        ),
        "reach": _words("faces edges corners"),
        "language": _words("c++ c fortran"),
        "memory": _words("shared own"),
        "domain": _triple(1, LARGEST_COUNT),
        "halo": _count(1, 1024),
        "fields": _count(1, 4096),
        "type": _words("float double"),
        "periodic": _triple(0, 1),
        "grid": _triple(0, 2**24),
        "placement": _words("linear cart auto levels"),
        **_LEVELS,
        "order": _words("xyz xzy yxz yzx zxy zyx"),
        "contiguous": _count(),
        **_TASKS,
    },
    "sort": {
        "exchange": _words("put put-scan direct sendrecv alltoallv rma channel two-hop auto"),
        "order": _words("round-robin random random-private xor incast node-aware"),
        "keys": _count(),
        "scaling": _words("weak strong weak-iso"),
        "max_key": _count(1, LARGEST_COUNT),
        "key_pattern": _words("uniform zipf sorted all-equal"),
        "key_type": _words("uint8 uint32 uint64 double"),
        "payload": _count(0, 4096),
        "splitters": _words("equal-width sampled"),
        "stable": _words("no yes"),
        "meet": _words("no yes"),
        **_TASKS,
    },
    "ghost": {
        "strategy": _words("standard direct node-aware-2 node-aware mpi-waitall mpi-persistent mpi-neighbor auto"),
        "operation": _words("update accumulate"),
        "mesh": _words("random band hexahedra tetrahedra file"),
        "file": Factor(free_text=True),
        "elements": _count(),
        "ghosts": _count(),
        "reach": _count(1, 2**20),
        "fields": _count(1, 4096),
        "type": _words("float double int32 int64"),
        "memory": _words("shared own"),
        "placement": _words("linear random auto"),
    },
    "control": {
        "kernel": _words("copy pingpong put loggp shift barrier fetch-add"),
        "over": _words("put channel alltoallv rma copy raw"),
        "pair": _words("near far remote self"),
        "bytes": _count(8, 2**48),
    },
}
"""By pattern: the factors that a launch can sweep. Control cells of every study measure copy and
pingpong of `control`."""

BETWEEN: dict[str, Factor] = {
    "transport": _words("threads mpi shmem ucx simulated"),
    "machine": Factor(free_text=True),
    "ranks": _count(1, LARGEST_RANKS),
    "ranks_per_node": _count(1, LARGEST_RANKS),
    "nodes": _count(1, LARGEST_RANKS),
    "stack": Factor(free_text=True),
}
"""The factors that need a new launch, besides `environment`."""

PROGRAMS = tuple(FACTORS)
