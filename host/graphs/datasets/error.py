# SPDX-License-Identifier: BSD-2-Clause
"""Errors of data sets."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from hypercast.errors import InputError
from hypercast.host.files.reading.regular_file import FileError, intact, one_line
from hypercast.host.graphs.graph_error import GraphError

__all__ = ["DatasetError", "as_dataset_errors"]


class DatasetError(InputError):
    """A data set that cannot be loaded; names the file and what to do."""

    def __init__(self, text: str) -> None:
        super().__init__(one_line(text))


@contextmanager
def as_dataset_errors(path: Path, layout: str, origin: str,
                      files: Mapping[str, Path] | None = None) -> Iterator[None]:
    """Turns whatever goes wrong while ``path`` is read into a ``DatasetError``.

    A file that can be read, but holds what is no graph to train on, is not called damaged.

    Parameters
    ----------
    path : pathlib.Path
        The file or folder.
    layout : str
        What it was taken for.
    origin : str
        Where it is to be had.
    files : dict, optional
        The file of each part of the graph, by ``GraphError.part``, if they are several.
    """
    try:
        with intact(path, layout, known=(DatasetError, GraphError)):
            yield
    except GraphError as error:
        place = (files or {}).get(error.part, path)
        raise DatasetError(f"{place} can be read, but not trained on: {error}") from error
    except FileError as error:
        raise DatasetError(f"{error}, or download it again from {origin}") from error
