"""Converts the output of an external program, printed or in a file, to records."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from longshore_study.base.errors import LongshoreError
from longshore_study.execution.child_process import MAX_OUTPUT_BYTES, ChildResult
from longshore_study.importers import formats
from longshore_study.importers.imported import Options
from longshore_study.study_file.study import External


def imported_lines(
    external: External, between: Mapping[str, Any], program: Sequence[str], result: ChildResult, written: Path
) -> tuple[list[str], str | None]:
    """The records of a launch and None, or none and the reason. `written`: its output file."""
    options = Options(
        ranks_per_node=_ranks_per_node(external, between),
        ranks=_integer(between.get("ranks")),
        metric=external.metric,
        program=external.name,
    )
    try:
        file_text = _file_text(written) if external.writes_file else ""
        # bale prints its results on stderr, other programs on stdout. If the format is a document,
        # such as JSON, warnings on stderr would make it unreadable.
        is_document = external.format in formats.ONE_DOCUMENT
        texts = [file_text or result.output] if is_document else [result.output, result.errors, file_text]
        if external.format in formats.WANT_COMMAND:
            texts.insert(0, " ".join(program))
        text = "\n".join(part for part in texts if part.strip())
        runs = formats.read_text(external.format, external.name, text, options)
    except LongshoreError as error:
        return [], str(error)
    if len(runs) != 1:
        return [], f"its output holds {len(runs)} runs; a launch must be one run"
    return ([], runs[0].why_incomplete) if runs[0].why_incomplete else (runs[0].lines, None)


def _ranks_per_node(external: External, between: Mapping[str, Any]) -> int | None:
    if external.ranks_per_node is not None:
        return external.ranks_per_node
    ranks, nodes = _integer(between.get("ranks")), _integer(between.get("nodes"))
    return -(-ranks // nodes) if ranks and nodes else None


def _integer(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _file_text(path: Path) -> str:
    try:
        if path.stat().st_size > MAX_OUTPUT_BYTES:
            raise LongshoreError(f"the file that it wrote is larger than {MAX_OUTPUT_BYTES >> 20} MiB")
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise LongshoreError(f"the program did not write its file {{output}} ({error.strerror})") from None
