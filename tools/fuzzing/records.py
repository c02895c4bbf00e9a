"""Reads the records of a run and checks that they are complete and consistent."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import Any

Record = dict[str, Any]


class TornError(Exception):
    """The records violate docs/reference/records.md. The text says where."""


@dataclass(frozen=True)
class Records:
    end: Record
    results: list[Record]
    """The results of variants that ran."""
    skipped: list[str]
    """The reasons of variants that did not run."""


def no_constant(name: str) -> float:
    raise TornError(f"a number is {name}, which JSON does not have")


def lines_of(content: bytes) -> list[Record]:
    """Raises TornError for an incomplete line."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise TornError(f"the records are not UTF-8: {problem}") from problem
    if not text.endswith("\n"):
        raise TornError("the last line of the records is not whole")
    found = []
    for number, line in enumerate(text[:-1].split("\n"), start=1):
        try:
            record = json.loads(line, parse_constant=no_constant)
        except ValueError as problem:
            raise TornError(f"line {number} of the records is no JSON: {problem}") from problem
        if not isinstance(record, dict) or "record" not in record:
            raise TornError(f"line {number} of the records is no record")
        found.append(record)
    return found


def read(content: bytes) -> Records:
    """Raises TornError if a record is missing, extra or contradicts another."""
    found = lines_of(content)
    kinds = [record["record"] for record in found]
    if kinds[0] != "launch" or kinds.count("launch") != 1:
        raise TornError(f"the records do not begin with one launch: {', '.join(kinds[:3])}, ...")
    if kinds[-1] != "end" or kinds.count("end") != 1:
        raise TornError(f"the records do not close with one end: ..., {', '.join(kinds[-3:])}")
    of_variants = [record for record in found if record["record"] == "result"]
    results = [record for record in of_variants if "skipped" not in record]
    skipped = [str(record["skipped"]) for record in of_variants if "skipped" in record]
    if found[-1].get("status") == "ok":
        check_counts(found[-1], results, skipped)
        check_samples(found, results)
    return Records(found[-1], results, skipped)


def check_counts(end: Record, results: list[Record], skipped: list[str]) -> None:
    wrong = sum(result.get("verified") is not True for result in results)
    for name, count in (("results", len(results)), ("skipped", len(skipped)), ("wrong", wrong)):
        if end.get(name) != count:
            raise TornError(f"the end counts {end.get(name)} '{name}', but the records have {count}")
    if any(not reason.strip() for reason in skipped):
        raise TornError("a variant is skipped without a reason")


def check_samples(found: list[Record], results: list[Record]) -> None:
    """Each result has as many samples as it says."""
    samples = Counter(json.dumps(record["variant"]) for record in found if record["record"] == "sample")
    for result in results:
        variant = json.dumps(result["variant"])
        if samples[variant] != result["repetitions"]:
            raise TornError(f"{variant} has {samples[variant]} samples for {result['repetitions']} repetitions")
