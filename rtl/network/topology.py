# SPDX-License-Identifier: BSD-2-Clause
"""The hypercube: which core is joined to which.

Two cores are neighbours across dimension ``d`` if their addresses differ in bit ``d`` alone. This
module imports no Amaranth.
"""

__all__ = ["links", "neighbour"]


def neighbour(core: int, dimension: int) -> int:
    """Address of the core at the other end of ``core``'s link along ``dimension``."""
    return core ^ 1 << dimension


def links(dimensions: int) -> list[tuple[int, int]]:
    """Every directed link of the network, as (sending core, dimension)."""
    return [(core, dimension) for core in range(1 << dimensions) for dimension in range(dimensions)]
