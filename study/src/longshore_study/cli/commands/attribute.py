"""`longshore attribute`: finds what changes are associated with, and tests whether it is the
cause."""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from longshore_study.attribution import association, confirmation
from longshore_study.attribution.association import Attribution, condition_text, rule_text
from longshore_study.attribution.confirmation import ConfirmationResult
from longshore_study.attribution.confirming_study import confirming_study
from longshore_study.attribution.variable_effect import CONFIRMED, REFUTED
from longshore_study.base import expression, terminal
from longshore_study.base.errors import (
    EXIT_INVALID,
    EXIT_OK,
    EXIT_REGRESSED,
    EXIT_UNDECIDED,
    LongshoreError,
    UsageError,
)
from longshore_study.compare.comparison import CompareOptions, compare, parse_margin
from longshore_study.compare.differences import in_words
from longshore_study.compare.estimate import ratio, ratios
from longshore_study.stats import verdict
from longshore_study.store import selection
from longshore_study.store.launch_store import Store
from longshore_study.store.selection import Side
from longshore_study.study_file import environment_variables, reader
from longshore_study.study_file.environment_variables import Level

EXAMPLES = """\
examples:
  longshore attribute reference new                        also writes confirm.toml, the study that tests it
  longshore run confirm.toml --tag before --session monday
  longshore run confirm.toml --tag after --session monday
  longshore attribute before after --confirm confirm.toml

At most three rules describe the factor levels of the changes. Differences in provenance are listed as candidates. A
comparison shows only association. The cause needs a study that measures suspected and other levels in the same
launches, or alternately, in both states of the machine.

exit status: 0 all changes are explained, or there are none; 2 some are not; 3 missing data; 64 usage
with --confirm: 0 confirmed, 1 refuted, 2 undecided, 3 missing data, 64 usage
"""

