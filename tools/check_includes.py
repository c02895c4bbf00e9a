#!/usr/bin/env python3
"""Check that C++ files include the standard headers of the names that they use.

Usage: check_includes.py [FILE...]

A header of the standard library may include another one in one version of a compiler and not in
the next: g++ 12 compiles files that g++ 13 refuses. So a file, or one of Longshore's headers that
it includes, includes the header of each name in PROVIDED. Prints file, header and names for each
that is missing. Exit status 1 if there is one.
"""

import functools
import re
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
ROOTS = [REPOSITORY / folder for folder in ("src", "bench", "bindings/c", "bindings/python/src", "tests", ".")]

# Headers that others include in some versions of a library only, and the names that they provide.
PROVIDED = {
    "algorithm": "all_of any_of binary_search clamp copy copy_if copy_n count count_if equal fill fill_n find find_if "
    "for_each is_sorted lower_bound max max_element min min_element minmax mismatch none_of nth_element replace "
    "reverse rotate sort stable_sort transform unique upper_bound",
    "atomic": "atomic atomic_ref",
    "cmath": "ceil exp floor hypot isfinite isnan log log2 lround pow round sqrt",
    "cstdint": "int8_t int16_t int32_t int64_t intptr_t uint8_t uint16_t uint32_t uint64_t uintptr_t",
    "cstdio": "FILE fclose fflush fopen fprintf fputs printf snprintf",
    "cstdlib": "abort atexit exit getenv strtol",
    "cstring": "memcmp memcpy memmove memset strcmp strlen",
    "exception": "current_exception exception_ptr rethrow_exception",
    "functional": "function hash plus ref reference_wrapper",
    "limits": "numeric_limits",
    "memory": "make_shared make_unique shared_ptr unique_ptr weak_ptr",
    "mutex": "call_once lock_guard mutex once_flag scoped_lock unique_lock",
    "numeric": "accumulate exclusive_scan gcd iota lcm partial_sum reduce",
    "optional": "nullopt optional",
    "string": "stoi string to_string",
    "thread": "thread",
    "variant": "get_if holds_alternative variant visit",
}
HEADER_OF = {name: header for header, names in PROVIDED.items() for name in names.split()}
ALSO_PROVIDES = {"string": {"sstream", "iostream", "fstream"}}


@functools.cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def included(path: Path) -> set[str]:
    """The foreign headers that a file includes, itself or by Longshore's headers."""
    foreign, seen, pending = set(), {path}, [path]
    while pending:
        file = pending.pop()
        for name in re.findall(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]', text_of(file), re.MULTILINE):
            own = next((p for p in (folder / name for folder in [file.parent, *ROOTS]) if p.is_file()), None)
            if own is None:
                foreign.add(name)
            elif own not in seen:
                seen.add(own)
                pending.append(own)
    return foreign


def missing(path: Path) -> dict[str, set[str]]:
    """The names of each header that a file should include."""
    has = included(path)
    found: dict[str, set[str]] = {}
    code = re.sub(r'//[^\n]*|"(\\.|[^"\\\n])*"', "", text_of(path))
    for name in re.findall(r"\bstd::(\w+)", code):
        header = HEADER_OF.get(name)
        if header and not has & {header, *ALSO_PROVIDES.get(header, ())}:
            found.setdefault(header, set()).add(name)
    return found


def main() -> int:
    """Check the files that are named, or else all that git tracks and those that it would."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.cpp", "*.hpp", "*.cu"]
    names = sys.argv[1:] or subprocess.run(
        listed, cwd=REPOSITORY, capture_output=True, text=True, check=True
    ).stdout.split("\0")
    problems = 0
    for name in filter(None, names):
        path = REPOSITORY / name
        # A file without an include is part of another one.
        if not path.is_file() or "#include" not in text_of(path):
            continue
        for header, used in missing(path).items():
            print(f"{name}: #include <{header}> for std::{', std::'.join(sorted(used))}")
            problems += 1
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
