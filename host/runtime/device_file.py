# SPDX-License-Identifier: BSD-2-Clause
"""Opens files that are devices; other files of that name are refused, and not touched."""

import errno
import os
import stat

__all__ = ["open_device_file", "require_device_file"]


def require_device_file(path: str, *, mapped: bool = False) -> os.stat_result:
    """The status of a device's file, as the system has it.

    Parameters
    ----------
    path : str
        The file.
    mapped : bool
        Whether resources of PCIe, which are mapped into memory, are meant as well: files of the
        kernel, below ``/sys``.

    Raises
    ------
    OSError
        If there is none, or it is no character device.
    """
    found = os.stat(path)
    of_kernel = stat.S_ISREG(found.st_mode) and os.path.realpath(path).startswith("/sys/")
    if not (stat.S_ISCHR(found.st_mode) or (mapped and of_kernel)):
        raise OSError(errno.ENODEV, "it is no character device, and left as it is")
    return found


def open_device_file(path: str, flags: int, *, mapped: bool = False) -> int:
    """The descriptor of a device, as ``os.open`` gives it; raises as ``require_device_file``."""
    before = require_device_file(path, mapped=mapped)
    file = os.open(path, flags | os.O_NOCTTY | os.O_CLOEXEC)
    after = os.fstat(file)
    if (before.st_dev, before.st_ino) != (after.st_dev, after.st_ino):
        os.close(file)
        raise OSError(errno.ENODEV, "it was replaced while it was opened")
    return file
