"""A drawing as a PDF of one page (PDF 1.4, ISO 32000-1): vectors, and text in Helvetica, which
every reader has. The subset is small enough to be written here; the same drawing gives the same
bytes.
"""

from __future__ import annotations

import zlib

from longshore_study.report.drawing import Colour, Drawing, Line, Mark, Rectangle, Symbol, Text

# Widths of Helvetica from space to tilde, in thousandths of the size (Adobe Font Metrics).
_WIDTHS = (
    "278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 278 "
    "278 584 584 584 556 1015 667 667 722 722 667 611 778 722 278 500 667 556 833 722 778 667 778 722 667 611 722 "
    "667 944 667 667 611 278 278 278 469 556 333 556 556 500 556 556 278 556 556 222 222 500 222 833 556 556 556 "
    "556 333 500 278 556 500 722 500 500 500 334 260 334 584"
)
_WIDTH_OF = dict(zip(map(chr, range(32, 127)), map(int, _WIDTHS.split()), strict=True))
_USUAL_WIDTH = 556
_RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_PLAIN = str.maketrans({"\u202f": " ", "\u00a0": " ", "\u2009": " ", "−": "-", "▼": "v", "▲": "^", "≥": ">", "≤": "<"})
_RAISED_SIZE, _RISE = 0.7, 0.35
_KAPPA = 0.5523  # control points of a quarter circle


def pdf(drawing: Drawing) -> bytes:
    content = "\n".join(_mark(one, drawing.height) for one in drawing.marks).encode("latin-1")
    packed = zlib.compress(content, 9)
    font = "<< /Type /Font /Subtype /Type1 /BaseFont /{} /Encoding /WinAnsiEncoding >>"
    box = f"[0 0 {drawing.width:.2f} {drawing.height:.2f}]"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"<< /Type /Page /Parent 2 0 R /MediaBox {box} /Contents 4 0 R "
        "/Resources << /Font << /F1 5 0 R /F2 6 0 R >> >> >>".encode(),
        f"<< /Length {len(packed)} /Filter /FlateDecode >>\nstream\n".encode() + packed + b"\nendstream",
        font.format("Helvetica").encode(),
        font.format("Helvetica-Bold").encode(),
    ]
    out = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(f"{place:010d} 00000 n \n".encode() for place in places)
    out += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n".encode()
    return bytes(out)


def _mark(one: Mark, height: float) -> str:
    match one:
        case Line():
            dash = " ".join(f"{part:g}" for part in one.dash)
            ends = f"{one.x1:.2f} {height - one.y1:.2f} m {one.x2:.2f} {height - one.y2:.2f} l S"
            return f"{_rgb(one.colour)} RG {one.width:g} w [{dash}] 0 d {ends}"
        case Rectangle():
            corner = f"{one.x:.2f} {height - one.y - one.height:.2f}"
            return f"{_rgb(one.colour)} rg {corner} {one.width:.2f} {one.height:.2f} re f"
        case Symbol():
            path = _circle(one, height) if one.radius else _polygon(one, height)
            return f"{_rgb(one.fill)} rg {_rgb(one.stroke)} RG 0.75 w [] 0 d {path} b"
        case Text():
            return _text(one, height)


def _polygon(one: Symbol, height: float) -> str:
    (x, y), *rest = one.points
    return f"{x:.2f} {height - y:.2f} m " + " ".join(f"{a:.2f} {height - b:.2f} l" for a, b in rest)


def _circle(one: Symbol, height: float) -> str:
    ((x, down),) = one.points
    y, r, k = height - down, one.radius, _KAPPA * one.radius
    curves = (
        (x + r, y + k, x + k, y + r, x, y + r), (x - k, y + r, x - r, y + k, x - r, y),
        (x - r, y - k, x - k, y - r, x, y - r), (x + k, y - r, x + r, y - k, x + r, y),
    )  # fmt: skip
    return f"{x + r:.2f} {y:.2f} m " + " ".join(" ".join(f"{v:.2f}" for v in curve) + " c" for curve in curves)


def _text(one: Text, height: float) -> str:
    runs = _runs(one.text)
    width = sum(text_width(text, one.size * (_RAISED_SIZE if raised else 1.0)) for text, raised in runs)
    x = one.x - {"middle": width / 2.0, "end": width}.get(one.anchor, 0.0)
    font = "F2" if one.bold else "F1"
    parts = [f"BT {_rgb(one.colour)} rg {x:.2f} {height - one.y:.2f} Td"]
    for text, raised in runs:
        size = one.size * (_RAISED_SIZE if raised else 1.0)
        parts.append(f"/{font} {size:.2f} Tf {_RISE * one.size if raised else 0:.2f} Ts ({_escaped(text)}) Tj")
    return " ".join(parts) + " 0 Ts ET"


def _runs(text: str) -> list[tuple[str, bool]]:
    """Pieces of plain and of raised characters."""
    runs: list[tuple[str, bool]] = []
    for one in text.translate(_PLAIN):
        plain = one.translate(_RAISED)
        raised = plain != one
        if runs and runs[-1][1] == raised:
            runs[-1] = (runs[-1][0] + plain, raised)
        else:
            runs.append((plain, raised))
    return runs


def text_width(text: str, size: float) -> float:
    return sum(_WIDTH_OF.get(one, _USUAL_WIDTH) for one in text) * size / 1000.0


def _escaped(text: str) -> str:
    """In the encoding of the font; a character that it does not have becomes a question mark."""
    known = text.encode("cp1252", "replace").decode("latin-1")
    return "".join(
        f"\\{one}" if one in "()\\" else one if 32 <= ord(one) < 127 else f"\\{ord(one):03o}" for one in known
    )


def _rgb(colour: Colour) -> str:
    return " ".join(f"{part:.3f}" for part in colour)
