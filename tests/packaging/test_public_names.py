# SPDX-License-Identifier: BSD-2-Clause
"""What users import: names that editors and type checkers see, and the command as a module."""

import ast
import inspect
import os
import re
import shutil
import subprocess
import sys

import pytest

import hypercast
from hypercast import Model, Sampling, errors
from hypercast.host.commands.diagnosis import examine
from tests.docs.test_pages import blocks
from tests.packaging.source_tree import EXAMPLES, FOLDERS, ROOT, SHIPPED

INIT = ROOT / "host" / "_root" / "__init__.py"

#: A user's program: line by line what it should be for a type checker, or what is wrong with it.
USER = """
import hypercast
from hypercast import Device, Graph, HypercastError, Model, Sampling, Trainer

reveal_type(hypercast.__version__)  # "str"
graph = Graph.load("karate")
reveal_type(graph)  # "hypercast.host.graphs.graph.Graph"
model = Model("sage", hidden=[8, 8], dropout=0.25)
reveal_type(model.hidden)  # "tuple[int, ...]"
sampling = Sampling("neighbours", batch=8, fan_outs=3)
with Trainer(graph, model, Device("reference"), sampling=sampling, epochs=3) as trainer:
    reveal_type(trainer)  # "hypercast.host.training.trainer.Trainer"
    reveal_type(trainer.predict())  # "hypercast.host.training.predictions.Predictions"
try:
    Model(dropout=2)
except HypercastError as error:
    reveal_type(error)  # "hypercast.errors.HypercastError"
hypercast.Trainr  # Module has no attribute "Trainr"
Graph.load(3)  # incompatible type "int"
Model(hidden="16")  # incompatible type "str"
Model(hiden=16)  # Unexpected keyword argument "hiden"
Sampling("walks", 8)  # Too many positional arguments
Trainer()  # Missing positional argument "graph"
"""


def python(*arguments, **options):
    """What a program in a process of its own prints, and its exit status."""
    result = subprocess.run([sys.executable, *arguments], capture_output=True, text=True,
                            **options)
    return result.stdout + result.stderr, result.returncode


def test_names_are_seen_before_they_are_used():
    code = ("import sys, hypercast; print(set(hypercast.__all__) <= set(dir(hypercast)), "
            "{name.partition('.')[0] for name in sys.modules} & {'numpy', 'amaranth', 'scipy'})")
    assert python("-I", "-c", code) == ("True set()\n", 0)
    assert all(getattr(hypercast, name).__name__ == name for name in hypercast._HOMES)
    assert hypercast.HypercastError is errors.HypercastError
    with pytest.raises(AttributeError, match="no attribute 'Trainr'"):
        _ = hypercast.Trainr


def test_names_are_the_same_for_type_checkers():
    [block] = [node for node in ast.parse(INIT.read_text()).body if isinstance(node, ast.If)]
    declared = {node.names[0].name: node.module for node in block.body}
    assert declared == {name: f"hypercast.host.{module}"
                        for name, module in hypercast._HOMES.items()}
    assert hypercast.__all__ == sorted([*declared, "HypercastError", "__version__"])


@pytest.mark.parametrize("kind", [Model, Sampling])
def test_what_may_be_given_is_declared(kind):
    """The signature for type checkers has the fields, in their order, and their defaults."""
    [owner] = [node for node in ast.parse(inspect.getsource(kind)).body]
    [block] = [node for node in owner.body if isinstance(node, ast.If)]
    [declared] = block.body
    parameters = inspect.signature(kind).parameters
    given = [*declared.args.args[1:], *declared.args.kwonlyargs]
    assert [one.arg for one in given] == list(parameters)
    names = {"AUTO": "auto"}
    defaults = [names.get(ast.unparse(one)) or ast.literal_eval(one)
                for one in (*declared.args.defaults, *declared.args.kw_defaults)]
    assert kind(**dict(zip(parameters, defaults, strict=True))) == kind()


def test_the_command_is_a_module(tmp_path):
    (tmp_path / "csv.py").write_text("raise SystemExit('a file of the current folder is run')\n")
    assert python("-m", "hypercast", "--version", cwd=tmp_path) == (
        f"hypercast, version {hypercast.__version__}\n", 0)


