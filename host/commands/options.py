"""Options that several commands share, and how errors are shown."""

import functools
import json
import sys

import click

from hypercast.host.datasets import DatasetError
from hypercast.host.driver import DeviceError
from hypercast.host.graph import GraphError
from hypercast.host.memory_map import CapacityError
from hypercast.host.transport import TransportError
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST
from hypercast.rtl.config import PRESETS, Config, ConfigurationError
from hypercast.sim.compilers import NoCompilerError
from hypercast.sim.library_build import BuildError

__all__ = ["configuration", "expected_errors", "json_option", "layer_orders",
           "order_option", "parse_overrides", "print_json", "refusals", "score", "scores"]

_EXPECTED = (BuildError, CapacityError, ConfigurationError, DatasetError, DeviceError, GraphError,
             NoCompilerError, TransportError, ArithmeticError, OSError, ValueError)

#: The order of every layer's products; "auto" for those of the fewest predicted cycles.
order_option = click.option(
    "--order", type=click.Choice(["auto", COMBINE_FIRST, AGGREGATE_FIRST]), default="auto",
    show_default=True, help="Of each layer's products: features times weights first, adjacency "
                            "times features first, or the faster, by the cycle model.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for machines.")


def print_json(value):
    """Print ``value`` as one line of JSON."""
    click.echo(json.dumps(value))


def layer_orders(network):
    """The orders of a network's layers, as text."""
    return "order of products: " + ", ".join(
        f"layer {number} {layer.order.replace('_', ' ')}"
        for number, layer in enumerate(network.layers, 1))


def score(record, split):
    """What a split's predictions are measured by; None if it has no vertices."""
    return record.get(f"{split}_accuracy", record.get(f"{split}_micro_f1"))


def scores(record):
    """What is measured of the predictions for the splits that have vertices, as text."""
    found = []
    for kind in ("accuracy", "micro_f1", "macro_f1"):
        shares = [f"{split} {value:.1%}" for split in ("train", "validation", "test")
                  if (value := record.get(f"{split}_{kind}")) is not None]
        if shares:
            found.append(f"{kind.replace('_f1', ' F1')}: {', '.join(shares)}")
    return "; ".join(found)


def expected_errors(function):
    """Turn errors a user can cause into a message and exit status 1."""
    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except _EXPECTED as error:
            click.echo(f"error: {error}", err=True)
            sys.exit(1)
    return wrapped


def refusals(function):
    """Turn refusals of what a user gave to a command into a message and exit status 2."""
    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except (DatasetError, ValueError) as error:
            click.echo(f"error: {error}", err=True)
            sys.exit(2)
    return wrapped


def parse_overrides(overrides):
    """Fields of ``Config`` from NAME=VALUE texts."""
    kinds = {name: kind.type for name, kind in Config.__dataclass_fields__.items()}
    values = {}
    for override in overrides:
        name, separator, text = override.partition("=")
        if not separator or name not in kinds:
            raise ConfigurationError(
                f"-P {override} is no NAME=VALUE of a configuration field; there are "
                f"{', '.join(kinds)}")
        try:
            values[name] = {"true": True, "false": False}[text.lower()] if kinds[name] is bool \
                else int(text, 0)
        except (KeyError, ValueError):
            wanted = "true or false" if kinds[name] is bool else "a whole number"
            raise ConfigurationError(f"-P {name} must be {wanted}, not {text!r}") from None
    return values


def configuration(default=None, *, of=None):
    """Decorator: options ``--preset`` and ``-P``, given to the command as ``config``.

    Parameters
    ----------
    default : str or None
        The preset, unless one is named.
    of : callable
        Without ``default``: gives it, called with the command's other arguments.
    """
    def decorate(function):
        @functools.wraps(function)
        def wrapped(*args, preset, overrides, **kwargs):
            chosen = PRESETS[preset or of(**kwargs)].replace(**parse_overrides(overrides))
            return function(*args, config=chosen, **kwargs)
        wrapped = click.option(
            "-P", "overrides", multiple=True, metavar="NAME=VALUE",
            help="Change one field of the preset; may be repeated.")(wrapped)
        return click.option("--preset", type=click.Choice(list(PRESETS)), default=default,
                            show_default=True, help="Configuration of the chip.")(wrapped)
    return decorate
