# SPDX-License-Identifier: BSD-2-Clause
"""Bench mutants, on a small project of its own: what is caught, what survives, what is an error."""

from pathlib import Path

import pytest

from hypercast import benches
from hypercast.benches import mutants, mutation
from hypercast.benches.mirrored_tests import mirrored_tests
from tests.packaging.test_package_imports import ROOMS

#: A module with a test that does not see all; used by another, which has no test of its own.
FILES = {
    "reference/limit.py": "def least(a, b):\n    return a if a < b else b\n",
    "reference/sum.py": "def total(a):\n    return a + 1\n",
    "reference/user.py": "from hypercast.reference.sum import total\n\n\ndef use(a):\n"
                         "    return total(a)\n",
    "tests/reference/test_limit.py": "from hypercast.reference.limit import least\n\n\n"
                                     "def test():\n    assert least(1, 2) == 1 == least(2, 1)\n",
    "tests/reference/test_user.py": "from hypercast.reference.user import use\n\n\n"
                                    "def test():\n    assert use(1) == 2\n",
    "host/_root/__init__.py": "", "reference/__init__.py": "",
    "pyproject.toml": "[tool.pytest.ini_options]\npythonpath = ['.']\n",
    **dict.fromkeys(("boards/__init__.py", "rtl/__init__.py", "sim/__init__.py"), ""),
}


@pytest.fixture
def project(tmp_path, monkeypatch):
    """The folder of the small project, which the bench takes for the checkout."""
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setattr(mutants, "checkout", lambda: tmp_path)
    return tmp_path


def run(seed=0):
    return benches.run("mutants", data=None, progress=lambda text: None, seed=seed)


def test_figures(project):
    figures = run()
    values = {figure.name: figure.value for figure in figures}
    survivors = {name for name in values if name.startswith("survives: ")}
    assert survivors == {"survives: reference/limit.py:2: return a if a < b else b -> "
                         "return a if a <= b else b"}
    # Of the limit: <=, True and False; of the sum: -, and other terms.
    assert values["reference: mutants"] == 6 == values["mutants that count"]
    assert values["reference: caught"] == values["caught by the mirrored tests"] == 5 / 6
    assert not figures[-1].passed
    assert values["tested through its users only: reference/sum.py"] == 1
    assert {path.name: path.read_text() for path in project.glob("reference/*.py")} == {
        Path(name).name: text for name, text in FILES.items() if name.startswith("reference/")}


def test_what_any_of_its_tests_finds_is_caught(project):
    """One beside that imports the module sees what its own does not."""
    (project / "tests/reference/test_both.py").write_text(
        "from hypercast.reference import limit\n\n\ndef test():\n    zero = -0.0\n"
        "    assert limit.least(0.0, zero) is zero\n")
    values = {figure.name: figure.value for figure in run()}
    assert values["reference: caught"] == 1
    assert [name for name in values if name.startswith("tested through its users")] == [
        "tested through its users only: reference/sum.py"]


def test_a_hang_is_caught(project, monkeypatch):
    """The only mutant is a loop whose variable is not counted up any more."""
    (project / "reference/sum.py").write_text(
        "def total(a):\n    b = a\n    while b < a + 1:\n        b += 1\n    return b\n")
    monkeypatch.setattr(mutants, "_GRACE", 1)
    monkeypatch.setattr(mutants, "mutants", lambda source: [
        mutant for mutant in mutation.mutants(source) if mutant.text == "pass"])
    values = {figure.name: figure.value for figure in run()}
    assert values["mutants that count"] == 1 == values["caught by the mirrored tests"]


def test_a_failing_test_is_an_error(project):
    (project / "reference/limit.py").write_text("def least(a, b):\n    return a if a > b else b\n")
    with pytest.raises(RuntimeError, match=r"test_limit\.py fails"):
        run()


def test_a_module_without_tests_is_an_error(project):
    (project / "tests/reference/test_user.py").unlink()
    with pytest.raises(RuntimeError, match=r"reference/sum\.py"):
        run()


SLOW = "import pytest\n\npytestmark = pytest.mark.slow\n\n\ndef test():\n    assert False\n"


def test_slow_tests_find_nothing(project):
    """A file of nothing else takes part in no trial, though its tests would fail."""
    (project / "pyproject.toml").write_text(
        FILES["pyproject.toml"] + "addopts = '-q'\nmarkers = ['slow']\n")
    (project / "tests/reference/test_both.py").write_text(
        f"from hypercast.reference import limit\n{SLOW}")
    values = {figure.name: figure.value for figure in run()}
    assert values["reference: mutants"] == 6 and values["reference: caught"] == 5 / 6


@pytest.mark.parametrize(("name", "text", "message"), [
    ("test_limit.py", SLOW, r"but for slow ones: reference/limit\.py$"),
    ("test_user.py", "import no_module\n", "cannot be collected:(?s:.)*no_module")])
