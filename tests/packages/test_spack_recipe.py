"""The recipe for Spack names the options and the requirements of the build.

Spack is no package of PyPI or Debian. A stand-in of the few names that the recipe imports loads it,
and evaluates its variants.
"""

from __future__ import annotations

import importlib.util
import itertools
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from build_options import OF_DEVELOPERS, build_options, required_version
from repository import REPOSITORY

RECIPE = REPOSITORY / "packaging" / "spack" / "package.py"


@dataclass
class Recorded:
    """The directives of a recipe, in the order of their calls: name, arguments, named arguments."""

    calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = field(default_factory=list)

    def directive(self, name: str) -> Callable[..., None]:
        return lambda *words, **named: self.calls.append((name, words, named))

    def of(self, name: str) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
        return [(words, named) for called, words, named in self.calls if called == name]


class StandInPackage:
    """A package with the values of its variants, as Spack's CMakePackage."""

    def __init__(self, **values: bool) -> None:
        self.values = values

    def define(self, name: str, value: bool) -> str:
        return f"-D{name}:BOOL={'ON' if value else 'OFF'}"

    def define_from_variant(self, name: str, variant: str) -> str:
        return self.define(name, self.values[variant])


@dataclass
class Recipe:
    package: type[Any]
    directives: Recorded

    def variants(self) -> dict[str, bool]:
        return {words[0]: named["default"] for words, named in self.directives.of("variant")}

    def is_allowed(self, values: dict[str, bool]) -> bool:
        """Whether no conflict between two variants forbids these values."""
        for (conflict, *_), named in self.directives.of("conflicts"):
            if conflict[0] in "+~" and holds(conflict, values) and holds(named["when"], values):
                return False
        return True

    def dependencies(self, values: dict[str, bool]) -> set[str]:
        return {
            words[0]
            for words, named in self.directives.of("depends_on")
            if "when" not in named or holds(named["when"], values)
        }


def holds(condition: str, values: dict[str, bool]) -> bool:
    match = re.fullmatch(r"([+~])(\w+)", condition)
    assert match, f"the stand-in cannot read the condition {condition}"
    return values[match[2]] == (match[1] == "+")


def option_of(variant: str) -> str:
    return "BUILD_SHARED_LIBS" if variant == "shared" else variant.upper()


@pytest.fixture
def recipe(monkeypatch: pytest.MonkeyPatch) -> Recipe:
    directives = Recorded()
    stand_in = ModuleType("spack.package")
    for name in ("conflicts", "depends_on", "license", "variant", "version"):
        setattr(stand_in, name, directives.directive(name))
    stand_in.CMakePackage = StandInPackage  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "spack", ModuleType("spack"))
    monkeypatch.setitem(sys.modules, "spack.package", stand_in)
    spec = importlib.util.spec_from_file_location("spack_recipe", RECIPE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return Recipe(module.Longshore, directives)


def set_options(package: StandInPackage) -> dict[str, str]:
    arguments = package.cmake_args()  # type: ignore[attr-defined]
    return {
        name: value for one in arguments for name, value in re.findall(r"^-D(?:LONGSHORE_)?(\w+):BOOL=(ON|OFF)$", one)
    }


def test_each_option_of_the_build_is_a_variant_or_for_developers(recipe: Recipe) -> None:
    variants = {option_of(name) for name in recipe.variants()}
    assert variants == build_options() - OF_DEVELOPERS


def test_every_allowed_choice_of_variants_sets_all_options_of_the_library(recipe: Recipe) -> None:
    names = list(recipe.variants())
    allowed = 0
    for chosen in itertools.product((False, True), repeat=len(names)):
        values = dict(zip(names, chosen, strict=True))
        if not recipe.is_allowed(values):
            continue
        allowed += 1
        options = set_options(recipe.package(**values))
        assert set(options) <= build_options()
        assert {name: options[option_of(name)] == "ON" for name in names} == values
        assert recipe.dependencies(values) >= {"cxx", "cmake@3.25:", "fmt@9:"}
    assert 0 < allowed < 2 ** len(names), "no choice is forbidden, or all are"


@pytest.mark.thorough
def test_defaults_are_allowed_and_configure_without_an_unknown_option(recipe: Recipe, tmp_path: Path) -> None:
    values = recipe.variants()
    assert recipe.is_allowed(values)
    configure = ["cmake", "-S", REPOSITORY, "-B", tmp_path, "-G", "Ninja", *recipe.package(**values).cmake_args()]
    done = subprocess.run(configure, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "not used by the project" not in done.stderr


def test_a_fortran_module_without_the_c_interface_is_refused(recipe: Recipe) -> None:
    values = recipe.variants() | {"fortran": True, "c": False}
    assert not recipe.is_allowed(values)


@pytest.mark.parametrize(
    ("package", "dependency"),
    [("fmt", "fmt"), ("CLI11", "cli11"), ("nlohmann_json", "nlohmann-json"), ("TBB", "intel-oneapi-tbb")],
)
def test_versions_of_dependencies_are_those_of_the_build(recipe: Recipe, package: str, dependency: str) -> None:
    needed = [words[0] for words, _ in recipe.directives.of("depends_on")]
    assert f"{dependency}@{required_version(package)}:" in needed
