# SPDX-License-Identifier: BSD-2-Clause
"""Small models of all kinds, at random."""

from hypothesis import strategies as st

from tests.host.models import SMALL, named_model, small_graph, small_model

__all__ = ["ROOMY", "models"]

#: A chip on which all of them fit.
ROOMY = SMALL.replace(tensors=256, program_rows=4096, weight_rows=4096, channel_words=1 << 16)
_KINDS = [("gcn", {}), ("gcn", {"residual": True}), ("sage", {}), ("gin", {}), ("gcnii", {}),
          ("mixhop", {}), ("sign", {})]


@st.composite
def models(draw, config=ROOMY):
    """A model of a small graph, in its initial state."""
    name, more = draw(st.sampled_from(_KINDS))
    hidden = [draw(st.sampled_from([2, 3, 5]))] * draw(st.integers(1 + ("residual" in more), 3))
    if name in ("mixhop", "sign"):
        hidden = [*hidden, *draw(st.sampled_from([(4, 3), (3, 5, 4)]))]
    if name not in ("gcnii", "mixhop", "sign") and "residual" not in more:
        more = {"jumping": draw(st.booleans())}
    graph = small_graph(draw(st.sampled_from([9, 40, 70])), draw(st.sampled_from([3, 6, 9])))
    if name == "gcn" and not any(more.values()):
        orders = [draw(st.sampled_from(["combine_first", "aggregate_first"]))
                  for _ in range(len(hidden) + 1)]
        return small_model(graph, hidden=hidden, config=config, dropout=0.0, orders=orders)
    return named_model(name, graph, hidden=hidden, config=config,
                       dropout=draw(st.sampled_from([0.0, 0.5])), **more)
