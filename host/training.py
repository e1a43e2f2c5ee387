"""Prepares a graph for the chip, and opens devices."""

from hypercast.host.compiler import compile_job
from hypercast.host.devices import ChipDevice, ReferenceDevice
from hypercast.host.graph import GraphError
from hypercast.host.link.discovery import open_serial
from hypercast.host.memory_map import CapacityError
from hypercast.host.model.orders import choose_orders
from hypercast.host.model.workload import Workload
from hypercast.host.rank_order import rank_order
from hypercast.host.xdma_transport import XDMA, open_xdma
from hypercast.reference.fixed_gcn import FixedGcn

__all__ = ["open_device", "prepare"]


def prepare(graph, network, recipe, config=None, parameters=None):
    """The model of a graph in its initial state: vertices in rank order, everything normalised.

    Parameters
    ----------
    graph : Graph
        What to train on.
    network : Network
        What to train.
    recipe : Recipe
        How.
    config : Config, optional
        Configuration for which the order of every layer's products is chosen, whatever it is in
        ``network``: that of the fewest predicted cycles, or, if the network does not fit the
        configuration, features times weights first. The bits follow from the orders.
    parameters : dict, optional
        Initial weights and biases by name, instead of those of the recipe's seed.

    Returns
    -------
    FixedGcn
        Ready for ``ReferenceDevice`` or ``compile_job``.

    Raises
    ------
    GraphError
        If the graph is a multi-label one, which softmax is no loss for.
    """
    if graph.multi_label:
        raise GraphError(f"the graph is multi-label: each vertex may have any of {graph.classes} "
                         f"classes, but the loss, softmax cross-entropy, takes one class per "
                         f"vertex; give labels with one")
    graph = graph.permuted(rank_order(graph))
    if recipe.normalise_features:
        graph = graph.with_normalised_features()
    data = (graph.normalised(recipe.normalisation, recipe.epsilon), graph.features, graph.labels,
            graph.splits)
    if config is None:
        return FixedGcn(network, recipe, *data, parameters=parameters)
    combining = network.ordered(layer.orders[0] for layer in network.layers)
    model = FixedGcn(combining, recipe, *data, parameters=parameters)
    try:
        chosen = choose_orders(Workload.of_model(model, config)).network
    except CapacityError:
        return model
    return model if chosen == combining else FixedGcn(
        chosen, recipe, *data, parameters=parameters)


def open_device(name, model, config, *, progress=lambda text: None):
    """A device that trains ``model``.

    Parameters
    ----------
    name : str
        ``reference``, ``rtl``, ``serial[:PORT][@BAUD]``, see ``link.discovery``, or ``xdma:FILE``.
    model : FixedGcn
        Model in its initial state; ``reference`` trains it in place.
    config : Config
        Configuration of the chip.
    progress : callable
        Called with a line of text before each slow step.

    Raises
    ------
    CapacityError
        If the job does not fit the configuration.
    TransportError
        If there is no such board.
    """
    if name == "reference":
        return ReferenceDevice(model)
    job = compile_job(model, config)
    if name != "rtl":
        transport = open_xdma(name) if name.startswith(XDMA) else open_serial(name, config)
        return ChipDevice(transport, job, model)
    from hypercast.sim.cxxrtl_transport import CxxrtlTransport  # brings the hardware with it
    return ChipDevice(CxxrtlTransport(config, progress=progress), job, model)
