"""Prepares a graph for the chip, and opens devices."""

from hypercast.host.compiler import compile_job
from hypercast.host.devices import ChipDevice, ReferenceDevice
from hypercast.host.rank_order import rank_order
from hypercast.reference.fixed_gcn import FixedGcn

__all__ = ["DEVICES", "open_device", "prepare"]

#: Names of the devices.
DEVICES = ("reference", "rtl")


def prepare(graph, network, recipe):
    """The model of a graph in its initial state: vertices in rank order, everything normalised.

    Parameters
    ----------
    graph : Graph
        What to train on.
    network : Network
        What to train.
    recipe : Recipe
        How.

    Returns
    -------
    FixedGcn
        Ready for ``ReferenceDevice`` or ``compile_job``.
    """
    graph = graph.permuted(rank_order(graph))
    if recipe.normalise_features:
        graph = graph.with_normalised_features()
    return FixedGcn(network, recipe, graph.normalised(recipe.normalisation), graph.features,
                    graph.labels, graph.splits)


def open_device(name, model, config, *, progress=lambda text: None):
    """A device that trains ``model``.

    Parameters
    ----------
    name : str
        One of ``DEVICES``.
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
    """
    if name == "reference":
        return ReferenceDevice(model)
    job = compile_job(model, config)
    from hypercast.sim.cxxrtl_transport import CxxrtlTransport  # brings the hardware with it
    return ChipDevice(CxxrtlTransport(config, progress=progress), job, model)
