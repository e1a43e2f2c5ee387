# SPDX-License-Identifier: BSD-2-Clause
"""Who imports whom, and the shape of modules, read from the source."""

import ast
import subprocess
import sys

from tests.packaging.source_tree import FOLDERS, ROOT, imports, module_name, modules

#: Modules that hardware, reference and host share; they import no Amaranth.
PURE = (
    "hypercast.cache",
    "hypercast.errors",
    "hypercast.rtl.access",
    "hypercast.rtl.config",
    "hypercast.rtl.isa",
    "hypercast.rtl.limits",
    "hypercast.rtl.serial.protocol",
    "hypercast.rtl.network.deadlock",
    "hypercast.rtl.network.routing",
    "hypercast.rtl.network.topology",
    "hypercast.rtl.placement",
    "hypercast.rtl.plain_value",
    "hypercast.rtl.registers",
)
LINES = 600

SHIPPED = modules(*FOLDERS)
NAMES = {module_name(path): path for path in SHIPPED}
EVERYTHING = modules(*FOLDERS, "tests")


def own_imports(path):
    """Our modules, but not the (empty) packages they are in, that a module imports."""
    return {name for name in imports(path)
            if name in NAMES and NAMES[name].name != "__init__.py"}


def import_closure(name):
    """The modules of ours that importing ``name`` brings with it, itself included."""
    found, todo = set(), [name]
    while todo:
        module = todo.pop()
        if module in NAMES and module not in found:
            found.add(module)
            todo += {module.rpartition(".")[0], *own_imports(NAMES[module])}
    return found


def top_packages(path):
    return {name.split(".")[0] for name in imports(path)}


def public_names(tree):
    """Names that a module's top-level statements define, in ``try`` and ``if`` as well."""
    statements = [part for node in tree.body
                  for part in ([*node.body, *node.orelse] if isinstance(node, ast.Try | ast.If)
                               else [node])]
    for node in statements:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from (alias.asname or alias.name for alias in node.names)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (name.id for target in targets for name in ast.walk(target)
                        if isinstance(name, ast.Name))


def exported(tree):
    """The names in a module's ``__all__``, or None if there is none."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(
                isinstance(target, ast.Name) and target.id == "__all__"
                for target in node.targets):
            return ast.literal_eval(node.value)
    return None


def test_pure_modules_and_the_compiler_bring_no_amaranth():
    compiler = [name for name in NAMES if name.startswith("hypercast.host.compiler.")]
    assert compiler
    for name in (*PURE, "hypercast", *compiler):
        for module in import_closure(name):
            assert "amaranth" not in top_packages(NAMES[module]), f"{module}, imported by {name}"


def test_pure_modules_run_without_amaranth():
    names = ", ".join((*PURE, "hypercast", "hypercast.host.compiler.compiler"))
    code = f"import sys, {names}; sys.exit('amaranth' in sys.modules)"
    assert subprocess.run([sys.executable, "-I", "-c", code]).returncode == 0


def test_a_board_loads_what_trains():
    """Each board is a process: what is used elsewhere only would be in the memory of all."""
    others = {"amaranth", "matplotlib", "networkx"}
    code = ("import sys, hypercast.host.commands.train; "
            f"sys.exit(' '.join({others} & {{*sys.modules}}) or 0)")
    found = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True)
    assert (found.returncode, found.stderr.strip()) == (0, "")


def test_reference_imports_itself_and_pure_modules():
    for path in modules("reference"):
        for name in own_imports(path):
            assert name.startswith("hypercast.reference") or name in PURE, f"{path} imports {name}"
        assert "amaranth" not in top_packages(path), path


def test_rtl_imports_neither_simulation_nor_host():
    above = ("hypercast.sim", "hypercast.host", "hypercast.boards", "hypercast.proofs",
             "hypercast.benches")
    for path in modules("rtl"):
        for name in own_imports(path):
            assert not name.startswith(above), f"{path} imports {name}"


def test_imports_have_full_names():
    for path in EVERYTHING:
        wrong = top_packages(path) & {*FOLDERS, ""}
        assert not wrong, f"{path} imports {wrong}; say `from hypercast.rtl...`"


def test_all_lists_what_is_public():
    for path in SHIPPED:
        tree = ast.parse((ROOT / path).read_text())
        if defined := set(public_names(tree)):
            names = exported(tree)
            assert names is not None, f"{path} has no __all__"
            assert set(names) <= defined or "__getattr__" in defined, \
                f"{path}: __all__ lists {set(names) - defined}"


def is_overload(node):
    """Whether a function is one of the signatures before it, whose docstring is the last one's."""
    return any(ast.unparse(decorator) == "overload" for decorator in node.decorator_list)


def test_public_names_have_docstrings():
    for path in SHIPPED:
        tree = ast.parse((ROOT / path).read_text())
        assert not tree.body or ast.get_docstring(tree), f"{path} has no docstring"
        for node in tree.body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name in exported(tree) \
                    and not is_overload(node):
                assert ast.get_docstring(node), f"{path}: {node.name} has no docstring"


def test_modules_are_short():
    for path in EVERYTHING:
        lines = len((ROOT / path).read_text().splitlines())
        assert lines <= LINES, f"{path} has {lines} lines"
