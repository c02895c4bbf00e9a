"""Exchanges between boxes, compared with all cells of the domain in NumPy."""

from __future__ import annotations

from typing import Any, NamedTuple

import longshore
import numpy as np
import pytest

RANKS = [1, 2, 3, 4]
Box = tuple[tuple[int, ...], tuple[int, ...]]


class Case(NamedTuple):
    """A domain and the layers of a field, along each dimension."""

    cells: tuple[int, ...]
    periodic: tuple[bool, ...]
    low: tuple[int, ...]
    high: tuple[int, ...]
    shared: tuple[int, ...]
    has_holes: bool

    @property
    def domain(self) -> Box:
        return tuple(range(-3, len(self.cells) - 3)), self.cells

    @property
    def width(self) -> list[tuple[int, int]]:
        return list(zip(self.low, self.high, strict=True))


CASES = [
    Case((40,), (True,), (2,), (1,), (0,), has_holes=True),
    Case((12, 17), (False, False), (1, 1), (1, 1), (0, 0), has_holes=False),
    Case((13, 16), (True, False), (2, 0), (1, 3), (0, 0), has_holes=True),
    Case((12, 11), (False, False), (0, 0), (0, 0), (1, 1), has_holes=False),
    Case((8, 9, 10), (True, True, True), (1, 1, 1), (1, 1, 1), (1, 1, 1), has_holes=True),
    Case((7, 9, 8), (True, False, False), (1, 2, 0), (2, 1, 1), (1, 0, 1), has_holes=False),
]


def split(box: Box, most: int, random: np.random.Generator) -> list[Box]:
    """Boxes of at most ``most`` cells that fill a box, unless they are thin."""
    (first, cells), d = box, int(np.argmax(box[1]))
    if np.prod(cells) <= most or cells[d] < 4:
        return [box]
    at = int(random.integers(2, cells[d] - 1))
    low = (*cells[:d], at, *cells[d + 1 :])
    high = (*cells[:d], cells[d] - at, *cells[d + 1 :])
    begin = (*first[:d], first[d] + at, *first[d + 1 :])
    return split((first, low), most, random) + split((begin, high), most, random)


