"""Orders and tiles are those of the fewest predicted cycles."""

import itertools

from hypercast.host.model.orders import choose_orders
from hypercast.host.model.prediction import predict
from hypercast.host.model.workload import Workload
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST, Network
from hypercast.rtl.config import PRESETS

CONFIG = PRESETS["test"]


def batch(dropout=0.0):
    """Ten times as many inputs as outputs: aggregating first leaves fewer rows to the array."""
    return Workload.of_statistics(
        (1_200, 120, 40), (2_400, 300), Network.of_widths((16, 16, 4), dropout=dropout), CONFIG)


def test_no_order_is_faster():
    chosen, prediction = choose_orders(batch())
    assert chosen.orders[0] == AGGREGATE_FIRST
    orders = itertools.product((COMBINE_FIRST, AGGREGATE_FIRST), repeat=2)
    assert prediction.cycles == min(predict(batch().ordered(one)).cycles for one in orders)


def test_a_first_layer_with_dropout_combines_first():
    assert choose_orders(batch(dropout=0.5), split=True)[0].orders[0] == COMBINE_FIRST


def test_tiles_store_rows_once_for_each():
    whole = batch().ordered((AGGREGATE_FIRST, COMBINE_FIRST))
    halves = whole.ordered(whole.orders, (1, 1))
    assert len(halves.loads(1, False)) == 2
    assert whole.vertices[0] < halves.vertices[0] < 2 * whole.vertices[0]
    assert predict(halves).work["array_words"] == predict(whole).work["array_words"]
