"""Records: JSON objects, one per line, from longshore-bench and the importers. Parses, checks and
builds them. REQUIRED and OPTIONAL list their keys."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from longshore_study.base.errors import LongshoreError

SCHEMA = 1
"""The schema version that this program writes. It reads all versions up to this one."""

_TYPE_NAMES = {dict: "an object", list: "a list", str: "a text", int: "an integer", float: "a number"}

REQUIRED: dict[str, dict[str, type]] = {
    "study": {"schema": int, "study": str, "tag": str, "session": str, "cell": dict},
    "launch": {"schema": int},
    "sample": {"pattern": str, "variant": dict},
    "result": {"pattern": str, "variant": dict},
    "end": {"status": str},
}
"""By kind of record: the keys that must be present, and their types."""

Record = dict[str, Any]


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


# One decoder for all lines. json.loads would build one per call.
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
        "guidelines": list,
        "steps": list,
        "study_file": dict,
        "environment": dict,
    },
    "result": {"metrics": dict, "seconds": dict, "traffic": dict, "pulse_seconds": float},
    "sample": {"seconds": dict},
}
"""By kind of record: keys that may be absent or null, and their types otherwise."""


class RecordError(LongshoreError):
    """A record is invalid. The message names file and line."""


def parse(text: str | bytes, path: Path | str, line_number: int) -> Record:
    """Parses and checks one line.

    Raises RecordError if the text is not JSON, the kind is unknown, a key is missing, or the schema
    is newer than ours.
    """
    place = f"{path}:{line_number}"
    try:
        value = _DECODER.decode(text if isinstance(text, str) else text.decode())
    except (ValueError, RecursionError) as error:
        reason = getattr(error, "msg", str(error))
        raise RecordError(f"{place}: not a JSON record ({reason})") from None
    if not isinstance(value, dict) or "record" not in value:
        raise RecordError(f"{place}: not a record (an object with the key 'record' is expected)")
    check(value, path, line_number)
    return value


def parse_lines(lines: Sequence[tuple[int, bytes]], path: Path | str) -> Iterator[Record]:
    """Like `parse` for each numbered line (from 0). Yields the records before the first invalid
    one, then raises. Decoding all lines at once is faster and stores equal keys once."""
    whole = all(line[:1] == b"{" and line[-1:] == b"}" for _, line in lines)
    try:
        decoded = _DECODER.decode((b"[" + b",".join(line for _, line in lines) + b"]").decode()) if whole else []
    except (ValueError, RecursionError):
        decoded = []
    if len(decoded) != len(lines):
        yield from (parse(line, path, number + 1) for number, line in lines)
        return
    for (number, _), record in zip(lines, decoded, strict=True):
        if not isinstance(record, dict) or "record" not in record:
            raise RecordError(f"{path}:{number + 1}: not a record (an object with the key 'record' is expected)")
        check(record, path, number + 1)
        yield record


def check(record: Mapping[str, Any], path: Path | str, line_number: int | None = None) -> None:
    """Raises RecordError with file and line if a record lacks a required key."""
    place = path if line_number is None else f"{path}:{line_number}"
    kind = record["record"]
    required = REQUIRED.get(kind) if isinstance(kind, str) else None
    if required is None:
        raise RecordError(f"{place}: unknown kind of record {kind!r} (known: {', '.join(REQUIRED)})")
    for key, expected in required.items():
        value = record.get(key)
        if not _is(value, expected):
            raise RecordError(f"{place}: record '{kind}' needs '{key}', {_TYPE_NAMES[expected]}; found {value!r:.60}")
    for key, expected in OPTIONAL.get(kind, {}).items():
        value = record.get(key)
        if value is not None and not _is(value, expected):
            raise RecordError(f"{place}: '{key}' of record '{kind}' is {_TYPE_NAMES[expected]}; found {value!r:.60}")
    for name, metric_ in (record.get("metrics") or {}).items() if kind == "result" else ():
        if not isinstance(metric_, dict):
            raise RecordError(
                f"{place}: metric '{name}' is an object with value, unit and better; found {metric_!r:.60}"
            )
    schema = record.get("schema", SCHEMA)
    if not 1 <= schema <= SCHEMA:
        raise RecordError(
            f"{place}: schema {schema} is not known to this version (1 to {SCHEMA}); a newer longshore reads it"
        )


def _is(value: object, expected: type) -> bool:
    """Like isinstance, except that a boolean is not a number and an integer is a float."""
    if isinstance(value, bool):
        return False
    return isinstance(value, int | float) if expected is float else isinstance(value, expected)


def dump(record: Mapping[str, Any]) -> str:
    """One line without the newline. Raises ValueError for NaN, which JSON does not have."""
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def result_record(pattern: str, variant: Mapping[str, Any], metrics: Mapping[str, Any], **more: Any) -> Record:
    """A `result` record in the form of longshore-bench. `metrics` maps names to `metric(...)`."""
    return {"record": "result", "pattern": pattern, "variant": dict(variant), **more, "metrics": dict(metrics)}


def metric(value: float, unit: str, better: str = "higher") -> Record:
    return {"value": value, "unit": unit, "better": better}


def end_record(status: str = "ok") -> Record:
    return {"record": "end", "status": status}
