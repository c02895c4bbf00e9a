"""Each factor of a pattern is either a part of the work or a way to do it."""

from __future__ import annotations

import pytest

from longshore_study.store.work import WAYS, WORK
from longshore_study.study_file.factors import FACTORS


@pytest.mark.parametrize("pattern", [pattern for pattern in FACTORS if pattern != "control"])
def test_each_factor_is_classed_once(pattern: str) -> None:
    assert not set(WORK[pattern]) & set(WAYS[pattern])
    of_imports = {"array"} if pattern == "stream" else set()  # BabelStream prints no number of elements
    assert {*WORK[pattern], *WAYS[pattern]} == {*FACTORS[pattern], *of_imports}
