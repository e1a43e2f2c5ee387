# SPDX-License-Identifier: BSD-2-Clause
"""A chip is one process' at a time, and its reset has an end."""

import subprocess
import sys

import pytest

from hypercast.host.runtime.chip_reset import reset_chip
from hypercast.host.runtime.chip_transport import open_transport
from hypercast.host.transport.transport import TransportError
from hypercast.rtl.config import PRESETS
from hypercast.rtl.registers import Control, register
from tests.host.models import SMALL
from tests.host.runtime.fake_chip import FakeChip
from tests.host.runtime.register_file import files_are_devices, register_file

TINY = PRESETS["tiny"]
#: Claims bytes of a file and waits to be ended.
HOLDER = """
import fcntl, sys
file = open(sys.argv[1], "r+b")
fcntl.lockf(file, fcntl.LOCK_EX, 4096, int(sys.argv[2]))
print("held", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("kind", ["xdma", "mapped"])
def test_a_board_in_use_is_left_alone(kind, tmp_path, monkeypatch):
    """It is neither written to nor reset; a chip beside it, or one that was left, is free."""
    files_are_devices(monkeypatch)
    path = tmp_path / "board"
    register_file(path)()
    content = path.read_bytes()
    for start, refused in ((0, True), (4096, False)):
        with subprocess.Popen([sys.executable, "-c", HOLDER, path, str(start)], text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
            assert holder.stdout.readline() == "held\n"
            if refused:
                with pytest.raises(TransportError, match=f"{path} is in use by another process; "):
                    open_transport(f"{kind}:{path}", TINY)
                assert path.read_bytes() == content
            else:
                open_transport(f"{kind}:{path}", TINY).close()
            holder.stdin.close()
    open_transport(f"{kind}:{path}", TINY).close()


def test_a_reset_has_an_end():
    chip = FakeChip(SMALL, step=5)
    reset_chip(chip)
    assert chip.writes == [(register("control"), Control.RESET)] and not chip["step"]
    with pytest.raises(TransportError, match="does not end, because a memory of it does not"):
        reset_chip(FakeChip(SMALL, endless=True))
