"""The formats of other benchmarks: reads a file, checks that the expected program wrote the file,
and calls the importer. importers/__init__.py tells how to add a format."""

import importlib
import json
import re
from dataclasses import dataclass, replace
from pathlib import Path

from longshore_study.base.errors import LongshoreError, UsageError, suggestion
from longshore_study.importers.imported import Imported, Options, Source
from longshore_study.store import records


@dataclass(frozen=True)
class Format:
    """The output of one program."""

    program: str
    """The name of the program in messages."""
    signature: re.Pattern[str] | None = None
    """Recognises the output. None if the format is for any program."""
    module: str = ""
    """The importer, if it is not named as the format."""


FORMATS = {
    "halobench": Format("halobench", re.compile(r"haloswap benchmark", re.IGNORECASE)),
    "bale": Format("bale", re.compile(r"Bale Version|GB/s injection bandwidth|\"bale_version\"", re.IGNORECASE)),
    "chapel-isx": Format("Chapel's ISx", re.compile(r"^scaling mode = (?:strong|weak|weakISO)\b", re.MULTILINE)),
    "chapel-stream": Format("Chapel's STREAM", re.compile(r"^Performance \(GB/s\)|^Problem size = \d+", re.MULTILINE)),
    "isx": Format("ISx", re.compile(r"^ISx (?:[^\n]*\s)?v\d|^\w+\tNUM_PES \d+\t\s*Max[_ ]Key", re.MULTILINE)),
    "stream": Format("STREAM", re.compile(r"STREAM [vV]ersion|Best Rate MB/s")),
    "babelstream": Format(
        "BabelStream", re.compile(r"^(?:BabelStream\s*$|function,num_times,n_elements,sizeof,)", re.MULTILINE)
    ),
    "stream-csv": Format(
        "a table of STREAM figures (CSV)",
        re.compile(r"\A(?:#[^\n]*\n|\s*\n)*[^\n]*\bstream_(?:ep|global)_GBps"),
    ),
    "osu": Format("OSU micro-benchmarks", re.compile(r"^#[ \t]*(?:OSU|OMB)[- ]", re.MULTILINE)),
    "imb": Format("IMB", re.compile(r"(?:Intel ?\(R\)|PALLAS) MPI Benchmark", re.IGNORECASE)),
    "cartex": Format("cartex", re.compile(r"^tp\. median \(GB/s\)|^load \(bytes\)", re.MULTILINE)),
    "chapel-ig": Format("Chapel's ig", re.compile(r"GB/s/node|-nl[ =]?\d+", re.IGNORECASE)),
    "reframe": Format("ReFrame", re.compile(r"\A\s*\{.*\"session_info\"\s*:", re.DOTALL)),
    "perflog": Format("a performance log of ReFrame", re.compile(r"\A[^\n]*_value[|,][^\n]*\n")),
    "csv": Format("csv", module="series_csv"),
    "regex": Format("regex"),
    "json": Format("json", module="json_document"),
    "longshore-bench": Format(
        "longshore-bench", re.compile(r'^\s*\{[^\n]*"record":\s*"', re.MULTILINE), module="own_records"
    ),
}
"""The first matching signature counts: chapel-ig accepts all of Chapel, so it comes late."""
ALIASES = {
    "chapel": "chapel-ig",
    "records": "longshore-bench",
    "longshore": "longshore-bench",
}
SERIES = ("csv", "reframe", "perflog")
"""Formats of files with the figures of many times."""
WANT_COMMAND = ("chapel-ig", "chapel-stream", "chapel-isx", "cartex", "osu")
"""Programs that do not print all their settings, which the command line above the output has."""
ONE_DOCUMENT = ("json",)
"""Formats in which the whole output must be a single document."""

_MAX_BYTES = 64 * 2**20  # outputs are pages of text; a larger file is something else
_MAX_RECORDS_BYTES = 1024 * 2**20  # a record of longshore-bench has 250 bytes per repetition


def format_name(name: str) -> str:
    name = name.lower().replace("_", "-")
    name = ALIASES.get(name, name)
    if name not in FORMATS:
        known = ", ".join(FORMATS)
        raise UsageError(f"unknown format '{name}'{suggestion(name, FORMATS)} (known: {known})")
    return name


