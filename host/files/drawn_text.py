# SPDX-License-Identifier: BSD-2-Clause
"""Text for Matplotlib: drawn as it is, not typeset as a formula."""

__all__ = ["drawn_text"]


def drawn_text(text: str) -> str:
    """A text for Matplotlib to draw as it is: dollars in it enclose no formula."""
    return text.replace("$", r"\$")
