"""The driver of GPUs compiles. NVCC names the compiler of CUDA, HIPCXX that of HIP."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from repository import REPOSITORY

NVCC = os.environ.get("NVCC") or shutil.which("nvcc")
HIPCXX = os.environ.get("HIPCXX")
CUDA_OPTIONS = ["-Werror", "all-warnings", "-Xcompiler", "-Wall,-Wextra", "-arch=sm_80"]
# Headers of HIP have warnings, which are not ours.
HIP_OPTIONS = ["-x", "hip", "--offload-arch=gfx90a"]


@pytest.mark.parametrize(("compiler", "options"), [(NVCC, CUDA_OPTIONS), (HIPCXX, HIP_OPTIONS)], ids=["cuda", "hip"])
def test_the_driver_compiles(compiler: str | None, options: list[str], tmp_path: Path) -> None:
    if compiler is None:
        pytest.skip("no compiler: set NVCC or HIPCXX, or put nvcc into PATH")
    source = REPOSITORY / "src" / "longshore" / "device" / "gpu.cu"
    command = [compiler, "-std=c++20", *options, "-I", str(REPOSITORY / "src")]
    done = subprocess.run(
        [*command, "-c", str(source), "-o", str(tmp_path / "gpu.o")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    if compiler == NVCC:
        assert done.stderr == ""
