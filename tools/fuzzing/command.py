"""The command line of tools/fuzz: reads and checks the options, and starts a sweep.

The combinations of a sweep are drawn from a seed, or read from a file with --replay.
"""

import argparse
import itertools
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from fuzzing import disagreements
from fuzzing.capabilities import Capabilities, UsageError, read_capabilities
from fuzzing.combination import combination_of, line_of
from fuzzing.drawing import Choice, draw
from fuzzing.launchers import Launchers, find_launchers
from fuzzing.reporting import FailureStore, Reporter
from fuzzing.running import Runner
from fuzzing.sweep import Numbered, Sweep

REPOSITORY = Path(__file__).resolve().parent.parent.parent
BENCH = REPOSITORY / "build" / "release" / "bench" / "longshore-bench"
KEEP = REPOSITORY / "build" / "fuzz"
DISAGREEING_TRANSPORTS = ("threads", "mpi")
DESCRIPTION = """\
Runs random combinations of the patterns, factors, transports, ranks and virtual nodes of longshore-bench, each once
with verification. A run passes with exit status 0 and every variant verified, or with status 2 and a reason. A signal,
the deadline, a wrong result, status 1 or 3, damaged records, and leftover processes or files are failures. The tool
keeps the command of a failure and makes the command smaller. The possible levels come from the program (--list), so
new levels need no change here."""
EPILOG = """\
examples:
  tools/fuzz                                        five minutes
  tools/fuzz --seconds 3600 --seed release-1.2      an hour
  tools/fuzz --runs 500 --only halo,sort --transport threads
  tools/fuzz --seed 7 --runs 20 --dry-run           print commands only; a seed always gives the same commands
  tools/fuzz --replay build/fuzz/7/failures.txt     the commands of a file, one per line
  tools/fuzz --disagree build/test/tests/disagreeing_rank,bindings/python/tests/drawn_calls.py
                                                    one rank passes other arguments, in C++ and in Python

KEEP/SEED/ holds failures.txt (each failing command as drawn), smallest.txt (the smallest command that fails in the
same way), and a folder for each failure with its output and records. Replay the files, or paste their lines into a
shell. Shrinking begins after --seconds, and takes at most --shrink-seconds for each fault.

exit status: 0 no failure; 1 a failure; 2 a wrong command line, or nothing could be verified."""


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        "tools/fuzz", description=DESCRIPTION, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = options.add_argument
    length = options.add_mutually_exclusive_group()
    length.add_argument("--seconds", type=positive_number, metavar="N", help="start runs for N seconds (default: 300)")
    length.add_argument("--runs", type=positive_whole, metavar="N", help="number of runs")
    length.add_argument("--replay", type=Path, metavar="FILE", help="run the commands of a file")
    add(
        "--disagree",
        type=names,
        metavar="PROGRAM,...",
        help="run these programs, in which one rank passes other arguments, instead of longshore-bench",
    )
    add("--seed", metavar="TEXT", help="seed of all random draws (default: the time; it is printed)")
    add("--only", type=names, metavar="PATTERN,...", help="draw only these patterns")
    add("--transport", type=names, metavar="NAME,...", help="draw only these transports")
    add("--jobs", type=positive_whole, metavar="N", default=2, help="runs at a time (default: 2)")
    add("--deadline", type=positive_number, metavar="S", default=60.0, help="seconds that a run may take (default: 60)")
    add(
        "--shrink-seconds",
        type=number_from_0,
        metavar="S",
        default=300.0,
        help="per fault; 0: no shrinking (default: 300)",
    )
    add("--bench", type=Path, metavar="FILE", default=BENCH, help="the program (default: in build/release)")
    add("--keep", type=Path, metavar="DIR", default=KEEP, help="folder for failures (default: build/fuzz)")
    add("--dry-run", action="store_true", help="print the commands and run nothing")
    return options