def boxes_of(case: Case, ranks: int, seed: int) -> tuple[list[Box], list[int]]:
    """All boxes and their ranks. The last of several ranks has none."""
    random = np.random.default_rng(seed)
    boxes = split(case.domain, int(np.prod(case.cells)) // 10, random)
    if case.has_holes:
        boxes = [box for box in boxes if random.random() > 0.2]
    assert len(boxes) > 2
    return boxes, random.integers(0, max(1, ranks - 1) if ranks > 2 else ranks, len(boxes)).tolist()


def layout_of(team: longshore.Team, case: Case, seed: int, *, is_known: bool) -> longshore.BoxLayout:
    boxes, owners = boxes_of(case, team.size, seed)
    if is_known:
        return longshore.BoxLayout(team, boxes, case.domain, periodic=case.periodic, owners=owners)
    mine = [box for box, owner in zip(boxes, owners, strict=True) if owner == team.rank]
    layout = longshore.BoxLayout(team, mine, case.domain, periodic=case.periodic)
    assert layout.mine == tuple(mine)
    assert sorted(layout.boxes) == sorted(boxes)
    assert layout.owners == tuple(sorted(owners))
    return layout


class Oracle:
    """Which points of the domain the cells of all boxes are, in the order of the layout.

    Operations take halos with the widths of `part`.
    """

    def __init__(self, team: longshore.Team, layout: longshore.BoxLayout, case: Case, part: Case | None = None) -> None:
        taken = part or case
        self.shape = tuple(
            n + (0 if wraps else shared)
            for n, wraps, shared in zip(case.cells, case.periodic, case.shared, strict=True)
        )
        self.points, self.is_inside, self.is_taken = [], [], []
        for first, cells in layout.boxes:
            axes, inside, in_part = [], [], []
            for d, extent in enumerate(self.shape):
                end = cells[d] + case.shared[d]
                axis = first[d] - case.domain[0][d] + np.arange(-case.low[d], end + case.high[d])
                at = np.arange(len(axis)) - case.low[d]
                inside.append((at >= 0) & (at < end))
                in_part.append((at >= -taken.low[d]) & (at < end + taken.high[d]))
                axes.append(axis % extent if case.periodic[d] else np.where((axis >= 0) & (axis < extent), axis, -1))
            grid = np.meshgrid(*axes, indexing="ij")
            points = np.ravel_multi_index(grid, self.shape, mode="wrap")
            self.points.append(np.where(np.any([axis < 0 for axis in grid], axis=0), -1, points))
            self.is_inside.append(np.all(np.meshgrid(*inside, indexing="ij"), axis=0))
            self.is_taken.append(np.all(np.meshgrid(*in_part, indexing="ij"), axis=0))
        # The first box that has a point inside owns it.
        self.is_own, owned = [], np.zeros(np.prod(self.shape), bool)
        for points, inside in zip(self.points, self.is_inside, strict=True):
            places = np.flatnonzero(inside)
            found, first_place = np.unique(points.ravel()[places], return_index=True)
            own = np.zeros(points.size, bool)
            own[places[first_place[~owned[found]]]] = True
            owned[found] = True
            self.is_own.append(own.reshape(points.shape))
        self.has_owner = np.append(owned, [False])  # the last: cells beyond the domain
        self.numbers = [i for i, owner in enumerate(layout.owners) if owner == team.rank]

    def values(self, box: int, dtype: str = "int64") -> Any:
        """What the cells of a box have before the operation."""
        return np.random.default_rng(box).integers(1, 9, self.points[box].shape).astype(dtype)

    def whole(self, dtype: str) -> Any:
        """The values of the owners."""
        whole = np.zeros(np.prod(self.shape), dtype)
        for box, own in enumerate(self.is_own):
            whole[self.points[box][own]] = self.values(box, dtype)[own]
        return whole

    def combined(self, function: Any, dtype: str) -> Any:
        whole = self.whole(dtype)
        for box, points in enumerate(self.points):
            copies = ~self.is_own[box] & self.has_owner[points] & self.is_taken[box]
            function.at(whole, points[copies], self.values(box, dtype)[copies])
        return whole

    def expected(self, box: int, whole: Any, changes: Any) -> Any:
        """The cells of a box, after those that change got the values of the whole."""
        cells = self.values(box, str(whole.dtype))
        changed = changes & self.has_owner[self.points[box]]
        cells[changed] = whole[self.points[box][changed]]
        return cells


def shape_of(box: Box, case: Case) -> tuple[int, ...]:
    return tuple(np.sum([box[1], case.low, case.high, case.shared], axis=0).tolist())


def strided_arrays(layout: longshore.BoxLayout, case: Case, dtype: str) -> list[Any]:
    """Arrays of the program for the boxes of this rank, with the first dimension as the fastest."""
    return [np.zeros(shape_of(box, case)[::-1], dtype)[..., ::-1].T for box in layout.mine]


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("case", CASES)
def test_updates_and_sums_are_those_of_the_whole_domain(ranks: int, case: Case) -> None:
    operations: list[tuple[Any, Any]] = [("add", np.add), (np.maximum, np.maximum), (np.multiply, np.multiply)]

    def main(team: longshore.Team) -> None:
        for mode in ("direct", "channel"):
            layout = layout_of(team, case, len(case.cells), is_known=mode == "channel")
            oracle = Oracle(team, layout, case)
            fields = {"u": "int64", "v": strided_arrays(layout, case, "float32")}
            boxes = longshore.Boxes(layout, case.width, fields, shared=case.shared, mode=mode)
            assert boxes.layout is layout

            def check(boxes: longshore.Boxes, function: Any, changes: Any, oracle: Oracle = oracle) -> None:
                for field, dtype in zip(boxes.fields, ("int64", "float32"), strict=True):
                    whole = oracle.whole(dtype) if function is None else oracle.combined(function, dtype)
                    for u, box in zip(field, oracle.numbers, strict=True):
                        assert u.dtype == dtype
                        assert np.array_equal(u, oracle.expected(box, whole, changes[box]))

            def fill(boxes: longshore.Boxes, oracle: Oracle = oracle) -> None:
                for field in boxes.fields:
                    for u, box in zip(field, oracle.numbers, strict=True):
                        u[:] = oracle.values(box, str(u.dtype))

            fill(boxes)
            for field in boxes.fields:
                for u, box in zip(field, oracle.numbers, strict=True):
                    inside = oracle.is_inside[box]
                    assert np.array_equal(u[boxes.interior].ravel(), u[inside])
            boxes.start_update()
            while not boxes.test():
                pass
            check(boxes, None, [~inside for inside in oracle.is_inside])
            everything = [np.ones_like(own) for own in oracle.is_own]
            for op, function in operations:
                fill(boxes)
                boxes.accumulate(op)
                check(boxes, function, oracle.is_own)
                fill(boxes)
                boxes.start_assemble(op)
                boxes.wait()
                check(boxes, function, everything)
            assert boxes.moved("assemble")["payload_bytes"] >= boxes.moved("accumulate")["payload_bytes"]

    longshore.run(main, ranks, ranks_per_node=2)


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("case", [CASES[2], CASES[5]])
def test_a_part_takes_some_fields_and_a_smaller_width(ranks: int, case: Case) -> None:
    def main(team: longshore.Team) -> None:
        layout = layout_of(team, case, 7, is_known=True)
        part = case._replace(low=tuple(min(n, 1) for n in case.low), high=tuple(min(n, 2) for n in case.high))
        oracle = Oracle(team, layout, case, part)
        boxes = longshore.Boxes(layout, case.width, dict.fromkeys("uvw", "int64"), shared=case.shared)
        halo = [taken & ~inside for taken, inside in zip(oracle.is_taken, oracle.is_inside, strict=True)]
        calls: list[tuple[Any, tuple[Any, ...], Any, Any]] = [
            (boxes.start_update, (), oracle.whole("int64"), halo),
            (boxes.start_accumulate, ("add",), oracle.combined(np.add, "int64"), oracle.is_own),
            (boxes.start_assemble, (np.maximum,), oracle.combined(np.maximum, "int64"), oracle.is_taken),
        ]
        memory = []
        for fields, chosen in [("v", "v"), (("w", 0), "uw"), (None, "uvw")] * 2:
            for call, arguments, whole, changes in calls:
                for field in boxes.fields:
                    for u, box in zip(field, oracle.numbers, strict=True):
                        u[:] = oracle.values(box)
                team.barrier()
                call(*arguments, fields=fields, width=[(1, 2)] * len(case.cells))
                boxes.wait()
                for name, field in zip("uvw", boxes.fields, strict=True):
                    for u, box in zip(field, oracle.numbers, strict=True):
                        changed = changes[box] & (name in chosen)
                        assert np.array_equal(u, oracle.expected(box, whole, changed))
            memory.append(boxes.memory_bytes)
        assert memory[2:] == memory[2:3] * 4  # a part that comes again makes no plan

    longshore.run(main, ranks)


def test_wrong_parts_are_refused_on_all_ranks() -> None:
    def main(team: longshore.Team) -> None:
        layout = longshore.BoxLayout(team, [((3 * team.rank, 0), (3, 4))])
        boxes = longshore.Boxes(layout, 1, {"u": "float64", "z": "complex64"})
        refused: list[tuple[str, dict[str, Any], str]] = [
            ("update", {"fields": "w"}, "no field is named 'w': the fields are u, z"),
            ("update", {"fields": 2}, "field 2 of a part of a plan of boxes: use numbers from 0 to 1"),
            ("accumulate", {"fields": [-1]}, "field -1 of a part"),
            ("start_update", {"fields": [boxes.fields[0]]}, "give the name or the number"),
            ("update", {"fields": ()}, "no field: name some"),
            ("start_update", {"width": (1,)}, "width: 1 values for 2 dimensions"),
            ("assemble", {"op": "minimum", "fields": "z"}, "operation minimum on complex64"),
        ]
        for call, arguments, words in 2 * refused:
            with pytest.raises(longshore.UsageError, match=words):
                getattr(boxes, call)(**arguments)
        with pytest.raises(longshore.UsageError, match=r"passes fields 0, and rank"):
            boxes.update(fields=team.rank % 2)
        boxes.assemble("minimum", fields="u")
        boxes.start_update(width=0)
        with pytest.raises(longshore.UsageError, match="in flight"):
            boxes.update()
        boxes.wait()

    longshore.run(main, 3)


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("case", CASES)
def test_a_copy_goes_from_one_decomposition_to_another(ranks: int, case: Case) -> None:
    def main(team: longshore.Team) -> None:
        narrow = case._replace(low=(0,) * len(case.cells), high=(0,) * len(case.cells))
        source_layout = layout_of(team, narrow, 11, is_known=False)
        target_layout = layout_of(team, case, 12, is_known=True)
        sources, targets = Oracle(team, source_layout, narrow), Oracle(team, target_layout, case)
        source = longshore.Boxes(source_layout, 0, 2, ["float64", "uint8"], shared=case.shared)
        target = longshore.Boxes(
            target_layout,
            case.width,
            [strided_arrays(target_layout, case, dtype) for dtype in ("float64", "uint8")],
            shared=case.shared,
        )
        for mode in ("direct", "channel"):
            for fills_halos in (False, True):
                copy = longshore.BoxCopy(source, target, fills_halos=fills_halos, mode=mode)
                for oracle, boxes in ((sources, source), (targets, target)):
                    for field in boxes.fields:
                        for u, box in zip(field, oracle.numbers, strict=True):
                            u[:] = oracle.values(box, str(u.dtype))
                copy.start()
                copy.wait()
                for field in target.fields:
                    for u, box in zip(field, targets.numbers, strict=True):
                        expected, points = targets.values(box, str(u.dtype)), targets.points[box]
                        changed = sources.has_owner[points] & (fills_halos | targets.is_inside[box])
                        expected[changed] = sources.whole(str(u.dtype))[points[changed]]
                        assert np.array_equal(u, expected)
                assert (copy.source, copy.target) == (source, target)
                moved = copy.moved()
                assert team.allreduce(moved["payload_bytes"]) > 0
                assert team.allreduce(moved["messages"]) == 0 or mode == "channel"

    longshore.run(main, ranks)


@pytest.mark.parametrize("ranks", [1, 3])
def test_glued_cells_are_copies_with_turned_axes(ranks: int) -> None:
    """A square continues with the turned edge of another one, and upside down with itself."""
    n, away = 6, 100
    value = np.arange(2 * n * n).reshape(2, n, n)

    def main(team: longshore.Team) -> None:
        layout = longshore.BoxLayout(
            team,
            [((0, 0), (n, n)), ((0, away), (n, n))],
            glued=[
                {"beyond": ((0, n), (n, 2)), "axis": (1, 0), "offset": (away, -n)},
                {"beyond": [[n, 0], [2, n]], "sign": -1, "offset": np.array([2 * n - 1, n - 1])},
            ],
            owners=[0, team.size - 1],
        )
        boxes = longshore.Boxes(layout, 2, dtype="int64")
        here = [i for i in (0, 1) if layout.owners[i] == team.rank]
        for u, square in zip(boxes.fields[0], here, strict=True):
            u[boxes.interior] = value[square]
        boxes.update()
        for u, square in zip(boxes.fields[0], here, strict=True):
            if square == 0:
                assert np.array_equal(u[2:-2, -2:], value[1, :2, :].T)
                assert np.array_equal(u[-2:, 2:-2], value[0, :-3:-1, ::-1])
        with pytest.raises(longshore.UnsupportedError, match="only fields of cells can be glued"):
            longshore.Boxes(layout, 1, shared=1)

    longshore.run(main, ranks)


def test_fields_with_names_and_layers_of_their_own() -> None:
    def main(team: longshore.Team) -> None:
        layout = longshore.BoxLayout(team, [((3 * team.rank, 0), (3, 4))])
        boxes = longshore.Boxes(
            layout, {"v": ((1, 0), 2)}, {"u": "complex64", "v": "int8"}, shared={"u": (1, 0)}, mode="channel"
        )
        ((u,), (v,)) = boxes.fields
        assert (u.shape, v.shape) == ((6, 6), (4, 8))
        assert boxes.interior_of("v") == (slice(1, None), slice(2, -2))
        assert boxes.interior_of(boxes.fields[0]) == boxes.interior_of(0) == (slice(1, -1), slice(1, -1))
        with pytest.raises(longshore.UsageError, match=r"interior_of\(field\)"):
            _ = boxes.interior
        u[:] = 1 + 1j
        v[:] = 1
        boxes.assemble()
        last = team.rank == team.size - 1
        assert (v[1:, 2:-2].sum(axis=1) == [4, 4, 4 if last else 8]).all()
        assert (u[:3, 1] == (1 if team.rank == 0 else 2) * (1 + 1j)).all()
        assert (u[3:, 1] == (1 if last else 2) * (1 + 1j)).all()
        assert "u: complex64 with halo 1, shared (1, 0), v: int8 with halo (1, 2), (0, 2)" in repr(boxes)

    longshore.run(main, 3)


def test_wrong_boxes_are_refused_on_all_ranks() -> None:
    usual: dict[str, Any] = {"domain": ((0, 0), (9, 9)), "periodic": True}
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"boxes": [((0, 0), (4, 0))]}, "has no cells"),
        ({"boxes": [((0, 0), (4, 4)), ((3, 3), (4, 4))]}, "overlaps"),
        ({"boxes": [((6, 0), (4, 4))]}, "outside of the domain along y"),
        ({"boxes": [((0,), (4,))]}, "a box of 1 dimensions, in a layout of 2"),
        ({"boxes": [((0, 0, 0), (4, 4))]}, "first cell in 3 dimensions, and extents in 2"),
        ({"boxes": ((0, 0), (4, 4))}, "a box is a pair .first, cells."),
        ({"boxes": [((0, 0), (4, 4.5))]}, "boxes: a whole number is needed, got 4.5"),
        ({"boxes": [((0, 0), (4, 1 << 61))]}, "boxes: .* is not from"),
        ({"boxes": 4}, "a list of boxes"),
        ({"domain": None}, "periodic dimensions need the domain"),
        ({"domain": ((0, 0), (9, 8))}, "domain"),
        ({"periodic": (True, False, True)}, "periodic: 3 values for 2 dimensions"),
        ({"glued": [{"beyond": ((0, 9), (9, 1)), "turn": 1}]}, "'turn' is not one of the keys"),
        ({"glued": [{"sign": 1}]}, "the key beyond"),
        ({"glued": [{"beyond": ((0, 9), (9, 1)), "sign": (2, 1)}]}, "a sign of 2"),
        ({"glued": [{"beyond": ((0, 9), (9, 1)), "axis": (0, 2)}]}, "glued: axis: 2 is not from 0 to 1"),
        ({"owners": [0]}, "owners"),
    ]

    def main(team: longshore.Team) -> None:
        for odd, words in wrong:
            given = usual | {"boxes": [((0, 2 * team.rank), (4, 2))]}
            if team.rank == team.size - 1:
                given |= odd
            with pytest.raises((ValueError, TypeError, longshore.PeerFailedError), match=words):
                longshore.BoxLayout(team, **given)
        layout = longshore.BoxLayout(team, [((0, 2 * team.rank), (4, 2))], **usual)
        assert len(layout.boxes) == team.size
        with pytest.raises(longshore.UsageError, match="box 0 belongs to rank 7"):
            longshore.BoxLayout(team, [((0, 0), (1, 1))], owners=[7])
        with pytest.raises(longshore.UsageError, match="2 owners for 1 boxes"):
            longshore.BoxLayout(team, [((0, 0), (1, 1))], owners=[0, 0])

    longshore.run(main, 3)


