# SPDX-License-Identifier: BSD-2-Clause
"""The doctor finds what is missing or wrong, and every finding comes with a remedy."""

import importlib.metadata
import os
import platform
import re
import shutil
from collections import namedtuple

import pytest
from click.testing import CliRunner

from hypercast.host.cli import main
from hypercast.host.commands import diagnosis as doctor
from hypercast.host.commands.diagnosis import examine
from tests.packaging.source_tree import ROOT


def find(name):
    matches = [check for check in examine() if check.name == name]
    assert len(matches) == 1, f"{len(matches)} checks called {name}"
    return matches[0]


@pytest.fixture
def no_programs(monkeypatch, tmp_path):
    """A machine without any program."""
    monkeypatch.setenv("PATH", str(tmp_path))


def test_remedies_come_exactly_with_findings_and_required_come_first():
    checks = examine()
    for check in checks:
        assert check.state in ("ok", "missing", "wrong")
        assert bool(check.remedy) == (check.state != "ok"), check
    required = [check.required for check in checks]
    assert required == sorted(required, reverse=True)


def test_packages_installed_here_are_the_pinned_ones():
    pinned = dict(re.findall(r"^([\w.-]+)==(\S+)$", (ROOT / "constraints.txt").read_text(), re.M))
    assert find("amaranth").found == pinned["amaranth"]
    assert {"numpy", "cocotb", "pytest"} <= {check.name for check in examine()}
    assert find("numpy").required and not find("pytest").required


def test_old_python(monkeypatch):
    monkeypatch.setattr(platform, "python_version", lambda: "3.10.9")
    check = find("Python")
    assert (check.state, check.required) == ("wrong", True)
    assert ">=3.11" in check.remedy


def test_package_of_another_version_and_missing_package(monkeypatch):
    real = importlib.metadata.version

    def version(name):
        if name == "numpy":
            raise importlib.metadata.PackageNotFoundError(name)
        return "0.0.1" if name == "amaranth" else real(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    assert find("numpy").state == "missing"
    amaranth = find("amaranth")
    assert (amaranth.state, amaranth.found) == ("wrong", "0.0.1")
    assert "amaranth<0.6,>=" in amaranth.remedy


def test_remedies_in_a_checkout_and_in_a_wheel(monkeypatch, tmp_path):
    """A wheel that is installed has extras that pip finds, but no list of versions."""
    real = importlib.metadata.version

    def version(name):
        if name in ("numpy", "pytest"):
            raise importlib.metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    monkeypatch.setattr(doctor, "_PROJECT", ROOT / "pyproject.toml")
    assert find("numpy").remedy == "pip install -c constraints.txt -e ."
    assert find("pytest").remedy == "pip install -c constraints.txt -e '.[dev]'"
    monkeypatch.setattr(doctor, "_PROJECT", tmp_path / "pyproject.toml")
    assert find("numpy").remedy == "pip install hypercast-gcn"
    assert find("pytest").remedy == "pip install 'hypercast-gcn[dev]'"


@pytest.mark.parametrize("project", [ROOT / "pyproject.toml", ROOT / "none"])
def test_all_that_is_said_is_shown(project, monkeypatch):
    """Brackets are no markup, and commands are on one line, however narrow the terminal is."""
    def version(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr(doctor, "_PROJECT", project)
    monkeypatch.setattr(importlib.metadata, "version", version)
    monkeypatch.setattr(doctor, "verilator_root", lambda: None)
    lines = CliRunner().invoke(main, ["doctor"]).stdout.splitlines()
    remedies = [check.remedy for check in examine() if check.remedy]
    assert any("[cocotb]'" in remedy for remedy in remedies)
    for remedy in remedies:
        assert sum(line.endswith(f": {remedy}") for line in lines) == 1


def test_requirements_of_an_installed_package(monkeypatch, tmp_path):
    monkeypatch.setattr(doctor, "_PROJECT", tmp_path / "pyproject.toml")
    assert find("amaranth").required and not find("pytest").required


def test_no_compiler(monkeypatch, no_programs):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    check = find("C++ compiler")
    assert (check.state, check.required) == ("missing", True)
    assert "g++" in check.remedy


def test_compiler_that_does_not_run(monkeypatch, tmp_path):
    broken = tmp_path / "clang++"
    broken.write_text("#!/nowhere\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find("C++ compiler").state == "wrong"


def test_no_simulators(no_programs):
    for name in ("Icarus Verilog", "Verilator"):
        check = find(name)
        assert (check.state, check.required) == ("missing", False)
        assert "apt-get install" in check.remedy


def test_cache_folder_that_cannot_be_written(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HYPERCAST_CACHE", str(tmp_path / "file"))
    check = find("cache folder")
    assert (check.state, check.required) == ("wrong", True)
    assert "HYPERCAST_CACHE" in check.remedy


def test_full_disk(monkeypatch, tmp_path):
    monkeypatch.setenv("HYPERCAST_CACHE", str(tmp_path / "not" / "yet" / "there"))
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(1, 1, 0))
    check = find("cache folder")
    assert check.state == "wrong" and "0.0 GiB free" in check.found
    assert not os.listdir(tmp_path), "an examination changes nothing"
