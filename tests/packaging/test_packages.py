"""The package list equals the tree, and only ``hypercast`` reaches site-packages."""

import shutil
import subprocess
import sys
import tomllib
import zipfile

import pytest

from tests.packaging.source_tree import EXAMPLES, FOLDERS, ROOT, module_name, modules

SETUPTOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]


def isolated(code):
    """Run ``code`` where only what is installed can be imported."""
    return subprocess.run([sys.executable, "-I", "-c", code], cwd="/", capture_output=True,
                          text=True)


def shipped_files():
    """Every file that belongs into a wheel, by its name there."""
    for folder in (*FOLDERS, EXAMPLES):
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and not {"__pycache__", "build"} & set(path.parts):
                yield f"hypercast/{path.relative_to(ROOT)}".replace("host/_root/", "")


def test_listed_packages_are_those_of_the_tree():
    tree = {module_name(path) for path in modules(*FOLDERS) if path.name == "__init__.py"}
    assert SETUPTOOLS["packages"] == sorted({*tree, f"hypercast.{EXAMPLES}"})


def test_every_folder_with_modules_is_a_package():
    folders = {path.parent for path in modules(*FOLDERS)}
    assert [folder for folder in folders if not (ROOT / folder / "__init__.py").exists()] == []


def test_top_level_folders_are_mapped():
    expected = {"hypercast": "host/_root",
                **{f"hypercast.{name}": name for name in (*FOLDERS, EXAMPLES)}}
    assert SETUPTOOLS["package-dir"] == expected


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_is_imported_under_hypercast_only(folder):
    assert isolated(f"import hypercast.{folder}").returncode == 0
    assert f"No module named '{folder}'" in isolated(f"import {folder}").stderr


@pytest.mark.slow
def test_the_wheel_holds_the_tree_and_nothing_else(tmp_path):
    copy = tmp_path / "copy"  # building leaves things behind
    for name in (*FOLDERS, EXAMPLES, "pyproject.toml", "README.md", "LICENSE"):
        source = ROOT / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, copy / name)
    subprocess.run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps",
                    "--wheel-dir", tmp_path, copy], check=True)
    [wheel] = tmp_path.glob("*.whl")
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert names == set(shipped_files())
