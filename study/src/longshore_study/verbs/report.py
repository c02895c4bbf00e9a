"""`longshore report`: everything a study found, in one HTML file for somebody who was not there."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from longshore_study import compare, guidelines, selection
from longshore_study.errors import EXIT_OK, LongshoreError
from longshore_study.report.best import solo_sentence
from longshore_study.report.facts import Facts, gather_facts
from longshore_study.report.page import build_page
from longshore_study.selection import Side
from longshore_study.store import Store

EXAMPLES = """\
examples:
  longshore report                                    all that is stored
  longshore report quick -o quick.html                one study
  longshore report --compare reference new            two tags, judged

The file needs no network: plots, data and style are in it. It may be sent by mail, and printed.

exit status: 0 written (whatever the verdict), 3 nothing to report, 64 usage
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    parser.add_argument("studies", metavar="STUDY", nargs="*", help="only these studies (default: all)")
    parser.add_argument("--compare", nargs=2, metavar=("REF", "NEW"), help="judge one tag, or study, against another")
    parser.add_argument("--margin", metavar="M", help="differences below it do not matter: 5%% or 0.05")
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("report.html"), metavar="FILE", help="default: report.html"
    )


def run(args: argparse.Namespace) -> int:
    store = Store(args.store)
    if args.compare:
        facts = _compared(store, args.compare, args.studies, args.margin)
    else:
        facts = _described(store, args.studies)
    page = build_page(facts).encode("utf-8", "replace")
    try:
        args.output.write_bytes(page)
    except OSError as error:
        raise LongshoreError(f"cannot write {args.output}: {error.strerror}; choose another place with -o") from None
    _print(args, facts, len(page))
    return EXIT_OK


def _compared(store: Store, names: list[str], studies: list[str], margin: str | None) -> Facts:
    sides = selection.sides(store, names, studies[0] if len(studies) == 1 else None)
    if len(studies) > 1:
        _require_known(store, studies)
        sides = [replace(side, launches=[x for x in side.launches if x.study in studies]) for side in sides]
    options = compare.Options(margin=compare.parse_margin(margin) if margin is not None else None)
    document = compare.document(compare.compare(sides[0], sides[1], options))
    # The new side is what somebody would have to act on.
    return gather_facts(sides, document, _guidelines(sides[1:]))


def _described(store: Store, studies: list[str]) -> Facts:
    """Without a comparison every tag is a side."""
    _require_known(store, studies)
    chosen = [(s, tag) for s, tag, _ in selection.stored_names(store) if not studies or s in studies]
    tags = list(dict.fromkeys(tag for _, tag in chosen))
    sides = [
        Side(tag, [launch for study in _studies_of(chosen, tag) for launch in store.launches(study, tag)])
        for tag in tags
    ]
    return gather_facts(sides, None, _guidelines(sides))


def _studies_of(chosen: list[tuple[str, str]], tag: str) -> list[str]:
    return list(dict.fromkeys(study for study, t in chosen if t == tag))


def _require_known(store: Store, studies: list[str]) -> None:
    known = {study for study, _, _ in selection.stored_names(store)}
    for study in studies:
        selection.require_known(study, known, "study")


def _guidelines(sides: list[Side]) -> dict[str, list[dict[str, Any]]]:
    found = {}
    for side in sides:
        try:
            rows = guidelines.document(guidelines.check(side))["rows"]
        except LongshoreError:
            continue  # no usable figure on this side: the page says so under what is missing
        found[side.name] = rows
    return {name: rows for name, rows in found.items() if rows}


def _print(args: argparse.Namespace, facts: Facts, size: int) -> None:
    verdict = facts.comparison.verdict if facts.comparison else None
    if args.json:
        document = {
            "schema": 1,
            "file": str(args.output),
            "bytes": size,
            "sides": list(facts.sides),
            "verdict": verdict,
        }
        print(json.dumps(document, ensure_ascii=False))
        return
    print(f"{args.output}: {verdict}" if verdict else f"{args.output}: {solo_sentence(facts)}")
