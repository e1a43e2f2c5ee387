import pytest

from hypercast.reference.fixed_gnn import FixedGnn
from hypercast.reference.gradient_factors import gradient_factors
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST
from hypercast.reference.recipe import Recipe
from tests.reference.random_data import ORDERS, OTHERS, data, network


@pytest.mark.parametrize(("net", "factors"), [
    (network(orders=(COMBINE_FIRST, COMBINE_FIRST)), {
        "b2": ("one", "dZ2"), "W2": ("H1", "dT2"), "b1": ("one", "dZ1"), "W1": ("X", "dT1")}),
    (network(orders=(COMBINE_FIRST, AGGREGATE_FIRST)), {
        "b2": ("one", "dZ2"), "W2": ("M2", "dZ2"), "b1": ("one", "dZ1"), "W1": ("X", "dT1")}),
    (OTHERS["sage"], {
        "b2": ("one", "dZ2"), "W2": ("H1", "dT2"), "R2": ("H1", "dZ2"),
        "b1": ("one", "dZ1"), "W1": ("X", "dT1"), "R1": ("X", "dZ1")}),
    (OTHERS["jumping"], {
        "b3": ("one", "dZ3"), "W3.1": ("H1", "dZ3"), "W3.2": ("H2", "dZ3"),
        "b2": ("one", "dZ2"), "W2": ("H1", "dT2"), "b1": ("one", "dZ1"), "W1": ("X", "dT1")}),
], ids=["combine first", "aggregate first", "sage", "jumping"])
def test_factors(net, factors):
    assert gradient_factors(net) == factors
    assert list(gradient_factors(net)) == list(factors)


@pytest.mark.parametrize("net", [*(network(orders=orders) for orders in ORDERS), *OTHERS.values()])
def test_a_gradient_has_the_exponents_of_its_factors(net):
    gnn = FixedGnn.of(net, Recipe(), *data())
    gnn.train_step()
    for name, factors in gradient_factors(net).items():
        assert gnn.gradients[name].exponent == sum(gnn.exponents[factor] for factor in factors)
