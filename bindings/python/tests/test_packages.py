"""The two distributions, their type stubs, the page docs/reference/python.md, data frames."""

from __future__ import annotations

import importlib.util
import inspect
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib.metadata import version
from pathlib import Path

import longshore
import pytest
from test_examples import REPOSITORY, ROOT, mpirun, run_script

DOCUMENT = REPOSITORY / "docs" / "reference" / "python.md"


def has(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def test_both_packages_have_the_version_of_the_library() -> None:
    library = re.search(
        r"project\(longshore VERSION ([\d.]+)", (REPOSITORY / "CMakeLists.txt").read_text(encoding="utf-8")
    )
    assert library is not None
    study = tomllib.loads((REPOSITORY / "study" / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert longshore.__version__ == version("longshore") == study["version"] == library[1]


@pytest.mark.consumer
def test_the_wheel_of_the_study_tool_shares_no_file_with_the_bindings(tmp_path: Path) -> None:
    if importlib.util.find_spec("hatchling") is None:
        pytest.skip("hatchling, which builds the wheel, is not installed")
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "-q",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        str(tmp_path),
        str(REPOSITORY / "study"),
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=600)
    (wheel,) = tmp_path.glob("longshore_study-*-py3-none-any.whl")
    tops = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"longshore_study"}


@pytest.mark.consumer
def test_a_plain_install_configures_the_library_around_the_bindings(tmp_path: Path) -> None:
    """Runs `pip install .` from a source distribution, but does not compile."""
    if (
        not all(shutil.which(tool) for tool in ("cmake", "ninja"))
        or not has("nanobind")
        or not has("scikit_build_core")
    ):
        pytest.skip("cmake, ninja, nanobind or scikit-build-core is not there")
    pack = f"from scikit_build_core.build import build_sdist; build_sdist({str(tmp_path)!r})"
    subprocess.run([sys.executable, "-c", pack], cwd=REPOSITORY, check=True, capture_output=True, timeout=600)
    (archive,) = tmp_path.glob("longshore-*.tar.gz")
    with tarfile.open(archive) as packed:
        top = {name.split("/")[1] for name in packed.getnames() if name.count("/") > 1}
    subprocess.run(["tar", "--extract", f"--file={archive}"], cwd=tmp_path, check=True)
    assert top == {"bindings", "cmake", "packaging", "src"}, "the archive holds other folders"
    sources, build = tmp_path / archive.name.removesuffix(".tar.gz") / "bindings" / "python", tmp_path / "build"
    configure = ["cmake", "-G", "Ninja", "-S", str(sources), "-B", str(build), "-Wno-dev"]
    configure.append(f"-DPython_EXECUTABLE={sys.executable}")
    done = subprocess.run(configure, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    planned = ["ninja", "-C", str(build), "-n", "_core"]
    done = subprocess.run(planned, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "longshore_launch" in done.stdout  # a target of the library


def test_no_optional_dependency_is_a_package_of_longshore() -> None:
    """The study tool is a folder of the sources, not in a package index."""
    extras = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    assert [one for extra in extras.values() for one in extra if "longshore" in one] == []


@pytest.mark.thorough
def test_examples_type_check_against_the_stubs_and_wrong_calls_do_not(tmp_path: Path) -> None:
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not installed")
    examples = [str(path) for path in sorted((REPOSITORY / "examples" / "python").glob("*.py"))]
    assert len(examples) >= 5
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        "import longshore\nlongshore.gather([1], 2)\nx: str = longshore.run(lambda team: team.rank)\n", encoding="utf-8"
    )
    mypy = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", os.devnull, *examples, str(wrong)]
    done = subprocess.run(mypy, capture_output=True, text=True, check=False, timeout=600)
    errors = [line for line in done.stdout.splitlines() if ": error: " in line]
    places = [line.partition(": error: ")[0].rpartition("/")[2] for line in errors]
    assert places == ["wrong.py:2", "wrong.py:2", "wrong.py:3"], done.stdout


def fenced(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def test_programs_of_the_documentation_run(capsys: pytest.CaptureFixture[str]) -> None:
    programs = fenced("python")
    assert len(programs) >= 5
    names: dict[str, object] = {}
    for program in programs:  # in order: later programs use names of earlier programs
        exec(compile(program, str(DOCUMENT), "exec"), names)  # noqa: S102 - a page of this repository
    said = re.findall(r"print\(\w+\)  # (.*)", "\n".join(programs))
    assert capsys.readouterr().out.splitlines() == said


def test_the_program_on_the_page_of_the_package_runs() -> None:
    page = REPOSITORY / "bindings" / "python" / "README.md"
    [program] = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    exec(compile(program, str(page), "exec"), {})  # noqa: S102 - a page of this repository


def test_commands_of_the_documentation_run() -> None:
    commands = [line[2:] for block in fenced("console") for line in block.splitlines()]
    assert len(commands) == 3
    for command in commands:
        variables = dict(re.findall(r"(LONGSHORE_\w+)=(\S+)", command))
        script = REPOSITORY / command.split("python ")[1]
        started = mpirun(script) if command.startswith("mpirun") else [sys.executable, str(script)]
        assert re.search(r"heat: .*verified=yes$", run_script(started, **variables, **ROOT).strip())


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_results_of_studies_are_data_frames(library: str, tmp_path: Path) -> None:
    if importlib.util.find_spec("longshore_study") is None:
        pytest.skip("the study tool is not installed")
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    csv = tmp_path / "figures.csv"
    csv.write_text(
        "stage,comm,tasks,stream_ep_GBps_1_locale\nfirst,none,fifo,100.5\nsecond,none,fifo,120\n", encoding="utf-8"
    )
    imported = [
        sys.executable,
        "-m",
        "longshore_study",
        "import",
        "stream-csv",
        str(csv),
        "--tag",
        "published",
        "--store",
        str(tmp_path / "store"),
    ]
    done = subprocess.run(imported, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    frame = longshore.results("published", store=tmp_path / "store", frame=library)  # type: ignore[arg-type]
    assert type(frame).__module__.split(".")[0] == library
    assert {"tag", "pattern", "metric", "value", "unit"} <= set(frame.columns)
    assert len(frame) >= 2
    with pytest.raises(ValueError, match="unknown tag or study 'publshed'"):
        longshore.results("publshed", store=tmp_path / "store", frame=library)  # type: ignore[arg-type]


def test_results_names_the_missing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "longshore_study" else found(name))
    with pytest.raises(ImportError, match="pip install study/ of the sources"):
        longshore.results()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in ("pandas", "polars") else True)
    with pytest.raises(ImportError, match="pandas or polars"):
        longshore.results()
    with pytest.raises(ValueError, match="'pandas', 'polars'"):
        longshore.results(frame="excel")  # type: ignore[arg-type]


def test_every_public_name_has_a_docstring() -> None:
    """The reference page shows docstrings, and omits names without one."""
    silent = []
    for name in longshore.__all__:
        thing = getattr(longshore, name)
        attributes = vars(thing).items() if inspect.isclass(thing) and not issubclass(thing, Exception) else ()
        shown = [(f"{name}.{attribute}", value) for attribute, value in attributes if not attribute.startswith("_")]
        silent += [title for title, value in [(name, thing), *shown] if not inspect.getdoc(value)]
    assert silent == []
