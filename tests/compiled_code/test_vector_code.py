"""for_each over distributed arrays compiles to the same machine code as a loop over local arrays.

So does a loop that charges the clock of a simulated machine once per batch.

Times on a shared machine cannot show a difference of one percent, but the instructions of the
innermost loop can. The tests read them from the object file of vector_code.cpp, which is optimised
like a release.
"""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
from collections import Counter
from dataclasses import dataclass

import pytest
from repository import BUILD

FUNCTION = re.compile(r"^[0-9a-f]+ <(?P<name>.*)>:$")
INSTRUCTION = re.compile(r"^\s*(?P<address>[0-9a-f]+):\s+(?P<mnemonic>\S+)(\s+(?P<operands>.*))?$")
TARGET = re.compile(r"^(?P<address>[0-9a-f]+) <")
MULTIPLIES = {  # two or more doubles at once
    "x86_64": re.compile(r"v?(mulpd|fn?m(add|sub)\d*pd)$"),
    "aarch64": re.compile(r"fml[as]$|fmul$"),
}
# Beside the test of the pointer, a compiler may keep the exits of the loop apart or join them.
MOST_BRANCHES_OF_A_CHARGE = 2

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(shutil.which("objdump") is None, reason="no objdump (Debian: binutils)"),
    pytest.mark.skipif(
        platform.machine() not in MULTIPLIES,
        reason=f"unknown vectors of {platform.machine()}",
    ),
]


@dataclass(frozen=True)
class Instruction:
    address: int
    mnemonic: str
    operands: str

    @property
    def jumps_to(self) -> int | None:
        target = TARGET.match(self.operands)
        return int(target["address"], 16) if target and not self.mnemonic.startswith(("call", "bl")) else None


@pytest.fixture(scope="module")
def functions() -> dict[str, list[Instruction]]:
    """Every function of the object file with its instructions."""
    objects = sorted((BUILD / "tests").rglob("vector_code.cpp.o"))
    assert objects, "build first: tools/run_tests.py build-rest"
    command = ["objdump", "--disassemble", "--demangle", "--no-show-raw-insn", str(objects[0])]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found: dict[str, list[Instruction]] = {}
    body: list[Instruction] = []
    for line in text.splitlines():
        if start := FUNCTION.match(line):
            body = found.setdefault(start["name"], [])
        elif one := INSTRUCTION.match(line):
            body.append(Instruction(int(one["address"], 16), one["mnemonic"], one["operands"] or ""))
    return found


def innermost_loops(body: list[Instruction]) -> list[list[Instruction]]:
    """Instructions between a backward jump and its target, of innermost loops only."""
    ranges = {(one.jumps_to, one.address) for one in body if one.jumps_to is not None and one.jumps_to <= one.address}
    loops = []
    for first, last in sorted(ranges):
        if any((first, last) != other and first <= other[0] and other[1] <= last for other in ranges):
            continue
        loops.append([one for one in body if first <= one.address <= last])
    return loops


def vector_loop(functions: dict[str, list[Instruction]], name: str) -> Counter[str] | None:
    """Mnemonics of the innermost loop that multiplies vectors; None if no loop does."""
    multiplies = MULTIPLIES[platform.machine()]
    found = [
        Counter(one.mnemonic for one in loop)
        for function, body in functions.items()
        if name in function
        for loop in innermost_loops(body)
        if any(multiplies.match(one.mnemonic) for one in loop)
    ]
    assert len(found) <= 1, f"{name}: {found}"
    return found[0] if found else None


def test_the_loop_over_local_arrays_is_a_vector_loop(functions: dict[str, list[Instruction]]) -> None:
    loop = vector_loop(functions, "local_loop")
    assert loop is not None
    assert sum(loop.values()) < 16, "a loop of a triad is a handful of instructions"


@pytest.mark.parametrize("distribution", ["block", "cyclic", "block_cyclic"])
def test_for_each_over_distributed_arrays_has_the_code_of_the_loop_over_local_ones(
    functions: dict[str, list[Instruction]], distribution: str
) -> None:
    array = f"longshore::dist_array<double, longshore::{distribution}>"
    name = f"longshore::tasks::for_each_range<longshore::for_each_span<{array}"
    assert any(name in function for function in functions), "no such instance was compiled"
    assert vector_loop(functions, name) == vector_loop(functions, "local_loop")


def test_a_loop_that_looks_up_every_element_is_not_vectorised(functions: dict[str, list[Instruction]]) -> None:
    assert vector_loop(functions, "looked_up_loop") is None
    assert innermost_loops(functions["looked_up_loop"]), "its loop was found, and has no vectors"


def test_a_charge_per_batch_is_one_branch_beside_the_loop(functions: dict[str, list[Instruction]]) -> None:
    """The branch is taken on the transport `simulated` alone, and the call is beyond it."""
    charged, local = functions["charged_loop"], functions["local_loop"]
    assert vector_loop(functions, "charged_loop") == vector_loop(functions, "local_loop")

    def calls(body: list[Instruction]) -> list[Instruction]:
        """Calls of functions elsewhere, also as the last jump of a function. Before linking, such a
        jump leads to the next instruction (x86) or to itself (Arm)."""
        return [
            one
            for one, after in zip(body, [*body[1:], None], strict=True)
            if one.mnemonic.startswith(("call", "bl"))
            or (one.jumps_to is not None and one.jumps_to in {one.address, after and after.address})
        ]

    assert not calls(local)
    assert len(calls(charged)) == 1
    branches = [sum(one.jumps_to is not None for one in body) - len(calls(body)) for body in (charged, local)]
    assert branches[0] - branches[1] <= MOST_BRANCHES_OF_A_CHARGE, branches
