"""tools/check_layers.py finds each kind of violation and names its file, line and layers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from repository import REPOSITORY

CHECK = REPOSITORY / "tools" / "check_layers.py"


def check(root: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, CHECK, root], capture_output=True, text=True, check=False)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small tree without violations; each test adds one."""
    write(tmp_path, "src/longshore/core/error.hpp", "#include <string>")
    write(tmp_path, "src/longshore/transport/team.hpp", "#include <longshore/core/error.hpp>")
    write(tmp_path, "src/longshore/transport/mpi/team.cpp", "#include <mpi.h>\n#include <longshore/transport/team.hpp>")
    write(tmp_path, "src/longshore/transport/threads/team.cpp", '#include "../team.hpp"')
    write(
        tmp_path,
        "src/longshore/transport/launch/run.cpp",
        "#include <longshore/transport/mpi/detail/team.hpp>\n#include <longshore/transport/threads/detail/team.hpp>",
    )
    write(
        tmp_path,
        "src/longshore/halo/mpi/modes.cpp",
        "#include <mpi.h>\n#include <longshore/transport/mpi/detail/team.hpp>",
    )
    write(tmp_path, "src/longshore/halo/CMakeLists.txt", "longshore_add_layer(halo PUBLIC longshore::array)")
    write(tmp_path, "src/longshore/transport/mpi_window_test.cpp", "#include <mpi.h>\n#include <gtest/gtest.h>")
    write(tmp_path, "src/longshore/transport/spmd_test_main.cpp", "#include <longshore/transport/launch/run.hpp>")
    write(tmp_path, "bench/main.cpp", '#include <longshore/longshore.hpp>\n#include "patterns/patterns.hpp"')
    write(tmp_path, "bench/harness/sweep.hpp", '#include "facts/json.hpp"\n#include "harness/timing.hpp"')
    write(tmp_path, "bench/patterns/patterns.hpp", '#include "harness/sweep.hpp"')
    write(tmp_path, "bench/patterns/halo/halo.cpp", '#include "patterns/halo/cells.hpp"')
    return tmp_path


def write(root: Path, path: str, text: str) -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text + "\n", encoding="utf-8")


def test_the_repository_has_no_violation() -> None:
    result = check(REPOSITORY)
    assert (result.returncode, result.stderr) == (0, "")


def test_a_tree_without_violation_passes_and_the_number_of_files_is_printed(tree: Path) -> None:
    result = check(tree)
    assert (result.returncode, result.stderr) == (0, "")
    assert "13 files" in result.stdout


