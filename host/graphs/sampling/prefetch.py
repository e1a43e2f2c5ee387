# SPDX-License-Identifier: BSD-2-Clause
"""Batches made ahead by threads, in the order of their numbers."""

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Protocol, TypeVar

from hypercast.errors import InputError
from hypercast.host.graphs.sampling.minibatch import MiniBatch

__all__ = ["Sampler", "batches", "prefetch"]


Argument = TypeVar("Argument")
Result = TypeVar("Result")


class Sampler(Protocol):
    """A source of mini-batches."""

    def __len__(self) -> int:
        """Batches of an epoch."""

    @property
    def heaviest(self) -> float:
        """Largest loss weight of any batch."""

    def batch(self, epoch: int, number: int) -> MiniBatch:
        """A batch of an epoch; any thread may ask."""


def batches(sampler: Sampler, epoch: int, *, workers: int = 2) -> Generator[MiniBatch, None, None]:
    """Yield the ``MiniBatch`` es of an epoch in order, while threads make the next ones.

    Parameters
    ----------
    sampler : Sampler
        The sampler, whose batches do not depend on the number of threads.
    epoch : int
        From 0.
    workers : int
        Threads. NumPy lets them run side by side most of the time.
    """
    return prefetch(partial(sampler.batch, epoch), range(len(sampler)), workers=workers)


def prefetch(function: Callable[[Argument], Result], arguments: Iterable[Argument], *,
             workers: int = 2) -> Generator[Result, None, None]:
    """Yield ``function`` of each of the arguments in order, computed ahead by threads.

    No more than twice as many results as threads are waiting at any time. An exception is raised
    where its result would have come. What is under way when the iterator is closed is finished.

    Parameters
    ----------
    function : callable
        Function of one argument; called by several threads at once.
    arguments : iterable
        Maybe without an end.
    workers : int
        Threads.
    """
    if workers < 1:
        raise InputError(f"workers must be at least 1, not {workers}")
    pending: deque[Future[Result]] = deque()
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
