# SPDX-License-Identifier: BSD-2-Clause
"""Requirements name ranges, and what is tested is one version of each, pinned."""

import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.packaging.source_tree import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
GROUPS = [PROJECT["build-system"]["requires"], PROJECT["project"]["dependencies"],
          *PROJECT["project"]["optional-dependencies"].values()]
REQUIREMENTS = {canonicalize_name(one.name): one.specifier
                for group in GROUPS for one in map(Requirement, group)}
PINS = [Requirement(line) for line in (ROOT / "constraints.txt").read_text().splitlines()
        if not line.startswith("#")]


def test_pins_are_those_of_the_requirements():
    assert sorted(canonicalize_name(pin.name) for pin in PINS) == sorted(REQUIREMENTS)


@pytest.mark.parametrize("pin", PINS, ids=lambda pin: pin.name)
def test_a_pin_is_one_version_within_its_range(pin):
    [only] = pin.specifier
    assert only.operator == "=="
    needed = REQUIREMENTS[canonicalize_name(pin.name)]
    assert needed.contains(only.version, prereleases=True)
    assert any(part.operator == ">=" for part in needed)


def test_nothing_is_required_at_one_version_only():
    assert not [name for name, needed in REQUIREMENTS.items()
                for part in needed if part.operator in ("==", "===")]
