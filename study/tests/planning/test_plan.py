"""Plans of studies: cells, order, command lines, estimates of time and spread."""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from longshore_study.base.errors import UsageError
from longshore_study.planning.plan import Plan, make_plan
from longshore_study.planning.power_analysis import ASSUMED_SESSION_SPREAD, PowerAnalysis, Spread, spread_of
from longshore_study.planning.time_estimate import TimeEstimate
from longshore_study.store.launch_store import Launch
from longshore_study.study_file.reader import loads


def plan_of(blocks: str, settings: str = "") -> Plan:
    return make_plan(loads(f'[study]\nname = "x"\nlaunches = 3\n{settings}\n{blocks}', "s.toml"))


GATHER = """[[pattern]]
program = "gather"
within = { strategy = ["agp", "exstack"], buffer-items = [64, 1024] }
between = { transport = ["threads", "mpi"], ranks = [1, 2], environment = [{}, { A = "1" }] }
"""


def test_cells_are_the_cross_product_and_every_way_of_launching_has_its_control() -> None:
    plan = plan_of(GATHER)
    programs = Counter(cell.program for cell in plan.cells)
    assert programs == {"gather": 8, "control": 8}
    assert plan.launches_per_session == 48
    launching = {"gather": set[str](), "control": set[str]()}
    for cell in plan.cells:
        launching[cell.program].add(str(sorted(cell.between.items())))
    assert launching["gather"] == launching["control"]


def test_a_single_rank_has_no_ping_pong() -> None:
    kernels = {cell.ranks: cell.within["kernel"] for cell in plan_of(GATHER).cells if cell.program == "control"}
    assert kernels == {1: ["copy"], 2: ["copy", "pingpong"]}


TOGETHER = """[[pattern]]
program = "halo"
within = { mode = ["channel", "direct"] }
exclude = ["transport == 'shmem' and nodes == 1"]
[[pattern.between]]
transport = ["mpi", "shmem"]
ranks = 128
nodes = 1
[[pattern.between]]
transport = "mpi"
ranks = [256, 512]
nodes = 2
"""


def test_levels_that_go_together_are_no_cross_product() -> None:
    cells = [cell for cell in plan_of(TOGETHER).cells if cell.program == "halo"]
    assert [(cell.between["transport"], cell.ranks, cell.between["nodes"]) for cell in cells] == [
        ("mpi", 128, 1), ("mpi", 256, 2), ("mpi", 512, 2),
    ]  # fmt: skip
    assert all(cell.within == {"mode": ["channel", "direct"]} for cell in cells)
    inline = "between = [{ ranks = 128, nodes = 1 }, { ranks = 256, nodes = 2 }]"
    external = f'[[external]]\nname = "x"\nformat = "osu"\ncommand = ["osu", "{{ranks}}"]\n{inline}\n'
    cells = plan_of(external).cells
    assert [(cell.ranks, cell.between["nodes"]) for cell in cells] == [(128, 1), (256, 2)]


def test_more_ranks_than_a_node_has_are_refused() -> None:
    """Where [launcher] tells how many a node has."""
    with_launcher = TOGETHER + "[launcher]\nkind = 'srun'\nranks_per_node = "
    with pytest.raises(UsageError, match=r"s\.toml:5: halo mpi 512 ranks nodes=2: 512 ranks on 2 nodes, but "):
        plan_of(with_launcher + "128\n")
    assert plan_of(with_launcher + "256\n").launches_per_session


def test_excluded_cells_are_not_run() -> None:
    plan = plan_of(GATHER + 'exclude = ["transport == \'threads\' and environment != {}", "ranks == 1"]\n')
    cells = [cell for cell in plan.cells if cell.program == "gather"]
    assert [(cell.between["transport"], cell.environment) for cell in cells] == [
        ("threads", {}),
        ("mpi", {}),
        ("mpi", {"A": "1"}),
    ]


def test_a_condition_on_inner_factors_shortens_the_sweep() -> None:
    plan = plan_of(GATHER + "exclude = [\"transport == 'mpi' and strategy == 'agp'\"]\n")
    walked = {cell.between["transport"]: cell.within["strategy"] for cell in plan.cells if cell.program == "gather"}
    assert walked == {"threads": ["agp", "exstack"], "mpi": ["exstack"]}


