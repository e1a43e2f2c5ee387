# SPDX-License-Identifier: BSD-2-Clause
"""A process's own folder: there while it lives, removed by it or by the next."""

import os
import signal
import subprocess
import sys
import time

from hypercast.host.processes.own_folder import OwnFolder, remove_left

#: Makes a folder with a file in it, prints its name, and waits.
CHILD = """
import sys
from pathlib import Path
from hypercast.host.processes.own_folder import OwnFolder
own = OwnFolder(Path(sys.argv[1]))
(own.path / "segment").write_bytes(b"x")
print(own.path.name, flush=True)
sys.stdin.read()
"""


def test_it_is_there_until_it_is_removed(tmp_path):
    with OwnFolder(tmp_path) as own:
        (own.path / "file").touch()
        assert own.path.stat().st_mode & 0o777 == 0o700
        remove_left(tmp_path)
        assert own.path.is_dir()
    assert not own.path.exists()
    own.remove()


def test_that_of_a_process_that_was_killed_is_removed_by_the_next(tmp_path):
    with subprocess.Popen([sys.executable, "-c", CHILD, tmp_path], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as process:
        left = tmp_path / process.stdout.readline().strip()
        with OwnFolder(tmp_path):
            assert (left / "segment").exists()  # it lives
        process.send_signal(signal.SIGKILL)
    assert (left / "segment").exists()
    with OwnFolder(tmp_path) as own:
        assert [*tmp_path.iterdir()] == [own.path]


def test_what_is_not_ours_stays(tmp_path):
    others = tmp_path / "others"
    others.mkdir()
    link = tmp_path / "hypercast-boards-link"
    link.symlink_to(others)
    public = tmp_path / "hypercast-boards-public"
    public.mkdir(mode=0o755)
    new = tmp_path / "hypercast-boards-new"
    new.mkdir(mode=0o700)
    file = tmp_path / "hypercast-boards-file"
    file.touch()
    with OwnFolder(tmp_path):
        assert link.is_symlink() and all(map(os.path.exists, (others, public, new, file)))
    os.utime(new, (time.time() - 60,) * 2)
    remove_left(tmp_path)
    assert not new.exists()
