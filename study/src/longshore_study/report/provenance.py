"""The section of provenance: what the figures were measured with, and what differs."""

from collections.abc import Mapping, Sequence

from longshore_study.base.texts import counted
from longshore_study.compare import differences
from longshore_study.compare.differences import Values
from longshore_study.report.facts import Facts
from longshore_study.report.markup import Child, Element, details, element, remark, section
from longshore_study.report.tables import scroll_table
from longshore_study.store.launch_properties import VARIABLE, is_fraction, properties, values_by_side

# Options with a value that differs in each launch.
LAUNCH_OPTIONS = ("--json", "--seed")
LONGEST_TEXT = 120
VALUES_SHOWN = 4

# The properties that a reader needs to repeat a measurement, and the words that identify them in
# recorded names.
LIBRARY = "communication library and its version"
SETUP = {
    "host": ("host",),
    "CPU": ("cpu",),
    "kernel": ("kernel",),
    "compiler": ("compiler",),
    LIBRARY: ("library", "mpi version", "transport version", "mpi library"),
    "binding of ranks to cores": ("map", "binding", "placement", "core", "affinity"),
}


def recorded_properties(facts: Facts) -> dict[str, Values]:
    """The values on each side of all recorded properties, in the order of first occurrence."""
    per_side = values_by_side([side.launches for side in facts.all_sides])
    keys = list(dict.fromkeys(key for side in per_side for key in side))
    return {key: tuple(tuple(side.get(key, ())) for side in per_side) for key in keys}


def unrecorded(facts: Facts) -> list[str]:
    """The parts of SETUP that a successful launch did not record."""
    known = [
        ({key.lower() for key, _ in properties(launch) if not key.startswith(VARIABLE)}, launch.cell.get("transport"))
        for launch in facts.all_launches
        if launch.problem is None
    ]

    def is_known(part: str, keys: set[str], transport: object) -> bool:
        needless = part == LIBRARY and transport in ("threads", "simulated")
        return needless or any(word in key for word in SETUP[part] for key in keys)

    return [part for part in SETUP if not all(is_known(part, *of_launch) for of_launch in known)]


def provenance_section(facts: Facts) -> Element:
    recorded, lacking = recorded_properties(facts), unrecorded(facts)
    table = _table(facts.sides, recorded, "everything recorded")
    amount = counted(len(recorded), "property", "properties")
    shown: Child = table
    if not recorded:
        shown = element("p", "No provenance of these figures is recorded.", class_="empty")
    elif len(facts.sides) > 1:
        shown = [_differing(facts), details(f"Everything recorded ({amount})", table)]
    not_recorded = remark(f"Not recorded: {', '.join(lacking)}.") if lacking else None
    return section("provenance", "Provenance", shown, not_recorded, _commands(facts))


def _differing(facts: Facts) -> list[Child]:
    differing = differences.differing([side.launches for side in facts.all_sides])
    heading = element("h3", "What differs between the sides")
    if not differing:
        return [heading, element("p", "Nothing that was recorded differs between the sides.")]
    note = remark("Each of these is a candidate for the cause of a change.")
    return [heading, note, _table(facts.sides, differing, "what differs")]


def _table(sides: Sequence[str], rows: Mapping[str, Values], label: str) -> Element:
    heads = ("Property", *(sides if len(sides) > 1 else ["Value"]))
    body = [[element("th", name, scope="row"), *map(_shown, values)] for name, values in rows.items()]
    return scroll_table(heads, body, label, style="plain provenance")


def _shown(values: Sequence[str]) -> Child:
    if not values:
        return element("span", "not recorded", class_="absent")
    if len(values) > 1 and all(map(is_fraction, values)):
        return f"{min(values, key=float)} to {max(values, key=float)}"
    more = len(values) - VALUES_SHOWN
    rest = element("div", f"and {more} more", class_="absent") if more > 0 else None
    return [*(element("div", _long(v)) for v in values[:VALUES_SHOWN]), rest]


def _long(text: str) -> Child:
    if len(text) <= LONGEST_TEXT:
        return text
    return details([text[: LONGEST_TEXT - 20], "…"], element("code", text))


def _repeatable_command(command: list[object]) -> str:
    """The command without the options that differ in every launch."""
    words = list(map(str, command))
    pairs = zip(words, ["", *words], strict=False)
    return " ".join(word for word, last in pairs if not {word, last} & {*LAUNCH_OPTIONS})


def _commands(facts: Facts) -> Element | None:
    recorded = [launch.envelope.get("command") for launch in facts.all_launches]
    commands = dict.fromkeys(_repeatable_command(words) for words in recorded if isinstance(words, list) and words)
    if not commands:
        return None
    return details(
        f"Command lines ({len(commands)})",
        element("ul", [element("li", element("code", text)) for text in commands], class_="commands"),
    )
