"""Fields in device memory, which is emulated, against the same fields of the host."""

from __future__ import annotations

import importlib
from typing import Any

import longshore
import numpy as np
import pytest

emulated: Any = getattr(importlib.import_module("longshore._core"), "_emulated", None)
SHAPES = [(5, 6), (5, 6), (5, 6), (6,)]  # of the fields of plans_of()


class DeviceArray:
    """A copy of an array in device memory. Its interface is that of CuPy."""

    def __init__(self, host: Any, **changes: Any) -> None:
        self.host = np.array(host)
        self.address = emulated.memory(self.host.nbytes)
        emulated.copy(self.address, self.host.ctypes.data, self.host.nbytes)
        form = {"shape": self.host.shape, "typestr": self.host.dtype.str, "strides": None, "version": 3}
        self.__cuda_array_interface__ = {**form, "data": (self.address, False), **changes}

    def get(self) -> Any:
        emulated.copy(self.host.ctypes.data, self.address, self.host.nbytes)
        return self.host


@pytest.fixture(autouse=True, scope="module")
def _device() -> None:
    if emulated is None:
        pytest.skip("the package was built without LONGSHORE_EMULATED_DEVICE")
    field = DeviceArray(np.zeros(4))
    with pytest.raises(longshore.UnsupportedError, match="LONGSHORE_CUDA"):
        longshore.Halo(None, local_cells=2, fields=field)
    emulated.install()


def plans_of(team: longshore.Team, a: Any, b: Any, c: Any, d: Any) -> list[tuple[Any, list[str]]]:
    """Plans of four fields, and the names of their operations."""
    rank, size = team.rank, team.size
    layout = longshore.BoxLayout(team, [((3 * rank, 0), (3, 4))], ((0, 0), (3 * size, 4)), periodic=True)
    graph = longshore.GhostGraph(team, 4, np.array([(4 * rank - 1) % (4 * size), 0]))
    boxes, copies = longshore.Boxes(layout, fields=[[b]]), longshore.Boxes(layout, fields=[[c]])
    sums = ["start_accumulate", "start_assemble"]
    return [
        (longshore.Halo(team, local_cells=(3, 4), fields=a), ["start", *sums]),
        (boxes, ["start_update", *sums]),
        (longshore.BoxCopy(boxes, copies), ["start"]),
        (longshore.Ghost(graph, d), ["start_update", *sums]),
    ]


@pytest.mark.parametrize("has_stream", [False, True])
def test_fields_of_a_device_get_the_values_of_those_of_the_host(has_stream: bool) -> None:
    def main(team: longshore.Team) -> None:
        rng = np.random.default_rng(team.rank)
        before = [rng.normal(size=shape) for shape in SHAPES]
        host, device = [array.copy() for array in before], [DeviceArray(array) for array in before]
        stream = {"stream": emulated.stream()} if has_stream else {}
        for fields, by in ((host, {}), (device, stream)):
            for plan, calls in plans_of(team, *fields):
                for call in calls:
                    getattr(plan, call)(**by)
                    plan.wait(**by)
                getattr(plan, calls[0])(**by)
                plan.wait()  # until the device is done
        for array, of_device, old in zip(host, device, before, strict=True):
            assert np.array_equal(of_device.get(), array)
            assert not np.array_equal(old, array)

    longshore.run(main, ranks=2)


def test_wrong_streams_and_fields_of_both_memories_are_refused() -> None:
    host = [np.zeros(shape) for shape in SHAPES]
    for plan, calls in plans_of(longshore.world(), *host):
        for call in calls:
            with pytest.raises(longshore.UsageError, match="without a stream"):
                getattr(plan, call)(stream=0)
            with pytest.raises(TypeError, match="stream: a whole number"):
                getattr(plan, call)(stream="0")
            getattr(plan, call)()
            with pytest.raises(longshore.UsageError, match="without a stream"):
                plan.wait(stream=0)
            plan.wait()
    with pytest.raises(longshore.UsageError, match="memory of the host and of device 0"):
        longshore.Halo(None, local_cells=(3, 4), fields=[host[0], DeviceArray(host[1])])


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        ({"data": (64, True)}, ValueError, "read-only"),
        ({"data": (0, False)}, ValueError, "without an address"),
        ({"data": None}, ValueError, "wrong __cuda_array_interface__"),
        ({"typestr": "<f2"}, TypeError, "float16"),
        ({"typestr": ">f8"}, TypeError, "swapped"),
        ({"typestr": "<x9"}, ValueError, "wrong __cuda_array_interface__ of DeviceArray"),
        ({"strides": (41,)}, ValueError, "multiples"),
        ({"mask": True}, TypeError, "mask"),
        ({"shape": (3,)}, longshore.UsageError, "shape|rows"),
    ],
)
def test_wrong_interfaces_are_refused(change: dict[str, Any], error: type[Exception], text: str) -> None:
    field = DeviceArray(np.zeros(4), **change)
    with pytest.raises(error, match=text):
        longshore.Halo(None, local_cells=2, fields=field)
    with pytest.raises(error, match=text):
        longshore.Ghost(longshore.GhostGraph(None, 2, np.array([0, 1])), field)