def positive_whole(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no whole number from 1")
    return int(text)


def number_from_0(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError(f"'{text}' is no number from 0")
    return number


def positive_number(text: str) -> float:
    if not (number := number_from_0(text)):
        raise argparse.ArgumentTypeError("it must be more than 0")
    return number


def names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


def chosen(option: str, requested: list[str] | None, known: tuple[str, ...]) -> tuple[str, ...]:
    for name in requested or ():
        if name not in known:
            raise UsageError(f"{option}: '{name}' is not one of {', '.join(known)}")
    return tuple(name for name in known if not requested or name in requested)


def choice_of(
    asked: argparse.Namespace, capabilities: Capabilities, launchers: Launchers, reporter: Reporter
) -> Choice:
    """The patterns and transports to draw from.

    A transport without a launcher is left out with a message, or refused if --transport names it.
    """
    transports = []
    for transport in chosen("--transport", asked.transport, capabilities.transports):
        why = launchers.why_not(transport)
        if why is None:
            transports.append(transport)
        elif asked.transport:
            raise UsageError(f"--transport: {why}")
        else:
            reporter.say(f"transport {transport} is left out: {why}")
    if not transports:
        raise UsageError("no transport of this build can be started")
    patterns = chosen("--only", asked.only, tuple(pattern.name for pattern in capabilities.patterns))
    return Choice(capabilities, patterns, tuple(transports))


def drawn(seed: str, choice: Choice, runs: int | None) -> Iterator[Numbered]:
    numbers = itertools.count(1) if runs is None else range(1, runs + 1)
    return ((number, draw(seed, number, choice)) for number in numbers)


def replayed(file: Path, capabilities: Capabilities, launchers: Launchers, common: dict[str, str]) -> list[Numbered]:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as problem:
        raise UsageError(f"--replay: '{file}' cannot be read: {problem}") from problem
    parsed = [(number, combination_of(line, capabilities, common)) for number, line in enumerate(lines, start=1)]
    commands = [(number, combination) for number, combination in parsed if combination is not None]
    if not commands:
        raise UsageError(f"--replay: '{file}' has no commands")
    for _, combination in commands:
        if why := launchers.why_not(combination.transport):
            raise UsageError(f"--replay: {why}")
    return commands


def sweep_disagreements(asked: argparse.Namespace, seed: str, launchers: Launchers, reporter: Reporter) -> int:
    programs = [Path(name).resolve() for name in asked.disagree]
    for program in programs:
        if not program.is_file():
            raise UsageError(f"--disagree: no file '{program}'")
    transports = chosen("--transport", asked.transport, DISAGREEING_TRANSPORTS)
    startable = [transport for transport in transports if launchers.why_not(transport) is None]
    seconds = asked.seconds or (None if asked.runs else 300.0)
    return disagreements.sweep(
        programs, startable, launchers, reporter, seed=seed, seconds=seconds, most=asked.runs, deadline=asked.deadline
    )


def sweep(asked: argparse.Namespace, work: Path) -> int:
    reporter = Reporter()
    bench = asked.bench.resolve()
    launchers = find_launchers()
    seed = asked.seed or str(int(time.time()))
    if asked.disagree:
        return sweep_disagreements(asked, seed, launchers, reporter)
    capabilities = read_capabilities(bench)
    runner = Runner(bench, launchers, work, asked.deadline)
    if "/" in seed or seed.startswith("."):
        raise UsageError(f"--seed: '{seed}' becomes the name of a folder: it must have no slash and no leading dot")
    seconds: float | None = None
    if asked.replay:
        seed = asked.seed or f"{asked.replay.stem}-replayed"
        combinations = iter(replayed(asked.replay, capabilities, launchers, runner.common))
    else:
        seconds = asked.seconds or (None if asked.runs else 300.0)
        if asked.dry_run and not asked.runs:
            raise UsageError("--dry-run needs the number of commands: --runs N")
        combinations = drawn(seed, choice_of(asked, capabilities, launchers, reporter), asked.runs)
    if asked.dry_run:
        for _, combination in combinations:
            print(line_of(combination, bench, launchers, runner.common))
        return 0
    failures = FailureStore(asked.keep.resolve() / seed)
    reporter.say(f"fuzz: seed {seed}, {asked.jobs} runs at a time, deadline {asked.deadline:g} s each: {bench}")
    the_sweep = Sweep(
        runner, capabilities, failures, reporter, seconds=seconds, jobs=asked.jobs, shrink_seconds=asked.shrink_seconds
    )
    return run_and_report(the_sweep, combinations)


def run_and_report(the_sweep: Sweep, combinations: Iterator[Numbered]) -> int:
    tally, reporter, failures = the_sweep.tally, the_sweep.reporter, the_sweep.failures
    try:
        the_sweep.go(combinations)
    finally:  # also after an interrupt
        reporter.summary(tally)
        if tally.failures:
            reporter.say(
                f"kept in {failures.folder}; to repeat: tools/fuzz --replay {failures.folder / 'failures.txt'}"
            )
        reporter.say(f"fuzz: {tally.line()}")
    if tally.failures:
        return 1
    if not tally.variants:
        print("tools/fuzz: nothing could be verified; the reasons are above", file=sys.stderr)
        return 2
    return 0


def main(words: list[str]) -> int:
    asked = parser().parse_args(words)
    for number in (signal.SIGINT, signal.SIGTERM):  # a shell ignores SIGINT in background processes
        signal.signal(number, signal.default_int_handler)
    # A short path, because launchers make sockets in the folder, and paths of sockets are limited.
    work = Path(tempfile.mkdtemp(prefix="fuzz-"))
    try:
        return sweep(asked, work)
    except UsageError as problem:
        print(f"tools/fuzz: {problem}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("tools/fuzz: interrupted", file=sys.stderr)
        return 128 + signal.SIGINT
    finally:
        shutil.rmtree(work, ignore_errors=True)
        sys.stdout.flush()
