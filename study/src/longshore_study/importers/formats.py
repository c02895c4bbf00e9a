"""The formats of other benchmarks: reads a file, checks that the expected program wrote the file,
and calls the importer. importers/__init__.py tells how to add a format."""

from __future__ import annotations

import importlib
import json
import re
from dataclasses import replace
from pathlib import Path

from longshore_study.base.errors import LongshoreError, UsageError, suggestion
from longshore_study.importers.imported import Imported, Options, Source
from longshore_study.importers.labels import without_colours, without_labels
from longshore_study.store import records

FORMATS = {
    "halobench": "longshore_study.importers.halobench",
    "bale": "longshore_study.importers.bale",
    "chapel-ig": "longshore_study.importers.chapel_ig",
    "chapel-stream": "longshore_study.importers.chapel_stream",
    "chapel-isx": "longshore_study.importers.chapel_isx",
    "isx": "longshore_study.importers.isx",
    "stream": "longshore_study.importers.stream",
    "babelstream": "longshore_study.importers.babelstream",
    "stream-csv": "longshore_study.importers.stream_csv",
    "osu": "longshore_study.importers.osu",
    "imb": "longshore_study.importers.imb",
    "cartex": "longshore_study.importers.cartex",
    "reframe": "longshore_study.importers.reframe",
    "perflog": "longshore_study.importers.perflog",
    "csv": "longshore_study.importers.series_csv",
    "regex": "longshore_study.importers.regex",
    "json": "longshore_study.importers.json_document",
    "longshore-bench": "longshore_study.importers.own_records",
}
ALIASES = {
    "chapel_ig": "chapel-ig",
    "chapel": "chapel-ig",
    "chapel_stream": "chapel-stream",
    "chapel_isx": "chapel-isx",
    "records": "longshore-bench",
    "longshore": "longshore-bench",
}
ANY = ("regex", "json", "csv")
"""Formats for the output of any program, in which the user selects the metrics."""
SERIES = ("csv", "reframe", "perflog")
"""Formats of files with the figures of many times."""
WANT_COMMAND = ("chapel-ig", "chapel-stream", "chapel-isx", "cartex", "osu")
"""Formats of programs that do not print all their settings. The command line above the output has
the settings."""
ONE_DOCUMENT = ("json",)
"""Formats in which the whole output must be a single document."""

SIGNATURES = (
    ("halobench", re.compile(r"haloswap benchmark", re.IGNORECASE), "halobench"),
    ("bale", re.compile(r"Bale Version|GB/s injection bandwidth|\"bale_version\"", re.IGNORECASE), "bale"),
    ("chapel-isx", re.compile(r"^scaling mode = (?:strong|weak|weakISO)\b", re.MULTILINE), "Chapel's ISx"),
    ("chapel-stream", re.compile(r"^Performance \(GB/s\)|^Problem size = \d+", re.MULTILINE), "Chapel's STREAM"),
    ("isx", re.compile(r"^ISx (?:[^\n]*\s)?v\d|^\w+\tNUM_PES \d+\t\s*Max[_ ]Key", re.MULTILINE), "ISx"),
    ("stream", re.compile(r"STREAM [vV]ersion|Best Rate MB/s"), "STREAM"),
    ("reframe", re.compile(r"\A\s*\{.*\"session_info\"\s*:", re.DOTALL), "ReFrame"),
    ("perflog", re.compile(r"\A[^\n]*_value[|,][^\n]*\n"), "a performance log of ReFrame"),
    (
        "babelstream",
        re.compile(r"^(?:BabelStream\s*$|function,num_times,n_elements,sizeof,)", re.MULTILINE),
        "BabelStream",
    ),
    ("osu", re.compile(r"^#[ \t]*(?:OSU|OMB)[- ]", re.MULTILINE), "OSU micro-benchmarks"),
    ("imb", re.compile(r"(?:Intel ?\(R\)|PALLAS) MPI Benchmark", re.IGNORECASE), "IMB"),
    ("cartex", re.compile(r"^tp\. median \(GB/s\)|^load \(bytes\)", re.MULTILINE), "cartex"),
    ("chapel-ig", re.compile(r"GB/s/node|-nl[ =]?\d+", re.IGNORECASE), "Chapel's ig"),
    (
        "stream-csv",
        re.compile(r"\A(?:#[^\n]*\n|\s*\n)*[^\n]*\bstream_(?:ep|global)_GBps"),
        "a table of STREAM figures (CSV)",
    ),
    ("longshore-bench", re.compile(r'^\s*\{[^\n]*"record":\s*"', re.MULTILINE), "longshore-bench"),
)
"""(format, pattern of the output, name of the program). The first matching pattern counts."""