@pytest.fixture(scope="module")
def installed():
    """The package's files as an installation has them, by links, always at the same place."""
    folder = ROOT / "build" / "mypy" / "site"
    package = folder / "hypercast"
    shutil.rmtree(package, ignore_errors=True)
    package.mkdir(parents=True)
    for path in (*INIT.parent.iterdir(), *(ROOT / name for name in (*SHIPPED, EXAMPLES))):
        if path.name != "__pycache__":
            (package / path.name).symlink_to(path)
    assert (package / "py.typed").exists()
    return folder


def checked(installed, *files):
    """mypy's lines about some files; what it found out about the package is kept beside that."""
    return python("-m", "mypy", "--strict", "--follow-imports=silent", "--ignore-missing-imports",
                  "--no-error-summary", "--cache-dir", installed.parent / "cache", *files,
                  cwd=installed, env={**os.environ, "MYPYPATH": str(installed)})


def test_a_users_program_has_types(installed, tmp_path):
    (tmp_path / "user.py").write_text(USER)
    text, _ = checked(installed, tmp_path / "user.py")
    found = dict(reversed(re.findall(r"^\S*user\.py:(\d+): (.*)$", text, re.MULTILINE)))
    expected = {str(number): line.partition("  # ")[2]
                for number, line in enumerate(USER.splitlines(), 1) if "  # " in line}
    assert found.keys() == expected.keys(), text
    for number, part in expected.items():
        assert part in found[number]


def test_what_pages_and_examples_show_is_typed(installed, tmp_path):
    files = [ROOT / EXAMPLES / "own_graph.py"]
    for page in ("README.md", "docs/tutorial.md"):
        for number, block in enumerate(blocks(page, "python")):
            name = f"{page.replace('/', '_').removesuffix('.md')}_{number}.py"
            (tmp_path / name).write_text(block)
            files.append(tmp_path / name)
    text, status = checked(installed, *files)
    assert status == 0, text


def test_the_distribution_has_a_name_of_its_own():
    """hypercast on PyPI is another project."""
    wrong = re.compile(r"pip install [^`\n]*\bhypercast(?!-gcn|_gcn|:)|\bhypercast\["
                       r"(?:boards|cluster|cocotb|dev|docs|fst)\]"
                       r"|(?:metadata|version|requires|distribution)\(\"hypercast\"")
    texts = [path for path in (*ROOT.glob("*.md"), ROOT / "Makefile", ROOT / "pyproject.toml",
                               *(path for folder in (*FOLDERS, EXAMPLES, "docs", "tests")
                                 for path in (ROOT / folder).rglob("*")))
             if path.suffix in (".py", ".md", ".toml", "") and path.is_file()
             and path.name not in ("CHANGELOG.md", "test_public_names.py")]
    assert len(texts) > 500
    assert [str(path) for path in texts if wrong.search(path.read_text())] == []
    for text in ("pip install hypercast", "pip install 'hypercast[dev]'", "hypercast[fst]",
                 'importlib.metadata.version("hypercast")'):
        assert wrong.search(text)


def test_the_doctor_notices_the_other_project(tmp_path, monkeypatch):
    def check():
        [found] = [one for one in examine() if one.name == "package hypercast"]
        return found

    assert check().state == "ok" and check().found == f"hypercast-gcn {hypercast.__version__}"
    folder = tmp_path / "hypercast-1.0.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: hypercast\nVersion: 1.0.0\n")
    (folder / "RECORD").write_text("hypercast/__init__.py,,\nhypercast-1.0.0.dist-info/RECORD,,\n")
    with monkeypatch.context() as patch:
        patch.syspath_prepend(tmp_path)
        assert check().found.startswith("hypercast 1.0.0 is another project's")
        assert check().required and "pip uninstall -y hypercast, then pip" in check().remedy
        # What an earlier editable installation of ours left behind is not in the way.
        (folder / "RECORD").write_text("__editable__.hypercast-0.2.0.pth,,\n")
        assert check().state == "ok"
    monkeypatch.setattr(hypercast, "__all__", ["parse"])
    assert str(INIT) in check().found and check().state == "wrong"
