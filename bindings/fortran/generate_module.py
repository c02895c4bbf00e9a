"""Generates the Fortran module from its template and the C header, so that constants, types and
interfaces are declared in the header only.

Usage: generate_module.py longshore.h TEMPLATE OUTPUT. In the template, `!:header` stands for the
declarations of the header. Lines between `!:for LIST` and `!:end` are repeated for each entry of a
list in LOOPS; in each copy the values of the entry replace <names>.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

TYPES = [
    {"type": name, "decl": f"{family}({name})", "id": f"longshore_{c_name}"}
    for name, family, c_name in (
        ("real32", "real", "float32"),
        ("real64", "real", "float64"),
        ("int32", "integer", "int32"),
        ("int64", "integer", "int64"),
    )
]
# More types of halo fields, for which C knows only the size of elements.
COMPLEX = [
    {"type": f"complex_{name}", "decl": f"complex({name})", "id": "longshore_bytes"} for name in ("real32", "real64")
]


def second_cell(dimension: int, rank: int) -> str:
    """Return the indices of the cell after the first one along a dimension."""
    return ",".join("2" if d == dimension else "1" for d in range(rank))


# Texts for arrays of rank 1 to 3. `first` has the indices of the first cell; `second` stores the
# address of the next cell along each dimension, from which the strides follow.
RANKS = [
    {
        "rank": str(rank),
        "colons": ",".join([":"] * rank),
        "first": ",".join(["1"] * rank),
        "second": "\n    ".join(
            f"if (size(u, {d + 1}) > 1) next_cell({d + 1}) = address_of_<type>(u({second_cell(d, rank)}))"
            for d in range(rank)
        ),
        "bounds": ", ".join(f"1 - low({d + 1}):" for d in range(rank)),
    }
    for rank in (1, 2, 3)
]
VALUES = [{"value": entry["type"], "vdecl": entry["decl"]} for entry in TYPES]
# The four kinds of plans. A name that a kind does not need is empty, and expand() leaves out the
# lines of the template that have nothing else.
PLANS = [
    {"plan": plan, "purpose": purpose, "run_arguments": arguments, "effect": effect, "values_intent": "in"}
    | {"how": "", "how_declared": "", "operation": "", "ones_procedure": "", "ones_generic": ""}
    for plan, purpose, arguments, effect in (
        ("gather", "gathers from one array", "indices, values", "values = array(indices)"),
        ("scatter", "scatters to one array", "indices, values", "array(indices) = values"),
        ("histogram", "histograms in one array", "indices [, values]", "adds values, or 1, to array(indices)"),
        (
            "update",
            "updates of one array by one operation, such as longshore_max",
            "indices, values",
            "array(indices) = operation(array(indices), values)",
        ),
    )
]
PLANS[0] |= {"values_intent": "inout"}
PLANS[2] |= {
    "ones_procedure": "procedure, private :: histogram_run_ones",
    "ones_generic": "generic :: run => histogram_run_ones",
}
PLANS[3] |= {"how": "how, ", "how_declared": "integer(c_int), intent(in) :: how", "operation": ", operation"}
MORE = [{"more": f"u{number}"} for number in range(2, 9)]  # the fields of a call after the first one
PHASES = [{"phase": "start"}, {"phase": "exchange"}]
GHOSTS = [{"start": "start_"}, {"start": ""}]  # begins an operation, or completes it
LOOPS = {
    "type": TYPES, "field": TYPES + COMPLEX, "rank": RANKS, "value": VALUES, "plan": PLANS, "more": MORE,
    "phase": PHASES, "ghost": GHOSTS,
}  # fmt: skip

MAX_LINE_LENGTH = 132  # the limit of Fortran 2008

C_VALUES = {
    "int": "integer(c_int)",
    "int64_t": "integer(c_int64_t)",
    "size_t": "integer(c_size_t)",
    "double": "real(c_double)",
}
ZERO = {"int": "0", "int64_t": "0", "size_t": "0", "double": "0"}


def header_text(header: str) -> str:
    """Return the Fortran declarations of the header's enumerators, structs and functions."""
    plain = re.sub(r"/\*.*?\*/", " ", header, flags=re.DOTALL)
    plain = re.sub(r"^\s*#.*$", "", plain, flags=re.MULTILINE)
    lines = [
        f"integer(c_int), parameter :: {name.lower()} = {value}"
        for name, value in re.findall(r"\b(LONGSHORE_\w+) = (\d+)", plain)
    ]
    for name, body in re.findall(r"struct (longshore_\w+) \{(.*?)\}", plain, flags=re.DOTALL):
        lines += ["", f"type, bind(c) :: c_{name}"]
        lines += [f"  {member_text(member)}" for member in body.split(";") if member.strip()]
        lines += [f"end type c_{name}"]
    lines += ["", "interface"]
    # The pattern of functions needs the end of a declaration before each function.
    plain = plain.replace('extern "C" {', ";")
    functions = re.findall(r"(?:^|;|\})\s*((?:const )?\w+\*?) (longshore_\w+)\(([^)]*)\)(?=;)", plain)
    for result, name, arguments in functions:
        lines += function_lines(result, name, arguments)
    lines += ["end interface"]
    expected = len(re.findall(r"\b(?!typedef)\w+\*? longshore_\w+\(", plain))
    if expected != len(functions):
        sys.exit(f"generate_module.py: parsed only {len(functions)} of {expected} functions of the header")
    return "\n".join("  " + line if line else "" for line in lines)


