# SPDX-License-Identifier: BSD-2-Clause
"""Which folder may import which: they are in a strict order, and no import runs in a circle."""

import ast
import re
from graphlib import TopologicalSorter

import pytest

from tests.packaging.source_tree import FOLDERS, ROOT, imports, module_name, modules, named

#: Rooms that every other may import.
COMMON = {"hypercast.errors"}
#: Room to the rooms that its modules import besides, packages (``__init__.py``) included. A room is
#: a folder, with all that is in it; ``host`` has rooms, and besides only the command line's entry.
#: Modules of the package itself are rooms of their own. Each imports from rooms above it only.
ROOMS = {
    "hypercast.errors": "",
    "hypercast": "",
    "hypercast.cache": "",
    "hypercast.safe_path": "",
    "rtl": "hypercast.safe_path",
    "reference": "hypercast.cache rtl",
    "proofs": "rtl",
    "boards": "rtl",
    "host/files": "",
    "host/transport": "",
    "host/schedules": "",
    "sim": "boards host/files host/transport hypercast.cache hypercast.safe_path rtl",
    "host/graphs": "host/files reference rtl",
    "host/compiler": "host/files reference rtl",
    "host/cycle_model": "host/compiler reference rtl",
    "host/noc": "host/compiler host/files rtl sim",
    "host/runtime": "host/compiler host/files host/transport reference rtl sim",
    "host/description": "host/files host/graphs host/runtime reference rtl",
    "host/cluster": "boards host/description reference rtl",
    "host/processes": "host/cluster host/description host/files hypercast.safe_path reference",
    "host/planner":
        "host/cluster host/compiler host/cycle_model host/description host/files host/schedules "
        "reference rtl",
    "host/schemes":
        "host/cluster host/compiler host/description host/files host/graphs host/planner "
        "host/processes host/runtime host/schedules host/transport hypercast reference rtl",
    "host/training":
        "host/cluster host/compiler host/cycle_model host/description host/files host/graphs "
        "host/planner host/processes host/runtime host/schemes host/transport hypercast reference "
        "rtl sim",
    "host/eda":
        "boards host/compiler host/cycle_model host/files host/graphs host/runtime host/training "
        "host/transport hypercast.cache reference rtl sim",
    "host/selftest":
        "host/compiler host/graphs host/runtime host/training host/transport reference rtl",
    "host/report":
        "host/compiler host/files host/noc host/processes host/runtime host/training reference "
        "rtl",
    "host/commands":
        "boards host/cluster host/compiler host/cycle_model host/description host/eda host/files "
        "host/graphs host/noc host/planner host/processes host/report host/runtime host/schemes "
        "host/selftest host/training hypercast hypercast.cache hypercast.safe_path proofs "
        "reference rtl sim",
    "host": "host/commands hypercast",
    "hypercast.__main__": "host",
    "hypercast.cocotb": "host/files rtl sim",
    "benches":
        "boards host host/cluster host/commands host/compiler host/cycle_model host/description "
        "host/eda host/files host/graphs host/noc host/planner host/processes host/report "
        "host/runtime host/schedules host/schemes host/training host/transport hypercast "
        "hypercast.safe_path reference rtl sim",
}
#: Modules that reach rooms below their own, by name: what users import from the package, which is
#: loaded when it is used, and the command of benches, which only a checkout has.
DOORS = {"host/_root/__init__.py", "host/commands/bench.py"}
#: Modules that load others by names which are made there: doors, what loads the benches of its own
#: room, and what loads boards of another project.
LOADING = {*DOORS, "benches/__init__.py", "boards/serial_board.py"}
ORDER = {name: place for place, name in enumerate(ROOMS)}
MODULES = {module_name(path): path for path in modules(*FOLDERS)}


def room(path):
    """The room that a module is in."""
    folder, *inner, _ = path.parts
    if inner[:1] == ["_root"]:
        return module_name(path)
    return "/".join([folder, *inner[:1]]) if folder == "host" else folder


