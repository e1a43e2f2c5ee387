# SPDX-License-Identifier: BSD-2-Clause
"""Options that describe a training; they count instead of what a file says."""

import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from hypercast.host.commands.number_types import COUNTS, REAL, REALS, SPLIT, NumberRange, WholeRange
from hypercast.host.commands.options import ORDER_HELP, Command, parse_overrides
from hypercast.host.description.conversion import DescriptionError
from hypercast.host.description.description import Description, load_description
from hypercast.host.description.device import EVALUATORS, ON_HOST, Device
from hypercast.host.description.document import SUFFIXES
from hypercast.host.description.model import ORDERS, Model
from hypercast.host.description.recipe import recipe_values
from hypercast.host.description.sampling import SAMPLERS, SAMPLING_DEFAULTS
from hypercast.host.description.stopping import MONITORS
from hypercast.host.training.run_folder import RunError, RunFolder
from hypercast.reference.models import ALPHA, MODELS, THETA
from hypercast.reference.recipe import (
    DEFAULT_LEARNING_RATES,
    NORMALISATIONS,
    OPTIMISERS,
    Recipe,
)
from hypercast.rtl.config import PRESETS, ConfigurationError

__all__ = ["DESCRIPTION_GROUPS", "describe", "description_options"]

#: Data set of a training that names none.
_DATASET = "blocks"
_LAYERS = "one number, or one per layer"

_RATES = ", ".join(f"{rate} with {name}" for name, rate in DEFAULT_LEARNING_RATES.items())
_RATES += "; with sgd, a sixteenth of that for gin, 16 times for several labels"

# Of both optimisers; what has other defaults says so in its help.
_RECIPE = recipe_values(Recipe(optimiser="adam")) | recipe_values(Recipe())
_DEFAULTS: dict[str, dict[str, Any]] = {"model": Model().values(), "recipe": {
    key: value for key, value in _RECIPE.items() if key != "normalisation"},
             "device": Device().values(), "sampling": SAMPLING_DEFAULTS,
             "stopping": {"monitor": next(iter(MONITORS))}}

_TITLES = [model.title for model in MODELS.values()]
_COUNTED = "; ".join(f"of {model.title}, {model.counted}" for model in MODELS.values()
                     if model.counted)
#: Section and key to the option that gives it.
_FLAGS: dict[tuple[str, str], str] = {}


def _option(section: str, key: str, *flags: str,
            **settings: Any) -> tuple[str, str, Callable[[Command], Command]]:
    """An option for a key; it is None if it is not given, and its help shows the default."""
    default = _DEFAULTS.get(section, {}).get(key)
    if default is not None and not isinstance(default, bool):
        values = default if isinstance(default, tuple) else (default,)
        settings["help"] = (f"{settings.get('help', '')}  [default: "
                            f"{','.join(f'{value}' for value in values)}]").strip()
    flags = flags or (f"--{key.replace('_', '-')}",)
    _FLAGS[section, key] = flags[0]
    return section, key, click.option(*flags, f"{section}_{key}", default=None, **settings)


