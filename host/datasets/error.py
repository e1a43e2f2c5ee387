"""What goes wrong with data sets."""

from contextlib import contextmanager

__all__ = ["DatasetError", "reading"]


class DatasetError(Exception):
    """A data set that cannot be loaded; names the file and what to do."""


@contextmanager
def reading(path, layout, origin):
    """Turns whatever goes wrong while ``path`` is read into a ``DatasetError``.

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
    except FileNotFoundError as error:
        missing = error.filename or error.args[0].removesuffix(" not found.")  # NumPy's own
        raise DatasetError(f"{missing} does not exist; check the path or download it from "
                           f"{origin}") from error
    except Exception as error:  # damaged files can raise anything
        raise DatasetError(f"{path} is damaged or not {layout} ({error}); download it again from "
                           f"{origin}") from error
