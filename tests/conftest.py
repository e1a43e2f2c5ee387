"""Shared fixtures and profiles of all tests."""

import gc
import os

import pytest
from hypothesis import HealthCheck, Phase, settings

settings.register_profile(
    "ci", derandomize=True, max_examples=50, deadline=None,
    suppress_health_check=[HealthCheck.too_slow])
# For runs that only ask whether something fails.
settings.register_profile("unshrunk", settings.get_profile("ci"),
                          phases=[Phase.explicit, Phase.generate])
settings.register_profile("thorough", max_examples=500, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

# Blocks are large graphs that live as long as their test: to search them often finds little.
gc.set_threshold(100_000, 50, 100)


def pytest_collection_modifyitems(items):
    """Refuse names that differ between the processes that share the tests."""
    for item in items:
        if " at 0x" in item.nodeid:
            raise pytest.UsageError(f"{item.nodeid} has an address in its name; give ids")