def test_no_trial_begins_if_tests_are_missing(project, monkeypatch, name, text, message):
    """Slow ones do not count; files that cannot be read are found before any test is run."""
    (project / "tests/reference" / name).write_text(text)
    monkeypatch.setattr(mutants.SourceCopy, "test", None)
    with pytest.raises(RuntimeError, match=message):
        run()


def test_no_selected_test_is_no_failure(project, tmp_path_factory):
    copy = mutants.SourceCopy(project, tmp_path_factory.mktemp("copy") / "0", project / "cache")
    tests = [Path("tests/reference/test_limit.py"), Path("tests/reference/test_slow.py")]
    copy.write(tests[1], SLOW)
    assert [copy.test([test])[0] for test in tests] == [0, 0]
    assert copy.with_tests(tests) == {tests[0]} and copy.with_tests(tests[1:]) == set()


def test_draws_repeat(project):
    modules = [Path("reference/limit.py"), Path("reference/sum.py")]
    one, same, other = (list(mutants._draw(project, modules, seed)) for seed in (1, 1, 2))
    assert one == same != other and set(one) == set(other)


def test_a_change_elsewhere_leaves_the_order(project):
    modules = [Path("reference/limit.py"), Path("reference/sum.py")]
    before = [trial.mutant for trial in mutants._draw(project, modules, 1)
              if trial.module == modules[1]]
    (project / modules[0]).write_text("def limit(value):\n    return value + 3 < 5\n")
    after = list(mutants._draw(project, modules, 1))
    assert [trial.mutant for trial in after if trial.module == modules[1]] == before
    assert len(after) > len(before)


def test_tests_of_the_nearest_user(project):
    modules = [Path("reference", f"{name}.py") for name in ("limit", "sum", "user")]
    assert mirrored_tests(project, modules) == {
        modules[0]: (Path("tests/reference/test_limit.py"),),
        modules[1]: (Path("tests/reference/test_user.py"),),
        modules[2]: (Path("tests/reference/test_user.py"),)}


def test_tests_beside_that_import_it_are_a_modules_too(project):
    """After its own, and besides those of its nearest user; a text that names a module stands for
    an import.
    """
    for name, text in {
            "tests/reference/test_both.py": "from hypercast.reference.sum import total\n"
                                            "from hypercast.reference.limit import least\n",
            "tests/reference/below/test_part.py": "import this\nNAME = 'hypercast.reference.sum'\n",
            "tests/test_all.py": "from hypercast.reference.sum import total\n"}.items():
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text(text)
    modules = [Path("reference", f"{name}.py") for name in ("limit", "sum", "user")]
    found = mirrored_tests(project, modules)
    assert found[modules[0]] == tuple(Path("tests/reference", name) for name in (
        "test_limit.py", "test_both.py"))
    assert found[modules[1]] == tuple(Path("tests/reference", name) for name in (
        "below/test_part.py", "test_both.py", "test_user.py"))
    assert found[modules[2]] == (Path("tests/reference/test_user.py"),)


@pytest.mark.parametrize("place", ["tests/test_kept.py", "tests/kept/test_kept.py"])
def test_a_package_has_a_test_of_its_name(project, place):
    """What it imports is tested through it; tests elsewhere count if there are no others."""
    for name, text in {
            "kept/__init__.py": "from hypercast.kept.one import one\n", "kept/one.py": "one = 1\n",
            "kept/two.py": "two = 2\n", "host/_root/other.py": "A = 'hypercast.kept.three'\n",
            "kept/three.py": "three = 3\n", "tests/far/test_far.py":
            "from hypercast.kept.two import two\nfrom hypercast.other import A\n",
            place: "from hypercast.kept import one\n"}.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)
    modules = [Path("kept/__init__.py"), *(Path(f"kept/{name}.py") for name in (
        "one", "two", "three")), Path("host/_root/other.py")]
    found = mirrored_tests(project, modules)
    assert found == {modules[0]: (Path(place),), modules[1]: (Path(place),),
                     **dict.fromkeys(modules[2:], (Path("tests/far/test_far.py"),))}


def test_each_folder_has_some(project, monkeypatch):
    """They come first, in the order in which they are drawn; then all others."""
    monkeypatch.setattr(mutants, "_LEAST", 2)
    (project / "rtl/small.py").write_text("a = b < c\n")
    modules = [Path("reference/limit.py"), Path("rtl/small.py"), Path("reference/sum.py")]
    folders = [trial.folder for trial in mutants._draw(project, modules, 1)]
    assert sorted(folders[:3]) == ["reference", "reference", "rtl"]
    assert set(folders[3:]) == {"reference"} and len(folders) == 7


def test_folders_that_are_not_mutated_show_measure_or_test():
    folders = {name for name in ROOMS if not name.startswith("hypercast")} - {"host"}
    assert folders - {*mutants._FOLDERS} == {
        "benches", "host/commands", "host/eda", "host/noc", "host/report", "host/selftest",
        "proofs"}
    assert {*mutants._FOLDERS} < folders
