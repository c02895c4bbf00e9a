"""The package has the names and parameters that docs/reference/api/python.md promises."""

from __future__ import annotations

import public_interface  # in tools/


def test_the_package_has_what_its_page_promises() -> None:
    page = public_interface.page_of("python").read_text(encoding="utf-8")
    found = list(public_interface.differences("python", page))
    assert not found, "\n".join(found)
