"""Invalid records and the messages about them."""

from __future__ import annotations

import json

import pytest

from longshore_study.store import records
from longshore_study.store.records import RecordError


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"record":"result","pattern":"halo"', "not a JSON record"),
        ("", "not a JSON record"),
        ("[1, 2]", "not a record"),
        ('{"pattern":"halo"}', "not a record"),
        ('{"record":"resutl"}', "unknown kind of record 'resutl'"),
        ('{"record":["result"]}', "unknown kind of record"),
        ('{"record":"result","variant":{}}', "needs 'pattern', a text"),
        ('{"record":"result","pattern":"halo","variant":[]}', "needs 'variant', an object"),
        ('{"record":"launch","schema":true}', "needs 'schema', an integer"),
        ('{"record":"launch","schema":99}', "schema 99 is not known"),
        ('{"record":"end","status":NaN}', "NaN is not JSON"),
    ],
)
def test_a_bad_line_is_named_with_file_and_line(line: str, said: str) -> None:
    with pytest.raises(RecordError, match=r"^f\.jsonl:7: ") as raised:
        records.parse(line, "f.jsonl", 7)
    assert said in str(raised.value)
    assert raised.value.exit_status == 3


def test_invalid_utf_8_is_refused() -> None:
    with pytest.raises(RecordError, match="not a JSON record"):
        records.parse(b'{"record":"end","status":"\xff"}', "f", 1)


def test_written_records_are_read_back() -> None:
    record = records.result_record("halo", {"mode": "µ"}, {"b": records.metric(1.5, "GB/s")}, verified=True)
    line = records.dump(record)
    assert "\n" not in line
    assert records.parse(line, "f", 1) == record
    assert json.loads(line)["metrics"]["b"] == {"value": 1.5, "unit": "GB/s", "better": "higher"}


def test_a_number_that_json_lacks_is_not_written() -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        records.dump({"value": float("nan")})


def test_unknown_keys_of_later_versions_are_kept() -> None:
    assert records.parse('{"record":"end","status":"ok","colour":"red"}', "f", 1)["colour"] == "red"
