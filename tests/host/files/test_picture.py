# SPDX-License-Identifier: BSD-2-Clause
"""Drawings as files of the kind that their name says."""

from pathlib import Path

import pytest
from matplotlib.figure import Figure

from hypercast.host.files.picture import picture


@pytest.mark.parametrize(("name", "begin"), [
    ("a.png", b"\x89PNG"), ("a.b.SVG", b"<?xml"), ("a.pdf", b"%PDF"), ("a.jpg", b"\xff\xd8"),
    ("a.webp", b"RIFF")])
def test_the_name_says_of_which_kind(name, begin):
    assert picture(Figure(), Path(name)).startswith(begin)
