"""Reads the records of a run and checks that they are complete and consistent."""

import json
from collections import Counter
from dataclasses import dataclass
from typing import Any

Record = dict[str, Any]


class DamagedRecordsError(Exception):
    """The records violate docs/reference/records.md. The text says where."""


@dataclass(frozen=True)
class Records:
    end: Record
    results: list[Record]
    """The results of variants that ran."""
    skipped: list[str]
    """The reasons of variants that did not run."""


def no_constant(name: str) -> float:
    raise DamagedRecordsError(f"a number is {name}, which JSON does not have")


def lines_of(content: bytes) -> list[Record]:
    """Raises DamagedRecordsError for an incomplete line."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise DamagedRecordsError(f"the records are not UTF-8: {problem}") from problem
    if not text.endswith("\n"):
        raise DamagedRecordsError("the last line of the records is not whole")
    records = []
    for number, line in enumerate(text[:-1].split("\n"), start=1):
        try:
            record = json.loads(line, parse_constant=no_constant)
        except ValueError as problem:
            raise DamagedRecordsError(f"line {number} of the records is no JSON: {problem}") from problem
        if not isinstance(record, dict) or "record" not in record:
            raise DamagedRecordsError(f"line {number} of the records is no record")
        records.append(record)
    return records


def read(content: bytes) -> Records:
    """Raises DamagedRecordsError if a record is missing, extra or contradicts another."""
    records = lines_of(content)
    kinds = [record["record"] for record in records]
    if kinds[0] != "launch" or kinds.count("launch") != 1:
        raise DamagedRecordsError(f"the records do not begin with one launch: {', '.join(kinds[:3])}, ...")
    if kinds[-1] != "end" or kinds.count("end") != 1:
        raise DamagedRecordsError(f"the records do not close with one end: ..., {', '.join(kinds[-3:])}")
    of_variants = [record for record in records if record["record"] == "result"]
    results = [record for record in of_variants if "skipped" not in record]
    skipped = [str(record["skipped"]) for record in of_variants if "skipped" in record]
    if records[-1].get("status") == "ok":
        check_counts(records[-1], results, skipped)
        check_samples(records, results)
    return Records(records[-1], results, skipped)


def check_counts(end: Record, results: list[Record], skipped: list[str]) -> None:
    wrong = sum(result.get("verified") is not True for result in results)
    for name, count in (("results", len(results)), ("skipped", len(skipped)), ("wrong", wrong)):
        if end.get(name) != count:
            raise DamagedRecordsError(f"the end counts {end.get(name)} '{name}', but the records have {count}")
    if any(not reason.strip() for reason in skipped):
        raise DamagedRecordsError("a variant is skipped without a reason")


def check_samples(records: list[Record], results: list[Record]) -> None:
    """Each result has one sample per repetition."""
    samples = Counter(json.dumps(record["variant"]) for record in records if record["record"] == "sample")
    for result in results:
        variant = json.dumps(result["variant"])
        if samples[variant] != result["repetitions"]:
            repetitions = result["repetitions"]
            raise DamagedRecordsError(f"{variant} has {samples[variant]} samples for {repetitions} repetitions")
