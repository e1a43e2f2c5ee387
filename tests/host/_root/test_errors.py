# SPDX-License-Identifier: BSD-2-Clause
"""Errors of our own: one base, the builtin bases that callers know, and a way through processes."""

import pickle

import pytest

from hypercast.errors import HypercastError, InputError, NotFoundError, ToolError, require


@pytest.mark.parametrize("kind, base", [
    (InputError, ValueError), (NotFoundError, FileNotFoundError), (ToolError, RuntimeError)])
def test_errors_are_caught_by_their_builtin_bases(kind, base):
    for caught in (base, HypercastError):
        with pytest.raises(caught, match=r"^there is no 3; give 4$"):
            raise kind("there is no 3; give 4")
    found = pickle.loads(pickle.dumps(kind("there is no 3; give 4")))
    assert type(found) is kind and str(found) == "there is no 3; give 4"


def test_require():
    require([0], "it holds")
    for condition in (False, [], 0):
        with pytest.raises(InputError, match=r"^it does not hold$"):
            require(condition, "it does not hold")
