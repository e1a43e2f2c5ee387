# SPDX-License-Identifier: BSD-2-Clause
"""Shared fixtures and profiles of all tests."""

import gc
import os
from collections import Counter, defaultdict

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.internal.conjecture import providers

from tests.combinations import redundant

settings.register_profile(
    "ci", derandomize=True, max_examples=25, deadline=None,
    suppress_health_check=[HealthCheck.too_slow])
# For runs that only ask whether something fails.
settings.register_profile("unshrunk", settings.get_profile("ci"), max_examples=50,
                          phases=[Phase.explicit, Phase.generate])
settings.register_profile("thorough", max_examples=500, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

# Hypothesis tries constants of all local modules that are imported so far, in ``derandomize``, too.
# So examples would depend on the tests before, and on the process that has made them.
providers.is_local_module_file = lambda path: False

# Blocks are large graphs that live as long as their test: to search them often finds little.
gc.set_threshold(100_000, 50, 100)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Refuse names that differ between the processes that share the tests; long tests come first.

    A process takes a file when it has done another. The longest tests are in files with few of
    them, which at the end would keep one process busy alone. Of tests marked as ``grid``, those
    that have no value of their own are marked as ``combination``.
    """
    grids = defaultdict(list)
    for item in items:
        if item.get_closest_marker("grid") and not item.get_closest_marker("slow"):
            grids[item.path, item.originalname].append(item)
    for grid in grids.values():
        leave = redundant([
            {name: id(value) for name, value in item.callspec.params.items()} for item in grid])
        for item in (one for one, left_out in zip(grid, leave, strict=True) if left_out):
            item.add_marker("combination")
    for item in items:
        if " at 0x" in item.nodeid:
            raise pytest.UsageError(f"{item.nodeid} has an address in its name; give ids")
    tests = Counter(item.path for item in items)
    items.sort(key=lambda item: (tests[item.path], item.path))