def test_wrong_fields_and_copies_are_refused_on_all_ranks() -> None:
    a, b = np.zeros((6, 4)), np.zeros((6, 4), "float32")
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"fields": [a, a]}, "one for each box of the rank"),
        ({"fields": [[a]]}, "a field of 1 arrays on rank 2, which has 2 boxes"),
        ({"fields": [[a, a[1:]]]}, r"shape \(5, 4\); box 1 of rank 2 with its halo has shape \(6, 4\)"),
        ({"fields": [[a, b]]}, "box 1 of rank 2 has elements of float32"),
        ({"fields": [[b, b]]}, "a field of"),
        ({"fields": 2}, "fields:"),
        ({"fields": []}, "0 fields"),
        ({"width": {"u": 1}}, "no field is named 'u'"),
        ({"fields": 1, "width": 5}, "wider than the periodic domain along y"),
        ({"width": -1}, "width: -1 is not from 0"),
        ({"fields": 1, "shared": 1}, "shared 1,1,0"),
        ({"mode": "dirct"}, "dirct"),
    ]

    def main(team: longshore.Team) -> None:
        last = team.rank == team.size - 1
        mine = [((0, 4 * team.rank + 2 * i), (4, 2)) for i in range(0 if team.rank == 0 else 2)]
        layout = longshore.BoxLayout(team, mine, ((0, 0), (4, 12)), periodic=(True, False))
        for odd, words in wrong:
            given: dict[str, Any] = {"fields": [[np.zeros((6, 4)) for _ in mine]]}
            with pytest.raises((ValueError, TypeError, longshore.PeerFailedError), match=words):
                longshore.Boxes(layout, **(given | odd if last else given))
        boxes = longshore.Boxes(layout, fields=[[np.zeros((6, 4)) for _ in mine]])
        with pytest.raises(longshore.UsageError, match="was not started"):
            boxes.wait()
        with pytest.raises(longshore.UsageError, match="operation 'product'"):
            boxes.accumulate("product")
        boxes.start_update()
        with pytest.raises(longshore.UsageError, match="in flight"):
            boxes.start_assemble()
        boxes.wait()
        with pytest.raises(longshore.UsageError, match="moved: operation 'copy'"):
            boxes.moved("copy")
        others = longshore.Boxes(layout, dtype="float32")
        with pytest.raises(longshore.UsageError, match="the 1st field of a copy of boxes has another type"):
            longshore.BoxCopy(boxes, others)
        with pytest.raises((longshore.UsageError, longshore.PeerFailedError), match="an array in common"):
            longshore.BoxCopy(boxes, boxes)
        with pytest.raises((longshore.UsageError, longshore.PeerFailedError), match="mode"):
            longshore.BoxCopy(boxes, longshore.Boxes(layout), mode="channel" if last else "direct")
        longshore.BoxCopy(boxes, longshore.Boxes(layout)).copy()
        other: Any = team
        with pytest.raises(TypeError, match="layout: a BoxLayout"):
            longshore.Boxes(other)
        with pytest.raises(TypeError, match="source: Boxes"):
            longshore.BoxCopy(other, boxes)

    longshore.run(main, 3)


