# SPDX-License-Identifier: BSD-2-Clause
"""Simulates tasks that wait for each other and for what only one of them can use at a time."""

import heapq
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from hypercast.errors import InputError

__all__ = ["Task", "simulate"]


@dataclass(frozen=True, kw_only=True)
class Task:
    """Something that takes time.

    Parameters
    ----------
    name : str
        What it is, for people.
    seconds : float
        How long it takes.
    latency : float
        How long after its end the tasks that wait for it can begin.
    resources : tuple of str
        What nothing else can use meanwhile, such as an engine or a port.
    after : tuple of int
        Numbers of the tasks that end before it begins.
    beside : tuple of int
        Numbers of the tasks that begin before it begins.
    """

    name: str
    seconds: float
    latency: float = 0.0
    resources: tuple[str, ...] = ()
    after: tuple[int, ...] = ()
    beside: tuple[int, ...] = ()


def simulate(tasks: Sequence[Task]) -> list[tuple[float, float]]:
    """When each task begins and ends, in seconds.

    A task begins as soon as all that it waits for is done and its resources are free. Of several
    that wait for the same resource, the one goes first that has waited longest, and then the first
    in ``tasks``.

    Parameters
    ----------
    tasks : sequence of Task
        The tasks; their numbers are their places in it.

    Raises
    ------
    InputError
        If tasks wait for each other in a circle.
    """
    followers: list[list[int]] = [[] for _ in tasks]
    companions: list[list[int]] = [[] for _ in tasks]
    missing = [len(task.after) + len(task.beside) for task in tasks]
    for number, task in enumerate(tasks):
        for other in task.after:
            followers[other].append(number)
        for other in task.beside:
            companions[other].append(number)
    times = [(0.0, 0.0)] * len(tasks)
    ready = [0.0] * len(tasks)
    #: What is to be done, by time: begin a task when there is None, else free its resources.
    events: list[tuple[float, int, int]] = [
        (0.0, number, _READY) for number in range(len(tasks)) if not missing[number]]
    heapq.heapify(events)
    waiting: list[tuple[float, int]] = []
    busy: set[str] = set()
    begun = 0

    def settle(numbers: Sequence[int], time: float) -> None:
        """Let tasks go on that waited for a task which was done at ``time``."""
        for number in numbers:
            missing[number] -= 1
            ready[number] = max(ready[number], time)
            if not missing[number]:
                heapq.heappush(events, (ready[number], number, _READY))

    while events:
        now = events[0][0]
        while events and events[0][0] == now:
            _, number, kind = heapq.heappop(events)
            if kind == _READY:
                heapq.heappush(waiting, (now, number))
            else:
                busy.difference_update(tasks[number].resources)
        still: list[tuple[float, int]] = []
        while waiting:
            since, number = heapq.heappop(waiting)
            task = tasks[number]
            if not busy.isdisjoint(task.resources):
                still.append((since, number))
                continue
            busy.update(task.resources)
            end = now + task.seconds
            times[number] = (now, end)
            begun += 1
            heapq.heappush(events, (end, number, _DONE))
            settle(companions[number], now)
            settle(followers[number], end + task.latency)
        waiting = still
        heapq.heapify(waiting)
    if begun < len(tasks):
        stuck = itertools.islice((task.name for task, left in zip(tasks, missing, strict=True)
                                  if left), 3)
        raise InputError(f"tasks wait for each other in a circle: {', '.join(stuck)}")
    return times


#: Kinds of events.
_READY, _DONE = range(2)