def test_a_condition_that_leaves_holes_is_refused() -> None:
    with pytest.raises(UsageError, match=r"s.toml:5: .*two \[\[pattern\]\] blocks"):
        plan_of(GATHER + "exclude = [\"strategy == 'agp' and buffer-items == 64\"]\n")


def test_a_study_without_remaining_launches_is_refused() -> None:
    with pytest.raises(UsageError, match=r"s\.toml:\d+: .*leave nothing to run"):
        plan_of(GATHER + 'exclude = ["ranks < 5"]\n')
    external = '[[external]]\nname = "x"\ncommand = ["x"]\nformat = "osu"\nbetween = { ranks = 2 }\n'
    with pytest.raises(UsageError, match=r"s\.toml:5: .*leave nothing to run"):
        plan_of(external + 'exclude = ["ranks < 5"]\n')


def test_equal_cells_are_measured_once_and_contradictory_ones_refused() -> None:
    external = '[[external]]\nname = "x"\ncommand = ["{}"]\nformat = "osu"\nbetween = {{ ranks = [{}] }}\n'
    with pytest.raises(UsageError, match=r"s\.toml:10: x 4 ranks is also in the block of line 5, .* command"):
        plan_of(external.format("one", "2, 4") + external.format("other", "4, 8"))
    assert len(plan_of(external.format("one", "2") + external.format("other", "4")).cells) == 2
    assert len(plan_of(external.format("one", "2, 4") + external.format("one", "4, 8")).cells) == 3
    with pytest.raises(UsageError, match=r"gather threads 1 rank .* with a different repetitions"):
        plan_of(GATHER + GATHER.replace("ranks = [1, 2]", "ranks = 1") + "repetitions = 99\n")


def test_absurd_sizes_are_refused_before_they_are_built() -> None:
    many = ", ".join(map(str, range(1, 1001)))
    with pytest.raises(UsageError, match="1000000000 variants"):
        plan_of(
            f'[[pattern]]\nprogram="gather"\nbetween={{ranks=2}}\n[pattern.within]\nrequests=[{many}]\ntable=[{many}]\nbuffer-items=[{many}]\n'
        )
    with pytest.raises(UsageError, match="launches"):
        plan_of(
            f'[[pattern]]\nprogram="gather"\n[pattern.between]\nranks=[{many}]\nranks_per_node=[{many}]\nrequests=[{many}]\n'
        )
    with pytest.raises(UsageError, match="launches in all"):
        plan_of('[[pattern]]\nprogram="gather"\nbetween={ranks=2}\nlaunches=10000', "sessions = 10000")


def test_the_order_is_random_reproducible_and_by_rounds() -> None:
    plan = plan_of(GATHER)
    order = [launch.key for launch in plan.order("a")]
    assert order == [launch.key for launch in plan.order("a")]
    assert order != [launch.key for launch in plan.order("b")]
    assert order != [launch.key for launch in plan_of(GATHER, "seed = 2").order("a")]
    assert len(set(order)) == plan.launches_per_session
    cells = {cell.cell_id for cell in plan.cells}
    rounds = [order[start : start + len(cells)] for start in range(0, len(order), len(cells))]
    for index, launches in enumerate(rounds):
        assert {cell for cell, _ in launches} == cells
        assert {number for _, number in launches} == {index}
    assert [cell for cell, _ in rounds[0]] != [cell for cell, _ in rounds[1]]


def test_a_cell_keeps_its_identity_until_what_it_measures_changes() -> None:
    first = {cell.cell_id for cell in plan_of(GATHER).cells}
    assert first == {cell.cell_id for cell in plan_of(GATHER, "repetitions = 99\nseed = 5").cells}
    other = {cell.cell_id for cell in plan_of(GATHER.replace("1024", "2048")).cells}
    assert len(first & other) == 8  # the controls


