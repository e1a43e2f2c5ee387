# SPDX-License-Identifier: BSD-2-Clause
"""Drawings by Matplotlib: text in them, and the contents of their files."""

import io
from pathlib import Path

from matplotlib.figure import Figure

__all__ = ["drawn_text", "picture"]


def drawn_text(text: str) -> str:
    """A text that Matplotlib draws literally: dollars in it enclose no formula."""
    return text.replace("$", r"\$")


def picture(figure: Figure, path: Path) -> bytes:
    """The contents of a picture file of a figure; the name's end says which kind of file.

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
