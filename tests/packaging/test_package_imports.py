# SPDX-License-Identifier: BSD-2-Clause
"""Which package may import which: every pair is listed, and no import runs in a circle."""

from graphlib import TopologicalSorter

from tests.packaging.source_tree import FOLDERS, imports, module_name, modules

#: What every package may import.
COMMON = {"errors"}
#: Package to the packages that its modules import besides. ``host/cli`` is the command line's
#: entry, ``host/runtime/transport`` the interface that simulations implement, and
#: ``host/training/description`` how files of sections are read. Benches are loaded by
#: name, through ``host/commands/bench``.
PACKAGES = {
    "safe_path": "",
    "rtl": "safe_path",
    "reference": "cache rtl",
    "proofs": "rtl",
    "boards": "rtl",
    "host/runtime/transport": "",
    "cache": "",
    "host/files": "",
    "sim": "boards cache host/files host/runtime/transport rtl safe_path",
    "host/graphs": "host/files reference rtl",
    "host/compiler": "host/files reference rtl",
    "host/cycle_model": "host/compiler reference rtl",
    "host/runtime": "host/compiler host/files host/runtime/transport reference rtl sim",
    "host/training/description":
        "host/files host/graphs host/runtime reference rtl",
    "host/cluster":
        "boards host/compiler host/files host/runtime host/runtime/transport host/schedules "
        "host/training/description reference rtl safe_path",
    "host/training":
        "host/cluster host/compiler host/cycle_model host/files host/graphs host/planner "
        "host/runtime host/runtime/transport host/training/description reference rtl sim",
    "host/schedules": "",
    "host/planner":
        "host/cluster host/compiler host/cycle_model host/files host/schedules "
        "host/training/description reference rtl",
    "host/noc": "host/compiler host/files rtl sim",
    "host/eda":
        "boards cache host/compiler host/cycle_model host/files host/graphs host/runtime "
        "host/runtime/transport host/training reference rtl sim",
    "host/report":
        "host/cluster host/compiler host/files host/noc host/runtime host/training reference rtl",
    "host/selftest":
        "host/compiler host/graphs host/runtime host/runtime/transport host/training reference rtl",
    "host/commands":
        "boards cache host/cluster host/compiler host/cycle_model host/eda host/files host/graphs "
        "host/noc host/planner host/report host/runtime host/selftest host/training "
        "host/training/description proofs reference rtl safe_path sim",
    "host/cli": "host/commands",
    "__main__": "host/cli",
    "cocotb": "host/files rtl sim",
    "benches/fuzzing":
        "host/cli host/cluster host/commands host/files host/graphs host/planner host/report "
        "host/runtime host/runtime/transport host/training host/training/description reference "
        "rtl safe_path",
    "benches":
        "benches/fuzzing boards host/cluster host/commands host/compiler host/cycle_model host/eda "
        "host/files host/graphs host/noc host/planner host/runtime host/runtime/transport "
        "host/schedules host/training host/training/description reference rtl safe_path sim",
}
MODULES = {module_name(path): path for path in modules(*FOLDERS) if path.name != "__init__.py"}


def package(name):
    """The package of the module ``name``."""
    _, folder, *rest = name.split(".")
    if [folder, *rest[:1]] == ["benches", "fuzzing"]:
        return "benches/fuzzing"
    if rest[:2] in (["runtime", "transport"], ["training", "description"]):
        return f"host/{rest[0]}/{rest[1]}"
    return f"host/{rest[0]}" if folder == "host" else folder


def test_every_pair_of_packages_is_listed():
    found = {name: set() for name in (*PACKAGES, *COMMON)}
    for name, path in MODULES.items():
        found[package(name)] |= {package(other) for other in imports(path) & MODULES.keys()}
    assert not any(found.pop(name) - {name} for name in COMMON)
    assert {name: " ".join(sorted(others - {name} - COMMON))
            for name, others in found.items()} == PACKAGES


def test_no_import_runs_backwards():
    order = TopologicalSorter({name: others.split() for name, others in PACKAGES.items()})
    assert set(order.static_order()) == set(PACKAGES)  # a CycleError otherwise


def test_no_modules_import_each_other_in_a_circle():
    """Neither at their top nor in a function; tests and examples included.

    A package may gather what its modules define, as long as none of them imports the package.
    """
    names = {module_name(path): path for path in modules(*FOLDERS, "examples", "tests")}
    order = TopologicalSorter({name: imports(path) & names.keys() for name, path in names.items()})
    assert set(order.static_order()) == set(names)  # a CycleError otherwise, which names them
