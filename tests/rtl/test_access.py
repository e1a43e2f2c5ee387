# SPDX-License-Identifier: BSD-2-Clause
"""What an access says of a decoded instruction."""

import pytest

from hypercast.rtl.access import Access, Mode, Store

READ = Access(mode=Mode.READ, store=Store.MATRIX, field="address", channel="side",
              when={"sparse": (0,), "operand": (0, 1)})


@pytest.mark.parametrize(("sparse", "operand", "applies"), [
    (0, 0, True), (0, 1, True), (0, 2, False), (1, 0, False)])
def test_it_takes_all_conditions(sparse, operand, applies):
    assert READ.applies({"sparse": sparse, "operand": operand}) == applies


def test_without_conditions_it_always_applies():
    assert Access(mode=Mode.READ, store=Store.MASK, field="mask").applies({})


@pytest.mark.parametrize(("channel", "opposite", "found"), [
    ("side", False, 1), ("side", True, 0), (1, False, 1), (0, False, 0)])
def test_channel(channel, opposite, found):
    access = Access(mode=Mode.READ, store=Store.MATRIX, field="address", channel=channel,
                    opposite=opposite)
    assert access.channel_of({"side": 1}) == found