VIOLATIONS = {
    "a layer above": (
        "src/longshore/core/clock.cpp",
        "\n#include <longshore/transport/team.hpp>",
        "src/longshore/core/clock.cpp:2: layer 'core' includes 'transport', a layer above it",
    ),
    "a layer above by a relative path": (
        "src/longshore/machine/topology.cpp",
        '#  include "../array/block.hpp"',
        "src/longshore/machine/topology.cpp:1: layer 'machine' includes 'array', a layer above it",
    ),
    "a layer that knows the simulated machine": (
        "src/longshore/sort/bucket_sort.cpp",
        "int key_ns(const simulated::machine& it);",
        "src/longshore/sort/bucket_sort.cpp:1: names the simulated machine: account for work by team::charge",
    ),
    "a pattern beside": (
        "src/longshore/gather/agp.cpp",
        "#include <longshore/sort/bucket_sort.hpp>",
        "src/longshore/gather/agp.cpp:1: layer 'gather' includes 'sort', a layer beside it",
    ),
    "a transport beside": (
        "src/longshore/transport/threads/channel.cpp",
        "#include <longshore/transport/mpi/channel.hpp>",
        "channel.cpp:1: layer 'transport/threads' includes 'transport/mpi', a transport beside it",
    ),
    "one transport from what all share": (
        "src/longshore/transport/channel.hpp",
        "#include <longshore/transport/threads/channel.hpp>",
        "channel.hpp:1: layer 'transport' includes 'transport/threads'",
    ),
    "one transport from a test of what all share": (
        "src/longshore/transport/conformance_test.cpp",
        "#include <longshore/transport/threads/channel.hpp>",
        "conformance_test.cpp:1: layer 'transport' includes 'transport/threads'",
    ),
    "the launcher from what all transports share": (
        "src/longshore/transport/channel.hpp",
        "#include <longshore/transport/launch/run.hpp>",
        "channel.hpp:1: layer 'transport' includes 'transport/launch'",
    ),
    "the launcher from a transport": (
        "src/longshore/transport/mpi/start.cpp",
        "#include <longshore/transport/launch/run.hpp>",
        "start.cpp:1: layer 'transport/mpi' includes 'transport/launch'",
    ),
    "one transport from a pattern": (
        "src/longshore/gather/exstack.cpp",
        "#include <longshore/transport/mpi/detail/team.hpp>",
        "exstack.cpp:1: layer 'gather' includes 'transport/mpi', one of the transports",
    ),
    "another transport's folder from halo/detail/mpi": (
        "src/longshore/halo/detail/mpi/put.cpp",
        "#include <longshore/transport/threads/detail/team.hpp>",
        "put.cpp:1: layer 'halo' includes 'transport/threads', one of the transports",
    ),
    "MPI outside its folders": (
        "src/longshore/array/block.cpp",
        "#include <mpi.h>",
        "block.cpp:1: layer 'array' includes <mpi.h>, which is allowed only under transport/mpi/, exchange/detail/mpi/",
    ),
    "MPI in the threads transport": (
        "src/longshore/transport/threads/start.cpp",
        "#include <mpi.h>",
        "start.cpp:1: layer 'transport' includes <mpi.h>",
    ),
    "MPI in a binding that is not about it": (
        "bindings/c/halo.cpp",
        "#include <mpi.h>",
        "bindings/c/halo.cpp:1: layer 'bindings'",
    ),
    "the benchmark program from a binding": (
        "bindings/c/halo.cpp",
        '#include "../../bench/records/table.hpp"',
        "halo.cpp:1: layer 'bindings' includes 'bench', a layer above it",
    ),
    "MPI in the benchmark program": ("bench/launch.cpp", '#include "mpi.h"', "bench/launch.cpp:1: layer 'bench'"),
    "a folder of the benchmark program above": (
        "bench/harness/timing.cpp",
        '#include "records/table.hpp"',
        "bench/harness/timing.cpp:1: 'bench/harness' includes 'bench/records', a folder above it",
    ),
    "a folder of the benchmark program beside": (
        "bench/records/table.cpp",
        '#include "patterns/patterns.hpp"',
        "bench/records/table.cpp:1: 'bench/records' includes 'bench/patterns', a folder beside it",
    ),
    "another pattern of the benchmark program": (
        "bench/patterns/sort/sort.cpp",
        '#include "patterns/halo/cells.hpp"',
        "bench/patterns/sort/sort.cpp:1: 'bench/patterns/sort' includes 'bench/patterns/halo', another pattern",
    ),
    "a header beside the folders of the benchmark program": (
        "bench/harness/timing.cpp",
        '#include "table.hpp"',
        "'bench/harness/timing.cpp' includes 'table.hpp': nothing but main programs lies in bench/ itself",
    ),
    "an unknown folder of the benchmark program": (
        "bench/utils/text.cpp",
        "#include <string>",
        "text.cpp:1: folder 'utils' is missing in the order of bench/ (facts < harness < {patterns, records} < ",
    ),
    "UCX outside its folder": (
        "src/longshore/transport/mpi/worker.cpp",
        "#include <ucp/api/ucp.h>",
        "worker.cpp:1: layer 'transport' includes <ucp/api/ucp.h>",
    ),
    "the benchmark program from the library": (
        "src/longshore/stream/triad.cpp",
        '#include "../../../bench/records/table.hpp"',
        "triad.cpp:1: layer 'stream' includes 'bench', a layer above it",
    ),
    "the collecting header from a layer": (
        "src/longshore/sort/verify.cpp",
        "#include <longshore/longshore.hpp>",
        "verify.cpp:1: layer 'sort' includes 'longshore.hpp', a layer above it",
    ),
    "the machinery of a layer below": (
        "src/longshore/gather/agp.cpp",
        "#include <longshore/aggregate/detail/porter.hpp>",
        "agp.cpp:1: layer 'gather' includes 'aggregate/detail/', the internals of another layer",
    ),
    "the machinery of a layer from the benchmark program": (
        "bench/patterns/sort.cpp",
        "#include <longshore/sort/detail/order.hpp>",
        "sort.cpp:1: layer 'bench' includes 'sort/detail/', the internals of another layer",
    ),
    "a folder that is no layer": (
        "src/longshore/odds/ends.cpp",
        "#include <string>",
        "src/longshore/odds/ends.cpp:1: folder 'odds' is no layer",
    ),
    "a layer that does not exist": (
        "src/longshore/core/bytes.cpp",
        "#include <longshore/odds/ends.hpp>",
        "bytes.cpp:1: layer 'core' includes 'odds', which is no layer",
    ),
    "a link up": (
        "src/longshore/array/CMakeLists.txt",
        "longshore_add_layer(array\n  PRIVATE longshore::gather_put)",
        "array/CMakeLists.txt:2: layer 'array' links longshore_gather_put, of the layer 'gather' above it",
    ),
    "a link to the launcher from below": (
        "src/longshore/machine/CMakeLists.txt",
        "longshore_add_layer(machine PUBLIC longshore_launch)",
        "layer 'machine' links longshore_launch, of the layer 'transport' above it",
    ),
    "a link sideways": (
        "src/longshore/gather/CMakeLists.txt",
        "longshore_add_test(agp_test.cpp LINKS longshore_sort)",
        "layer 'gather' links longshore_sort, of the layer 'sort' beside it",
    ),
}


