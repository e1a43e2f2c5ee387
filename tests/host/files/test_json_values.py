# SPDX-License-Identifier: BSD-2-Clause
"""Nested values: what JSON makes of them, what is in them, and where two differ."""

from hypercast.host.files.json_values import differences, leaves, plain


def test_plain_values_are_those_that_json_gives_back():
    assert plain({"a": (1, 2.5), 3: {"b": None}}) == {"a": [1, 2.5], "3": {"b": None}}


def test_leaves_have_paths_in_which_lists_count_from_1():
    nested = {"a": {"b": [4, {"c": "d"}], "e": None}, "f": [], "g": {}}
    assert list(leaves(nested)) == [("a.b.1", 4), ("a.b.2.c", "d"), ("a.e", None)]


def test_differences_name_what_is_missing_or_other():
    there, here = {"same": 1, "other": 2, "old": 3}, {"same": 1, "other": "2", "new": 4}
    assert differences(there, here) == [
        "other is 2 there, 2 here", "old is 3 there, missing here", "new is missing there, 4 here"]
    assert differences(there, there) == []
    assert differences({"a": 1}, {}, "on board 1", "on board 0") == [
        "a is 1 on board 1, missing on board 0"]
