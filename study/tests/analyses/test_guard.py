"""The weekly guard: which sessions are its reference, its verdicts, and their error rates in
simulated years. LONGSHORE_SIMULATIONS multiplies the number of years."""

from __future__ import annotations

import math
import os
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from longshore_study.analyses import guard
from longshore_study.analyses.guard import GuardedSession
from longshore_study.output import guard_text
from longshore_study.store.launch_store import Launch
from promised_rates import least, most
from simulated_launches import copy, halo, launch

MODES = ("waitall", "sendrecv", "redblack", "pairwise", "neighbor", "persistent")
WEEKS = 12
PLANTED = 7
"""The first slow week."""
YEARS = 100 * int(os.environ.get("LONGSHORE_SIMULATIONS", "1"))


def gauss(generator: random.Random, deviation: float) -> float:
    return generator.gauss(0.0, deviation)


def heavy(generator: random.Random, deviation: float) -> float:
    """Student's t with 4 degrees of freedom, with this standard deviation: slow and fast days."""
    chi_square = math.fsum(generator.gauss(0.0, 1.0) ** 2 for _ in range(4))
    return deviation * generator.gauss(0.0, 1.0) / math.sqrt(chi_square / 2.0)


class Machine:
    """Draws weeks. A second session of a week has half of the variance between sessions in common
    with the first one."""

    def __init__(self, seed: int, noise: float, draw: Callable[[random.Random, float], float] = gauss) -> None:
        self.generator = random.Random(seed)
        self.noise = noise
        self.draw = draw

    def deviations(self) -> dict[str, float]:
        """Of the rows and of the control, in a session. All of them share a quarter of the
        variance."""
        part = self.noise * math.sqrt(0.5)
        day = self.draw(self.generator, part * 0.5)
        return {mode: day + self.draw(self.generator, part * math.sqrt(0.75)) for mode in (*MODES, "copy")}

    def week(self, number: int, changed: dict[str, float]) -> tuple[GuardedSession, GuardedSession]:
        name, day = f"{number:02d}", self.deviations()
        return self.session(name, day, changed), self.session(name + guard.CONFIRMING, day, changed)

    def session(self, name: str, day: dict[str, float], changed: dict[str, float]) -> GuardedSession:
        own = self.deviations()
        launches: list[Launch] = []
        for index in range(3):
            figure = {mode: day[mode] + own[mode] + self.generator.gauss(0.0, self.noise) for mode in day}
            results = [halo(mode, changed.get(mode, 0.0) + figure[mode]) for mode in MODES]
            launches.append(
                launch(
                    "t",
                    name,
                    index,
                    [*results, copy(changed.get("copy", 0.0) + figure["copy"])],
                    started=f"week {name}",
                )
            )
        return GuardedSession(name, launches)


def watch(machine: Machine, changes: dict[int, dict[str, float]] | None = None) -> list[guard.Finding]:
    """The findings of a year. `changes` has the changes of rows from a week on."""
    sessions: list[GuardedSession] = []
    findings = []
    changed: dict[str, float] = {}
    for number in range(1, WEEKS + 1):
        changed = (changes or {}).get(number, changed)
        new, second = machine.week(number, changed)
        sessions.append(new)
        reference, left_out = guard.reference_of(sessions, new.name)
        before = guard.slow_before(sessions, new.name)
        finding = guard.judge(reference, new, left_out=left_out, before=before)
        if finding.is_suspicion:
            finding = guard.confirm(finding, reference, second)
        sessions[-1] = replace(new, verdict=finding.verdict)
        findings.append(finding)
    return findings


SLOW = {PLANTED: {"waitall": math.log(0.92)}}


def verdicts(findings: Sequence[guard.Finding]) -> list[str]:
    return [finding.verdict for finding in findings]


def test_unchanged_weeks_are_silent_and_a_slowdown_is_found_in_its_week() -> None:
    first_weeks = [guard.CANNOT_TELL] * guard.MIN_SESSIONS
    assert verdicts(watch(Machine(1, 0.01))) == first_weeks + [guard.UNCHANGED] * 8
    findings = watch(Machine(1, 0.01), SLOW)
    assert verdicts(findings) == first_weeks + [guard.UNCHANGED] * 2 + [guard.REGRESSED] * 6
    for finding in findings[PLANTED - 1 :]:
        assert finding.reference == ("01", "02", "03", "04", "05", "06")
        assert [row.key.variant["mode"] for row in finding.rows] == ["waitall"]


def test_a_faster_row_is_an_improvement_that_needs_no_second_session() -> None:
    faster = watch(Machine(1, 0.01), {PLANTED: {"waitall": math.log(1.3)}})[PLANTED - 1]
    assert (faster.verdict, faster.confirmed_by) == (guard.IMPROVED, None)


def test_a_slow_session_alone_is_not_confirmed_and_stays_out_of_the_reference() -> None:
    machine = Machine(2, 0.01)
    weeks = [machine.week(number, {})[0] for number in range(1, 7)]
    slow, _ = machine.week(7, {"waitall": math.log(0.8)})
    _, normal = machine.week(7, {})
    suspicion = guard.judge(weeks, slow)
    assert suspicion.verdict == guard.REGRESSED
    finding = guard.confirm(suspicion, weeks, normal)
    assert (finding.verdict, finding.confirmed_by) == (guard.UNCONFIRMED, "07-confirm")
    later, _ = machine.week(8, {})
    reference, left_out = guard.reference_of([*weeks, replace(slow, verdict=finding.verdict), later], "08")
    assert [session.name for session in reference] == ["01", "02", "03", "04", "05", "06"]
    assert [session.name for session in left_out] == ["07"]
    failed = guard.confirm(suspicion, weeks, replace(normal, lacks="3 launches failed"))
    assert failed.verdict == guard.CANNOT_TELL
    assert "3 launches failed" in failed.reasons[0]


