"""The page: all sections in reading order, in one file without external references."""

import base64
import hashlib
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib.resources import files

from longshore_study import __version__
from longshore_study.report.association import attribution_section
from longshore_study.report.coverage import coverage_section
from longshore_study.report.curves import curves
from longshore_study.report.downloads import downloads_section
from longshore_study.report.drift import drift_section
from longshore_study.report.engines import engines_section
from longshore_study.report.facts import Facts
from longshore_study.report.fastest import fastest_section
from longshore_study.report.forest import forest_section
from longshore_study.report.guideline_table import guidelines_section
from longshore_study.report.heat_map import heat_map_section
from longshore_study.report.history import history_section
from longshore_study.report.hosts import hosts_section
from longshore_study.report.labels import pattern_title
from longshore_study.report.launch_dots import launch_dots
from longshore_study.report.marks import symbol_sheet
from longshore_study.report.markup import Element, Verbatim, element, section, to_text
from longshore_study.report.predictions import predictions_section, side_by_side_section
from longshore_study.report.provenance import provenance_section
from longshore_study.report.scaling import scaling_section
from longshore_study.report.simulated import simulated_section
from longshore_study.report.steps import steps_section
from longshore_study.report.verdict_summary import verdict_section

Section = Callable[[Facts], Element | None]


def build_page(facts: Facts, now: datetime | None = None) -> str:
    """The whole file as text. `now`: the date in the footer; the current time if None."""
    sections = sections_of(facts)
    style, script = _package_file("page.css"), _package_file("page.js")
    title, stamp = _title(facts), (now or datetime.now(UTC)).astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        # Even if data became markup, nothing may be loaded and only this script may run.
        element("meta", http_equiv="Content-Security-Policy", content=_policy(script)),
        element("title", title),
        element("style", Verbatim(style)),
    )
    body = element(
        "body",
        element("a", "Skip to the verdict", href="#verdict", class_="skip"),
        symbol_sheet(),
        element("header", element("p", "Longshore report", class_="kind"), element("h1", title), _subtitle(facts)),
        _contents(sections),
        element("main", sections),
        element("footer", element("p", f"Written by longshore {__version__}, {stamp}. This file needs no network.")),
        element("script", Verbatim(script)),
    )
    return "<!DOCTYPE html>\n" + to_text(element("html", head, body, lang="en")) + "\n"


def sections_of(facts: Facts) -> list[Element]:
    return [built for build in SECTIONS if (built := build(facts)) is not None]


def _title(facts: Facts) -> str:
    studies = list(dict.fromkeys(launch.study for launch in facts.launches))
    if facts.comparison:
        return f"{facts.comparison.new.name} against {facts.comparison.reference.name}"
    tags = [s for s in facts.sides if s not in studies]
    return ": ".join(part for part in (", ".join(studies), ", ".join(tags)) if part) or "No data"


def _subtitle(facts: Facts) -> Element:
    """The studies, and the properties of the machine that are the same for all launches."""
    properties: list[str] = []
    systems = [launch.header.get("system") or {} for launch in facts.all_launches if launch.header]
    for key in ("host", "cpu", "kernel"):
        values = {str(system.get(key) or "") for system in systems}
        properties += values if len(values) == 1 and values != {""} else ()
    if sources := facts.imported_from:
        properties.append(f"figures imported from {', '.join(sources)}: aggregates only")
    studies = sorted({launch.study for launch in facts.all_launches})
    return element("p", " · ".join([f"study {', '.join(studies)}", *properties]), class_="subtitle")


def _contents(sections: Sequence[Element]) -> Element:
    entries = []
    for part in sections:
        heading = next((c for c in part.children if isinstance(c, Element) and c.name == "h2"), None)
        if heading is not None:
            entries.append(element("li", element("a", heading.children, href=f"#{part.attributes['id']}")))
    return element("nav", element("ul", entries), aria_label="Contents")


def patterns_section(facts: Facts) -> Element | None:
    blocks = [_pattern(facts, p) for p in facts.patterns]
    return section("figures", "Figures", blocks) if blocks else None


def _pattern(facts: Facts, pattern: str) -> Element:
    """Curves and dots for each metric, unit and kind of work."""
    drawn = [[*curves(facts, group), launch_dots(facts, group)] for group in facts.alike(pattern)]
    return element("div", element("h3", pattern_title(pattern)), drawn, id=f"pattern-{pattern}")


def methods_section(facts: Facts) -> Element:
    imported = any(launch.imported for launch in facts.launches)
    measured = not all(launch.imported for launch in facts.all_launches)
    lines = []
    if measured:
        lines += [
            "All ranks start a repetition from a barrier. Its time is the largest over the ranks.",
            "A launch gives the median over repetitions, and the rate that follows from it. No outlier is deleted.",
            "Within a launch the variants run in an order shuffled anew in each round; launches run in random order.",
            "Bandwidths in GB/s (10⁹ bytes) are per node, in MiB/s (2²⁰ bytes) per process; every result is verified.",
        ]
    if imported:
        lines.append(
            "Imported figures are the values that the other program printed, under our names where definitions agree."
        )
    if facts.simulated:
        lines.append(
            "Simulated times come from the real code on a described machine. They have no noise, so one launch is "
            "enough, and their ratios have no intervals. No statistic pools them with measured figures."
        )
    if facts.comparison:
        lines.append(
            "The unit of replication is the session when the sides differ in time. Differences are tested on the "
            "logarithm with variances shrunk across cells (Smyth 2004), corrected for the number of rows "
            "(Benjamini-Hochberg)."
        )
    return section("methods", "How the figures are made", element("ul", [element("li", text) for text in lines]))


SECTIONS: tuple[Section, ...] = (
    verdict_section,
    forest_section,
    heat_map_section,
    attribution_section,
    fastest_section,
    steps_section,
    patterns_section,
    scaling_section,
    engines_section,
    predictions_section,
    simulated_section,
    side_by_side_section,
    guidelines_section,
    history_section,
    drift_section,
    hosts_section,
    coverage_section,
    provenance_section,
    methods_section,
    downloads_section,
)


def _package_file(name: str) -> str:
    return files("longshore_study.report").joinpath(name).read_text(encoding="utf-8")


def _policy(script: str) -> str:
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    rules = ("default-src 'none'", "style-src 'unsafe-inline'", f"script-src 'sha256-{digest}'", "form-action 'none'")
    return "; ".join((*rules, "base-uri 'none'"))
