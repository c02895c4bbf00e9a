"""The recipe for EasyBuild, evaluated as Python without EasyBuild."""

from __future__ import annotations

import re
from typing import Any

import pytest
from build_options import CMAKE_LISTS, OF_DEVELOPERS, build_options, required_version
from repository import REPOSITORY

[RECIPE] = (REPOSITORY / "packaging" / "easybuild").glob("longshore-*.eb")


@pytest.fixture
def recipe() -> dict[str, Any]:
    values: dict[str, Any] = {"SOURCE_TAR_GZ": "%(name)s-%(version)s.tar.gz"}
    exec(RECIPE.read_text(encoding="utf-8"), values)  # noqa: S102 - a recipe is Python
    return values


def numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


def test_the_name_of_the_file_is_what_easybuild_expects(recipe: dict[str, Any]) -> None:
    toolchain = recipe["toolchain"]
    assert RECIPE.name == f"longshore-{recipe['version']}-{toolchain['name']}-{toolchain['version']}.eb"


def test_the_version_is_that_of_the_build(recipe: dict[str, Any]) -> None:
    [version] = re.findall(r"project\(longshore VERSION ([\d.]+)", CMAKE_LISTS)
    assert recipe["version"] == version


def test_the_recipe_sets_each_option_of_the_library_once(recipe: dict[str, Any]) -> None:
    options = re.findall(r"-D(?:LONGSHORE_)?(\w+)=(?:ON|OFF)(?= |$)", recipe["configopts"])
    assert len(options) == len(recipe["configopts"].split())
    assert len(options) == len({*options})
    assert build_options() - OF_DEVELOPERS <= {*options} <= build_options()


@pytest.mark.parametrize(("package", "dependency"), [("fmt", "fmt"), ("CLI11", "CLI11"), ("TBB", "tbb")])
def test_versions_of_dependencies_are_new_enough(recipe: dict[str, Any], package: str, dependency: str) -> None:
    versions = dict(recipe["dependencies"] + recipe["builddependencies"])
    assert numbers(versions[dependency]) >= numbers(required_version(package))
