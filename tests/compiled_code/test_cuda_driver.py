"""The driver of CUDA devices compiles, also by the compiler of PyPI. NVCC names the compiler."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from repository import REPOSITORY

NVCC = os.environ.get("NVCC") or shutil.which("nvcc")
ARCHITECTURE = "sm_80"


@pytest.mark.skipif(NVCC is None, reason="no nvcc: set NVCC, or put nvcc into PATH")
def test_the_driver_compiles_without_warnings(tmp_path: Path) -> None:
    source = REPOSITORY / "src" / "longshore" / "device" / "cuda.cu"
    options = ["-std=c++20", "-Werror", "all-warnings", "-Xcompiler", "-Wall,-Wextra", f"-arch={ARCHITECTURE}"]
    command = [str(NVCC), *options, "-I", str(REPOSITORY / "src"), "-c", str(source), "-o", str(tmp_path / "cuda.o")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
