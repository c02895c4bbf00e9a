"""`compare --noise-of`: rows that the two states cannot change show the noise of their launches."""

from __future__ import annotations

import math
import random

import pytest

from longshore_study.base.errors import LongshoreError
from longshore_study.base.expression import parse
from longshore_study.compare.comparison import CompareOptions, Comparison, compare
from longshore_study.output import compare_document, compare_table
from longshore_study.store.selection import Side
from promised_rates import least, most
from simulated_launches import halo, launch

OWN, SLOWED, OTHER = "channel", "persistent", "waitall"
STUDIES = 40


def compared(slower: dict[str, float], seed: int, condition: str | None = f"mode == '{OWN}'") -> Comparison:
    """40 launches of each state in turns, whose noise of 15 % all modes share. The probe feels a
    part of the noise."""
    generator = random.Random(seed)
    sides = {tag: Side(tag, []) for tag in ("before", "after")}
    for index in range(40):
        for minute, tag in enumerate(generator.sample(("before", "after"), 2)):
            mood = generator.gauss(0, 0.15)
            pulse = 0.5 * mood + generator.gauss(0, 0.15)
            results = [
                halo(
                    m, mood + generator.gauss(0, 0.03) - (math.log1p(slower.get(m, 0)) if tag == "after" else 0), pulse
                )
                for m in (OWN, SLOWED, OTHER)
            ]
            started = f"2026-03-01T{index // 2:02d}:{index % 2 * 30 + minute:02d}:00Z"
            sides[tag].launches.append(launch(tag, "s", index, results, started=started))
    noise_of = None if condition is None else parse(condition)
    return compare(sides["before"], sides["after"], CompareOptions(margin=0.03, noise_of=noise_of))


def verdicts(found: Comparison) -> dict[str, str]:
    return {row.key.variant["mode"]: row.verdict for row in found.rows}


def test_a_slowdown_that_the_noise_hides_is_found() -> None:
    studies = [verdicts(compared({SLOWED: 0.08}, seed)) for seed in range(STUDIES)]
    assert sum(one[SLOWED] == "regressed" for one in studies) >= least(0.95, STUDIES)
    assert sum(one[OTHER] == "regressed" for one in studies) <= most(0.05, STUDIES)
    by_probe = [verdicts(compared({SLOWED: 0.08}, seed, None)) for seed in range(STUDIES)]
    assert sum(one[SLOWED] == "regressed" for one in by_probe) <= most(0.2, STUDIES)


def test_a_slowdown_within_the_margin_is_not_called_regressed() -> None:
    studies = [verdicts(compared({SLOWED: 0.01}, seed)) for seed in range(STUDIES)]
    assert all("regressed" not in one.values() for one in studies)


def test_a_change_of_all_rows_is_not_taken_for_noise() -> None:
    found = compared(dict.fromkeys((OWN, SLOWED, OTHER), 0.4), 1)
    assert set(verdicts(found).values()) == {"regressed"}
    assert all(row.adjustment is None for row in found.rows if row.key.variant["mode"] != OWN)


def test_the_comparison_tells_whose_noise_was_removed(capsys: pytest.CaptureFixture[str]) -> None:
    found = compared({}, 2)
    assert compare_document.document(found)["noise_of"] == "mode == 'channel'"
    compare_table.render(found, verbose=False)
    assert "noise of mode == 'channel': removed from" in capsys.readouterr().out
    compare_table.render(compared(dict.fromkeys((OWN, SLOWED, OTHER), 0.4), 1), verbose=False)
    assert compare_document.document(compared({}, 2, None))["noise_of"] is None


def test_a_condition_that_no_row_meets_is_refused() -> None:
    with pytest.raises(LongshoreError, match="leaves nothing: no row has mode 'chanel'; did you mean 'channel'"):
        compared({}, 3, "mode == 'chanel'")