def test_a_slow_machine_is_named_as_such() -> None:
    slow = dict.fromkeys((*MODES, "copy"), math.log(0.7))
    finding = watch(Machine(3, 0.005), {PLANTED: slow})[PLANTED - 1]
    assert (finding.verdict, finding.machine, finding.rows) == (guard.REGRESSED, True, ())
    assert guard_text.subject(finding).startswith("regressed: the whole machine 4")


def test_other_rows_of_a_second_session_confirm_nothing() -> None:
    machine = Machine(2, 0.01)
    weeks = [machine.week(number, {})[0] for number in range(1, 7)]
    suspicion = guard.judge(weeks, machine.week(7, {"waitall": math.log(0.8)})[0])
    _, other = machine.week(7, {"sendrecv": math.log(0.8)})
    assert guard.confirm(suspicion, weeks, other).verdict == guard.UNCONFIRMED


def named(*verdicts_and_lacks: tuple[str | None, str]) -> list[GuardedSession]:
    return [GuardedSession(str(k), [], word, lacks=lacks) for k, (word, lacks) in enumerate(verdicts_and_lacks)]


def test_the_reference_has_the_last_good_sessions_since_the_accepted_one() -> None:
    good, slow, failed = (None, ""), (guard.REGRESSED, ""), (None, "1 launch failed")
    sessions = named(good, good, slow, failed, good, good)
    reference, left_out = guard.reference_of(sessions, "5", limit=2)
    assert [session.name for session in reference] == ["1", "4"]
    assert [session.name for session in left_out] == ["2", "3"]
    sessions[2] = replace(sessions[2], verdict=guard.ACCEPTED, starts_reference=True)
    assert [session.name for session in guard.reference_of(sessions, "5")[0]] == ["2", "4"]


def test_accept_takes_the_sessions_at_the_newest_level() -> None:
    good, slow, failed = (guard.UNCHANGED, ""), (guard.REGRESSED, ""), (None, "1 launch failed")
    sessions = named(slow, good, slow, failed, (guard.UNCONFIRMED, ""), slow)
    assert [session.name for session in guard.accepted(sessions)] == ["2", "5"]
    assert guard.accepted(named(slow, good)) == []
    assert guard.accepted([]) == []


def test_a_session_without_all_its_figures_is_not_called_unchanged() -> None:
    machine = Machine(1, 0.01)
    weeks = [machine.week(number, {})[0] for number in range(1, 7)]
    new, _ = machine.week(7, {})
    assert guard.judge(weeks, new).verdict == guard.UNCHANGED
    assert guard.judge(weeks, replace(new, lacks="1 launch failed")).verdict == guard.CANNOT_TELL
    for stored in new.launches:
        del stored.results[0]
    finding = guard.judge(weeks, new)
    assert (finding.verdict, finding.reasons) == (guard.CANNOT_TELL, ("1 figure of the reference missing",))


@pytest.mark.simulation
@pytest.mark.parametrize(("noise", "draw"), [(0.01, gauss), (0.03, gauss), (0.02, heavy)])
def test_at_most_one_unchanged_week_in_a_hundred_is_called_regressed(
    noise: float, draw: Callable[[random.Random, float], float]
) -> None:
    found = Counter(word for year in range(YEARS) for word in verdicts(watch(Machine(year, noise, draw))))
    weeks = YEARS * (WEEKS - guard.MIN_SESSIONS)
    assert sum(found.values()) - found[guard.CANNOT_TELL] == weeks
    assert found[guard.REGRESSED] <= most(0.01, weeks)


def test_a_slow_session_is_confirmed_by_the_one_of_the_week_before() -> None:
    machine, slow = Machine(2, 0.01), {"waitall": math.log(0.8)}
    weeks = [machine.week(number, {})[0] for number in range(1, 7)]
    before = replace(machine.week(7, slow)[0], verdict=guard.UNCONFIRMED)
    new = machine.week(8, slow)[0]
    assert guard.slow_before([*weeks, before, new], "08") is before
    assert guard.judge(weeks, new, before=before).confirmed_by == "07"
    assert guard.judge(weeks, new, before=machine.week(7, {})[0]).is_suspicion
    for unfit in (replace(before, lacks="1 launch failed"), replace(before, verdict=guard.UNCHANGED)):
        assert guard.slow_before([*weeks, unfit, new], "08") is None


@pytest.mark.simulation
def test_a_slowdown_is_found_within_weeks_under_more_noise() -> None:
    years = [verdicts(watch(Machine(YEARS + year, 0.015), SLOW))[PLANTED - 1 :] for year in range(YEARS)]
    assert sum(guard.REGRESSED in year for year in years) >= least(0.9, YEARS)


@pytest.mark.simulation
def test_eight_per_cent_are_found_in_the_first_slow_week() -> None:
    found = sum(
        watch(Machine(YEARS + year, 0.01), SLOW)[PLANTED - 1].verdict == guard.REGRESSED for year in range(YEARS)
    )
    assert found >= least(0.85, YEARS)
