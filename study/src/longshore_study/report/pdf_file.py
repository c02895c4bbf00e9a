"""A drawing as a PDF of one page, written by matplotlib: vectors and embedded text."""

from __future__ import annotations

import io
from typing import Any

from longshore_study.base.errors import LongshoreError
from longshore_study.report.drawing import Drawing, Line, Rectangle, Symbol, Text

_POINTS_PER_INCH = 72.0
# Texts have room for Helvetica (drawing.text_width); the font of matplotlib is wider.
_TEXT_SCALE = 0.87


def pdf(drawing: Drawing) -> bytes:
    """The same drawing gives the same bytes. Raises LongshoreError where matplotlib is missing."""
    try:
        import matplotlib as mpl  # noqa: PLC0415 - large, needed only for PDF
        from matplotlib import figure, lines, patches, text, transforms  # noqa: PLC0415
    except ImportError:
        raise LongshoreError(
            "PDF needs the package matplotlib: pip install 'study/[pdf]', or choose a file that ends in .svg"
        ) from None
    width, height = drawing.width / _POINTS_PER_INCH, drawing.height / _POINTS_PER_INCH
    page = figure.Figure(figsize=(width, height))
    # From points with y downwards to inches with y upwards.
    to_page: Any = transforms.Affine2D().scale(1 / _POINTS_PER_INCH, -1 / _POINTS_PER_INCH).translate(0, height)
    to_page += page.dpi_scale_trans
    for order, mark in enumerate(drawing.marks):
        artist: Any
        match mark:
            case Line():
                style: Any = (0, mark.dash) if mark.dash else "-"
                artist = lines.Line2D((mark.x1, mark.x2), (mark.y1, mark.y2), color=mark.colour, linestyle=style)
                artist.set_linewidth(mark.width)
            case Rectangle():
                artist = patches.Rectangle((mark.x, mark.y), mark.width, mark.height, color=mark.colour, linewidth=0)
            case Symbol(radius=radius) if radius:
                artist = patches.Circle(mark.points[0], radius, facecolor=mark.fill, edgecolor=mark.stroke)
                artist.set_linewidth(0.75)
            case Symbol():
                artist = patches.Polygon(mark.points, facecolor=mark.fill, edgecolor=mark.stroke)
                artist.set_linewidth(0.75)
            case Text():
                printable = "".join(character for character in mark.text if character.isprintable())
                artist = text.Text(mark.x, mark.y, printable, color=mark.colour, parse_math=False)
                artist.set_horizontalalignment({"start": "left", "middle": "center", "end": "right"}[mark.anchor])
                artist.set_fontsize(_TEXT_SCALE * mark.size)
                artist.set_fontweight("bold" if mark.bold else "normal")
        artist.set(transform=to_page, zorder=order)
        page.add_artist(artist)
    out = io.BytesIO()
    with mpl.rc_context({"pdf.fonttype": 42}):  # TrueType: the text can be searched and edited
        page.savefig(out, format="pdf", metadata={"CreationDate": None, "Title": drawing.title})
    return out.getvalue()
