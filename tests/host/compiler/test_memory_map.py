# SPDX-License-Identifier: BSD-2-Clause
"""Where everything lies in the memory channels."""

import pytest

from hypercast.host.compiler.memory_map import (
    CapacityError,
    Listing,
    MemoryMap,
    require_capacity,
    suggest,
)
from hypercast.reference.tensor import FEATURES, Kind, Tensor
from hypercast.rtl.config import Config
from hypercast.rtl.registers import Space
from tests.host.noted_programs import noted, summary


@pytest.mark.parametrize("name", [
    "plain", "several strips", "sixteen cores", "jumping"])
def test_programs_are_those_noted(name):
    assert summary(name) == noted(name)


#: Four lanes of 16 bits: words of 64 bits.
CONFIG = Config(dimensions=1, lanes=4, channel_words=256)


def test_regions_follow_each_other():
    """Each with the rows of its level: 30 of the input, 20 and 10 of layers."""
    memory = MemoryMap(CONFIG, rows=[30, 20, 10])
    features, hidden = memory.matrix(FEATURES, 0, 9), memory.matrix(Tensor(Kind.HIDDEN, 1), 0, 4)
    logits = memory.matrix(Tensor(Kind.LOGITS, 2), 1, 5)
    packed = memory.add_packed(Tensor(Kind.MASK, 1), 1, 16, 5)
    labels, others = memory.labels(3), memory.words("others", 1, 7, Listing.SEND_LIST)
    assert [(one.channel, one.address, one.words, one.stride, one.columns)
            for one in (features, hidden, logits, packed, labels, others)] == [
        (0, 0, 90, 30, 9), (0, 90, 20, 20, 4), (1, 0, 20, 10, 5), (1, 20, 2 * 2, 20, 0),
        (1, 24, 3 * 3, 10, 0), (1, 33, 7, 0, 0)]
    assert memory["H1"] is hidden and (features.panels, hidden.panels, others.panels) == (3, 1, 0)
    assert features.panel(2, 5) == 65 and logits.panel(1) == 10
    assert (features.space, logits.space) == (Space.FEATURES, Space.GRADIENTS)
    assert [one.tensor for one in (features, hidden, logits, packed, labels, others)] == [
        "X", "H1", "Z2", "mask1", None, None]
    assert (labels.listing, others.listing) == (None, Listing.SEND_LIST)
    memory.check()


@pytest.mark.parametrize(("words", "enough"), [(256, True), (257, False)])
def test_a_channel_is_full(words, enough):
    memory = MemoryMap(CONFIG, rows=[1])
    memory.words("small", 1, 56)
    memory.words("large", 1, words - 56)
    memory.words("elsewhere", 0, 256)
    if enough:
        memory.check()
        return
    with pytest.raises(CapacityError, match=r"channel_words is 256, but 257 are needed: memory "
                       r"channel 1 of a core holds that many words, 201 of them of large; raise "
                       r"channel_words to 512 \(-P channel_words=512\); or fewer$"):
        memory.check("fewer")


@pytest.mark.parametrize(("needed", "value"), [(17, 32), (32, 32), (33, 64), (65536, 65536)])
def test_what_is_enough(needed, value):
    assert suggest(CONFIG, "weight_rows", needed).startswith(f"raise weight_rows to {value} ")


def test_what_no_configuration_has():
    assert suggest(CONFIG, "weight_rows", 65537) == ""
    require_capacity(CONFIG, "weight_rows", CONFIG.weight_rows, "why")
    with pytest.raises(CapacityError, match="no configuration has as many"):
        require_capacity(CONFIG, "weight_rows", 65537, "why")
    with pytest.raises(CapacityError, match="use fewer layers, or more boards that have some "):
        require_capacity(CONFIG, "tensors", 1025, "why")
