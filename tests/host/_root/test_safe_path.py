# SPDX-License-Identifier: BSD-2-Clause
"""No process that we start takes modules from the current folder, whatever it is started for."""

import ast
import importlib.metadata
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hypercast.benches.fuzzing.campaign import run_trials
from hypercast.benches.fuzzing.trial import READ
from hypercast.host.processes.child_process import in_child_process
from hypercast.rtl.export.yosys import YOSYS
from hypercast.safe_path import PYTHON, safe_path
from hypercast.sim.compilers import find_compiler
from hypercast.sim.simulators import missing
from tests.packaging.source_tree import FOLDERS, ROOT, modules

BESIDE = Path(sys.executable)
#: Modules that name this Python, but start it in no other way than by a file; with reasons.
NAMES_PYTHON = {
    "host/_root/safe_path.py",
    "host/processes/mpirun.py", "host/processes/mpi_group.py",  # mpirun is beside it
    "host/eda/integration/yosys_command.py", "sim/verilator_build.py",
    "sim/verilator_command.py"}  # runs files elsewhere
#: What starts Python by itself.
STARTS_PYTHON = {"ProcessPoolExecutor", "get_context", "SpawnProcess"}


@pytest.fixture(scope="module")
def traps(tmp_path_factory):
    """A folder with a file for each module that there is, all of which note that they were run."""
    folder = tmp_path_factory.mktemp("traps")
    names = {*sys.stdlib_module_names, *importlib.metadata.packages_distributions(),
             "sitecustomize", "usercustomize", "hypercast"}
    for name in names:
        if name.isidentifier() and name != "__main__":
            (folder / f"{name}.py").write_text(
                f"open({str(folder / 'sprung')!r}, 'a').write({name!r} + ' ')\n"
                f"raise ImportError({name!r})\n")
    return folder


@pytest.fixture
def inside(traps, monkeypatch):
    """The folder of traps is the current one; none of them may have been sprung in the end."""
    monkeypatch.chdir(traps)
    yield traps
    sprung = traps / "sprung"
    text = sprung.read_text() if sprung.exists() else ""
    sprung.unlink(missing_ok=True)
    assert not text


def succeeds(*command, **variables):
    found = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                           env={**os.environ, **variables})
    assert found.returncode == 0, found.stderr
    return found.stdout


def imports(*, progress):
    import csv
    import json

    yield csv.__file__, json.__file__


def answers(seed, number, kept, folder):
    import csv

    return READ, csv.__file__


def test_traps_are_sprung(traps, monkeypatch):
    monkeypatch.chdir(traps)
    found = subprocess.run([sys.executable, "-c", "import csv"], capture_output=True)
    assert found.returncode and (traps / "sprung").read_text() == "csv "
    (traps / "sprung").unlink()


def test_the_command(inside):
    assert "tiny" in succeeds(BESIDE.with_name("hypercast"), "config", "list")


def test_the_package_as_a_script(inside):
    """Before a line of ours, Python looks for the package here, and would take what has its name.
    """
    (inside / "hypercast.py").rename(inside / "away")
    try:
        assert "tiny" in succeeds(sys.executable, "-m", "hypercast", "config", "list")
    finally:
        (inside / "away").rename(inside / "hypercast.py")


@pytest.mark.parametrize("variables", [{}, {"PYTHONPATH": os.pathsep}], ids=["plain", "empty"])
def test_ranks_of_mpirun_and_the_process_that_prepares(inside, tmp_path, variables):
    pytest.importorskip("mpi4py")
    # With PYTHONPATH as that, a process would itself take them; so the first of all is a safe one.
    succeeds(*PYTHON, BESIDE.with_name("hypercast"), "train", "karate", "--hidden", 2, "--epochs",
             1, "--boards", 2, "--run", tmp_path / "run")


def test_a_process_that_yields(inside, monkeypatch):
    monkeypatch.syspath_prepend(str(inside))  # as in a notebook, or a script of this folder
    [found] = in_child_process("imports", imports, progress=lambda text: None)
    assert not any(file.startswith(str(inside)) for file in found)


def test_processes_that_are_spawned(inside):
    [outcome] = run_trials(1, [0], make=answers)
    assert outcome.result == READ


def test_yosys(inside):
    assert "Yosys" in succeeds(*YOSYS, "-V")


def test_a_compiler_from_pypi(inside, monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: True)
    command = find_compiler()
    assert command[:2] == list(PYTHON) and command[2:4] == ["-m", "ziglang"]


def test_simulators(inside, tmp_path):
    if reason := missing("icarus"):
        pytest.skip(reason)
    (tmp_path / "test_wire.py").write_text(
        "import csv, pathlib\nimport cocotb\n@cocotb.test()\n"
        "async def imports(dut):\n    assert pathlib.Path(csv.__file__).parent != "
        f"pathlib.Path({str(inside)!r})\n")
    (tmp_path / "wire.v").write_text("module wire_top(input a, output b); assign b = a; endmodule")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(tmp_path))
        from hypercast.cocotb import run

        run(tmp_path / "test_wire.py", [tmp_path / "wire.v"], top="wire_top")


def test_variables_are_as_before(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", f"{os.pathsep}/none{os.pathsep}")
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    before = dict(os.environ)
    with safe_path():
        assert os.environ["PYTHONPATH"] == "/none" and os.environ["PYTHONSAFEPATH"] == "1"
    assert dict(os.environ) == before


def test_python_is_started_in_one_way():
    for path in modules(*FOLDERS, "examples"):
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        said = {ast.unparse(node) for node in ast.walk(tree)
                if isinstance(node, ast.Attribute | ast.Name)}
        assert "sys.executable" not in said or str(path) in NAMES_PYTHON, path
        starts = {name.rpartition(".")[2] for name in said} & STARTS_PYTHON
        assert not starts or "safe_path" in said, path
