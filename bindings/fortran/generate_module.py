"""Generates the Fortran modules from their template and the C header, so that constants, types and
interfaces are declared in the header only.

Usage: generate_module.py longshore.h TEMPLATE OUTPUT FOLDER. Writes all modules to OUTPUT, and each
module to a file of its own in FOLDER. A program then links only the objects of what it calls.

In the template, `!:module NAME USED` begins the declarations of a module, or its procedures if it
stands after `contains`. The module uses the module USED, or all modules before it. `!:header`
stands for the declarations of the header. Lines between `!:for LIST` and `!:end` are repeated for
each entry of LOOPS[LIST]. In each copy, the values of the entry replace <names>. Procedures that
types bind and the template does not define are added: each calls the function of the header with
its name. The argument ierr is declared in each procedure that has it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
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
    return ",".join("2" if d == dimension else "1" for d in range(1, rank + 1))


# Texts for arrays of rank 1 to 3. `first` has the indices of the first cell; `second` stores the
# distance of the next cell along each dimension.
RANKS = [
    {
        "rank": str(rank),
        "colons": ",".join([":"] * rank),
        "first": ",".join(["1"] * rank),
        "second": "\n    ".join(
            f"if (size(u, {d}) > 1) distances({d}) = address_of_<type>(u({second_cell(d, rank)})) - array%first"
            for d in range(1, rank + 1)
        ),
        "bounds": ", ".join(f"1 - low({d + 1}):" for d in range(rank)),
    }
    for rank in (1, 2, 3)
]
# The values of collectives of a team: a vector, or a scalar.
SHAPES = [
    {"one": "", "values": "contiguous, target :: values(:)", "start": "start_of_<type>(values)"}
    | {"count": "size(values, kind=int64)"},
    {"one": "_one", "values": "target :: values", "start": "c_loc(values)", "count": "1_int64"},
]
VALUES = [{"value": entry["type"], "vdecl": entry["decl"]} for entry in TYPES]
# The four kinds of plans. A name that a kind does not need is empty. expand() leaves out lines of
# the template that become empty.
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
# Calls that begin an operation take a stream. Lines with <on> are those of a call on a stream.
STREAM: dict[str, dict[str, str | None]] = {"start_": {"stream": ", stream", "on": ""}, "": {"stream": "", "on": None}}
PHASES = [{"phase": "start", **STREAM["start_"]}, {"phase": "exchange", **STREAM[""]}]
FORMS = [{"form": "vector", "dims": ":"}, {"form": "columns", "dims": ":, :"}]  # of ghost fields
INTEGERS = [{"kind": "int32"}, {"kind": "int64"}]
UPDATES = [{"start": start, **of_stream} for start, of_stream in STREAM.items()]  # begins an operation, or completes it
LOOPS: dict[str, Sequence[Mapping[str, str | None]]] = {
    "type": TYPES, "field": TYPES + COMPLEX, "rank": RANKS, "shape": SHAPES, "value": VALUES, "plan": PLANS,
    "more": MORE, "phase": PHASES, "update": UPDATES, "form": FORMS, "integer": INTEGERS,
}  # fmt: skip

# What each module uses beside other modules of Longshore.
USED_BY_ALL = """\
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: output_unit, int32, int64, real32, real64"""

CONTAINS = "\ncontains\n"
MAX_LINE_LENGTH = 132  # the limit of Fortran 2008

C_VALUES = {
    "int": "integer(c_int)",
    "int64_t": "integer(c_int64_t)",
    "size_t": "integer(c_size_t)",
    "double": "real(c_double)",
}
ZERO = {"int": "0", "int64_t": "0", "size_t": "0", "double": "0"}


# How messages of functions name an object that was not created.
OBJECTS = {
    "longshore_team": "a team", "longshore_array": "a distributed array", "longshore_grid": "a grid",
    "longshore_halo": "the plan of a halo", "longshore_ghost_graph": "a ghost graph",
    "longshore_ghost": "the plan of a ghost exchange", "longshore_boxes": "a layout of boxes",
    "longshore_box_exchange": "the plan of a box exchange", "longshore_stream": "a stream",
}  # fmt: skip

FUNCTION_HEAD = """\
  {kind}function {name}(this){result}
    class({owner}), intent(in) :: this"""
STREAM_DECLARED = "    integer(c_intptr_t), intent(in), optional :: stream\n"
REPORT = "    call report({call}, ierr)"
REPORT_ON_STREAM = """\
    if (present(stream)) then
      call report({on_stream}, ierr)
    else
      call report({call}, ierr)
    end if"""
PART_DECLARED = """\
    integer, intent(in), optional :: fields(:), width, low(:), high(:)
    type(part_of_plan), target :: part"""
REQUIRE = "    call require_object(this%handle, '{what}')"
SUBROUTINE_HEAD = """\
  subroutine {name}({arguments})
    class({owner}), intent({intent}) :: this"""
# Procedures for functions of C that take an object and at most the address of a result, and for
# those that combine.
CALLS = {
    "number": f"""{FUNCTION_HEAD}
{REQUIRE}
    {{name}} = {{call}}
  end function {{name}}""",
    "text": f"""{FUNCTION_HEAD}
    character(len=longshore_text_length) :: text
{REQUIRE}
    text = text_of({{call}})
  end function {{name}}""",
    "triple": f"""{FUNCTION_HEAD}
    integer :: numbers(3)
    integer(c_int), target :: found(3)
{REQUIRE}
    call {{call}}
    numbers = found
  end function {{name}}""",
    "list": f"""{SUBROUTINE_HEAD}
    integer, allocatable, intent(out) :: ranks(:)
    integer(c_int), target :: found
    integer(c_int), pointer :: numbers(:)
{REQUIRE}
    call c_f_pointer({{call}}, numbers, [found])
    ranks = numbers
  end subroutine {{name}}""",
    "action": f"""{SUBROUTINE_HEAD}
{{stream}}{{report}}
  end subroutine {{name}}""",
    "combining": f"""{SUBROUTINE_HEAD}
    integer(c_int), intent(in) :: how
{PART_DECLARED}
{{stream}}    if (.not. is_ready(this, part, ierr, fields, width, low, high)) return
    if (.not. have_operation(how, are_complex(this, part), ierr)) return
{{report}}
  end subroutine {{name}}""",
    "combining by a procedure": f"""{SUBROUTINE_HEAD}
    procedure(combine_procedure) :: combine
{PART_DECLARED}
    type(combine_context) :: before
    integer(c_int) :: code
    if (.not. is_ready(this, part, ierr, fields, width, low, high)) return
    before = replaced(this%by, combine)
    code = {{call}}
    if (code == longshore_error_usage) this%by = before
    call report(code, ierr)
  end subroutine {{name}}""",
    "free": f"""{SUBROUTINE_HEAD}
    integer(c_int) :: code
    code = {{call}}
    if (code == longshore_ok) this%handle = c_null_ptr
    call report(code, ierr)
  end subroutine {{name}}""",
    "test": f"""{SUBROUTINE_HEAD}
    logical, intent(out) :: complete
    integer(c_int), target :: found
    integer(c_int) :: code
    found = 0
    code = {{call}}
    complete = found /= 0
    call report(code, ierr)
  end subroutine {{name}}""",
}
# What calls of plans without parts lack.
OF_PARTS = (f"{PART_DECLARED}\n", ", c_loc(part%given)", ", fields, width, low, high", ", part")
# Objects that make their plan in the first operation.
MAKE_PLANS = ("longshore_halo", "longshore_ghost")


def calls_text(template: str, header: str) -> str:
    """Return the procedures that types of the template bind, and the template does not define."""
    functions = {name: (result, arguments) for result, name, arguments in functions_of(plain_text(header))}
    bound = dict.fromkeys(re.findall(r"procedure :: \w+ => (\w+)", template))
    missing = [name for name in bound if not re.search(rf"\b(?:subroutine|function) {name}\(", template)]
    return "\n\n".join(
        call_text(name, *functions[f"longshore_{name}"], takes_stream=f"longshore_{name}_on" in functions)
        for name in missing
    )


def call_text(name: str, result: str, arguments: str, *, takes_stream: bool) -> str:
    """Return the procedure that calls a function of C. If takes_stream, C also has ..._on."""
    this, *more = [" ".join(argument.split()) for argument in arguments.split(",")]
    owner = this.removeprefix("const ").partition("*")[0]
    takes, passed, kind, of_result = "this, ierr", "", "", ""
    changes_object = False
    if more and more[0] == "int reduction":
        form, takes, passed = "combining", "this, how, ierr, fields, width, low, high", ", how, c_loc(part%given)"
        changes_object = owner in MAKE_PLANS
    elif more and more[0].startswith("longshore_combine_function"):
        form, takes = "combining by a procedure", "this, combine, ierr, fields, width, low, high"
        passed = ", c_funloc(combine_pairs), c_loc(this%by), c_loc(part%given)"
        changes_object = True
    elif more:
        passed, of_result = ", c_loc(found)", " result(numbers)"
        form = {"void": "triple", "const int*": "list", "int": "test"}[result]
        takes = {"list": "this, ranks", "test": "this, complete, ierr"}.get(form, "")
        changes_object = form == "test"
    elif "char" in result:
        form, of_result = "text", " result(text)"
    elif result == "int" and not this.startswith("const "):
        changes_object = name.endswith("_free")
        form = "free" if changes_object else "action"
    else:
        form = "number"
        kind = {"int": "integer ", "int64_t": "integer(int64) ", "double": "real(real64) "}[result]
    call = f"c_longshore_{name}(this%handle{passed})"
    report = REPORT.format(call=call)
    if takes_stream:
        takes += ", stream"
        on_stream = f"c_longshore_{name}_on(this%handle{passed}, transfer(stream, c_null_ptr))"
        report = REPORT_ON_STREAM.format(call=call, on_stream=on_stream)
    text = CALLS[form].format(
        name=name, owner=owner, what=OBJECTS.get(owner, "a plan"), call=call, arguments=takes, kind=kind,
        result=of_result, intent="inout" if changes_object else "in", report=report,
        stream=STREAM_DECLARED if takes_stream else "",
    )  # fmt: skip
    if not arguments.endswith(" part"):
        for of_part in OF_PARTS:
            text = text.replace(of_part, "")
    return text


def plain_text(header: str) -> str:
    """Return the header without comments and directives."""
    plain = re.sub(r"/\*.*?\*/", " ", header, flags=re.DOTALL)
    return re.sub(r"^\s*#.*$", "", plain, flags=re.MULTILINE)


def functions_of(plain: str) -> list[tuple[str, str, str]]:
    """Return the result, the name and the arguments of each function."""
    # The pattern needs the end of a declaration before each function.
    plain = plain.replace('extern "C" {', ";")
    functions = re.findall(r"(?:^|;|\})\s*((?:const )?\w+\*?) (longshore_\w+)\(([^)]*)\)(?=;)", plain)
    expected = len(re.findall(r"\b(?!typedef)\w+\*? longshore_\w+\(", plain))
    if expected != len(functions):
        sys.exit(f"generate_module.py: parsed only {len(functions)} of {expected} functions of the header")
    return functions


def header_text(header: str) -> str:
    """Return the Fortran declarations of the header's enumerators, structs and functions."""
    plain = plain_text(header)
    lines = [
        f"integer(c_int), parameter :: {name.lower()} = {value}"
        for name, value in re.findall(r"\b(LONGSHORE_\w+) = (\d+)", plain)
    ]
    for name, body in re.findall(r"struct (longshore_\w+) \{(.*?)\}", plain, flags=re.DOTALL):
        lines += ["", f"type, bind(c) :: c_{name}"]
        lines += [f"  {member_text(member)}" for member in body.split(";") if member.strip()]
        lines += [f"end type c_{name}"]
    lines += ["", "interface"]
    for result, name, arguments in functions_of(plain):
        lines += function_lines(result, name, arguments)
    lines += ["end interface"]
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
        elif kind in ("longshore_main", "longshore_combine_function"):
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


