"""One class per noun: no two public classes of one name, in C++ and in the study tool."""

from __future__ import annotations

import ast
import re
from collections import defaultdict

from repository import REPOSITORY

LIBRARY = REPOSITORY / "src" / "longshore"
STUDY = REPOSITORY / "study" / "src" / "longshore_study"
NAMESPACE = re.compile(r"^namespace (longshore(?:::\w+)*|detail) \{")
END = re.compile(r"^\}  // namespace (?:longshore(?:::\w+)*|detail)$")
CLASS = re.compile(r"^(?:class|struct|enum class|concept) (\w+)(?: final)?(?: [:{=]|$)")


def cpp_classes(text: str) -> set[str]:
    """The classes that a header defines at namespace scope, each with its namespace."""
    found: set[str] = set()
    scopes: list[str] = []
    for line in text.splitlines():
        if match := NAMESPACE.match(line):
            scopes.append(match[1])
        elif END.match(line) and scopes:
            scopes.pop()
        elif scopes and (match := CLASS.match(line)):
            found.add("::".join([*scopes, match[1]]))
    return found


def repeated(owners: dict[str, list[str]]) -> dict[str, list[str]]:
    return {name: files for name, files in owners.items() if len(files) > 1}


def test_no_two_headers_define_a_class_of_one_name() -> None:
    owners: dict[str, list[str]] = defaultdict(list)
    for header in sorted(LIBRARY.rglob("*.hpp")):
        for name in cpp_classes(header.read_text("utf-8")):
            owners[name].append(header.relative_to(LIBRARY).as_posix())
    assert len(owners) > 100, "the headers were not read"
    assert repeated(owners) == {}


def test_no_two_modules_of_the_study_tool_define_a_public_class_of_one_name() -> None:
    owners: dict[str, list[str]] = defaultdict(list)
    for module in sorted(STUDY.rglob("*.py")):
        for node in ast.parse(module.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                owners[node.name].append(module.relative_to(STUDY).as_posix())
    assert len(owners) > 100, "the modules were not read"
    assert repeated(owners) == {}


def test_a_class_is_named_with_its_namespaces() -> None:
    nested = "namespace longshore {\nnamespace detail {\nstruct lane {\n};\n}  // namespace detail\n"
    joined = "namespace longshore::detail {\nclass lane final : public base {\n"
    assert cpp_classes(nested) == cpp_classes(joined) == {"longshore::detail::lane"}