_OPTIONS = (
    _option("graph", "split", type=SPLIT,
            help="Train, validate and test on these percentages of the vertices, drawn at random, "
                 "such as 60/20/20.  [default: the data set's split]"),
    _option("graph", "split_seed", type=WholeRange(0),
            help="Seed of the split that --split draws.  [default: 0]"),
    _option("model", "name", "--model", type=click.Choice(list(MODELS)),
            help=f"{', '.join(_TITLES[:-1])}, or {_TITLES[-1]}."),
    _option("model", "layers", type=WholeRange(1),
            help=f"Graph convolutions; {_COUNTED}.  [default: what --hidden asks for]"),
    _option("model", "hidden", type=COUNTS,
            help="Features of the hidden layers: one number for all, or one for each."),
    _option("model", "order", type=click.Choice(ORDERS),
            help=ORDER_HELP),
    _option("model", "dropout", type=REALS,
            help=f"Dropout rate of the input of convolutions: {_LAYERS}."),
    _option("model", "residual", is_flag=True,
            help="Hidden convolutions of as many outputs as inputs add these to their sums."),
    _option("model", "jumping", is_flag=True,
            help="A linear layer takes the outputs of all convolutions side by side."),
    _option("model", "alpha", type=NumberRange(0, 1, min_open=True, max_open=True),
            help=f"Share of the first layer's outputs in what each convolution adds up (--model "
                 f"gcnii).  [default: {ALPHA}]"),
    _option("model", "theta", type=NumberRange(0, min_open=True),
            help=f"How much convolutions differ from the identity, the paper's lambda (--model "
                 f"gcnii).  [default: {THETA}]"),
    _option("model", "weights", type=click.Path(exists=True, dir_okay=False), metavar="FILE",
            help="Initial weights, as hypercast export writes them."),
    _option("recipe", "epochs", type=WholeRange(1), help="Epochs to train."),
    _option("recipe", "seed", type=WholeRange(0), help="Seed of initial weights and dropout."),
    _option("recipe", "learning_rate", type=REALS,
            help=f"Learning rate of weights: {_LAYERS}.  [default: {_RATES}]"),
    _option("recipe", "bias_learning_rate", type=REALS,
            help=f"Learning rate of biases: {_LAYERS}.  [default: {_RATES}]"),
    _option("recipe", "weight_decay", type=REALS, help=f"Decay of weights: {_LAYERS}."),
    _option("recipe", "optimiser", type=click.Choice(OPTIMISERS),
            help="What makes updates of gradients."),
    _option("recipe", "momentum", type=NumberRange(0, 1, max_open=True),
            help="Momentum of the optimiser sgd."),
    _option("recipe", "betas", type=REALS,
            help="Shares of the two moments that stay in each step (optimiser adam)."),
    _option("recipe", "normalisation", type=click.Choice(NORMALISATIONS),
            help="How edge weights are made.  [default: " + ", ".join(
                f"{model.normalisation} for {name}" for name, model in MODELS.items()) + "]"),
    _option("recipe", "epsilon", type=NumberRange(0),
            help="What is added to the root of the second moment (optimiser adam)."),
    _option("recipe", "gin_epsilon", type=REAL,
            help="What the weight 1 of a vertex's own row is increased by (--model gin)."),
    _option("recipe", "normalise_features", is_flag=True,
            help="Divide each vertex's features by their sum."),
    _option("recipe", "micro_batches", type=WholeRange(1),
            help="Samples that a step adds up the gradients of, with --sampler."),
    _option("sampling", "sampler", type=click.Choice(list(SAMPLERS)),
            help="Train on samples: of neighbours, subgraphs of nodes, edges or random walks "
                 "(GraphSAINT), or shares of the edges (a vertex cut).  [default: on the whole "
                 "graph]"),
    _option("sampling", "batch", type=WholeRange(1),
            help="Vertices to train on, or nodes, edges or walks, for a sample."),
    _option("sampling", "fan_outs", type=COUNTS,
            help="Neighbours drawn at most, for each convolution from the last one down (sampler "
                 "neighbours)."),
    _option("sampling", "walk", type=WholeRange(1),
            help="Steps of a walk (sampler walks)."),
    _option("sampling", "coverage", type=NumberRange(0, min_open=True),
            help="How often a vertex is in the pool of subgraphs (samplers nodes, edges, "
                 "walks)."),
    _option("sampling", "parts", type=WholeRange(1),
            help="Shares of the edges, each of which is a sample (sampler cut)."),
    _option("stopping", "patience", type=WholeRange(1),
            help="Stop when that many epochs were no better than the best, and put that one's "
                 "weights back."),
    _option("stopping", "monitor", type=click.Choice(list(MONITORS)),
            help="What --patience watches."),
    _option("device", "name", "--device", metavar="DEVICE",
            help="reference: NumPy. rtl: the whole chip, simulated. serial[:PORT][@BAUD]: a board "
                 "on a serial port, found if PORT is left out. xdma:FILE: a board on PCIe. "
                 "mapped:FILE[@ADDRESS]: a board whose processor this is. With --boards, one for "
                 "all of them, or one for each, with commas between them."),
    _option("device", "preset", type=click.Choice(list(PRESETS)),
            help="Configuration of the chip."),
    _option("device", "elements", type=click.Choice([8, 16]),
            help="Bits of a tensor element.  [default: the preset's]"),
    _option("device", "evaluate_on", type=click.Choice(EVALUATORS),
            help="What evaluates on the whole graph after an epoch, with --sampler and a chip; the "
                 f"bits are the same.  [default: {ON_HOST}]"),
)


_SECTIONS = {"graph": "Graph", "model": "Model", "recipe": "Recipe", "sampling": "Samples",
             "stopping": "Early stopping", "device": "Device"}
#: Headings in help to the options under them.
DESCRIPTION_GROUPS = {
    heading: [flag for (section, _), flag in _FLAGS.items() if section == name]
    + ["-P"] * (name == "device") for name, heading in _SECTIONS.items()}


def description_options(function: Command) -> Command:
    """Decorator: all options of a description, given to the command as ``changes``: section name
    to the keys that were given."""
    @functools.wraps(function)
    def wrapped(*args: Any, overrides: tuple[str, ...], **kwargs: Any) -> None:
        try:
            changes: dict[str, dict[str, Any]] = {"device": parse_overrides(overrides)}
        except ConfigurationError as error:
            raise click.UsageError(str(error)) from error
        for section, key, _ in _OPTIONS:
            if (value := kwargs.pop(f"{section}_{key}")) is not None:
                changes.setdefault(section, {})[key] = value
        return function(*args, changes=changes, **kwargs)
    command: Command = click.option(
        "-P", "overrides", multiple=True, metavar="NAME=VALUE",
        help="Change one field of the preset; may be repeated.")(wrapped)
    for *_, option in reversed(_OPTIONS):
        command = option(command)
    return command


def describe(dataset: str | None, changes: Mapping[str, dict[str, Any]],
             run: Path | None = None, data: Path | None = None) -> Description:
    """The ``Description`` that a command's arguments mean; what makes no sense is a usage error.

    Parameters
    ----------
    dataset : str or None
        A description file, or the name or path of a data set.
    changes : dict
        What the options say.
    run : pathlib.Path, optional
        A run that is to be gone on with: without a ``dataset``, it is described there.
    data : pathlib.Path, optional
        Where the run's graph is now.
    """
    try:
        return _read_description(dataset, changes, run, data)
    except DescriptionError as error:
        if error.key not in changes.get(error.section, {}):
            raise
        flag = _FLAGS.get((error.section, error.key), "-P")
        raise click.BadParameter(str(error), param_hint=flag) from error


def _read_description(dataset: str | None, changes: Mapping[str, dict[str, Any]],
                      run: Path | None, data: Path | None) -> Description:
    if dataset is None and run is not None:
        kept = RunFolder(run)
        description = kept.description(changes, data)
        if description.graph is None:
            raise RunError(f"{kept.description_path} names no graph, as that was made in Python; "
                           f"go on there, or say where its files are by --data PATH")
        return description
    if dataset and dataset.endswith(SUFFIXES):
        return load_description(Path(dataset), changes)
    graph = {"source": dataset or _DATASET, **changes.get("graph", {})}
    described = Description.of_sections({**changes, "graph": graph})
    return described.with_full_paths(".")
