"""The table of `compare --factor` for more than two levels, with a column for each."""

from longshore_study.base import terminal
from longshore_study.base.groups import grouped
from longshore_study.compare.factor_levels import FactorComparison
from longshore_study.compare.judged_row import JudgedRow
from longshore_study.output.compare_table import print_summary, ratio_and_verdict, title
from longshore_study.stats import verdict

_LEGEND = "ratio: level / baseline, by speed; -v prints a table with figures and intervals for each level"


def render_levels(levels: FactorComparison) -> None:
    """Prints a table for each pattern and metric, and a summary for each level."""
    rows = [row for comparison in levels.comparisons for row in comparison.rows]
    for of_table in grouped(rows, lambda row: (row.simulated, row.key.pattern, row.key.metric)).values():
        _print_table(levels, of_table)
    for comparison in levels.comparisons:
        print_summary(comparison, verbose=False)


def _print_table(levels: FactorComparison, rows: list[JudgedRow]) -> None:
    lines = grouped(rows, lambda row: row.key)
    shared, names = terminal.varying([key.told for key in lines])
    of_level = {c.new.name: {row.key: row for row in c.rows} for c in levels.comparisons}
    terminal.print_table(
        title(rows, shared),
        [*names, levels.baseline, *of_level],
        [
            [
                *(terminal.factor(key.told.get(name)) for name in names),
                terminal.number(of_key[0].reference_mean),
                *(ratio_and_verdict([row] if (row := of_row.get(key)) else []) for of_row in of_level.values()),
            ]
            for key, of_key in lines.items()
        ],
        right=[levels.baseline],
        styles=[min((row.verdict for row in of_key), key=verdict.VERDICTS.index) for of_key in lines.values()],
    )
    print(_LEGEND)
    print()
