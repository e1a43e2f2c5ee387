# SPDX-License-Identifier: BSD-2-Clause
"""Names that every language takes, and those that one of them does not."""

import pytest

from hypercast.errors import InputError
from hypercast.rtl.export.identifiers import check_identifier


@pytest.mark.parametrize("name", ["hypercast", "A", "_1", "my_chip_2"])
def test_identifiers(name):
    check_identifier(name, "top module")


@pytest.mark.parametrize("name", ["", "1st", "a-b", "a b", "a.b", "a$", "ä", "a\n", "\\a "])
def test_no_identifiers(name):
    with pytest.raises(ValueError, match=r"top module .* is no Verilog identifier"):
        check_identifier(name, "top module")


@pytest.mark.parametrize("name", ["module", "logic", "always_ff", "table"])
def test_reserved_words(name):
    with pytest.raises(ValueError, match=f"top module '{name}' is a reserved word"):
        check_identifier(name, "top module")


def test_names_that_no_file_can_have():
    check_identifier("x" * 200, "top module")
    with pytest.raises(InputError, match="has 201 characters; take at most 200"):
        check_identifier("x" * 201, "top module")
