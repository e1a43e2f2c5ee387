# SPDX-License-Identifier: BSD-2-Clause
"""Random generators of their own for everything that is drawn."""

import numpy as np

__all__ = ["generator_of"]


def generator_of(seed: int, *place: int) -> np.random.Generator:
    """A generator that depends on a seed and on a place, such as an epoch and a batch's number.

    What is drawn for a place does not depend on what was drawn before, or by which thread.
    """
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=place)))
