"""`longshore init`: writes an example of a study file, and never overwrites a file."""

import argparse
import json
from importlib import resources
from pathlib import Path

from longshore_study.base.errors import LongshoreError, UsageError
from longshore_study.cli.result_output import print_result
from longshore_study.patterns import MEASURED, PATTERNS

EXAMPLES = """examples:
  longshore init                writes study.toml
  longshore init halo.toml      writes halo.toml, a study named "halo"
  longshore init --reframe longshore_checks.py      a test that runs longshore-bench under ReFrame"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", nargs="?", help="default: study.toml")
    parser.add_argument("--reframe", action="store_true", help="write a test for ReFrame, longshore_checks.py")


def run(args: argparse.Namespace) -> int:
    path = Path(args.file or ("longshore_checks.py" if args.reframe else "study.toml"))
    source = "reframe_checks.py.txt" if args.reframe else "study.toml"
    template = resources.files("longshore_study.cli").joinpath(f"templates/{source}").read_text(encoding="utf-8")
    name = path.stem if path.stem.isprintable() and path.stem.strip() else "study"
    listed = f"{', '.join(MEASURED[:-1])} or {MEASURED[-1]}"
    template = template.replace("PATTERNS", listed, 1)
    template = template.replace("MAIN = {}", f"MAIN = {json.dumps({name: PATTERNS[name].main for name in MEASURED})}")
    text = template.replace('name = "study"', f"name = {json.dumps(name, ensure_ascii=False)}", 1)
    try:
        with path.open("x", encoding="utf-8") as file:  # fails if the file exists
            file.write(text)
    except FileExistsError:
        raise UsageError(f"{path} exists and is not overwritten; name another file") from None
    except OSError as error:
        raise LongshoreError(f"cannot write {path}: {error.strerror}") from None
    then = f"edit it, then: longshore plan {path} ; longshore run {path}"
    if args.reframe:
        then = f"reframe -c {path} -r runs it"
    return print_result(args, lambda: {"schema": 1, "file": str(path)}, lambda: print(f"{path} written; {then}"))