_MARK = b"# 'longshore attribute' may replace this file as long as nobody edited it: "


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    parser.add_argument("reference", metavar="REF", help="a tag, or a study")
    parser.add_argument("new", metavar="NEW", help="a tag, or a study")
    parser.add_argument("--study", help="only this study of the two tags")
    parser.add_argument("--margin", metavar="M", help="ignore differences below it: 5%% or 0.05")
    parser.add_argument("--where", metavar="CONDITION", help="only rows that meet it, such as 'nodes > 1'")
    parser.add_argument("--ignore", action="append", default=[], metavar="FACTOR", help="as for compare")
    parser.add_argument(
        "--confirm", metavar="FILE", type=Path, help="judge the hypothesis of this study file after its runs"
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=Path, default=Path("confirm.toml"),
        help="file for the study that tests the strongest rule (default: confirm.toml)",
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    margin = parse_margin(args.margin) if args.margin is not None else None
    if args.confirm is not None:
        return _confirm(args, margin)
    options = CompareOptions(
        margin=margin,
        where=expression.parse(args.where) if args.where is not None else None,
        ignore=tuple(args.ignore),
    )
    sides = selection.sides(Store(args.store), [args.reference, args.new], args.study)
    found = association.attribute(compare(sides[0], sides[1], options))
    written = why_not = refused = None
    try:
        written, why_not = _write_study(found, sides, args.output)
    except LongshoreError as error:
        refused = error  # the result does not depend on the file, so it is printed first
    if args.json:
        print(json.dumps(association.document(found, written), indent=1, ensure_ascii=False))
    else:
        _print(found, written, why_not)
    if refused is not None:
        raise refused
    if not found.cases or found.comparison.damaged:
        return EXIT_INVALID
    return EXIT_UNDECIDED if found.unexplained else EXIT_OK


def _write_study(found: Attribution, sides: Sequence[Side], path: Path) -> tuple[str | None, str | None]:
    """The name of the file, or the reason why there is none."""
    if not found.rules:
        return None, None
    studies = {launch.study for side in sides for launch in side.launches}
    name = f"{min(studies)}-confirm" if len(studies) == 1 else "confirm"
    try:
        text = confirming_study(found, found.rules[0], name).text
    except LongshoreError as error:
        return None, str(error)
    content = _signed(text.encode("utf-8", "replace"))
    try:
        if path.exists() and (there := path.read_bytes()) != content and there != _signed(there.rpartition(_MARK)[0]):
            raise UsageError(f"{path} exists and was edited; rename it, or name another file with -o")
        path.write_bytes(content)
    except OSError as error:
        raise LongshoreError(f"{path}: cannot be written ({error.strerror}); name another file with -o") from None
    return str(path), None


def _signed(text: bytes) -> bytes:
    """The text with a last line that reveals whether the text was edited."""
    return text + _MARK + hashlib.sha256(text).hexdigest()[:16].encode() + b"\n"


def _print(found: Attribution, written: str | None, why_not: str | None) -> None:
    comparison = found.comparison
    word = comparison.verdict
    terminal.print_line(f"{comparison.new.name} against {comparison.reference.name}: {word}", word)
    if not found.rules:
        besides = f"; {terminal.count(len(found.unexplained), 'row')} changed" if found.unexplained else ""
        print(f"no change is associated with any factor{besides}")
    for number, rule in enumerate(found.rules, 1):
        rows = found.rows_of(rule)
        changed = sum(row.verdict in (verdict.REGRESSED, verdict.IMPROVED) for row in rows)
        size, (low, high) = ratio(rule.difference, "higher"), ratios(rule.interval, "higher")
        then = "" if number == 1 else "then, "
        terminal.print_line(
            f"{number}. {then}{terminal.times(size)} is associated with {rule_text(rule)}",
            verdict.REGRESSED if rule.difference < 0 else verdict.IMPROVED,
        )
        print(
            f"   ratio of goodness {terminal.ratio(size)}, 95 % interval "
            f"{terminal.interval((low, high))}; {terminal.count(len(rows), 'row')}, {changed} of them changed"
        )
    for row in found.unexplained:
        how = terminal.times(ratio(row.estimate.difference, "higher")) if row.estimate else ""
        print(f"not explained: {row.key.pattern} {terminal.factors({**row.key.variant})} is {how}")
    _print_differences(found)
    if written:
        print(f"{written}: the study that tests the first of these ('associated with' does not mean caused by)")
    elif why_not:
        print(f"no study to test it: {why_not}")


def _print_differences(found: Attribution) -> None:
    if not found.differences:
        print("no recorded property differs between the two sides")
        return
    print("differences between the two sides, each a possible cause:")
    for one in found.differences:
        difference = one.difference
        where = "" if len(one.rows) == len(found.cases) else f" (in {len(one.rows)} of {len(found.cases)} rows)"
        print(f"   {difference.name}: {in_words(difference.reference)} -> {in_words(difference.new)}{where}")


def _confirm(args: argparse.Namespace, margin: float | None) -> int:
    study = reader.load(args.confirm)
    if study.hypothesis is None:
        raise UsageError(f"{args.confirm}: no [hypothesis] to judge; 'longshore attribute REF NEW' writes one")
    reference, new = selection.sides(Store(args.store), [args.reference, args.new], args.study or study.name)
    result = confirmation.judge(reference, new, study.hypothesis, margin or study.margin)
    if args.json:
        print(json.dumps(confirmation.document(result, (reference.name, new.name)), indent=1, ensure_ascii=False))
    else:
        _print_result(result)
    return {CONFIRMED: EXIT_OK, REFUTED: EXIT_REGRESSED}.get(result.verdict, EXIT_UNDECIDED)


def _levels(name: str, levels: Sequence[object]) -> str:
    from longshore_study.attribution.rules import Condition  # noqa: PLC0415 - only for its text

    return condition_text(Condition(name, tuple(levels)))


def _print_result(result: ConfirmationResult) -> None:
    """Prints the answer, then ratios of speed: above 1 is faster."""
    hypothesis, levels = result.hypothesis, result.levels
    rule = " and ".join(_levels(name, v) for name, v in hypothesis.factors.items())
    settings = f"{_setting(hypothesis.new_environment)} instead of {_setting(hypothesis.environment)}"
    what = settings if result.is_about_variables else rule
    style = {CONFIRMED: verdict.REGRESSED, REFUTED: verdict.SAME}.get(result.verdict, verdict.INCONCLUSIVE)
    answer = {
        CONFIRMED: f"confirmed: {what} is the cause",
        REFUTED: f"refuted: {what} is not the cause",
    }.get(result.verdict, f"undecided: whether {what} is the cause")
    terminal.print_line(f"{answer}; {result.why}", style)
    if levels is not None:
        own = _ratio(levels.difference, levels.interval)
        suspected, beside = (_ratio(one, None) for one in (levels.suspected, levels.beside))
        print(f"   {rule}, ratio of speed between the tags: {suspected}; of the other levels: {beside}")
        print(f"   the one over the other: ratio of speed {own} ({levels.verdict})")
    for one in result.variables:
        own = _ratio(one.difference, one.interval)
        print(f"   {settings}, within {one.side}: ratio of speed {own} ({one.verdict})")
    for variant, restored in result.restored:
        bounds = f", 95 % interval {terminal.interval(restored.interval)}" if restored.interval else ""
        how = f"{terminal.factors(variant)}, ratio of speed {terminal.ratio(restored.ratio)}{bounds}"
        print(f"   with the environment of the reference, within the new side: {how}")
    for warning in result.warnings:
        print(f"warning: {warning}")


def _setting(level: Level) -> str:
    return " ".join(environment_variables.descriptions(level)) or "the environment as it is"


def _ratio(difference: float, bounds: tuple[float, float] | None) -> str:
    interval = f", 95 % interval {terminal.interval(ratios(bounds, 'higher'))}" if bounds else ""
    return f"{terminal.ratio(ratio(difference, 'higher'))}{interval}"
