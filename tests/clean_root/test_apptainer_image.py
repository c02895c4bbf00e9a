"""The steps of the Apptainer definition build longshore-bench in a fresh Debian.

Apptainer is no package of Debian. A clean root stands in for its image: its %files are copied, then
%post, %environment, %test and %runscript run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from apptainer_definition import copy_files, sections

if TYPE_CHECKING:
    from clean_root import CleanRoot

pytestmark = pytest.mark.clean_root


def test_the_image_builds_passes_its_test_and_runs(root: CleanRoot) -> None:
    parts = sections()
    copy_files(root.folder)
    root.check(parts["post"], APPTAINER_LABELS="/labels")
    assert (root.folder / "labels").read_text(encoding="utf-8").startswith("version ")
    assert not (root.folder / "opt/longshore").exists()
    root.check(parts["environment"] + parts["test"])
    run = f"set -- --list\n{parts['environment']}{parts['runscript']}"
    assert '"gather"' in root.check(run)
    assert root.run(parts["runscript"]).returncode == 2, "without a pattern, longshore-bench refuses"
