"""What goes wrong with data sets."""

__all__ = ["DatasetError"]


class DatasetError(Exception):
    """A data set that cannot be loaded; names the file and what to do."""