def declare_ierr(text: str) -> str:
    """Declare the argument ierr in each procedure that has it: the template does not."""
    head = r"^ +(?:[^!'\n]* )?(?:subroutine|function) \w+\([^)]*\bierr\b[^)]*\).*\n"
    return re.sub(head, r"\g<0>    integer, intent(out), optional :: ierr\n", text, flags=re.MULTILINE)


def entries_of(loop: str) -> Sequence[Mapping[str, str | None]]:
    """Return the entries of a loop. A sort moves keys alone, or with values of one type.

    Lines with <with> are for values.
    """
    if loop != "sorted":
        return LOOPS[loop]
    keys_alone = {"suffix": "", "values": "", "vdecl": None, "with": None, "value_bytes": "0", "start": "c_null_ptr"}
    with_values = {"suffix": "_<value>", "values": ", values", "with": "", "value_bytes": "storage_size(values)/8"}
    with_values |= {"start": "start_of_<value>(values)"}
    return [keys_alone, *({**with_values, **entry} for entry in LOOPS["value"])]


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
        for values in entries_of(loop[1]):
            body = inner
            for name, text in values.items():
                # Lines that become empty are left out, and those with a name whose text is None.
                kept = [line for line in body if text is not None or f"<{name}>" not in line]
                replaced = [(line, line.replace(f"<{name}>", text or "")) for line in kept]
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


