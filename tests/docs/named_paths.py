# SPDX-License-Identifier: BSD-2-Clause
"""Whether a path that a page or figure names is one of the checkout."""

import re
from functools import cache
from pathlib import Path

__all__ = ["FOLDERS", "exists"]

ROOT = Path(__file__).parents[2]
#: Top-level folders of the checkout.
FOLDERS = ("benches", "boards", "docs", "examples", "host", "proofs", "reference", "rtl", "sim",
           "tests")


@cache
def _tree():
    """All files and folders of the checkout, as paths from its root; folders end in a slash."""
    found = []
    for folder in FOLDERS:
        found.append(f"{folder}/")
        for path in (ROOT / folder).rglob("*"):
            if "__pycache__" not in path.parts:
                found.append(path.relative_to(ROOT).as_posix() + "/" * path.is_dir())
    return found


def exists(path):
    """Whether a file or folder of the checkout is called that, or ends so after a slash."""
    pattern = re.escape(path).replace(r"\*", "[^/]*")
    return any(re.search(f"(^|/){pattern}/?$", name) for name in _tree())
