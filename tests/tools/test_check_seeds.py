"""tools/check_seeds.py finds draws without a seed in tests, and accepts those with one."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from repository import REPOSITORY

PROGRAM = REPOSITORY / "tools" / "check_seeds.py"


def check(folder: Path, name: str, text: str) -> subprocess.CompletedProcess[str]:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    subprocess.run(["git", "init", "--quiet", folder], check=True)
    return subprocess.run([PROGRAM, folder], capture_output=True, text=True, check=False)


WITHOUT_SEED = {
    "the generator of the process": "import random\n\nx = random.random()\n",
    "its function by name": "from random import shuffle\n\nshuffle([1, 2])\n",
    "a function that is passed on": "import random\n\nx = sorted([1, 2], key=lambda _: 0) or random.gauss\n",
    "a generator": "import random\n\nx = random.Random()\n",
    "no number": "import random\n\nx = random.Random(None)\n",
    "NumPy": "import numpy as np\n\nx = np.random.default_rng()\n",
    "NumPy by name": "from numpy.random import default_rng\n\nx = default_rng(seed=None)\n",
    "old NumPy": "import numpy\n\nx = numpy.random.rand(3)\n",
    "SciPy": "from scipy.stats import norm\n\nx = norm.rvs(size=3)\n",
    "the clock": "import random, time\n\nx = random.Random(int(time.time()))\n",
    "a variable": "import random\nfrom time import time_ns\n\nnow = time_ns()\nx = random.Random(now % 8)\n",
    "the date": "import random\nfrom datetime import datetime\n\nx = random.Random(str(datetime.now()))\n",
    "the process": "import os, random\n\nx = random.Random(os.getpid())\n",
    "the hash of a text": "import random\n\nx = random.Random(hash('a text'))\n",
    "the system": "import os\n\nx = os.urandom(3)\n",
    "secrets": "import secrets\n\nx = secrets.token_hex(3)\n",
}


@pytest.mark.parametrize("case", WITHOUT_SEED)
def test_python_without_a_seed_is_named_with_its_line(case: str, tmp_path: Path) -> None:
    text = WITHOUT_SEED[case]
    done = check(tmp_path, "study/tests/test_it.py", text)
    assert done.returncode == 1, done.stdout
    assert f"seeds: study/tests/test_it.py:{len(text.splitlines())}: " in done.stderr


CPP_WITHOUT_SEED = (
    "std::mt19937 random(std::random_device{}());",
    "std::mt19937_64 random;",
    "auto random = std::default_random_engine{};",
    "int x = rand();",
    "srand(time(nullptr));",
    "std::mt19937 random(std::chrono::steady_clock::now().time_since_epoch().count());",
    "const auto seed = time(nullptr); longshore::random_stream random(seed, 3);",
)


@pytest.mark.parametrize("line", CPP_WITHOUT_SEED)
def test_cpp_without_a_seed_is_named_with_its_line(line: str, tmp_path: Path) -> None:
    done = check(tmp_path, "src/a/a_test.cpp", f"#include <random>\n\n{line}\n")
    assert done.returncode == 1, done.stdout
    assert "seeds: src/a/a_test.cpp:3: " in done.stderr


def test_fortran_without_a_seed_is_named_with_its_line(tmp_path: Path) -> None:
    done = check(tmp_path, "bindings/fortran/a_test.f90", "real :: x\ncall random_number(x)\n")
    assert done.returncode == 1
    assert "seeds: bindings/fortran/a_test.f90:2: " in done.stderr


WITH_SEED = {
    "study/tests/test_it.py": "import random\n\nimport numpy as np\n\n\ndef draw(g: random.Random) -> float:\n"
    "    return g.random() + np.random.default_rng(3).normal()\n\n\ndraw(random.Random('a name'))\n",
    "tests/a_test.cpp": "std::mt19937 random(rank);  // not std::random_device\nlongshore::random_stream other(3);\n"
    'auto begun = clock::now();\nputs("rand()");\nfor (int i = 0; i < 3; ++i) use(random(), random());\n',
    "examples/c/a.c": "/* rand() has no seed */ int operand(int x);\n",
}


@pytest.mark.parametrize("name", WITH_SEED)
def test_draws_with_a_seed_are_accepted(name: str, tmp_path: Path) -> None:
    done = check(tmp_path, name, WITH_SEED[name])
    assert done.returncode == 0, done.stderr
    assert "0 draws without a seed in 1 files" in done.stdout


def test_programs_for_users_may_draw_as_they_like(tmp_path: Path) -> None:
    check(tmp_path, "tests/test_it.py", "x = 1\n")
    assert check(tmp_path, "study/src/a.py", WITHOUT_SEED["secrets"]).returncode == 0


def test_a_folder_without_tests_is_an_error(tmp_path: Path) -> None:
    assert check(tmp_path, "src/a.cpp", "int main() {}\n").returncode == 1
