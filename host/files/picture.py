# SPDX-License-Identifier: BSD-2-Clause
"""Drawings by Matplotlib: text in them, and the contents of their files."""

import io
from pathlib import Path

from matplotlib.figure import Figure

__all__ = ["drawn_text", "picture"]


def drawn_text(text: str) -> str:
    """A text for Matplotlib to draw as it is: dollars in it enclose no formula."""
    return text.replace("$", r"\$")


def picture(figure: Figure, path: Path) -> bytes:
    """What a file shall hold that shows a figure; the name's end says of which kind it is.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The drawing.
    path : pathlib.Path
        The file, which is not written.
    """
    content = io.BytesIO()
    figure.savefig(content, format=path.suffix[1:].lower())
    return content.getvalue()
