# SPDX-License-Identifier: BSD-2-Clause
"""Errors and warnings of graphs."""

from collections.abc import Iterator
from contextlib import contextmanager

from hypercast.errors import InputError
from hypercast.host.files.reading.regular_file import one_line

__all__ = ["GraphError", "GraphWarning", "about"]


class GraphError(InputError):
    """A graph that cannot be trained on; names the value, where it is, and what to do.

    Attributes
    ----------
    part : str
        What of it is wrong: ``edges``, ``features``, ``labels``, or ``train``, ``validation`` or
        ``test``; empty if it is none of them alone.
    """

    part = ""

    def __init__(self, text: str) -> None:
        super().__init__(one_line(text))


class GraphWarning(UserWarning):
    """A warning that a graph may be taken in another sense than was meant; says in which."""


@contextmanager
def about(part: str) -> Iterator[None]:
    """A context in which a ``GraphError`` is about a part of the graph."""
    try:
        yield
    except GraphError as error:
        error.part = part
        raise
