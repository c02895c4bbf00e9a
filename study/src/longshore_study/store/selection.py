"""Selects launches by the machine, and by the name of a tag or a study on the command line. No
table and no statistic mixes measured launches with simulated ones, or those of two machines."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from longshore_study.base.errors import LongshoreError, UsageError, require_known, suggestion
from longshore_study.base.groups import grouped
from longshore_study.store.launch_store import Launch, Store


def by_machine(launches: Iterable[Launch]) -> dict[str | None, list[Launch]]:
    """The launches of each simulated machine by name. The measured ones, with None, come first."""
    groups = grouped(launches, lambda launch: launch.simulated)
    for name in [name for name in groups if name is not None and not any(launch.header for launch in groups[name])]:
        # Launches that failed at their start do not have the version of their machine.
        versions = [other for other in groups if other is not None and other.rpartition(" ")[0] == name]
        if len(versions) == 1:
            groups[versions[0]] += groups.pop(name)
    return dict(sorted(groups.items(), key=lambda group: (group[0] is not None, group[0] or "")))


def heading(machine: str) -> str:
    return f"simulated on {machine}"


@dataclass(frozen=True)
class Side:
    """The launches of a tag or a study, as one side of a comparison."""

    name: str
    launches: list[Launch]
    is_tag: bool = True


def sides(store: Store, names: list[str], study: str | None = None) -> list[Side]:
    """The launches of each name. If all names are tags, the names mean tags. Otherwise, if all
    names are studies, the names mean studies. Otherwise a name means a tag if there is such a tag,
    else a study.

    If the names are a study and one of its own tags, the study means its other tags. Raises
    UsageError, with the known names, for an unknown name.
    """
    stored = stored_names(store)
    if len(set(names)) < len(names):
        raise UsageError(f"'{names[0]}' is on both sides; a comparison needs two different tags, or two studies")
    if study is not None:
        require_known(study, {s for s, _, _ in stored}, "study")
        stored = [triple for triple in stored if triple[0] == study]
    tags, studies = {tag for _, tag, _ in stored}, {s for s, _, _ in stored}
    if all(name in tags for name in names):
        return [Side(name, list(store.launches(study, name)), is_tag=True) for name in names]
    if all(name in studies for name in names):
        return [Side(name, list(store.launches(name)), is_tag=False) for name in names]
    unknown = [name for name in names if name not in tags | studies]
    if unknown:
        within = f" of study '{study}'" if study else ""
        raise UsageError(
            f"unknown tag '{unknown[0]}'{suggestion(unknown[0], tags | studies)}"
            f" (tags{within}: {', '.join(sorted(tags))}; studies: {', '.join(sorted(studies))})"
        )
    named_studies = {name for name in names if name not in tags}
    return [_side(store, name, stored, named_studies, set(names) - named_studies) for name in names]


def _side(store: Store, name: str, stored: list[tuple[str, str, str]], studies: set[str], tags: set[str]) -> Side:
    """One side of a comparison between studies and tags. A tag means a tag of the named studies if
    they have it. A study means its launches without the named tags, so that no launch is on both
    sides."""
    if name in studies:
        chosen = {(study, tag) for study, tag, _ in stored if study == name and tag not in tags}
        if not chosen:
            own_tags = ", ".join(f"'{tag}'" for tag in sorted({tag for study, tag, _ in stored if study == name}))
            raise UsageError(f"study '{name}' has only the tag {own_tags}; there is nothing to compare it with")
    else:
        chosen = {(study, tag) for study, tag, _ in stored if tag == name}
        chosen = {(study, tag) for study, tag in chosen if study in studies} or chosen
    launches = [launch for study, tag in sorted(chosen) for launch in store.launches(study, tag)]
    return Side(name, launches, is_tag=name not in studies)


def stored_names(store: Store) -> list[tuple[str, str, str]]:
    """The stored (study, tag, session). Raises LongshoreError if nothing is stored."""
    names = store.names()
    if not names:
        raise LongshoreError(
            f"nothing is stored in {store.path}; store launches with 'longshore run' or 'longshore import', "
            "or name another store with --store DIR"
        )
    return names


def named_sessions(store: Store, names: Sequence[str]) -> list[tuple[str, str, str]]:
    """The stored (study, tag, session) of these tags and studies, or all. UsageError if unknown."""
    stored = stored_names(store)
    known = {name for triple in stored for name in triple[:2]}
    for name in names:
        require_known(name, known, "tag or study")
    return [triple for triple in stored if not names or set(names) & set(triple[:2])]
