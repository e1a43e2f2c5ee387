# SPDX-License-Identifier: BSD-2-Clause
"""Drawings as the contents of files."""

import io
from pathlib import Path

from matplotlib.figure import Figure

__all__ = ["picture"]


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
