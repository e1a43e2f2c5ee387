"""Options for a random split."""

import functools
from typing import NamedTuple

import click

from hypercast.host.datasets import random_split

__all__ = ["Resplit", "split_options"]


class _Percentages(click.ParamType):
    """Three percentages that sum up to 100."""

    name = "PERCENTAGES"

    def convert(self, value, parameter, context):
        if isinstance(value, tuple):
            return value
        try:
            parts = tuple(float(part) for part in value.split("/"))
        except ValueError:
            parts = ()
        if len(parts) != 3 or min(parts) < 0 or abs(sum(parts) - 100) > 1e-6:
            self.fail(f"{value!r} is not three percentages that sum up to 100, such as 60/20/20",
                      parameter, context)
        return parts


class Resplit(NamedTuple):
    """The split that a command's options ask for.

    Attributes
    ----------
    percentages : tuple of float or None
        Vertices to train, validate and test on; None for the data set's split.
    seed : int
        Of the choice.
    """

    percentages: tuple | None
    seed: int

    def __call__(self, graph):
        """The graph with this split."""
        if self.percentages is None:
            return graph
        train, validation, _ = self.percentages
        return graph.with_splits(**random_split(
            graph.labels, train=train / 100, validation=validation / 100, seed=self.seed))

    def __str__(self):
        if self.percentages is None:
            return "the data set's"
        return f"{'/'.join(f'{part:g}' for part in self.percentages)}, seed {self.seed}"


def split_options(function):
    """Decorator: options ``--split`` and ``--split-seed``, given to the command as ``resplit``."""
    @click.option("--split", type=_Percentages(), metavar="A/B/C",
                  help="Train, validate and test on these percentages of the vertices, drawn at "
                       "random, such as 60/20/20.  [default: the data set's split]")
    @click.option("--split-seed", type=click.IntRange(0), default=None,
                  help="Of --split.  [default: 0]")
    @functools.wraps(function)
    def wrapped(*args, split, split_seed, **kwargs):
        if split_seed is not None and split is None:
            raise click.UsageError("--split-seed is the seed of --split; give that as well")
        return function(*args, resplit=Resplit(split, split_seed or 0), **kwargs)
    return wrapped
