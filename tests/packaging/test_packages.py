# SPDX-License-Identifier: BSD-2-Clause
"""The package list equals the tree, and only ``hypercast`` reaches site-packages."""

import email
import json
import re
import runpy
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile

import pytest
from setuptools import Distribution
from setuptools.command.editable_wheel import editable_wheel

import hypercast
from tests.packaging.source_tree import EXAMPLES, FOLDERS, ROOT, SHIPPED, module_name, modules

SETUPTOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]


def isolated(code):
    """Run ``code`` where only what is installed can be imported."""
    return subprocess.run([sys.executable, "-I", "-c", code], cwd="/", capture_output=True,
                          text=True)


def shipped_files():
    """Every file that belongs into a wheel, by its name there."""
    for folder in (*SHIPPED, EXAMPLES):
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and not {"__pycache__", "build"} & set(path.parts):
                yield f"hypercast/{path.relative_to(ROOT)}".replace("host/_root/", "")


def test_listed_packages_are_those_of_the_tree():
    tree = {module_name(path) for path in modules(*SHIPPED) if path.name == "__init__.py"}
    assert SETUPTOOLS["packages"] == sorted({*tree, f"hypercast.{EXAMPLES}"})


def test_every_folder_with_modules_is_a_package():
    folders = {path.parent for path in modules(*FOLDERS)}
    assert [folder for folder in folders if not (ROOT / folder / "__init__.py").exists()] == []


def test_top_level_folders_are_mapped():
    expected = {"hypercast": "host/_root",
                **{f"hypercast.{name}": name for name in (*SHIPPED, EXAMPLES)}}
    assert SETUPTOOLS["package-dir"] == expected


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_is_imported_under_hypercast_only(folder):
    assert isolated(f"import hypercast.{folder}").returncode == 0
    assert f"No module named '{folder}'" in isolated(f"import {folder}").stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The project's wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    copy = folder / "copy"  # building leaves things behind
    for name in (*FOLDERS, EXAMPLES, "pyproject.toml", "setup.py", "README.md", "LICENSE"):
        source = ROOT / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, copy / name)
    subprocess.run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps",
                    "--wheel-dir", folder, copy], check=True)
    [wheel] = folder.glob("*.whl")
    return wheel


def test_an_editable_installation_has_the_benches_too(monkeypatch):
    """They are where their checkout is; what every installation has stays listed."""
    installed = Distribution({"packages": ["hypercast"], "package_dir": {"hypercast": "x"}})
    monkeypatch.setattr(editable_wheel, "run", lambda self: None)
    runpy.run_path(str(ROOT / "setup.py"))["CheckoutInstallation"](installed).run()
    assert installed.packages == ["hypercast", *sorted(
        module_name(path) for path in modules("benches") if path.name == "__init__.py")]
    assert installed.package_dir == {"hypercast": "x", "hypercast.benches": "benches"}


@pytest.mark.slow
def test_the_wheel_holds_the_tree_and_nothing_else(wheel):
    assert wheel.name == f"hypercast_gcn-{hypercast.__version__}-py3-none-any.whl"
    description = email.message_from_bytes(zipfile.ZipFile(wheel).read(
        f"hypercast_gcn-{hypercast.__version__}.dist-info/METADATA"))
    assert "### " not in description["Summary"] and "## Try it" in description.get_payload()
    assert not re.findall(r"\]\((?!https?://|#)", description.get_payload())
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert names == set(shipped_files())


@pytest.mark.slow
def test_the_wheel_works_in_an_environment_of_its_own(wheel, tmp_path):
    """With the requirements that are installed here: a training, and what a type checker says."""
    venv.create(tmp_path / "venv", with_pip=True)
    binaries = tmp_path / "venv" / "bin"
    [site] = (tmp_path / "venv" / "lib").glob("python*/site-packages")
    # A folder that is named in a .pth file has none of its own .pth files read, and so not ours.
    (site / "requirements.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    subprocess.run([binaries / "pip", "install", "--quiet", "--no-deps", wheel], check=True)
    (tmp_path / "user.py").write_text("""
import hypercast
from hypercast import Graph, Model, Trainer
with Trainer(Graph.load("karate"), Model(hidden=4), epochs=2) as trainer:
    trainer.fit()
reveal_type(trainer)
print(hypercast.__file__, hypercast.__version__)
""")
    script = (tmp_path / "user.py").read_text().replace("reveal_type(trainer)", "")
    for command in ([binaries / "python", "-c", script], [binaries / "hypercast", "--version"],
                    [binaries / "python", "-m", "hypercast", "--version"],
                    [sys.executable, "-m", "mypy", "--python-executable", binaries / "python",
                     "--cache-dir", tmp_path / "cache", "user.py"]):
        result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert result.returncode == 0, result.stdout + result.stderr
        expected = 'Revealed type is "hypercast.host.training.trainer.Trainer"' \
            if "user.py" in command else f"{site}/hypercast/__init__.py {hypercast.__version__}" \
            if script in command else f"hypercast, version {hypercast.__version__}"
        assert expected in result.stdout
    bench = subprocess.run([binaries / "hypercast", "bench", "shapes", "--seed", "3"], cwd=tmp_path,
                           capture_output=True, text=True)
    [line] = bench.stderr.splitlines()
    assert (bench.returncode, bench.stdout) == (1, "") and "make setup" in line
    doctor = subprocess.run([binaries / "hypercast", "doctor", "--json"], cwd=tmp_path,
                            capture_output=True, text=True)
    [found] = [one for one in json.loads(doctor.stdout) if one["name"] == "package hypercast"]
    assert found["state"] == "ok"
