"""Batches made ahead by threads, in the order of their numbers."""

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from functools import partial

__all__ = ["batches", "prefetched"]


def batches(sampler, epoch, *, workers=2):
    """Yield the ``MiniBatch`` es of an epoch in order, while threads make the next ones.

    Parameters
    ----------
    sampler : NeighbourSampler or SaintSampler
        Its batches do not depend on the number of threads.
    epoch : int
        From 0.
    workers : int
        Threads. NumPy lets them run side by side most of the time.
    """
    return prefetched(partial(sampler.batch, epoch), range(len(sampler)), workers=workers)


def prefetched(function, arguments, *, workers=2):
    """Yield ``function`` of each of the arguments in order, computed ahead by threads.

    No more than twice as many results as threads are waiting at any time. An exception is raised
    where its result would have come. What is under way when the iterator is closed is finished.

    Parameters
    ----------
    function : callable
        Of one argument; called by several threads at once.
    arguments : iterable
        Maybe without an end.
    workers : int
        Threads.
    """
    if workers < 1:
        raise ValueError(f"workers must be at least 1, not {workers}")
    pending = deque()
    executor = ThreadPoolExecutor(workers)
    try:
        for argument in arguments:
            pending.append(executor.submit(function, argument))
            if len(pending) == 2 * workers:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    finally:
        executor.shutdown(cancel_futures=True)