def links(names):
    """Room to other rooms that its modules name; ``names`` gives those of a module, by its path."""
    found = {}
    for path in MODULES.values():
        found.setdefault(room(path), set()).update(
            room(MODULES[name]) for name in names(path) & MODULES.keys())
    return {name: others - {name} - COMMON for name, others in found.items()}


def upward(found):
    """What is named from a room above it."""
    return {(name, other) for name, others in found.items() for other in others
            if ORDER[other] >= ORDER[name]}


def in_texts(path):
    """Modules that a module's texts name, docstrings apart, as for another Python; and packages
    whose names are begun there, for the rest to be filled in.
    """
    tree = ast.parse((ROOT / path).read_text())
    docstrings = {id(node.body[0].value) for node in ast.walk(tree) if isinstance(
        node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body and isinstance(node.body[0], ast.Expr)}
    return {name for node in ast.walk(tree) if isinstance(node, ast.Constant)
            and isinstance(node.value, str) and id(node) not in docstrings
            for name in re.findall(r"\bhypercast(?:\.\w+)+", node.value)}


def test_rooms_are_the_folders_on_disk():
    assert {room(path) for path in MODULES.values()} == set(ROOMS)
    assert (ROOT / "host/__init__.py").read_text() == ""  # which all of its rooms bring with them


def test_every_pair_of_rooms_is_listed():
    assert {name: " ".join(sorted(others)) for name, others in links(imports).items()} == ROOMS


def test_rooms_are_in_a_strict_order():
    assert not upward({name: set(others.split()) for name, others in ROOMS.items()})


def test_names_in_texts_keep_the_order_but_for_the_doors():
    """What is named in a text is to be loaded, perhaps by another Python."""
    ordered = [path for path in MODULES.values() if str(path) not in DOORS]
    assert not upward({room(path): {room(MODULES[name]) for name in in_texts(path) & MODULES.keys()}
                       - {room(path)} for path in ordered})
    loading = {str(path) for path in MODULES.values()
               if re.search(r"\bimport_module\(|\b__import__\(", (ROOT / path).read_text())}
    assert loading == LOADING


@pytest.mark.parametrize("at, text", [
    ("host/files/json_values.py", "from hypercast.host.graphs import datasets"),
    ("host/graphs/__init__.py", "import hypercast.host.runtime.driver"),
    ("sim/__init__.py", "def f():\n    from hypercast.host.runtime.driver import Driver"),
    ("host/planner/plan.py", "from hypercast.host.schemes.share import Share"),
    ("host/commands/options.py", "from hypercast.benches import BENCHES")])
def test_an_import_of_a_room_below_is_found(at, text):
    """A line that closes a circle, or only runs against the order; in packages, too."""
    tree = {name for node in ast.walk(ast.parse(text)) for name in named(node)}
    changed = links(lambda path: imports(path) | (tree if str(path) == at else set()))
    [(name, other)] = upward(changed)
    assert at.startswith(name) and other in {room(MODULES[one]) for one in tree & MODULES.keys()}


def test_folders_beside_each_other_import_in_no_circle():
    """Folders within a room are compared, too; what is right in a folder is one with all in it."""
    found = {}
    for path in MODULES.values():
        for other in (MODULES[name] for name in imports(path) & MODULES.keys()):
            here, there = (one if "_root" in one.parts else one.parent for one in (path, other))
            if not here.is_relative_to(there) and not there.is_relative_to(here):
                found.setdefault(here, set()).add(there)
    assert len(list(TopologicalSorter(found).static_order())) > 40  # a CycleError otherwise


def test_readme_lists_the_rooms_of_the_host_in_their_order():
    [row] = re.findall(r"^\| `host/` \|.*$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert re.findall(r"`(\w+)/`", row)[1:] == [
        name.removeprefix("host/") for name in ROOMS if name.startswith("host/")]


def test_no_modules_import_each_other_in_a_circle():
    """Neither at their top nor in a function; tests and examples included.

    A package may gather what its modules define, as long as none of them imports the package.
    """
    names = {module_name(path): path for path in modules(*FOLDERS, "examples", "tests")}
    order = TopologicalSorter({name: imports(path) & names.keys() for name, path in names.items()})
    assert set(order.static_order()) == set(names)  # a CycleError otherwise, which names them
