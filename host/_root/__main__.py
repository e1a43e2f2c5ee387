# SPDX-License-Identifier: BSD-2-Clause
"""The command ``hypercast``, and ``python -m hypercast`` where it is not on the path."""

import os
import sys

__all__ = ["main"]

# Python puts the current folder here; its files are not modules of ours.
if __name__ == "__main__" and not sys.flags.safe_path and sys.path[0] in ("", os.getcwd()):
    sys.path.pop(0)

import signal


def main() -> None:
    """Run the command line. A signal that comes before its modules are there is said in a line."""
    before = {number: signal.signal(number, _end)
              for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
              if signal.getsignal(number) != signal.SIG_IGN}  # as nohup has it
    from hypercast.host.cli import main as run
    for number, handler in before.items():
        signal.signal(number, handler)
    run(prog_name="hypercast")


def _end(number: int, _: object) -> None:
    # Modules are half imported: nothing of theirs may run any more.
    name = signal.Signals(number).name
    os.write(2, f"error: ended by signal {number} ({name}); nothing was begun\n".encode())
    os._exit(128 + number)


if __name__ == "__main__":  # and not in processes that it starts
    main()
