"""Makes the Fortran module of its template and of the C header, so that no constant, type or
interface is typed twice.

Usage: generate_module.py longshore.h TEMPLATE OUTPUT. In the template `!:header` is where what the
header declares goes; lines between `!:for type` (field, rank, value, plan, more) and `!:end` are
repeated for each, with <names> replaced.
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
# What fields of halos may be beside these: C is told how many bytes their elements have.
COMPLEX = [
    {"type": f"complex_{name}", "decl": f"complex({name})", "id": "longshore_bytes"} for name in ("real32", "real64")
]


def second_cell(dimension: int, rank: int) -> str:
    """Indices of the cell after the first along a dimension."""
    return ",".join("2" if d == dimension else "1" for d in range(rank))


RANKS = [
    {
        "rank": str(rank),
        "colons": ",".join([":"] * rank),
        "first": ",".join(["1"] * rank),
        "second": "\n    ".join(
            f"if (size(u, {d + 1}) > 1) there({d + 1}) = address_of_<type>(u({second_cell(d, rank)}))"
            for d in range(rank)
        ),
        "bounds": ", ".join(f"1 - low({d + 1}):" for d in range(rank)),
    }
    for rank in (1, 2, 3)
]
VALUES = [{"value": one["type"], "vdecl": one["decl"]} for one in TYPES]
PLANS = [{"plan": name, "how": "", "how_declared": ""} for name in ("gather", "scatter", "histogram")]
PLANS += [{"plan": "update", "how": "how, ", "how_declared": "integer(c_int), intent(in) :: how"}]  # by which operation
MORE = [{"more": f"u{number}"} for number in range(2, 9)]  # fields of one call beside the first
LOOPS = {"type": TYPES, "field": TYPES + COMPLEX, "rank": RANKS, "value": VALUES, "plan": PLANS, "more": MORE}

LONGEST_LINE = 132  # of Fortran 2008

C_VALUES = {
    "int": "integer(c_int)",
    "int64_t": "integer(c_int64_t)",
    "size_t": "integer(c_size_t)",
    "double": "real(c_double)",
}
ZERO = {"int": "0", "int64_t": "0", "size_t": "0", "double": "0"}


def header_text(header: str) -> str:
    """What Fortran declares of the header: enumerators, structs, functions."""
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
    plain = plain.replace('extern "C" {', ";")
    functions = re.findall(r"(?:^|;|\})\s*((?:const )?\w+\*?) (longshore_\w+)\(([^)]*)\)(?=;)", plain)
    for result, name, arguments in functions:
        lines += function_lines(result, name, arguments)
    lines += ["end interface"]
    found = len(re.findall(r"\b(?!typedef)\w+\*? longshore_\w+\(", plain))
    if found != len(functions):
        sys.exit(f"generate_module.py: understood {len(functions)} of {found} functions of the header")
    return "\n".join("  " + line if line else "" for line in lines)


def member_text(member: str) -> str:
    """One member of a struct, zero at first."""
    words = " ".join(member.split())
    if "*" in words:
        return f"type(c_ptr) :: {words.rpartition('*')[2].strip()} = c_null_ptr"
    kind, _, name = words.rpartition(" ")
    array = re.fullmatch(r"(\w+)\[(\d)\]", name)
    return f"{C_VALUES[kind]} :: {f'{array[1]}({array[2]})' if array else name} = {ZERO[kind]}"


def function_lines(result: str, name: str, arguments: str) -> list[str]:
    """An interface; all that is a pointer in C is an address here."""
    given = [" ".join(one.split()) for one in arguments.split(",") if one.strip() not in ("", "void")]
    names, declared = [], []
    for one in given:
        last = re.sub(r"\[\d?\]$", "", one)
        kind, _, argument = last.rpartition(" ")
        if "*" in one or "[" in one:
            kind, argument = "type(c_ptr)", argument.lstrip("*")
        elif kind == "longshore_main":
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
    """Repeats what stands between !:for and its !:end."""
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
                replaced = [(line, line.replace(f"<{name}>", text)) for line in body]
                body = [new for line, new in replaced if new.strip() or not line.strip()]  # no line for nothing
            out += body
        at = end
    return out


def folded(line: str) -> str:
    """A line that is too long, continued after a comma."""
    if len(line) <= LONGEST_LINE or line.lstrip().startswith("!"):
        return line
    at = line.rfind(", ", 0, LONGEST_LINE - 2) + 1
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    return line[:at] + " &\n" + folded(indent + line[at:].lstrip())


def main(header: str, template: str, output: str) -> None:
    """Writes the output only where it changes, so that nothing is compiled for nothing."""
    text = "\n".join(expand(Path(template).read_text(encoding="utf-8").splitlines())) + "\n"
    # What <names> a loop did not know is a mistake of the template.
    if left := re.search(r"<[a-z]\w*>|!:(?!header)\w+", text):
        sys.exit(f"generate_module.py: nothing replaces {left[0]}")
    text = text.replace("!:header", header_text(Path(header).read_text(encoding="utf-8")).lstrip())
    text = "\n".join(folded(line) for line in text.splitlines()) + "\n"
    if not Path(output).exists() or Path(output).read_text(encoding="utf-8") != text:
        Path(output).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
