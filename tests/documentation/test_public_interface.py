"""The pages list exactly what is public: nothing promised is gone, and nothing new is promised by
mistake. The pages of C and Fortran have a row for each call."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from repository import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "tools"))
import public_interface
from interface_tables import c, fortran
from interface_tables.tables import MissingPartError

# bindings/python/tests/test_public_names.py looks at the Python package.
SECTIONS = [section for section in public_interface.SECTIONS if section != "python"]
MODULE = REPOSITORY / "bindings/fortran/longshore.f90.in"


@pytest.mark.parametrize("section", SECTIONS)
def test_the_page_lists_what_is_public(section: str) -> None:
    page = public_interface.page_of(section).read_text(encoding="utf-8")
    try:
        found = list(public_interface.differences(section, page))
    except MissingPartError as missing:
        pytest.skip(str(missing))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("section", public_interface.SECTIONS)
def test_a_name_that_goes_away_and_a_new_one_are_reported(section: str, monkeypatch: pytest.MonkeyPatch) -> None:
    page = public_interface.page_of(section).read_text(encoding="utf-8")
    listed = public_interface.text_promised(section, page)[1]
    monkeypatch.setattr(public_interface, "text_found", lambda _: f"a_new_name\n{listed}")
    old_page = page.replace(listed, f"an_old_name\n{listed}") if listed else f"{page}an_old_name\n"
    gone, new = public_interface.differences(section, old_page)
    assert gone.startswith(f"{section}: 'an_old_name' is gone or changed")
    assert new.startswith(f"{section}: 'a_new_name' is new or changed")


def test_every_exported_function_of_c_has_a_row() -> None:
    symbols = (REPOSITORY / "bindings/c/longshore_c.symbols").read_text(encoding="utf-8")
    exported = set(re.findall(r"^(longshore_\w+)", symbols, re.MULTILINE))
    assert {"longshore_run", "longshore_join", "longshore_update_create"} <= exported
    assert exported <= set(re.findall(r"\b(longshore_\w+)\(", c.table(REPOSITORY)))


def test_a_call_of_fortran_without_a_comment_is_refused(tmp_path: Path) -> None:
    copy = tmp_path / "bindings/fortran/longshore.f90.in"
    for name in ("fortran/longshore.f90.in", "fortran/generate_module.py", "c/longshore.h"):
        place = tmp_path / "bindings" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text((REPOSITORY / "bindings" / name).read_text(encoding="utf-8"), encoding="utf-8")
    assert "`array%size()`" in fortran.table(tmp_path)
    copy.write_text(copy.read_text("utf-8").replace("    !> The number of elements on all ranks.\n", ""), "utf-8")
    with pytest.raises(ValueError, match="no comment for the public name longshore_array%size"):
        fortran.table(tmp_path)
