"""`longshore attribute`: finds the factor levels and properties that a change is associated with,
and judges the study that tests whether they are the cause."""

import argparse
import hashlib
from collections.abc import Sequence
from pathlib import Path

from longshore_study.attribution import association, confirmation
from longshore_study.attribution.association import Attribution, condition_text, rule_text
from longshore_study.attribution.confirmation import ConfirmationResult
from longshore_study.attribution.confirming_study import confirming_study
from longshore_study.attribution.rules import Condition
from longshore_study.attribution.variable_effect import CONFIRMED, REFUTED
from longshore_study.base import errors, terminal
from longshore_study.base.errors import LongshoreError, UsageError
from longshore_study.cli.options import add_comparison, add_output, comparison_options
from longshore_study.cli.result_output import print_result
from longshore_study.compare.comparison import compare
from longshore_study.compare.differences import in_words
from longshore_study.compare.estimate import metric_ratio, metric_ratios
from longshore_study.metrics.launch_metrics import names_of
from longshore_study.output.host_warnings import host_warnings
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
    add_comparison(parser)
    parser.add_argument(
        "--confirm", metavar="FILE", type=Path, help="judge the hypothesis of this study file after its runs"
    )
    text = "file for the study that tests the strongest rule (default: confirm.toml)"
    add_output(parser, text, Path("confirm.toml"))


def run(args: argparse.Namespace) -> int:
    options = comparison_options(args)
    if args.confirm is not None:
        return _confirm(args, options.margin)
    sides = selection.sides(Store(args.store), [args.reference, args.new], args.study)
    found = association.attribute(compare(sides[0], sides[1], options))
    written = why_not = refused = None
    try:
        written, why_not = _write_study(found, sides, args.output)
    except LongshoreError as error:
        refused = error  # the result does not depend on the file, so it is printed first
    print_result(args, lambda: association.document(found, written), lambda: _print(found, written, why_not))
    if refused is not None:
        raise refused
    if not found.cases or found.comparison.damaged:
        return errors.EXIT_INVALID
    return errors.EXIT_UNDECIDED if found.unexplained else errors.EXIT_OK


def _write_study(found: Attribution, sides: Sequence[Side], path: Path) -> tuple[str | None, str | None]:
    """The name of the file, or the reason why there is none."""
    if not found.rules:
        return None, None
    studies = {launch.study for side in sides for launch in side.launches}
    name = f"{min(studies)}-confirm" if len(studies) == 1 else "confirm"
    try:
        text = confirming_study(found, found.rules[0], name)
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
    """The text with a last line that holds a digest of the text, so that edits can be detected."""
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
        changed = sum(map(association.is_changed, rows))
        size, (low, high) = metric_ratio(rule.difference, "higher"), metric_ratios(rule.interval, "higher")
        then = "" if number == 1 else "then, "
        terminal.print_line(
            f"{number}. {then}{terminal.times(size)} is associated with {rule_text(rule)}",
            verdict.REGRESSED if rule.difference < 0 else verdict.IMPROVED,
        )
        print(
            f"   ratio of speed {terminal.ratio_text(size)}, 95 % interval "
            f"{terminal.interval((low, high))}; {terminal.count(len(rows), 'row')}, {changed} of them changed"
        )
    name = names_of(row.key for row in comparison.rows)
    for row in found.unexplained:
        how = terminal.times(metric_ratio(row.estimate.difference, "higher")) if row.estimate else ""
        print(f"not explained: {name(row.key)} is {how}")
    _print_differences(found)
    if written:
        print(f"{written}: the study that tests the first of these ('associated with' does not mean caused by)")
    elif why_not:
        print(f"no study to test it: {why_not}")


def _print_differences(found: Attribution) -> None:
    for text in host_warnings(found.comparison):
        print(text)
    if not found.differences:
        print("no recorded property differs between the two sides")
        return
    print("differences between the two sides, each a possible cause:")
    for difference in found.differences:
        rows, total = len(difference.rows), len(found.cases)
        values = f"{in_words(difference.reference)} -> {in_words(difference.new)}"
        print(f"   {difference.name}: {values}{'' if rows == total else f' (in {rows} of {total} rows)'}")


def _confirm(args: argparse.Namespace, margin: float | None) -> int:
    study = reader.load(args.confirm)
    if study.hypothesis is None:
        raise UsageError(f"{args.confirm}: no [hypothesis] to judge; 'longshore attribute REF NEW' writes one")
    reference, new = selection.sides(Store(args.store), [args.reference, args.new], args.study or study.name)
    result = confirmation.judge(reference, new, study.hypothesis, margin or study.margin)
    names = (reference.name, new.name)
    print_result(args, lambda: confirmation.document(result, names), lambda: _print_confirmation(result))
    return {CONFIRMED: errors.EXIT_OK, REFUTED: errors.EXIT_REGRESSED}.get(result.verdict, errors.EXIT_UNDECIDED)


def _print_confirmation(result: ConfirmationResult) -> None:
    """Prints the answer, then ratios of speed: above 1 is faster."""
    hypothesis, levels = result.hypothesis, result.levels
    rule = " and ".join(condition_text(Condition(name, tuple(v))) for name, v in hypothesis.factors.items())
    settings = f"{_setting(hypothesis.new_environment)} instead of {_setting(hypothesis.environment)}"
    cause = settings if result.is_about_variables else rule
    style, answer = {
        CONFIRMED: (verdict.REGRESSED, f"confirmed: {cause} is the cause"),
        REFUTED: (verdict.SAME, f"refuted: {cause} is not the cause"),
    }.get(result.verdict, (verdict.INCONCLUSIVE, f"undecided: whether {cause} is the cause"))
    terminal.print_line(f"{answer}; {result.why}", style)
    if levels is not None:
        suspected, beside = (_ratio(difference, None) for difference in (levels.suspected, levels.beside))
        relative = _ratio(levels.difference, levels.interval)
        print(f"   {rule}, ratio of speed between the tags: {suspected}; of the other levels: {beside}")
        print(f"   the suspected levels relative to the other levels: ratio of speed {relative} ({levels.verdict})")
    for found in result.variables:
        ratio_text = _ratio(found.difference, found.interval)
        print(f"   {settings}, within {found.side}: ratio of speed {ratio_text} ({found.verdict})")
    for variant, restored in result.restored:
        bounds = f", 95 % interval {terminal.interval(restored.interval)}" if restored.interval else ""
        how = f"{terminal.factors(variant)}, ratio of speed {terminal.ratio_text(restored.ratio)}{bounds}"
        print(f"   with the environment of the reference, within the new side: {how}")
    for warning in result.warnings:
        print(f"warning: {warning}")


def _setting(level: Level) -> str:
    return " ".join(environment_variables.descriptions(level)) or "the environment as it is"


def _ratio(difference: float, bounds: tuple[float, float] | None) -> str:
    interval = f", 95 % interval {terminal.interval(metric_ratios(bounds, 'higher'))}" if bounds else ""
    return f"{terminal.ratio_text(metric_ratio(difference, 'higher'))}{interval}"
