# SPDX-License-Identifier: BSD-2-Clause
"""What all tests share makes them the same in every process."""

from hypothesis.internal.conjecture import providers

import hypercast.reference.network  # it has constants, as any module of the project


def test_examples_do_not_depend_on_the_modules_that_are_imported():
    assert hypercast.reference.network.__all__
    assert not len(providers._get_local_constants())