@pytest.mark.parametrize("listed", ["error.hpp clock.hpp", "error.hpp"])
def test_a_header_that_an_installed_header_includes_must_be_installed(tree: Path, listed: str) -> None:
    layer = f"longshore_add_layer(\n  core\n  HEADERS ${{more_headers}}\n    {listed}\n  SOURCES x.cpp)"
    write(tree, "src/longshore/core/CMakeLists.txt", f"set(more_headers bytes.hpp)\n{layer}")
    write(tree, "src/longshore/core/bytes.hpp", "#include <cstddef>\n#include <longshore/core/clock.hpp>")
    write(tree, "src/longshore/core/clock.hpp", "#include <chrono>")
    result = check(tree)
    if "clock" in listed:
        assert result.returncode == 0, result.stderr
    else:
        message = "core/bytes.hpp:2: is installed and includes src/longshore/core/clock.hpp, which no list of HEADERS"
        assert (result.returncode, message in result.stderr) == (1, True), result.stderr


@pytest.mark.parametrize("kind", VIOLATIONS)
def test_a_violation_is_found(tree: Path, kind: str) -> None:
    path, text, message = VIOLATIONS[kind]
    write(tree, path, text)
    result = check(tree)
    assert result.returncode == 1
    assert message in result.stderr
    assert "layers: 1 violations" in result.stderr, "exactly the injected one"


def test_an_include_in_a_comment_is_ignored(tree: Path) -> None:
    write(tree, "src/longshore/core/clock.cpp", "// #include <longshore/transport/team.hpp>")
    assert check(tree).returncode == 0


def test_a_tree_without_sources_is_an_error(tmp_path: Path) -> None:
    result = check(tmp_path)
    assert result.returncode == 1
    assert "found no C++ sources" in result.stderr
