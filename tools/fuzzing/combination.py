"""One combination: everything that a run of longshore-bench depends on."""

from __future__ import annotations

from dataclasses import dataclass, replace

Option = tuple[str, tuple[str, ...]]
"""An option as typed, such as --halo, with its levels. A flag has none."""


@dataclass(frozen=True)
class Combination:
    pattern: str
    transport: str
    ranks: int
    options: tuple[Option, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    """Of the environment."""

    def levels(self, option: str) -> tuple[str, ...] | None:
        return dict(self.options).get(option)

    def without_option(self, option: str) -> Combination:
        return replace(self, options=tuple(one for one in self.options if one[0] != option))

    def with_levels(self, option: str, levels: tuple[str, ...]) -> Combination:
        """The levels take the place of those that the option has."""
        return replace(self, options=tuple((name, levels if name == option else old) for name, old in self.options))

    def without_variable(self, variable: str) -> Combination:
        return replace(self, variables=tuple(one for one in self.variables if one[0] != variable))

    def words(self) -> list[str]:
        """What follows the name of the program."""
        words = [self.pattern]
        if self.transport == "threads":
            words += ["--ranks", str(self.ranks)]
        elif self.transport != "mpi":
            words += ["--transport", self.transport]
        for option, levels in self.options:
            words += [option, ",".join(levels)] if levels else [option]
        return words
