#!/usr/bin/env python3
"""Check that every random number in a test comes from a seed that the test names.

Usage: check_seeds.py [FOLDER]

A test that draws without a seed fails on some days only, and nobody can repeat the failure. So
tests, examples and tools make a generator from a seed: `random.Random(8)`, `default_rng(rank)`,
`std::mt19937 random(rank)`. The check finds generators without a seed, seeds of a clock or a
process, and functions that draw from a generator without a seed: `random.random()`,
`std::random_device`, `os.urandom`. Prints file, line and reason for each. Exit status 1 if there is
one.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
IS_TEST = re.compile(r"(^|/)(tests|examples|tools)/|(^|/)test_\w+\.py$|_tests?\.(cpp|hpp|c|h|f90)$")

# Makers of generators. The first argument is the seed.
GENERATORS = {
    "random.Random", "random.seed", "numpy.random.default_rng", "numpy.random.RandomState", "numpy.random.seed",
    "numpy.random.SeedSequence", "numpy.random.PCG64", "numpy.random.MT19937", "numpy.random.Philox",
    "numpy.random.SFC64",
}  # fmt: skip
HAS_NO_SEED = re.compile(r"random\.SystemRandom|secrets\..*|os\.urandom|uuid\.uuid[14]")
# Functions whose values differ from run to run. The hash of a text differs, too.
CHANGES = re.compile(
    r"time\.\w+|datetime\..*(now|today|utcnow)|os\.(getpid|urandom|times)|uuid\..*|secrets\..*|hash|id"
)

ENGINES = r"(?:mt19937(?:_64)?|minstd_rand0?|ranlux\w+|knuth_b|default_random_engine|random_stream)"
CPP_WITHOUT_SEED = re.compile(
    r"\b(?:std::)?random_device\b|\b(?:std::)?s?rand\s*\(|\b[dlm]rand48\s*\("
    rf"|\b{ENGINES}\s+\w+\s*(?:;|\{{\s*\}})|\b{ENGINES}\s*(?:\(\s*\)|\{{\s*\}})"
)
CPP_GENERATOR = re.compile(rf"\b{ENGINES}\b\s*\w*\s*[({{]([^;]*)")
CPP_CHANGES = r"(?:\bnow\s*\(|\btime\s*\(|\bclock\s*\(|\bgetpid\s*\(|\btime_since_epoch\b|rdtsc)"
CPP_ASSIGNMENT = re.compile(rf"\b(\w+)\s*[=({{][^;]*{CPP_CHANGES}")
FORTRAN_WITHOUT_SEED = re.compile(r"\bcall\s+random_(?:number|init|seed)\b(?!\s*\(\s*(?:put|size)\b)", re.IGNORECASE)
CPP_NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)

Problem = tuple[int, str]


class Names(ast.NodeVisitor):
    """Finds draws without a seed in a module of Python. Knows the names under which modules are
    imported."""

    def __init__(self) -> None:
        self.imported: dict[str, str] = {}
        self.changing: set[str] = set()  # variables with a value that differs from run to run
        self.problems: list[Problem] = []

    def full_name(self, node: ast.AST) -> str:
        """The name of a module's member, such as numpy.random.default_rng; empty for others."""
        if isinstance(node, ast.Attribute):
            before = self.full_name(node.value)
            return f"{before}.{node.attr}" if before else ""
        return self.imported.get(node.id, "") if isinstance(node, ast.Name) else ""

    def differs(self, seed: ast.AST) -> bool:
        """Whether a value differs from run to run."""
        for node in ast.walk(seed):
            if isinstance(node, ast.Name) and node.id in self.changing:
                return True
            if isinstance(node, ast.Call):
                name = self.full_name(node.func) or (node.func.id if isinstance(node.func, ast.Name) else "")
                if CHANGES.fullmatch(name):
                    return True
        return False

    def visit_Import(self, node: ast.Import) -> None:
        for one in node.names:
            self.imported[one.asname or one.name.partition(".")[0]] = (
                one.name if one.asname else one.name.partition(".")[0]
            )

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for one in node.names:
            self.imported[one.asname or one.name] = f"{node.module}.{one.name}"

    def visit_Assign(self, node: ast.Assign) -> None:
        if self.differs(node.value):
            self.changing |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = self.full_name(node.func)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "rvs":  # of scipy.stats
            if all(word.arg != "random_state" for word in node.keywords):
                self.problems.append((node.lineno, "rvs() without random_state draws without a seed"))
            self.generic_visit(node)
        elif name in GENERATORS:
            seeds = [*node.args[:1], *(word.value for word in node.keywords)]
            if not seeds or any(isinstance(seed, ast.Constant) and seed.value is None for seed in seeds):
                self.problems.append((node.lineno, f"{name}() has no seed"))
            elif any(self.differs(seed) for seed in seeds):
                self.problems.append((node.lineno, f"the seed of {name} differs from run to run"))
            for seed in seeds:
                self.visit(seed)
        else:
            self.generic_visit(node)

    def check_member(self, node: ast.Attribute | ast.Name) -> None:
        name = self.full_name(node)
        draws = re.fullmatch(r"(?:numpy\.)?random\.[a-z]\w*", name) and name not in GENERATORS
        if draws or HAS_NO_SEED.fullmatch(name):
            self.problems.append((node.lineno, f"{name} draws without a seed of this test"))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self.check_member(node)

    def visit_Name(self, node: ast.Name) -> None:
        self.check_member(node)


