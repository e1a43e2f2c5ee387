"""Files that are the old ones or the new ones, whenever the machine stops."""

import os

__all__ = ["write_durably"]


def write_durably(path, content):
    """Replace a file in one step, and return once it is on the disk.

    Parameters
    ----------
    path : pathlib.Path
        Beside it, ``*.part`` is written first.
    content : bytes
        What it shall hold.
    """
    written = path.with_name(f"{path.name}.part")
    with written.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    written.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
