# SPDX-License-Identifier: BSD-2-Clause
"""A folder is held by one process at a time, and free when that ends."""

import os
import signal
import subprocess
import sys

import pytest

from hypercast.host.training.folder_lock import FolderLock, FolderLockError

HOLDER = """
import pathlib, sys, time
from hypercast.host.training.folder_lock import FolderLock
lock = FolderLock(pathlib.Path(sys.argv[1]))
print("held", flush=True)
time.sleep(60)
"""


def test_a_folder_is_made_and_held_until_it_is_released(tmp_path):
    folder = tmp_path / "a" / "b"
    lock = FolderLock(folder)
    with pytest.raises(FolderLockError, match=f"b is in use by process {os.getpid()}; wait until"):
        FolderLock(folder)
    lock.release()
    lock.release()
    FolderLock(folder).release()


def test_the_holder_is_named_until_it_is_killed(tmp_path):
    FolderLock(tmp_path).release()  # whose number is no longer there
    with subprocess.Popen([sys.executable, "-c", HOLDER, tmp_path],
                          stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout.readline() == b"held\n"
            with pytest.raises(FolderLockError, match=f"is in use by process {process.pid}; "):
                FolderLock(tmp_path)
        finally:
            process.send_signal(signal.SIGKILL)
    FolderLock(tmp_path).release()


@pytest.mark.timeout(20)
@pytest.mark.parametrize("make", [
    os.mkfifo, os.mkdir, lambda path: os.symlink("/dev/null", path),
    lambda path: os.symlink(path.with_name("other"), path),
    lambda path: os.symlink(path.with_name("none"), path)],
    ids=["pipe", "folder", "link to a device", "link to a file", "dangling link"])
def test_a_lock_that_is_no_file_is_refused(tmp_path, make):
    (tmp_path / "other").write_text("mine")
    make(tmp_path / "lock")
    before = sorted(tmp_path.iterdir())
    with pytest.raises(FolderLockError, match=r"lock is no regular file, .*; remove it, or give"):
        FolderLock(tmp_path)
    assert (tmp_path / "other").read_text() == "mine" and sorted(tmp_path.iterdir()) == before


def test_a_file_of_this_name_that_is_no_lock_is_kept(tmp_path):
    (tmp_path / "lock").write_text("precious\n")
    with pytest.raises(FolderLockError, match="is no lock of a run, which has the number of a pr"):
        FolderLock(tmp_path)
    assert (tmp_path / "lock").read_text() == "precious\n"
    (tmp_path / "lock").write_text("")  # of a process that was killed
    FolderLock(tmp_path).release()
