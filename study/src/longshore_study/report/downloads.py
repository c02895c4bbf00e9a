"""The data of the page as links that contain them, without network and script."""

import base64
import gzip
import json
from typing import Any

from longshore_study.base.json_values import attributes
from longshore_study.base.texts import counted
from longshore_study.compare.comparison import Comparison
from longshore_study.output import compare_document, export_tables, guideline_table
from longshore_study.report.facts import Facts
from longshore_study.report.markup import Element, element, remark, section

FIGURE_COLUMNS = (
    "side", "study", "tag", "session",
    "cell_id", "launch_index", "position", "pattern", "metric", "value", "unit", "better",
    "verified", "repetitions", "imported",
)  # fmt: skip
# Larger data is compressed, so that the page stays small enough to send.
MAX_PLAIN_BYTES = 300_000
CSV = "text/csv;charset=utf-8"


def downloads_section(facts: Facts) -> Element:
    rows = figure_rows(facts)
    links = [
        _link("figures.csv", CSV, figures_csv(rows), f"{counted(len(rows), 'figure')}, one per line"),
        _link("report.json", "application/json", report_json(facts, rows), "everything on this page"),
    ]
    if facts.comparison:
        ratios = counted(len(facts.comparison.rows), "ratio")
        links.insert(1, _link("comparison.csv", CSV, comparison_csv(facts.comparison), ratios))
    note = remark(
        "The data of this page. Repetitions are in the files of the store, which ",
        element("code", "longshore export"),
        " also reads.",
    )
    return section("data", "Data", note, element("ul", links, class_="downloads"))


def figure_rows(facts: Facts) -> list[dict[str, Any]]:
    """Every metric of every variant of every launch."""
    return [
        {**{name: getattr(f, name) for name in FIGURE_COLUMNS}, "simulated": machine, "factors": f.factors}
        for machine, kind in ((None, facts), *facts.simulated.items())
        for f in kind.figures
    ]


def figures_csv(rows: list[dict[str, Any]]) -> bytes:
    factors = sorted({name for row in rows for name in row["factors"]})
    columns = (*FIGURE_COLUMNS, "simulated", *(f"factor_{name}" for name in factors))
    lines = [
        {name: _json_word(value) for name, value in row.items() if name != "factors"}
        | {f"factor_{name}": _json_word(level) for name, level in row["factors"].items()}
        for row in rows
    ]
    return export_tables.table(lines, "csv", columns)


def _json_word(value: object) -> object:
    """CSV has true and false as JSON writes them."""
    return str(value).lower() if isinstance(value, bool) else value


def comparison_csv(comparison: Comparison) -> bytes:
    rows = []
    for r in comparison.rows:
        low, high = r.interval or (None, None)
        raw_low, raw_high = r.raw_interval or (None, None)
        rows.append(
            {"pattern": r.key.pattern, "metric": r.key.metric, "verdict": r.verdict, "ratio": r.ratio,
             "interval_low": low, "interval_high": high, "reference": r.reference_mean, "new": r.new_mean,
             "unit": r.unit, "ratio_is": r.ratio_kind, "raw_ratio": r.raw_ratio, "raw_interval_low": raw_low,
             "raw_interval_high": raw_high, "variant": r.factors, "warnings": "; ".join(r.warnings)}
        )  # fmt: skip
    return export_tables.table(rows, "csv")


def report_json(facts: Facts, rows: list[dict[str, Any]]) -> bytes:
    document = {
        "schema": 1,
        "sides": list(facts.sides),
        "comparison": compare_document.document(facts.comparison) if facts.comparison else None,
        "guidelines": {
            tag: [guideline_table.row_document(row) for row in checked] for tag, checked in facts.guidelines.items()
        },
        "figures": rows,
        "absent": [
            {"side": side, "pattern": key.pattern, "factors": key.shown_factors, "reason": reason}
            for kind in (facts, *facts.simulated.values())
            for side, key, reason in kind.absent
        ],
        "simulated_rows": [compare_document.row_document(row) for row in facts.simulated_rows],
        "launches": [
            {
                **attributes(launch, "study tag session cell launch_index position exit_status problem"),
                "file": launch.path.name,
                **attributes(launch, "source header"),
            }
            for launch in facts.all_launches
        ],
    }
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"), default=str)
    return text.encode("utf-8", "replace")


def _link(name: str, media_type: str, data: bytes, description: str) -> Element:
    if len(data) > MAX_PLAIN_BYTES:
        # No time stamp, so that the same data gives the same page.
        name, media_type, data = f"{name}.gz", "application/gzip", gzip.compress(data, mtime=0)
    size = f"{len(data) / 1000:.0f} kB" if len(data) >= 1000 else f"{len(data)} bytes"
    link = f"data:{media_type};base64,{base64.b64encode(data).decode('ascii')}"
    return element("li", element("a", name, href=link, download=name), f" {description}, {size}")
