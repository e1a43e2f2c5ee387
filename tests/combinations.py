# SPDX-License-Identifier: BSD-2-Clause
"""Which combinations of a test's parameters are enough for each of their values to occur."""

__all__ = ["redundant"]


def redundant(combinations):
    """Combinations whose values all occur in others that stay.

    Parameters
    ----------
    combinations : list of dict
        Name of each parameter to what stands for its value.

    Returns
    -------
    list of bool
        Whether each combination can be left out.
    """
    missing = set().union(*(found.items() for found in combinations))
    left_out = [True] * len(combinations)
    while missing:
        gains = [len(missing & found.items()) for found in combinations]
        best = gains.index(max(gains))
        left_out[best] = False
        missing -= combinations[best].items()
    return left_out
