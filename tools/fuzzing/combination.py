"""A combination: the arguments, transport, ranks and variables of one run of longshore-bench."""

from __future__ import annotations

from dataclasses import dataclass, replace

Option = tuple[str, tuple[str, ...]]
"""An option, such as --halo, with its levels as typed. A flag has no levels."""


@dataclass(frozen=True)
class Combination:
    pattern: str
    transport: str
    ranks: int
    options: tuple[Option, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    """Environment variables and their values."""

    def levels(self, option: str) -> tuple[str, ...] | None:
        return dict(self.options).get(option)

    def without_option(self, option: str) -> Combination:
        return replace(self, options=tuple(kept for kept in self.options if kept[0] != option))

    def with_levels(self, option: str, levels: tuple[str, ...]) -> Combination:
        """A copy in which the option has these levels."""
        return replace(self, options=tuple((name, levels if name == option else old) for name, old in self.options))

    def without_variable(self, variable: str) -> Combination:
        return replace(self, variables=tuple(kept for kept in self.variables if kept[0] != variable))

    def words(self) -> list[str]:
        """The arguments of the program."""
        words = [self.pattern]
        if self.transport == "threads":
            words += ["--ranks", str(self.ranks)]
        elif self.transport != "mpi":
            words += ["--transport", self.transport]
        for option, levels in self.options:
            words += [option, ",".join(levels)] if levels else [option]
        return words
