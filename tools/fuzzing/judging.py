"""Judges how a run ended.

A run passes with status 0 and every variant verified. It is skipped with status 2 and a reason.
Everything else is a failure: a signal, the deadline, a wrong result, a failure at run time, records
that are damaged or contradict the status, and leftover processes or files. A lack of memory is a
failure, too, because combinations need little memory. But a run is skipped if less than
SCARCE_BYTES of memory or of shared memory are free.
"""

import re
import shutil
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fuzzing.leftovers import SHARED_MEMORY
from fuzzing.records import DamagedRecordsError, Records, read
from fuzzing.running import Run

SCARCE_BYTES = 4 << 30
# The exit statuses of bench/commands/running.hpp.
ALL_RIGHT, WRONG_RESULT, NOTHING_RAN, RUNTIME_FAILURE = range(4)
PROGRAM_MESSAGE = re.compile(r"^longshore-bench(?:-\w+)?: (.+)$", re.MULTILINE)
LIBRARY_MESSAGE = re.compile(r"^longshore: (.+)$", re.MULTILINE)
PASSED, SKIPPED = "passed", "skipped"


@dataclass(frozen=True)
class Verdict:
    kind: str
    """passed, skipped, or the kind of a failure."""
    reason: str = ""
    variants: int = 0
    """The number of verified variants."""

    @property
    def failed(self) -> bool:
        return self.kind not in (PASSED, SKIPPED)

    @property
    def signature(self) -> str:
        """A text that is equal for failures of one fault. Ignores numbers in the reason."""
        return f"{self.kind}: {without_numbers(self.reason)}"


def without_numbers(text: str) -> str:
    return re.sub(r"-?\d+(\.\d+)?(e[-+]?\d+)?", "N", text)


def free_bytes() -> int:
    """The minimum of free memory and free shared memory."""
    free = [shutil.disk_usage(SHARED_MEMORY).free] if SHARED_MEMORY.is_dir() else []
    try:
        available = re.search(r"^MemAvailable: *(\d+) kB", Path("/proc/meminfo").read_text(), re.MULTILINE)
    except OSError:
        available = None
    if available:
        free.append(int(available[1]) * 1024)
    return min(free, default=SCARCE_BYTES)


def message_of(run: Run) -> str:
    """The first message of the program on standard error. If there is none, the last message of the
    library."""
    messages = PROGRAM_MESSAGE.findall(run.errors)[:1] or LIBRARY_MESSAGE.findall(run.errors)[-1:]
    return messages[0] if messages else ""


def signal_of(status: int) -> str:
    """The signal that ended the program, or a rank as reported by its launcher."""
    number = -status if status < 0 else status - 128
    try:
        return f"signal {signal.Signals(number).name}"
    except ValueError:
        return f"status {status}"


def judge(run: Run, free: Callable[[], int] = free_bytes) -> Verdict:
    """The verdict on a run, by its status first. Tests replace `free`."""
    message = message_of(run) or "no message on standard error"
    if run.status is None:
        return Verdict("deadline", f"not ended after {run.seconds:.0f} s: {message}")
    if run.status < 0 or run.status > 128:
        return Verdict(signal_of(run.status), message)
    if run.status == WRONG_RESULT:
        return Verdict("wrong result", message)
    if run.status == RUNTIME_FAILURE:
        return of_runtime_failure(run, free)
    if run.status not in (ALL_RIGHT, NOTHING_RAN):
        return Verdict(f"status {run.status}", message)
    return of_end(run)


def of_end(run: Run) -> Verdict:
    """The verdict on a run whose status is not an error."""
    records, damage = records_of(run)
    if damage:
        return Verdict("records", damage)
    if run.left:
        return Verdict("left behind", ", ".join(run.left))
    return of_success(records) if run.status == ALL_RIGHT else of_refusal(run, records)


def records_of(run: Run) -> tuple[Records | None, str]:
    """The records if they are whole, and a message if they are damaged."""
    if not run.records:
        return None, "status 0 without records" if run.status == ALL_RIGHT else ""
    try:
        return read(run.records), ""
    except DamagedRecordsError as problem:
        return None, str(problem)
    except (KeyError, TypeError, AttributeError) as problem:
        return None, f"the records lack a required field: {type(problem).__name__} {problem}"


def of_runtime_failure(run: Run, free: Callable[[], int]) -> Verdict:
    """The verdict on status 3. Its kind comes from the last record, if the program wrote one."""
    records, _ = records_of(run)
    error = records.end.get("error") if records else None
    error = error if isinstance(error, dict) else {}
    kind, reason = str(error.get("kind", "no record of it")), str(error.get("message") or message_of(run))
    if kind == "out_of_memory" and reason and free() < SCARCE_BYTES:
        return Verdict(SKIPPED, reason)
    return Verdict(f"run-time failure ({kind})", reason or "no message on standard error")


def of_success(records: Records | None) -> Verdict:
    """The verdict on status 0, for which all variants must be verified."""
    assert records is not None  # records_of() reports status 0 without records as damage
    if records.end.get("status") != "ok" or not records.results:
        return Verdict("records", f"status 0, but the records end with {records.end}")
    for result in records.results:
        if result.get("verified") is not True:
            return Verdict("records", f"status 0, but 'verified' is {result.get('verified')} for {result['variant']}")
    return Verdict(PASSED, variants=len(records.results))


def of_refusal(run: Run, records: Records | None) -> Verdict:
    """The verdict on status 2, which needs a reason and no variant that ran."""
    if records and records.results:
        return Verdict("records", f"status {NOTHING_RAN}, but {len(records.results)} variants ran")
    reason = message_of(run) or (records.skipped[0] if records and records.skipped else "")
    return Verdict(SKIPPED, reason) if reason else Verdict("no reason", f"status {NOTHING_RAN} without a reason")