def member_text(member: str) -> str:
    """Return the declaration of one member of a struct, initialised with zero."""
    words = " ".join(member.split())
    if "*" in words:
        return f"type(c_ptr) :: {words.rpartition('*')[2].strip()} = c_null_ptr"
    kind, _, name = words.rpartition(" ")
    array = re.fullmatch(r"(\w+)\[(\d)\]", name)
    return f"{C_VALUES[kind]} :: {f'{array[1]}({array[2]})' if array else name} = {ZERO[kind]}"


def function_lines(result: str, name: str, arguments: str) -> list[str]:
    """Return the interface of a function. Every pointer of C is a type(c_ptr)."""
    parameters = [" ".join(text.split()) for text in arguments.split(",") if text.strip() not in ("", "void")]
    names, declared = [], []
    for parameter in parameters:
        kind, _, argument = re.sub(r"\[\d?\]$", "", parameter).rpartition(" ")
        if "*" in parameter or "[" in parameter:
            kind, argument = "type(c_ptr)", argument.lstrip("*")
        elif kind in ("longshore_main", "longshore_ghost_function"):
            kind = "type(c_funptr)"
        else:
            kind = C_VALUES[kind]
        names.append(argument)
        declared.append(f"    {kind}, value :: {argument}")
    head = f"{name}({', '.join(names)}) bind(c, name='{name}')"
    if result == "void":
        return [f"  subroutine c_{head}", "    import", *declared, f"  end subroutine c_{name}"]
    kind = "type(c_ptr)" if "*" in result else C_VALUES[result]
    declared += [f"    {kind} :: answer"]
    return [f"  function c_{head} result(answer)", "    import", *declared, f"  end function c_{name}"]


def expand(lines: list[str]) -> list[str]:
    """Repeat the lines between each !:for and its !:end."""
    out: list[str] = []
    at = 0
    while at < len(lines):
        loop = re.fullmatch(r"\s*!:for (\w+)", lines[at])
        if not loop:
            out.append(lines[at])
            at += 1
            continue
        end, depth = at + 1, 1
        while depth > 0:
            depth += lines[end].strip().startswith("!:for ") - (lines[end].strip() == "!:end")
            end += 1
        inner = expand(lines[at + 1 : end - 1])
        for values in LOOPS[loop[1]]:
            body = inner
            for name, text in values.items():
                # Lines that become empty are left out.
                replaced = [(line, line.replace(f"<{name}>", text)) for line in body]
                body = [new for line, new in replaced if new.strip() or not line.strip()]
            out += body
        at = end
    return out


def folded(line: str) -> str:
    """Return the line, split after a comma if the line is too long."""
    if len(line) <= MAX_LINE_LENGTH or line.lstrip().startswith("!"):
        return line
    end = line.rfind(", ", 0, MAX_LINE_LENGTH - 2) + 1
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    return line[:end] + " &\n" + folded(indent + line[end:].lstrip())


def main(header: str, template: str, output: str) -> None:
    """Write the module. An unchanged file is not written, so that it is not compiled again."""
    text = "\n".join(expand(Path(template).read_text(encoding="utf-8").splitlines())) + "\n"
    # Names that remain are mistakes in the template.
    if left := re.search(r"<[a-z]\w*>|!:(?!header)\w+", text):
        sys.exit(f"generate_module.py: the template has an unknown name: {left[0]}")
    text = text.replace("!:header", header_text(Path(header).read_text(encoding="utf-8")).lstrip())
    text = "\n".join(folded(line) for line in text.splitlines()) + "\n"
    if not Path(output).exists() or Path(output).read_text(encoding="utf-8") != text:
        Path(output).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
