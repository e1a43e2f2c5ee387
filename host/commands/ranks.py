# SPDX-License-Identifier: BSD-2-Clause
"""How a command prints and ends as one of several processes that MPI started."""

import contextlib
import io
import os
import signal
import sys
import time
from collections.abc import Iterator

from hypercast.host.processes.launcher_variables import find_start

__all__ = ["one_of_several"]

#: Seconds that a rank waits, for each one before it, until it says what went wrong. If others
#: found the same, it was ended before.
_PATIENCE = 0.5


@contextlib.contextmanager
def one_of_several() -> Iterator[None]:
    """Only the leader prints; but another rank's error is printed if that has not ended all.

    An error ends the process at once, and with it all others: it does not wait for them.
    """
    one = find_start()
    if one is None:
        yield
        return
    rank = one.rank
    if signal.getsignal(signal.SIGINT) == signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # mpirun says by which signal it was ended
    errors, held = sys.stderr, io.StringIO()
    status: object = 0
    with contextlib.ExitStack() as stack:
        if rank:
            stack.enter_context(contextlib.redirect_stderr(held))
            stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        try:
            yield
        except SystemExit as end:
            status = end.code
    if status:
        if rank:
            time.sleep(_PATIENCE * rank)
            if said := held.getvalue().strip():
                print(f"error: board {rank}: {said.splitlines()[-1].partition(': ')[2]}",
                      file=errors)
        for stream in (sys.stdout, errors):
            stream.flush()
        os._exit(status if isinstance(status, int) else 1)
