# SPDX-License-Identifier: BSD-2-Clause
"""Networks of layers that read any that come before them."""

from hypothesis import strategies as st

from hypercast.reference.network import (
    AGGREGATE_FIRST,
    COMBINE_FIRST,
    LINEAR,
    ROOT_IDENTITY,
    ROOT_WEIGHTS,
    Layer,
    Network,
)

#: Order of a layer's products, and what it adds to them.
_KINDS = [(LINEAR, None), (AGGREGATE_FIRST, None),
          *((COMBINE_FIRST, root) for root in (None, ROOT_IDENTITY, ROOT_WEIGHTS))]


@st.composite
def branched_networks(draw, features=4, classes=3, most=7, dropouts=(0.0, 0.5)):
    """A network whose layers are all as wide as the input, but for the last one.

    That takes the outputs that no other layer reads, and some that others do.
    """
    count = draw(st.integers(2, most))
    sources = [draw(st.integers(1, number - 1)) for number in range(2, count + 1)]
    jumping = sorted({*range(1, count + 1)} - {*sources}
                     | draw(st.sets(st.integers(1, count))))
    dropout = draw(st.sampled_from(dropouts))
    kinds = draw(st.lists(st.sampled_from(_KINDS), min_size=count, max_size=count))
    if dropout and kinds[0][0] == AGGREGATE_FIRST:
        kinds[0] = _KINDS[-1]
    hidden = [Layer(features_in=features, features_out=features, order=order, root=root,
                    dropout=dropout, source=source)
              for (order, root), source in zip(kinds, [None, *sources], strict=True)]
    return Network(jumping=tuple(jumping), layers=(*hidden, Layer(
        features_in=features * len(jumping), features_out=classes, order=LINEAR,
        dropout=dropout)))