def read_file(name: str, path: Path, options: Options | None = None) -> list[Imported]:
    """The runs in a file or pipe. Raises LongshoreError, with file and line, for other content."""
    options = options or Options()
    limit = _MAX_RECORDS_BYTES if name == "longshore-bench" else _MAX_BYTES
    try:
        with path.open("rb") as file:
            content = file.read(limit + 1)  # a pipe may never end
    except OSError as error:
        raise LongshoreError(f"{path}: cannot be read ({error.strerror})") from None
    if len(content) > limit:
        raise LongshoreError(f"{path}: larger than {limit >> 20} MiB; not an output of {name}")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        last_line = content.rfind(b"\n") + 1
        if not (options.partial and 0 < last_line <= error.start):  # not cut within a character
            line, byte = content.count(b"\n", 0, error.start) + 1, content[error.start]
            raise LongshoreError(
                f"{path}:{line}: byte 0x{byte:02x} is not UTF-8 text; not an output of {name}"
            ) from None
        text = content[:last_line].decode("utf-8")
    return read_text(name, str(path), text, options)


def read_text(name: str, source_name: str, text: str, options: Options | None = None) -> list[Imported]:
    """Like read_file, for a text, such as the output of a program that just ran."""
    name = format_name(name)
    if not text.strip():
        raise LongshoreError(f"{source_name}: empty; the run wrote nothing")
    text = _COLOUR.sub("", text.removeprefix("\ufeff").replace("\r\n", "\n"))
    options = options or Options()
    if FORMATS[name].signature:
        text = _without_labels(text)
        _refuse_wrong_program(name, source_name, text)
    try:
        return _runs(name, Source(source_name, text), replace(options, partial=False))
    except LongshoreError:
        if not options.partial:
            raise
    return _runs(name, Source(source_name, _without_incomplete_line(text)), options)


def _runs(name: str, source: Source, options: Options) -> list[Imported]:
    try:
        module = FORMATS[name].module or name.replace("-", "_")
        runs = importlib.import_module(f"longshore_study.importers.{module}").read(source, options)
        return [_checked(source, options, run) for run in runs]
    except (ValueError, ArithmeticError, LookupError) as error:  # such as `1.2.3`, no PE, or a missing column
        raise LongshoreError(f"{source.name}: not a readable output of {FORMATS[name].program} ({error})") from None


def _checked(source: Source, options: Options, run: Imported) -> Imported:
    """The run with the factors of the options. Raises LongshoreError if they contradict it."""
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
    """The text without a last line that may be cut: no newline, and no whole JSON object."""
    begin = text.rfind("\n") + 1
    last = text[begin:]
    return text if last.startswith("{") and last.rstrip().endswith("}") else text[:begin]


def _refuse_wrong_program(name: str, source_name: str, text: str) -> None:
    matching = [known for known, form in FORMATS.items() if form.signature and form.signature.search(text)]
    program = FORMATS[name].program
    if not matching:
        raise LongshoreError(f"{source_name}: not an output of {program}; nothing in it is typical of one")
    if name not in matching:
        hint = f"use 'longshore import {matching[0]} {source_name} ...'"
        raise LongshoreError(
            f"{source_name}: this is the output of {FORMATS[matching[0]].program}, not of {program}; {hint}"
        )


_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_OPEN_MPI = re.compile(r"\[[\w.@-]*\d+,\d+\]<std(?:out|err|diag)>: ?")
"""Programs never print this label, so it goes also within lines that the launcher mixed."""
_LABEL = re.compile(r"^(?:\[\d+\] ?| *\d+: ?)", re.MULTILINE)
_LINE = re.compile(r"^.*\S", re.MULTILINE)


def _without_labels(text: str) -> str:
    """The text without the number of a process before each line: `0: ` of srun --label,
    `[1,0]<stdout>:` of Open MPI, `[0] ` of MPICH. Plain numbers are labels if most lines begin with
    one."""
    text = _OPEN_MPI.sub("", text)
    without, labels = _LABEL.subn("", text)
    return without if 2 * labels > len(_LINE.findall(text)) else text
