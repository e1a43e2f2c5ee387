# SPDX-License-Identifier: BSD-2-Clause
"""Files are read through ``hypercast.host.files.reading`` only."""

import ast

import pytest

from tests.packaging.source_tree import ROOT, modules

#: Functions and methods that read a file, or decode one without the checks of reading.
READERS = {"fromfile", "genfromtxt", "load_file", "load_npz", "loadmat", "loadtxt", "memmap",
           "mmread", "read_bytes", "read_text", "safe_open", "unpickle",
           "Unpickler", "ZipFile", "GzipFile"}
#: What reads if it is of one of these modules.
MODULES = {"gzip", "json", "np", "numpy", "pickle", "tomllib", "torch"}
#: What is the one place, what reads in another way to be compared with it, and what reads only what
#: it has written itself.
READING = ("host/files/reading", "benches/fuzzing", "host/_root/cache.py")
#: Text of what was opened by reading, or what was just written by ``json.dumps``.
ALLOWED = {
    # What the kernel says of processes of ours.
    "benches/board_processes.py": {
        "Path(f'/proc/{child}/environ').read_bytes", "Path(f'/proc/{pid}/status').read_text",
        "Path(f'/proc/{pid}/task/{pid}/children').read_text"},
    "benches/cocotb_training.py": {"path.read_bytes", "pickle.loads"},  # of our own process
    "benches/measured_part.py": {"Path('/proc/self/status').open"},  # of our own process
    "host/commands/command_group.py": {"open"},  # standard files that are open
    "host/training/launched.py": {"training.open"},  # a device
    "host/processes/child_process.py": {"pickle.load", "pickle.loads"},  # of processes of ours
    "host/processes/group.py": {"pickle.loads"},  # of processes of ours
    "host/processes/mpi_group.py": {"pickle.loads"},  # of processes of ours
    "benches/mutants.py": {"json.loads"},  # what a process of ours printed
    "host/files/json_values.py": {"json.loads"},
    "host/files/safetensors_bytes.py": {"json.loads"},  # of our own process
    "host/files/kept_values.py": {"pickle.loads"},  # of our own process
    "host/commands/diagnosis.py": {"tomllib.loads"},
    "host/training/checkpoint_file.py": {"json.loads"},
    "host/description/document.py": {"tomllib.loads"},
    "host/training/run_folder.py": {"json.loads"}}


def readers(tree):
    """Names of the calls in a module that read files, but for those of functions by that name."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        owner, _, last = name.rpartition(".")
        modes = [ast.unparse(value) for value in (*node.args, *(k.value for k in node.keywords))]
        opens = last == "open" and not owner.startswith(("self", "os")) and not any(
            mode in ("'w'", "'wb'", "'a'", "'ab'", "'x'") for mode in modes)
        if opens or (owner and last in READERS) or (
                owner.split(".")[0] in MODULES and last in ("load", "loads")):
            yield name


@pytest.mark.parametrize("text", [
    "open(path)", "path.open()", "path.open('rb')", "gzip.open(path, mode='rt')", "np.load(path)",
    "path.read_text()", "json.load(file)", "pickle.loads(x)", "zipfile.ZipFile(x)"])
def test_what_reads_is_found(text):
    assert list(readers(ast.parse(text)))


def test_all_files_are_read_in_one_place():
    for path in modules("benches", "host"):
        if not str(path).startswith(READING):
            found = set(readers(ast.parse((ROOT / path).read_text(encoding="utf-8"))))
            assert found <= ALLOWED.get(str(path), set()), path
