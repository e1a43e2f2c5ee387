"""Options for a random split."""

import functools

import click

from hypercast.host.datasets import random_split

__all__ = ["split_options"]


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


def split_options(function):
    """Decorator: options ``--split`` and ``--split-seed``, given to the command as ``resplit``.

    ``resplit(graph)`` is the graph with the split asked for, or as it is.
    """
    @click.option("--split", type=_Percentages(), metavar="A/B/C",
                  help="Train, validate and test on these percentages of the vertices, drawn at "
                       "random, such as 60/20/20.  [default: the data set's split]")
    @click.option("--split-seed", type=click.IntRange(0), default=None,
                  help="Of --split.  [default: 0]")
    @functools.wraps(function)
    def wrapped(*args, split, split_seed, **kwargs):
        if split_seed is not None and split is None:
            raise click.UsageError("--split-seed is the seed of --split; give that as well")

        def resplit(graph):
            if split is None:
                return graph
            return graph.with_splits(**random_split(
                graph.labels, train=split[0] / 100, validation=split[1] / 100,
                seed=split_seed or 0))
        return function(*args, resplit=resplit, **kwargs)
    return wrapped
