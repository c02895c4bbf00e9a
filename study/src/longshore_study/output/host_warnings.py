"""What a comparison says about the hosts of its launches."""

import shlex
from collections.abc import Iterator, Sequence

from longshore_study.base.default_store import store_option
from longshore_study.compare.comparison import Comparison
from longshore_study.compare.slow_hosts import changed_with_hosts, slow_hosts
from longshore_study.output.next_commands import study_file_of

_NAMED = 4
"""Of more hosts, only the first are named."""


def host_warnings(comparison: Comparison) -> Iterator[str]:
    """The slow hosts, and whether a change may come from other hosts."""
    for host in slow_hosts(comparison):
        yield host.text
    if hosts := changed_with_hosts(comparison):
        sides = comparison.reference, comparison.new
        old, new = (f"{side.name} ran on {_named(names)}" for side, names in zip(sides, hosts, strict=True))
        yield (
            f"{old}, {new}: the change may come from the hosts. To find out, measure {comparison.new.name} on hosts of "
            f"{comparison.reference.name}, too{_commands(comparison)}"
        )


def _named(hosts: Sequence[str]) -> str:
    more = f" and {len(hosts) - _NAMED} more" if len(hosts) > _NAMED else ""
    return f"{', '.join(hosts[:_NAMED])}{more}"


def _commands(comparison: Comparison) -> str:
    """The commands, if the sides are tags that `longshore run` has measured."""
    newest = comparison.new.launches[-1]
    if newest.imported or newest.tag != comparison.new.name:
        return ""
    study = study_file_of(newest) or f"{newest.study}.toml"
    tag, store = f"{newest.tag}-on-same-hosts", store_option(newest.path.parents[3])
    run = shlex.join(["longshore", "run", study, "--tag", tag, "--session", "SESSION", *store])
    again = shlex.join(["longshore", "compare", comparison.reference.name, tag, *store])
    return f": {run} (two sessions or more), then {again}"