def modules_of(text: str, header: str) -> dict[str, str]:
    """Return the text of each module, in an order in which they can be compiled."""
    halves = [re.split(r"^!:module (.*)\n", half, flags=re.MULTILINE) for half in text.split(CONTAINS)]
    (top, *declarations), (_, *procedures) = halves
    defined = dict(zip(procedures[::2], procedures[1::2], strict=True))
    modules: dict[str, str] = {}
    for head, body in zip(declarations[::2], declarations[1::2], strict=True):
        name, *used = head.split()
        uses = [f"  use {module}" for module in used or modules]
        declared = body.replace("!:header", header_text(header).lstrip()).strip("\n")
        lines = [f"{top}module {name}", USED_BY_ALL, *uses, "  implicit none\n", declared]
        if name in defined:
            bodies = [defined[name].strip("\n"), calls_text(body + defined[name], header)]
            lines += [CONTAINS, "\n\n".join(filter(None, bodies))]
        modules[name] = "\n".join([*lines, f"\nend module {name}\n"])
        top = ""
    return modules


def write(path: Path, text: str) -> None:
    """Write a file. An unchanged file is not written, so that it is not compiled again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def main(header: str, template: str, output: str, folder: str) -> None:
    """Write the modules."""
    text = "\n".join(expand(Path(template).read_text(encoding="utf-8").splitlines())) + "\n"
    # Names that remain are mistakes in the template.
    if left := re.search(r"<[a-z]\w*>|!:(?!header|module)\w+", text):
        sys.exit(f"generate_module.py: the template has an unknown name: {left[0]}")
    modules = modules_of(text, Path(header).read_text(encoding="utf-8"))
    for name, module in modules.items():
        modules[name] = "\n".join(folded(line) for line in declare_ierr(module).splitlines()) + "\n"
        write(Path(folder) / f"{name}.f90", modules[name])
    write(Path(output), "\n".join(modules.values()))


if __name__ == "__main__":
    main(*sys.argv[1:])
