# SPDX-License-Identifier: BSD-2-Clause
"""Files that are kept are written through ``hypercast.host.files.durable_file`` only.

Whoever writes where others can write as well has to do without names that they can foresee, and
without their links. All else that is written is in folders that only this process knows.
"""

import ast

import pytest

from tests.packaging.source_tree import FOLDERS, ROOT, modules

#: Functions and methods that write, make, move or remove files.
WRITERS = {
    "hardlink_to", "memmap", "mkdir", "mkfifo", "open_memmap", "rename", "rmdir", "save_file",
    "savefig", "savetxt", "symlink_to", "tofile", "touch", "unlink", "write_bytes", "write_text"}
#: What writes if it is of one of these modules.
MODULES = {
    "json": {"dump"}, "np": {"save", "savez", "savez_compressed"}, "os": {
        "link", "makedirs", "open", "remove", "replace", "symlink", "truncate"},
    "pickle": {"dump"}, "shutil": {"copy", "copy2", "copyfile", "copytree", "move", "rmtree"},
    "tempfile": {"NamedTemporaryFile"}, "torch": {"save"}}
#: The one place, what keeps compiled code, and what damages files of its own.
WRITING = ("host/files/durable_file.py", "host/_root/cache.py", "benches/fuzzing")
#: Modules that write to a folder of their own, or one that they are given and nobody else has: of
#: the cache, or for temporary files.
SCRATCH = {
    "benches", "host/eda/integration/yosys_command.py", "host/eda/board_build.py",
    "host/eda/place_and_route.py", "host/eda/synthesis.py", "proofs/check.py", "proofs/solver.py",
    "rtl/export/verilog.py", "rtl/folding/flat.py", "sim/chip_build.py", "sim/cocotb_runner.py",
    "sim/cxxrtl_convert.py", "sim/group_code.py", "sim/library_build.py", "sim/network_build.py",
    "sim/serial_build.py", "sim/verilated_transport.py",
    "sim/verilator_build.py", "sim/verilator_command.py"}
#: Other calls, and why they do no harm.
ALLOWED = {
    "host/processes/child_process.py": {"pickle.dump"},  # to a socket
    "host/processes/own_folder.py": {"os.open", "shutil.rmtree"},  # this user's, no link
    "host/files/picture.py": {"figure.savefig"},  # into memory
    "host/files/reading/regular_file.py": {"os.open"},  # to read
    "host/report/drawing.py": {"draw(run).savefig"},  # into memory
    "host/commands/command_group.py": {"os.open"},  # nothing: /dev/null
    "host/commands/examples.py": {"copy.rename", "folder.rmdir", "shutil.copytree"},  # a new folder
    "host/training/planned_training.py": {"path.write_text"},  # in a temporary folder
    # Links to pseudo-terminals, made where there is nothing, and removed if they are still those.
    "host/commands/simulate.py": {"link.symlink_to", "link.unlink"},
    "host/graphs/interchange/weights.py": {"torch.save"},  # into memory
    "host/runtime/device_file.py": {"os.open"},  # a device
    "host/training/folder_lock.py": {"folder.mkdir", "os.open"},  # no link
    "host/training/curves.py": {"self.savefig"},  # into memory
    "host/training/predictions.py": {"np.savez_compressed"},  # into memory
    # Into memory; and an earlier run's own files are removed, links among them, not what they lead
    # to.
    "host/training/run_folder.py": {
        "np.savez_compressed", "(self._folder / name).unlink"}}


def writers(tree):
    """Names of the calls in a module that write files."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        owner, _, last = name.rpartition(".")
        given = [ast.unparse(value) for value in (*node.args, *(k.value for k in node.keywords))]
        opens = last == "open" and not owner.startswith("self") and any(
            set(text[1:-1]) & set("wax+") and len(text) <= 6 for text in given
            if text.startswith("'"))
        replaces = last == "replace" and owner and len(node.args) == 1 and not node.keywords
        if opens or replaces or last in WRITERS or last in MODULES.get(owner, ()):
            yield name


@pytest.mark.parametrize("text", [
    "open(path, 'w')", "path.open('ab')", "gzip.open(path, mode='wt')", "path.write_text(x)",
    "path.with_name('x').write_bytes(x)", "np.save(path, x)", "os.open(path, os.O_RDWR)",
    "figure.savefig(path)", "Path(name).replace(path)", "os.replace(a, b)", "torch.save(x, path)",
    "path.mkdir()", "shutil.rmtree(path)", "json.dump(x, file)", "path.unlink(missing_ok=True)"])
def test_what_writes_is_found(text):
    assert list(writers(ast.parse(text)))


@pytest.mark.parametrize("text", [
    "open(path)", "path.open('rb')", "text.replace('a', 'b')", "replace(config, width=1)",
    "config.replace(width=1)", "np.load(path)", "self._open('w')", "json.dumps(x)"])
def test_what_does_not_write_is_not(text):
    assert not list(writers(ast.parse(text)))


def test_all_files_are_written_in_one_place():
    for path in modules(*FOLDERS, "examples"):
        if not str(path).startswith(WRITING) and not any(
                str(path).startswith(scratch) for scratch in SCRATCH):
            found = set(writers(ast.parse((ROOT / path).read_text(encoding="utf-8"))))
            assert found <= ALLOWED.get(str(path), set()), path


def test_what_is_allowed_is_there():
    """Exceptions that are no longer needed are removed."""
    for name, calls in ALLOWED.items():
        found = set(writers(ast.parse((ROOT / name).read_text(encoding="utf-8"))))
        assert calls <= found, name