def test_boxes_of_a_team_that_has_ended_are_refused_and_their_arrays_stay() -> None:
    kept: list[longshore.Boxes] = []

    def main(team: longshore.Team) -> None:
        layout = longshore.BoxLayout(team, [((team.rank,), (1,))], ((0,), (team.size,)), periodic=True)
        boxes = longshore.Boxes(layout)
        boxes.fields[0][0][boxes.interior] = team.rank
        boxes.update()
        if team.rank == 1:
            kept.append(boxes)

    longshore.run(main, 3)
    assert kept[0].fields[0][0].tolist() == [0, 1, 2]
    with pytest.raises(longshore.UsageError):
        kept[0].update()
    with pytest.raises(longshore.UsageError):
        _ = kept[0].layout.boxes


def test_a_layout_may_be_empty() -> None:
    def main(team: longshore.Team) -> None:
        boxes = longshore.Boxes(longshore.BoxLayout(team, []), fields={"u": "int32", "v": []})
        boxes.update()
        boxes.assemble()
        assert boxes.fields == ((), ())
        assert boxes.neighbours == 0

    for ranks in (1, 2):
        longshore.run(main, ranks)


def test_boxes_and_copies_in_flight_are_freed_when_dropped_and_when_a_rank_fails() -> None:
    def begun(team: longshore.Team) -> list[Any]:
        layout = longshore.BoxLayout(team, [((4 * team.rank,), (4,))], ((0,), (4 * team.size,)), periodic=True)
        boxes = longshore.Boxes(layout)
        copy = longshore.BoxCopy(boxes, longshore.Boxes(layout, 0))
        boxes.start_update()
        copy.start()
        return [boxes, copy]

    def dropping(team: longshore.Team) -> None:
        for _ in range(3):
            begun(team)

    def failing(team: longshore.Team) -> None:
        plans = begun(team)
        if team.rank == 1:
            raise KeyError("mine")
        for plan in plans:
            plan.wait()
        team.barrier()

    longshore.run(dropping, 3)
    with pytest.raises(KeyError, match="mine"):
        longshore.run(failing, 3)