def test_the_command_line_has_every_factor() -> None:
    plan = plan_of(GATHER, "repetitions = 4\nwarmup = 0\nseed = 10")
    threads = next(cell for cell in plan.cells if cell.program == "gather" and cell.between["transport"] == "threads")
    words = " ".join(threads.options(plan.seed_of(2)))
    assert words == (
        "gather --transport threads --ranks 1 --strategy agp,exstack --buffer-items 64,1024 "
        "--repetitions 4 --warmup 0 --seed 12 --json -"
    )
    ends = plan_of(GATHER + 'verify = "ends"\n', 'verify = "no"').cells
    assert {cell.options(1)[-4:-2] == ["--verify", "ends"] for cell in ends if cell.program == "gather"} == {True}
    mpi = next(cell for cell in plan.cells if cell.between["transport"] == "mpi")
    assert "--ranks" not in mpi.options(1)


def test_phases_are_asked_of_the_patterns_that_time_them() -> None:
    halo = '[[pattern]]\nprogram = "halo"\nbetween = { ranks = 2 }\n'

    def asked(plan: Plan) -> set[str]:
        return {cell.program for cell in plan.cells if "--phases" in cell.options(1)}

    assert asked(plan_of(GATHER + halo, "phases = true")) == {"halo"}
    assert asked(plan_of(halo + "phases = true")) == {"halo"}
    assert not asked(plan_of(halo + "phases = false", "phases = true"))
    with pytest.raises(UsageError, match=r"also in the block of line \d, with a different phases"):
        plan_of(halo + "phases = true\n" + halo)


def test_phases_take_repetitions_of_their_own() -> None:
    halo = '[[pattern]]\nprogram = "halo"\nbetween = { ranks = 2 }\n'
    once, timed, twice = (
        next(cell for cell in plan_of(halo, f"warmup = 0\n{settings}").cells if cell.program == "halo")
        for settings in ("repetitions = 50", "repetitions = 50\nphases = true", "repetitions = 100")
    )
    seconds = TimeEstimate().seconds
    assert seconds(once) < seconds(timed) == seconds(twice)


def test_factors_with_tuples_vary_between_launches() -> None:
    plan = plan_of('[[pattern]]\nprogram="halo"\nbetween={ranks=2}\nwithin={domain=[[8,8,8],[16,8,4]], halo=[1,2]}\n')
    halos = [cell for cell in plan.cells if cell.program == "halo"]
    assert ["16,8,4" in cell.options(1) for cell in halos] == [False, True]
    assert len({cell.cell_id for cell in halos}) == 2
    assert len(set(plan.labels.values())) == len(plan.cells)


def test_a_pattern_s_own_factor_may_vary_between_launches() -> None:
    plan = plan_of('[[pattern]]\nprogram="sort"\nbetween={ranks=2, exchange=["put", "rma"], ranks_per_node=1}\n')
    sorts = [cell.options(1) for cell in plan.cells if cell.program == "sort"]
    assert [words[words.index("--exchange") + 1] for words in sorts] == ["put", "rma"]
    assert all(words[words.index("--ranks-per-node") + 1] == "1" for words in sorts)
    assert len([cell for cell in plan.cells if cell.program == "control"]) == 1


def test_a_time_estimate_learns_from_observed_launches() -> None:
    plan = plan_of(GATHER)
    forecast = TimeEstimate()
    guess = forecast.total(plan.cells)
    for cell in plan.cells:
        for seconds in (1.0, 2.0, 30.0):
            forecast.observe(cell.cell_id, seconds)
    assert guess > 0
    assert forecast.total(plan.cells) == 2.0 * len(plan.cells)


def test_a_guessed_time_grows_with_the_elements_of_a_mesh() -> None:
    def guess(elements: int) -> float:
        text = f'[[pattern]]\nprogram="ghost"\nbetween={{ranks=2}}\nwithin={{elements={elements}, mesh="band"}}\n'
        return TimeEstimate().total(cell for cell in plan_of(text).cells if cell.program == "ghost")

    assert 0 < guess(1_000) < guess(10_000_000)


def stored(cell_id: str, session: str, medians: list[float]) -> list[Launch]:
    variant: dict[str, str] = {"kernel": "copy"}
    return [
        Launch(
            study="x", tag="t", session=session, cell={}, cell_id=cell_id, launch_index=index, position=index,
            path=Path(), exit_status=0, header=None, results=[{"variant": variant, "seconds": {"median": median}}],
            complete=True, envelope={"seconds": 3.0},
        )
        for index, median in enumerate(medians)
    ]  # fmt: skip