def problems_of_python(text: str) -> list[Problem]:
    names = Names()
    names.visit(ast.parse(text))
    return names.problems


def problems_of_cpp(text: str) -> Iterator[Problem]:
    """Finds the usual ways to draw without a seed in C and C++, by their words."""
    plain = CPP_NOISE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    changing = "|".join({re.escape(match[1]) for match in CPP_ASSIGNMENT.finditer(plain)} or {r"(?!)"})
    for match in CPP_WITHOUT_SEED.finditer(plain):
        yield plain.count("\n", 0, match.start()) + 1, f"{match[0].strip()} draws without a seed"
    for match in CPP_GENERATOR.finditer(plain):
        if re.search(rf"{CPP_CHANGES}|\b(?:{changing})\b", match[1]):
            yield plain.count("\n", 0, match.start()) + 1, "the seed differs from run to run"


def problems_of_fortran(text: str) -> Iterator[Problem]:
    for number, line in enumerate(text.splitlines(), start=1):
        if FORTRAN_WITHOUT_SEED.search(line.partition("!")[0]):
            yield number, "random_number has a seed of the compiler's choice"


CHECKS = {".py": problems_of_python, ".f90": problems_of_fortran} | dict.fromkeys(
    (".cpp", ".hpp", ".c", ".h"), problems_of_cpp
)


def sources(folder: Path) -> list[Path]:
    """The files that git knows or would add. Programs of tools/ have no ending."""
    command = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    listed = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.split("\0")
    return [folder / name for name in listed if IS_TEST.search(name) and (folder / name).is_file()]


def kind_of(path: Path) -> str:
    if path.suffix:
        return path.suffix
    with path.open("rb") as file:
        return ".py" if re.match(rb"#!.*python", file.readline()) else ""


def main(folder: Path) -> int:
    files = [path for path in sources(folder) if kind_of(path) in CHECKS]
    found = [
        f"{path.relative_to(folder)}:{line}: {reason}"
        for path in files
        for line, reason in CHECKS[kind_of(path)](path.read_text(encoding="utf-8"))
    ]
    for line in found:
        print(f"seeds: {line}: give it a seed that the test names", file=sys.stderr)
    print(f"seeds: {len(found)} draws without a seed in {len(files)} files of tests, examples and tools")
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else REPOSITORY))