_MAX_BYTES = 64 * 2**20  # outputs are pages of text; a larger file is something else
_MAX_RECORDS_BYTES = 1024 * 2**20  # a record of longshore-bench has 250 bytes per repetition


def format_name(name: str) -> str:
    name = ALIASES.get(name.lower(), name.lower())
    if name not in FORMATS:
        known = ", ".join(FORMATS)
        raise UsageError(f"unknown format '{name}'{suggestion(name, FORMATS)} (known: {known})")
    return name


def read_file(name: str, path: Path, options: Options | None = None) -> list[Imported]:
    """The runs in a file. Raises LongshoreError, with file and line, if the file does not have this
    format."""
    return read_bytes(name, str(path), content_of(name, path), options)


def content_of(name: str, path: Path) -> bytes:
    """The content of a file or pipe, up to a limit, since a pipe may never end."""
    limit = _MAX_RECORDS_BYTES if name == "longshore-bench" else _MAX_BYTES
    try:
        with path.open("rb") as file:
            content = file.read(limit + 1)
    except OSError as error:
        raise LongshoreError(f"{path}: cannot be read ({error.strerror})") from None
    if len(content) > limit:
        raise LongshoreError(f"{path}: larger than {limit >> 20} MiB; not an output of {name}")
    return content


def read_bytes(name: str, source_name: str, content: bytes, options: Options | None = None) -> list[Imported]:
    """Like read_file, for the content of a file."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        if options and options.partial and 0 <= content.rfind(b"\n") < error.start:  # cut within a character
            return read_bytes(name, source_name, content[: content.rfind(b"\n") + 1], options)
        line = content.count(b"\n", 0, error.start) + 1
        byte = content[error.start]
        raise LongshoreError(
            f"{source_name}:{line}: byte 0x{byte:02x} is not UTF-8 text; not an output of {name}"
        ) from None
    return read_text(name, source_name, text, options)


def read_text(name: str, source_name: str, text: str, options: Options | None = None) -> list[Imported]:
    """Like read_file, for a text, such as the output of a program that just ran."""
    name = format_name(name)
    if not text.strip():
        raise LongshoreError(f"{source_name}: empty; the run wrote nothing")
    text = without_colours(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    options = options or Options()
    if name not in ANY:
        text = without_labels(text)
        _refuse_wrong_program(name, source_name, text)
    try:
        return _runs(name, Source(source_name, text), replace(options, partial=False))
    except LongshoreError:
        if not options.partial:
            raise
    return _runs(name, Source(source_name, _without_incomplete_line(text)), options)


def _runs(name: str, source: Source, options: Options) -> list[Imported]:
    try:
        runs = list(importlib.import_module(FORMATS[name]).read(source, options))
        return [_checked(source, options, run) for run in runs]
    except (ValueError, ArithmeticError, LookupError) as error:  # such as `1.2.3`, no PE, or a missing column
        program = next((program for known, _, program in SIGNATURES if known == name), name)
        raise LongshoreError(f"{source.name}: not a readable output of {program} ({error})") from None


def _checked(source: Source, options: Options, run: Imported) -> Imported:
    """The run with the factors of the options. Raises LongshoreError if the output contradicts an
    option."""
    ranks = run.cell.get("ranks")
    if options.ranks and ranks not in (None, options.ranks):
        raise LongshoreError(
            f"{source.name}: the output is of {ranks} ranks, not of the {options.ranks} that were given"
        )
    if not options.factors:
        return run
    lines = []
    for record in map(json.loads, run.lines):
        if record["record"] == "result":
            for name, level in options.factors.items():
                known = {**run.cell, **record["variant"]}.get(name, level)
                if str(known) != str(level):
                    raise LongshoreError(f"{source.name}: {name} is {known} in the output, not {level} as given")
            record["variant"] |= {name: level for name, level in options.factors.items() if name not in run.cell}
        lines.append(records.dump(record))
    return replace(run, lines=lines)


def _without_incomplete_line(text: str) -> str:
    """The text without a last line that does not end in a newline, since the line may be cut within
    a number. A last line with a whole JSON object is kept."""
    begin = text.rfind("\n") + 1
    last = text[begin:]
    return text if last.startswith("{") and last.rstrip().endswith("}") else text[:begin]


def _refuse_wrong_program(name: str, source_name: str, text: str) -> None:
    matching = [known for known, pattern, _ in SIGNATURES if pattern.search(text)]
    if name in matching:
        return
    programs = {known: program for known, _, program in SIGNATURES}
    if not matching:
        raise LongshoreError(f"{source_name}: not an output of {programs[name]}; nothing in it is typical of one")
    hint = f"use 'longshore import {matching[0]} {source_name} ...'"
    raise LongshoreError(
        f"{source_name}: this is the output of {programs[matching[0]]}, not of {programs[name]}; {hint}"
    )
