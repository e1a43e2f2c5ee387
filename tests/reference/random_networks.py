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

    That takes the outputs that no other layer reads, and some that others do. Several layers may
    read the input features.
    """
    count = draw(st.integers(2, most))
    sources = [draw(st.integers(0, number - 1)) for number in range(2, count + 1)]
    jumping = sorted({*range(1, count + 1)} - {*sources}
                     | draw(st.sets(st.integers(1, count))) - {0})
    dropout = draw(st.sampled_from(dropouts))
    kinds = draw(st.lists(st.sampled_from(_KINDS), min_size=count, max_size=count))
    if dropout:  # features that are summed first cannot have it
        kinds = [_KINDS[-1] if order == AGGREGATE_FIRST and not source else (order, root)
                 for (order, root), source in zip(kinds, [0, *sources], strict=True)]
    hidden = [Layer(features_in=features, features_out=features, order=order, root=root,
                    dropout=dropout, source=source)
              for (order, root), source in zip(kinds, [None, *sources], strict=True)]
    return Network(jumping=tuple(jumping), layers=(*hidden, Layer(
        features_in=features * len(jumping), features_out=classes, order=LINEAR,
        dropout=dropout)))
