# SPDX-License-Identifier: BSD-2-Clause
"""Objects of other libraries, which may be anything else."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hypercast.host.graphs.graph_error import GraphError

__all__ = ["as_graph_errors"]


@contextmanager
def as_graph_errors(given: Any, what: str) -> Iterator[None]:
    """A context in which whatever goes wrong with an object is a ``GraphError``.

    Parameters
    ----------
    given : object
        What was given.
    what : str
        What it should be.
    """
    try:
        yield
    except (GraphError, MemoryError):
        raise
    except Exception as error:  # it can be anything, and raise anything
        raise GraphError(f"a {type(given).__name__} is not {what} ({type(error).__name__}: "
                         f"{str(error)[:200]}); give one") from error
