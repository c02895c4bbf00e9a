"""The recipe for conda names the options and the requirements of the build."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest
from build_options import OF_DEVELOPERS, build_options, required_version
from repository import REPOSITORY

RECIPE = REPOSITORY / "packaging" / "conda" / "recipe" / "recipe.yaml"
needs_renderer = pytest.mark.skipif(
    importlib.util.find_spec("rattler_build") is None, reason="no renderer (pip install py-rattler-build)"
)


def test_the_recipe_sets_each_option_of_the_library_once() -> None:
    options = re.findall(r"-D(?:LONGSHORE_)?(\w+)=(?:ON|OFF)\b", RECIPE.read_text(encoding="utf-8"))
    assert sorted(options) == sorted({*options})
    assert {*options} | OF_DEVELOPERS | {"ALL_LOOPS"} == build_options()


@pytest.mark.parametrize(
    ("package", "dependency"),
    [("fmt", "fmt"), ("CLI11", "cli11"), ("nlohmann_json", "nlohmann_json"), ("TBB", "tbb-devel")],
)
def test_versions_of_dependencies_are_those_of_the_build(package: str, dependency: str) -> None:
    needed = re.findall(rf"- {dependency} (\S+)$", RECIPE.read_text(encoding="utf-8"), re.MULTILINE)
    assert {*needed} == {f">={required_version(package)}"}


def test_the_version_is_not_written_in_the_recipe() -> None:
    assert 'version: ${{ env.get("LONGSHORE_VERSION") }}' in RECIPE.read_text(encoding="utf-8")


def rendered() -> list[dict[str, Any]]:
    import rattler_build as conda  # noqa: PLC0415 - an optional package

    variants = conda.VariantConfig.from_file(RECIPE.with_name("variants.yaml"))
    linux = conda.RenderConfig(conda.PlatformConfig(target_platform="linux-64"))
    return [one.recipe.to_dict() for one in conda.Stage0Recipe.from_file(RECIPE).render(variants, linux)]


@needs_renderer
def test_the_recipe_renders_one_package_for_each_mpi_and_one_for_the_study_tool(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LONGSHORE_VERSION", "7.8.9")
    # Packages with the same build string are the same package.
    packages = list({one["build"]["string"]: one for one in rendered()}.values())
    assert sorted(one["package"]["name"] for one in packages) == ["longshore", "longshore", "longshore-study"]
    assert {one["package"]["version"] for one in packages} == {"7.8.9"}
    mpis = [one["build"]["string"].split("_")[1] for one in packages if one["package"]["name"] == "longshore"]
    assert sorted(mpis) == ["mpich", "openmpi"]
    for one in packages:
        [source] = one["source"]
        assert (RECIPE.parent / source["path"]).resolve() == REPOSITORY
        for licence in one["about"]["license_file"]:
            assert (REPOSITORY / Path(licence)).is_file()


@needs_renderer
def test_without_a_version_the_error_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    import rattler_build as conda  # noqa: PLC0415 - an optional package

    monkeypatch.delenv("LONGSHORE_VERSION", raising=False)
    with pytest.raises(conda.RattlerBuildError, match="LONGSHORE_VERSION not found"):
        rendered()
