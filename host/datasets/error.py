"""What goes wrong with data sets."""

from contextlib import contextmanager

from hypercast.host.graph_checks import GraphError

__all__ = ["DatasetError", "reading"]


class DatasetError(Exception):
    """A data set that cannot be loaded; names the file and what to do."""


@contextmanager
def reading(path, layout, origin):
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
    """
    try:
        yield
    except DatasetError:
        raise
    except GraphError as error:
        raise DatasetError(f"{path} can be read, but not trained on: {error}") from error
    except FileNotFoundError as error:
        missing = error.filename or error.args[0].removesuffix(" not found.")  # NumPy's own
        raise DatasetError(f"{missing} does not exist; check the path or download it from "
                           f"{origin}") from error
    except Exception as error:  # damaged files can raise anything
        raise DatasetError(f"{path} is damaged or not {layout} ({error}); download it again from "
                           f"{origin}") from error
