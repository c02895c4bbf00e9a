"""Writes rows as CSV, JSON, JSON lines, Markdown, LaTeX or Parquet."""

import csv
import io
import json
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

from longshore_study.base import terminal
from longshore_study.base.errors import LongshoreError

Row = dict[str, Any]
_MAX_TEMPLATES = 10_000
FORMATS = ("csv", "json", "jsonl", "markdown", "latex", "parquet")


def columns_of(rows: Sequence[Row], first: Sequence[str] = ()) -> list[str]:
    return list(dict.fromkeys([*first, *(name for row in rows for name in row)]))


def table(rows: Sequence[Row], form: str, first: Sequence[str] = ()) -> bytes:
    """The rows in the format `form`. `first`: the leftmost columns, even if no row has them."""
    columns = columns_of(rows, first)
    if form == "parquet":
        return _parquet(rows, columns)
    if form == "markdown":
        text = _markdown(rows, columns)
    elif form == "latex":
        text = _latex(rows, columns)
    else:
        out = io.StringIO()
        write_lines(((row, {}) for row in rows), form, columns, out)
        text = out.getvalue()
    return text.encode("utf-8", "replace")


def write_lines(rows: Iterable[tuple[Row, Row]], form: str, first: Sequence[str], out: TextIO) -> None:
    """Writes CSV, JSON or JSON lines. Iterates over `rows` once and does not keep the rows, which
    need not fit into memory.

    A row is a pair. Its first part is an object that several rows share, and its second part
    belongs to this row alone. The second parts of all rows have the same columns.
    """
    if form == "json":
        out.write('{"schema":1,"rows":[')
        lines = (json.dumps({**shared, **own}, ensure_ascii=False) for shared, own in rows)
        out.writelines((",\n" if number else "\n") + line for number, line in enumerate(lines))
        out.write("]}\n")
        return
    if form == "jsonl":
        out.writelines(json.dumps({**shared, **own}, ensure_ascii=False) + "\n" for shared, own in rows)
        return
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace", newline="") as body:
        # The heading is known only after the last row, so the rows are first written to a file.
        columns: dict[str, int] = {name: index for index, name in enumerate(first)}
        widths = _write_body(rows, columns, body)
        body.seek(0)
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(columns)
        if widths <= {len(columns)}:
            shutil.copyfileobj(body, out)
        else:
            writer.writerows([*row, *[""] * (len(columns) - len(row))] for row in csv.reader(body))


def _write_body(rows: Iterable[tuple[Row, Row]], columns: dict[str, int], out: TextIO) -> set[int]:
    """Writes CSV without heading. Adds to `columns`; returns the different widths of rows."""
    writer = csv.writer(out, lineterminator="\n")
    widths: set[int] = set()
    last: Row | None = None
    templates: dict[int, tuple[Row, list[Any]]] = {}
    for shared, own in rows:
        if shared is not last:
            last = shared
            if id(shared) not in templates:
                for name in (*shared, *own):
                    columns.setdefault(name, len(columns))
                if len(templates) > _MAX_TEMPLATES:
                    templates.clear()
                templates[id(shared)] = shared, [_plain(shared.get(name, "")) for name in columns]
                widths.add(len(columns))
            values = templates[id(shared)][1]
        for name, value in own.items():
            values[columns[name]] = value
        writer.writerow(values)
    return widths


def _plain(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value


def shown(value: Any) -> str:
    """A value as text for readers: four significant digits; empty for None."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return terminal.significant(value, 4)
    if isinstance(value, list):
        return " x ".join(map(shown, value))
    if isinstance(value, dict):
        return " ".join(f"no {name}" if item is None else f"{name}={shown(item)}" for name, item in value.items())
    return " ".join(str(value).split())


def _numeric(rows: Sequence[Row], name: str) -> bool:
    values = [row[name] for row in rows if row.get(name) is not None]
    return bool(values) and all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)


def _markdown(rows: Sequence[Row], columns: Sequence[str]) -> str:
    """A pipe table (GitHub Flavored Markdown)."""

    def cell(text: str) -> str:
        return "".join(f"\\{mark}" if mark in "\\|`*_<>[]" else mark for mark in text if mark.isprintable())

    alignments = ["---:" if _numeric(rows, name) else "---" for name in columns]
    lines = [[cell(name) for name in columns], alignments]
    lines += [[cell(shown(row.get(name))) for name in columns] for row in rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
}  # fmt: skip


def latex_text(text: str) -> str:
    return "".join(_LATEX.get(mark, mark) for mark in text if mark.isprintable())


def _latex(rows: Sequence[Row], columns: Sequence[str]) -> str:
    kinds = "".join("r" if _numeric(rows, name) else "l" for name in columns)
    return latex_tabular(kinds, [latex_row(columns)], [[shown(row.get(name)) for name in columns] for row in rows])


def latex_row(texts: Iterable[str]) -> str:
    return " & ".join(map(latex_text, texts)) + r" \\"


def latex_tabular(kinds: str, heads: Sequence[str], rows: Iterable[Iterable[str]], note: str = "") -> str:
    """A tabular of booktabs. `kinds`: alignments; `heads`: whole lines; `note`: a comment above."""
    return "\n".join(
        ["% needs \\usepackage{booktabs}", *([f"% {note}"] if note else []), rf"\begin{{tabular}}{{{kinds}}}",
         r"\toprule", *heads, r"\midrule", *map(latex_row, rows), r"\bottomrule", r"\end{tabular}", ""]
    )  # fmt: skip


def _parquet(rows: Sequence[Row], columns: Sequence[str]) -> bytes:
    try:
        import pyarrow as pa  # noqa: PLC0415 - large, and for this format alone
        from pyarrow import parquet  # noqa: PLC0415
    except ImportError:
        raise LongshoreError(
            "Parquet needs the package pyarrow: pip install 'study/[parquet]', or choose --format csv"
        ) from None
    values = {name: _column([row.get(name) for row in rows]) for name in columns}
    empty = {name: pa.string() for name, column in values.items() if all(value is None for value in column)}
    data = {name: pa.array(column, type=empty.get(name)) for name, column in values.items()}
    out = io.BytesIO()
    parquet.write_table(pa.table(data), out)
    return out.getvalue()


def _column(values: Sequence[Any]) -> list[Any]:
    """The values of a column in one type: numbers if all are numbers, else texts as in CSV."""
    types = {type(value) for value in values if value is not None}
    if types <= {int, float}:
        return [None if value is None else float(value) if float in types else value for value in values]
    if types <= {str} or types == {bool}:
        return list(values)
    return [None if value is None else str(_plain(value)) for value in values]
