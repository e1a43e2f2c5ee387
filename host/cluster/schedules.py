"""In which order a stage of a pipeline takes the micro-batches of a step."""

from collections.abc import Iterator, Sequence

__all__ = ["balanced_runs", "one_forward_one_backward"]


def one_forward_one_backward(stage: int, stages: int, count: int) -> Iterator[tuple[bool, int]]:
    """Whether it is a forward pass, and of which micro-batch, in order.

    A stage begins with as many forward passes as there are stages after it. From then on it goes
    one forward, one backward. So it has at most one micro-batch in flight for each stage from it
    on (Narayanan et al., PipeDream, 2019; with one update a step, PipeDream-Flush).

    Parameters
    ----------
    stage : int
        Number of the stage, from 0.
    stages : int
        How many there are.
    count : int
        Micro-batches.
    """
    ahead = min(stages - 1 - stage, count)
    for number in range(ahead):
        yield True, number
    for number in range(ahead, count):
        yield True, number
        yield False, number - ahead
    for number in range(count - ahead, count):
        yield False, number


def balanced_runs(costs: Sequence[float], count: int) -> list[range]:
    """Cut a row of costs into runs, none empty, so that the largest sum is as small as it can be.

    Parameters
    ----------
    costs : sequence of float
        None is negative.
    count : int
        Runs: at most as many as there are costs.
    """
    sums = [0.0]
    for cost in costs:
        sums.append(sums[-1] + cost)
    #: Of so many runs of the first costs: the least largest sum, and where the last run begins.
    best = [[(sums[end], 0) for end in range(len(sums))]]
    for runs in range(2, count + 1):
        best.append([(float("inf"), 0)] * runs + [
            min((max(best[-1][cut][0], sums[end] - sums[cut]), cut)
                for cut in range(runs - 1, end)) for end in range(runs, len(sums))])
    found, end = [], len(costs)
    for row in reversed(best):
        start = row[end][1]
        found.append(range(start, end))
        end = start
    return found[::-1]
