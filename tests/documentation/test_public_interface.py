"""The page of what is public lists exactly the names that are there: nothing promised is gone, and
nothing new is promised by mistake."""

from __future__ import annotations

import sys

import pytest
from repository import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "tools"))
import public_interface

# bindings/python/tests/test_public_names.py looks at the Python package.
SECTIONS = [section for section in public_interface.SECTIONS if section != "python"]


@pytest.mark.parametrize("section", SECTIONS)
def test_the_page_lists_what_is_public(section: str) -> None:
    page = public_interface.PAGE.read_text(encoding="utf-8")
    try:
        found = list(public_interface.differences(section, page))
    except public_interface.MissingPartError as missing:
        pytest.skip(str(missing))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("section", public_interface.SECTIONS)
def test_a_name_that_goes_away_and_a_new_one_are_reported(section: str, monkeypatch: pytest.MonkeyPatch) -> None:
    page = public_interface.PAGE.read_text(encoding="utf-8")
    first, *rest = public_interface.promised_names(section, page)
    monkeypatch.setitem(public_interface.SECTIONS, section, lambda: [*rest, "a_new_name"])
    gone, new = public_interface.differences(section, page)
    assert gone.startswith(f"{section}: '{first}' is gone or changed")
    assert new.startswith(f"{section}: 'a_new_name' is new")
