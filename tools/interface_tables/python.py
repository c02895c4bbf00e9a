"""The calls of the Python package, from its type stub and the docstrings that `help` shows."""

import ast
import importlib.util
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

from interface_tables.tables import MissingPartError, Section, code, markdown, sentences

# The sections of the page, with the public names of each.
SECTIONS = {
    "Runs and teams": "run world transports Team",
    "Tables": "Table gather scatter update histogram",
    "Halos": "Halo",
    "Boxes": "BoxLayout Boxes BoxCopy",
    "Ghosts": "GhostGraph Ghost",
    "Sort, stream, results": "sort stream StreamResult results",
    "Errors": "Error UsageError UnsupportedError OutOfMemoryError DeadlineError PeerFailedError TransportError",
}
FILES = ("_core.pyi", "frames.py", "errors.py")
AND_WAIT = re.compile(r"[.:] start\w*\(\) and wait\(\)\.$")


def table(_repository: Path) -> str:
    return markdown(("call", "what it does"), sections())


def sections() -> Iterator[Section]:
    found = importlib.util.find_spec("longshore")
    if found is None or found.origin is None:
        raise MissingPartError("the Python package is not installed")
    package = Path(found.origin).parent
    bodies = [ast.parse((package / file).read_text(encoding="utf-8")).body for file in FILES]
    nodes = {node.name: node for body in bodies for node in body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    listed = [name for names in SECTIONS.values() for name in names.split()]
    if different := {*listed} ^ {*exported(package)}:
        raise ValueError(f"tools/interface_tables/python.py and __all__ differ: {', '.join(sorted(different))}")
    for heading, names in SECTIONS.items():
        yield heading, [row for name in names.split() for row in rows_of(nodes[name])]


def exported(package: Path) -> list[str]:
    """The names in __all__ of the package."""
    for node in ast.parse((package / "__init__.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__":
            names: list[str] = ast.literal_eval(node.value)
            return names
    raise ValueError(f"{package} has no __all__")


def rows_of(node: ast.ClassDef | ast.FunctionDef) -> Iterator[tuple[str, ...]]:
    if isinstance(node, ast.FunctionDef):
        yield code(f"{node.name}({parameters(node)})"), text_of(node)
        return
    methods = [member for member in node.body if isinstance(member, ast.FunctionDef)]
    made = next((parameters(method) for method in methods if method.name == "__init__"), None)
    bases = [ast.unparse(base) for base in node.bases]
    of = f"({', '.join(bases)})" if bases else ""
    yield f"**{code(node.name + (of if made is None else f'({made})'))}**", text_of(node)
    values, above = list[str](), ("", "")
    for method in methods:
        name = f"{node.name}.{method.name}"
        if any(isinstance(d, ast.Name) and d.id == "property" for d in method.decorator_list):
            values.append(f"{code(name)}: {text_of(method)}")
        elif not method.name.startswith("__"):
            row = code(f"{name}({parameters(method)})"), text_of(method)
            if AND_WAIT.search(row[1]):  # the row of the call that begins the operation follows
                above = f"{row[0]}<br>", f"{row[1]} "
                continue
            yield above[0] + row[0], above[1] + row[1]
            above = ("", "")
    if values:
        yield f"values of {code(node.name)}", "<br>".join(values)


def parameters(function: ast.FunctionDef) -> str:
    """The parameters in their order, with their defaults and without their types."""
    given = function.args
    for argument in (*given.posonlyargs, *given.args, *given.kwonlyargs, *filter(None, (given.vararg, given.kwarg))):
        argument.annotation = None
    given.args = [argument for argument in given.args if argument.arg != "self"]
    return ast.unparse(given).replace("|", "\\|")


def text_of(node: ast.ClassDef | ast.FunctionDef) -> str:
    """The docstring without its examples. Each argument of its list has a line of its own."""
    paragraphs = inspect.cleandoc(ast.get_docstring(node) or "").split("\n\n")
    told = "\n".join(text for text in paragraphs if not text.startswith(">>>"))
    told = re.sub(r"(?:^|\n)(\w+(?:, \w+)*): ", r"<br>\1: ", told).replace("``", "`")
    return "<br>".join(sentences(part) for part in told.split("<br>"))
