"""The command line of tools/release."""

import argparse
import shutil
import sys
from functools import partial
from pathlib import Path

from releasing.checking import (
    check_debian_packages,
    check_python_packages,
    check_wheels_in_a_clean_environment,
    write_checksums,
)
from releasing.facts import problems, version_of
from releasing.making import (
    Release,
    make_debian_packages,
    make_source_archive,
    make_source_distributions,
    make_wheels,
    prepare,
)
from releasing.running import ReleaseError, take_steps

REPOSITORY = Path(__file__).resolve().parent.parent.parent
DESCRIPTION = """\
Makes all files of a release in build/dist, and checks each: the source archive, source distributions and wheels of
both Python packages, Debian packages, and SHA256SUMS. Needs a clean tree, a section of the version in CHANGELOG.md,
and the same version everywhere. Publishes nothing. It takes about as long as two builds."""
EPILOG = "exit status: 0 all files are made and checked; 1 they are not; 2 a wrong command line."


def check_tree(root: Path) -> None:
    if found := problems(root):
        lines = "\n".join(f"  - {problem}" for problem in found)
        raise ReleaseError(f"this tree is no release:\n{lines}")


def main(words: list[str], root: Path = REPOSITORY) -> int:
    options = argparse.ArgumentParser(
        "tools/release", description=DESCRIPTION, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    only = options.add_mutually_exclusive_group()
    only.add_argument("--check", action="store_true", help="only check whether this tree is a release")
    only.add_argument("--print-version", action="store_true", help="only print the version")
    asked = options.parse_args(words)
    try:
        if asked.print_version:
            print(version_of(root))
            return 0
        if asked.check:
            check_tree(root)
            print(f"release: this tree is version {version_of(root)}")
            return 0
        release = Release(root, version_of(root), root / "build" / "dist", root / "build" / "release-work")
        steps = (
            ("the tree: clean, one version, a section in CHANGELOG.md", partial(check_tree, root)),
            ("tools for Python packages", partial(prepare, release)),
            ("source archive of the commit", partial(make_source_archive, release)),
            ("source distributions of the Python packages", partial(make_source_distributions, release)),
            ("wheels, from the source distributions", partial(make_wheels, release)),
            ("Debian packages, from the source archive", partial(make_debian_packages, release)),
            ("check: Python packages", partial(check_python_packages, release)),
            ("check: wheels in a clean environment", partial(check_wheels_in_a_clean_environment, release)),
            ("check: Debian packages", partial(check_debian_packages, release)),
            ("checksums", partial(write_checksums, release.folder)),
        )
        take_steps(steps, partial(print, flush=True))
        shutil.rmtree(release.work)
    except ReleaseError as error:
        print(f"release: {error}", file=sys.stderr)
        return 1
    for file in sorted(release.folder.iterdir()):
        print(f"{file.stat().st_size:>12}  {file.relative_to(root)}")
    print(f"release: {release.version} is ready in {release.folder.relative_to(root)}")
    return 0
