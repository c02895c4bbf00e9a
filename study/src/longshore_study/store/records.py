"""Parses, checks and builds records: JSON objects, one per line. REQUIRED and OPTIONAL have their
keys."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from longshore_study.base.errors import LongshoreError

SCHEMA = 1
"""The schema version that this program writes. It reads all versions up to this one."""
EXIT_ALL_SKIPPED = 2
"""Exit status of longshore-bench if it skipped every variant; also that of a usage error."""

_TYPE_NAMES = {dict: "an object", list: "a list", str: "a text", int: "an integer", float: "a number"}

REQUIRED: dict[str, dict[str, type]] = {
    "study": {"schema": int, "study": str, "tag": str, "session": str, "cell": dict},
    "launch": {"schema": int},
    "sample": {"pattern": str, "variant": dict},
    "result": {"pattern": str, "variant": dict},
    "end": {"status": str},
}
"""The keys that must be present in each kind of record, and their types."""

Record = dict[str, Any]


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


# Shared by all lines, since json.loads with this option would build a decoder per call.
_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


OPTIONAL: dict[str, dict[str, type]] = {
    "study": {
        "cell_id": str,
        "launch_index": int,
        "position": int,
        "exit_status": int,
        "stderr_tail": list,
        "started": str,
        "source": str,
        "margin": float,
        "bound": dict,
        "steps": list,
        "study_file": dict,
        "environment": dict,
    },
    "result": {"metrics": dict, "seconds": dict, "traffic": dict, "pulse_seconds": float, "cache_line_seconds": dict},
    "sample": {"seconds": dict},
}
"""The keys that may be absent or null in each kind of record, and the types of other values."""


class RecordError(LongshoreError):
    """An invalid record. The message names file and line."""


def parse(text: str | bytes, path: Path | str, line_number: int) -> Record:
    """Parses and checks one line.

    Raises RecordError if the text is not JSON, the kind is unknown, a key is missing, or the schema
    is newer than ours.
    """
    location = f"{path}:{line_number}"
    try:
        value = _DECODER.decode(text if isinstance(text, str) else text.decode())
    except (ValueError, RecursionError) as error:
        reason = getattr(error, "msg", str(error))
        raise RecordError(f"{location}: not a JSON record ({reason})") from None
    return _checked(value, path, line_number)


def parse_lines(lines: Sequence[tuple[int, bytes]], path: Path | str) -> Iterator[Record]:
    """Like `parse` for each line, with its number from 0. Yields the records before the first
    invalid record, then raises. Decoding all lines at once is faster and stores equal keys once."""
    complete = all(line[:1] == b"{" and line[-1:] == b"}" for _, line in lines)
    try:
        decoded = _DECODER.decode((b"[" + b",".join(line for _, line in lines) + b"]").decode()) if complete else []
    except (ValueError, RecursionError):
        decoded = []
    if len(decoded) != len(lines):
        yield from (parse(line, path, number + 1) for number, line in lines)
        return
    for (number, _), record in zip(lines, decoded, strict=True):
        yield _checked(record, path, number + 1)


def _checked(value: object, path: Path | str, line_number: int) -> Record:
    if not isinstance(value, dict) or "record" not in value:
        raise RecordError(f"{path}:{line_number}: not a record (an object with the key 'record' is expected)")
    check(value, path, line_number)
    return value


def check(record: Mapping[str, Any], path: Path | str, line_number: int | None = None) -> None:
    """Raises RecordError if the kind of the record, a key or the schema is invalid."""
    location = path if line_number is None else f"{path}:{line_number}"
    kind = record["record"]
    required = REQUIRED.get(kind) if isinstance(kind, str) else None
    if required is None:
        raise RecordError(f"{location}: unknown kind of record {kind!r} (known: {', '.join(REQUIRED)})")
    for key, expected in required.items():
        value = record.get(key)
        if not _is(value, expected):
            raise RecordError(
                f"{location}: record '{kind}' needs '{key}', {_TYPE_NAMES[expected]}; found {value!r:.60}"
            )
    for key, expected in OPTIONAL.get(kind, {}).items():
        value = record.get(key)
        if value is not None and not _is(value, expected):
            raise RecordError(f"{location}: '{key}' of record '{kind}' is {_TYPE_NAMES[expected]}; found {value!r:.60}")
    for name, value in (record.get("metrics") or {}).items() if kind == "result" else ():
        if not isinstance(value, dict):
            raise RecordError(
                f"{location}: metric '{name}' is an object with value, unit and better; found {value!r:.60}"
            )
    schema = record.get("schema", SCHEMA)
    if not 1 <= schema <= SCHEMA:
        raise RecordError(
            f"{location}: schema {schema} is not known to this version (1 to {SCHEMA}); a newer longshore reads it"
        )


def _is(value: object, expected: type) -> bool:
    """Like isinstance, except that a boolean is not a number and an integer is a float."""
    if isinstance(value, bool):
        return False
    return isinstance(value, int | float) if expected is float else isinstance(value, expected)


def dump(record: Mapping[str, Any]) -> str:
    """The record as a line of text without the newline. Raises ValueError for NaN."""
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def result_record(pattern: str, variant: Mapping[str, Any], metrics: Mapping[str, Any], **more: Any) -> Record:
    """A `result` record in the form of longshore-bench. `metrics` maps names to `metric(...)`."""
    return {"record": "result", "pattern": pattern, "variant": dict(variant), **more, "metrics": dict(metrics)}


def metric(value: float, unit: str, better: str = "higher") -> Record:
    return {"value": value, "unit": unit, "better": better}


def end_record(status: str = "ok") -> Record:
    return {"record": "end", "status": status}


def node_count(ranks: int, ranks_per_node: int) -> int:
    """The number of nodes of a launch. The last node may have fewer ranks than `ranks_per_node`."""
    return -(-ranks // ranks_per_node)
