"""The output of `longshore guidelines`: JSON, or a sentence per checked guideline."""

from typing import Any

from longshore_study.base import terminal
from longshore_study.base.json_values import attributes
from longshore_study.compare.estimate import metric_ratio, metric_ratios
from longshore_study.compare.guideline_check import BROKEN, STATISTIC, GuidelineFindings, GuidelineRow
from longshore_study.metrics.launch_metrics import unit_of_whom
from longshore_study.store.selection import heading


def document(findings: GuidelineFindings) -> dict[str, Any]:
    return {
        "schema": 1,
        "tag": findings.side.name,
        "statistic": STATISTIC,
        "rows": [row_document(row) for row in findings.rows],
        "problems": findings.problems,
    }


def row_document(row: GuidelineRow) -> dict[str, Any]:
    return {
        "faster": dict(row.guideline.faster),
        "than": dict(row.guideline.than),
        **attributes(row, "pattern ratio holds verdict times_slower"),
        "times_slower_interval": row.interval and metric_ratios(row.interval, "lower"),
        "interval": row.interval and metric_ratios(row.interval, row.better),
        "tolerance": row.guideline.tolerance,
        **attributes(row, "metric unit values study context compared"),
        "launches": row.effect.units[0],
        **attributes(row, "p adjusted_p"),
        "why": row.guideline.why,
        **attributes(row, "warnings simulated"),
    }


def render(findings: GuidelineFindings) -> None:
    if not findings.rows:
        print(f"no guideline applies to the variants that '{findings.side.name}' has measured")
    for row in findings.rows:
        terminal.print_line(sentence(row), row.verdict)
        if row.verdict == BROKEN and row.guideline.why:
            print(f"    {row.guideline.why}")
        for warning in row.warnings:
            print(f"    warning: {warning}")
    if findings.rows:
        print(f"figures: {STATISTIC}")
    for problem in findings.problems:
        print(f"warning: {problem}")


def sentence(row: GuidelineRow) -> str:
    """`broken: halo mode persistent is 31 times slower than mode waitall (401 against ...)`."""
    faster, than = (terminal.factors(variant) for variant in (row.guideline.faster, row.guideline.than))
    unit = unit_of_whom(row.unit, row.per)
    values = f"{terminal.number(row.values[0])} against {terminal.number(row.values[1])} {unit}"
    bounds = ""
    if row.interval is not None:
        low, high = (terminal.times(metric_ratio(bound, "higher")) for bound in row.interval)
        bounds = f"; 95 % interval {low} to {high}"
    how = terminal.times(metric_ratio(row.effect.difference, "higher"))
    where = (f"{heading(row.simulated)}; " if row.simulated else "") + terminal.factors(terminal.chosen(row.context))
    return f"{row.verdict}: {row.pattern} {faster} is {how} than {than} ({values}{bounds}; {where})"