def test_the_spread_comes_from_stored_launches() -> None:
    assert spread_of([]).source.startswith("assumed")
    one = spread_of(stored("a", "1", [1.0, math.exp(0.1), math.exp(0.2)]))
    assert one.launches == pytest.approx(0.1 * above_half(2))
    assert one.sessions == ASSUMED_SESSION_SPREAD
    quiet = [1.0, math.exp(0.001), math.exp(0.002)]
    later = [math.exp(0.3) * value for value in quiet]
    two = spread_of([*stored("a", "1", quiet), *stored("a", "2", later)])
    assert two.launches == pytest.approx(0.001 * above_half(2))
    assert two.sessions == pytest.approx(0.3 / math.sqrt(2) * above_half(1), rel=1e-3)
    # Sessions that differ no more than their launches explain have no spread of their own.
    noisy = [1.0, math.exp(0.1), math.exp(0.2)]
    same = spread_of([*stored("a", "1", noisy), *stored("a", "2", noisy)])
    assert same.sessions == 0.0


def above_half(freedom: int) -> float:
    """The factor by which the typical standard deviation exceeds the usual estimate."""
    return float((1.0 - 2.0 / (9.0 * freedom)) ** -1.5)


@pytest.mark.parametrize("launches", [2, 3, 5])
def test_the_spread_of_few_launches_is_not_underestimated(launches: int) -> None:
    generator = random.Random(launches)
    found = []
    for row in range(200):
        for session in range(10):
            day = generator.gauss(0, 0.03)
            logs = [math.exp(day + generator.gauss(0, 0.02)) for _ in range(launches)]
            found += stored(f"row {row}", str(session), logs)
    spread = spread_of(found)
    assert spread.launches == pytest.approx(0.02, rel=0.08)
    assert spread.sessions == pytest.approx(0.03, rel=0.08)


def test_shared_variance_is_separated_from_own_variance() -> None:
    def row(name: str, *sessions: float) -> list[Launch]:
        return [launch for s, log in enumerate(sessions) for launch in stored(name, str(s), [math.exp(log)] * 2)]

    together = spread_of([*row("a", 0.0, 0.1, 0.3), *row("b", 0.0, 0.1, 0.3), *row("c", 0.0, 0.1, 0.3)])
    assert together.shared == pytest.approx(1.0)
    apart = spread_of([*row("a", 0.0, 0.1, 0.3), *row("b", 0.3, 0.1, 0.0), *row("c", 0.0, 0.2, 0.0)])
    assert apart.shared == 0.0


def test_differences_between_tags_do_not_count_as_session_noise() -> None:
    def of_tag(tag: str, row: str, *sessions: float) -> list[Launch]:
        each = [launch for s, log in enumerate(sessions) for launch in stored(row, str(s), [math.exp(log)] * 2)]
        return [replace(launch, tag=tag) for launch in each]

    # The new tag is slower by 0.5 in both rows. Sessions differ in the same way in both tags.
    old = [*of_tag("old", "a", 0.0, 0.1), *of_tag("old", "b", 0.1, 0.0)]
    new = [*of_tag("new", "a", 0.5, 0.6), *of_tag("new", "b", 0.6, 0.5)]
    both = spread_of([*old, *new])
    assert both.sessions == pytest.approx(0.1 / math.sqrt(2) * above_half(2))
    assert both.shared == 0.0
    alone = spread_of([*of_tag("old", "a", 0.0), *of_tag("new", "a", 0.5)])
    assert alone.sessions == ASSUMED_SESSION_SPREAD, "two tags of a session each tell nothing of sessions"


def test_more_sessions_find_smaller_differences() -> None:
    power = PowerAnalysis(plan_of(GATHER), Spread(0.03, 0.02, "assumed"))
    assert power.rows == 1 + 8 * 4
    assert power.smallest_between_tags(1) is None
    found = [power.smallest_between_tags(sessions) or 0.0 for sessions in (2, 3, 5, 8)]
    assert found == sorted(found, reverse=True)
    assert all(one > 0.05 for one in found), "nothing within the margin is called regressed"
    variants = power.smallest_between_variants()
    assert variants is not None
    # About 2.8 standard errors of a paired difference of three launches, and more for few df.
    assert 2.8 * 0.03 * math.sqrt(2 / 3) < variants < 4.0 * 0.03 * math.sqrt(2 / 3)
