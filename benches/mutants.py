# SPDX-License-Identifier: BSD-2-Clause
"""Mutation testing: small mistakes put into hardware, reference and host are found by tests.

A mutant is caught if the tests of its module (``mirrored_tests``) fail, or hang. A mutant that
provably changes nothing does not count; another one is drawn.
"""

import hashlib
import json
import os
import queue
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from hypercast.benches.figure import Figure
from hypercast.benches.mirrored_tests import mirrored_tests, own_test
from hypercast.benches.mutation import Mutant, mutants, same_code
from hypercast.benches.source_copy import SourceCopy, checkout
from hypercast.errors import ToolError
from hypercast.host.files.reading.regular_file import read_text

__all__ = ["run"]

Item = TypeVar("Item")
Result = TypeVar("Result")
#: Module to its tests.
_Tests: TypeAlias = Mapping[Path, tuple[Path, ...]]

#: Mutants that count, and how many of each folder are among them.
_MUTANTS, _LEAST = 300, 10
#: Share of them that must be caught.
_BAR = 0.95
#: Folders that are mutated: all code that decides a training's bits, cycles and places. The others
#: show it, measure it, or test it.
_FOLDERS = ("boards", "host/cluster", "host/compiler", "host/cycle_model", "host/description",
            "host/files", "host/graphs", "host/planner", "host/processes", "host/runtime",
            "host/schedules", "host/schemes", "host/training", "host/transport", "reference", "rtl",
            "sim")
#: Packages whose modules import each other.
_USERS = ("benches", "boards", "host", "reference", "rtl", "sim")
#: A test hangs after so many times its time without mutants, and so many seconds more.
_PATIENCE, _GRACE = 3, 20


@dataclass(frozen=True)
class _Trial:
    """A mutant of a module of the checkout, whose path is relative to it."""

    module: Path
    source: str
    mutant: Mutant

    def __str__(self) -> str:
        return f"{self.module}:{self.mutant.line}: {self.mutant.describe(self.source)}"

    @property
    def text(self) -> str:
        return self.mutant.apply(self.source)

    @property
    def folder(self) -> str:
        folder = _folder(self.module)
        assert folder
        return folder


def run(data: Path | None, progress: Callable[[str], None], *, seed: int = 0) -> list[Figure]:
    """The figures; ``data`` is not used.

    Raises
    ------
    ToolError
        If a test fails without any mutant, or a module has none but slow ones.
    """
    root = checkout()
    modules = [path.relative_to(root) for package in _USERS
               for path in sorted((root / package).rglob("*.py"))]
    found = mirrored_tests(root, modules)
    tests: _Tests = {module: found[module] for module in modules
                     if _folder(module) and module.name != "__init__.py"}
    _require_tests(tests)
    trials = _draw(root, [*tests], seed)
    with tempfile.TemporaryDirectory(prefix="hypercast-mutants-") as folder:
        laboratory = _Laboratory(root, Path(folder), progress)
        tests = laboratory.select(tests)
        _require_tests(tests)
        counted: list[tuple[_Trial, bool]] = []  # trials and whether they were caught
        while len(counted) < _MUTANTS:
            some = [trial for trial, _ in zip(trials, range(_MUTANTS - len(counted)), strict=False)]
            if not some:
                break
            counted += laboratory.judge(some, tests)
    return _figures(counted, tests)


def _require_tests(tests: _Tests) -> None:
    if untested := [str(module) for module, found in tests.items() if not found]:
        raise ToolError("neither these nor what imports them have tests, but for slow ones: "
                        f"{', '.join(untested)}")


def _folder(module: Path) -> str | None:
    """Which of ``_FOLDERS`` a module is in, or None."""
    return next((folder for folder in _FOLDERS if module.is_relative_to(folder)), None)


def _draw(root: Path, modules: Sequence[Path], seed: int) -> Iterator[_Trial]:
    """All trials, in the order of digests, which changes elsewhere do not alter.

    Some of each folder come first.
    """
    found: dict[bytes, _Trial] = {}
    seen: Counter[str] = Counter()
    for module in modules:
        source = read_text(root / module)
        for mutant in mutants(source):
            trial = _Trial(module, source, mutant)
            name = f"{seed}: {module}: {mutant.describe(source)}"
            seen[name] += 1
            found[hashlib.sha256(f"{name}: {seen[name]}".encode()).digest()] = trial
    drawn: Counter[str] = Counter()
    first: list[_Trial] = []
    others: list[_Trial] = []
    for _, trial in sorted(found.items()):
        drawn[trial.folder] += 1
        (first if drawn[trial.folder] <= _LEAST else others).append(trial)
    return iter([*first, *others])


class _Laboratory:
    """Copies of the project, one for each processor, and the times of tests in them."""

    def __init__(self, root: Path, folder: Path, progress: Callable[[str], None]) -> None:
        self._progress = progress
        self._copies: queue.SimpleQueue[SourceCopy] = queue.SimpleQueue()
        self._processors = len(os.sched_getaffinity(0))
        for number in range(self._processors):
            self._copies.put(SourceCopy(root, folder / str(number), folder / "cache"))
        self._seconds: dict[Path, float] = {}
        self._netlists: dict[str, Any] | None = None

    def _each(self, function: Callable[[SourceCopy, Item], Result], items: Sequence[Item],
              text: str) -> list[Result]:
        """Results of a function of copies and items, as many at once as there are processors."""
        def call(item: Item) -> Result:
            copy = self._copies.get()
            try:
                return function(copy, item)
            finally:
                self._copies.put(copy)

        results = []
        with ThreadPoolExecutor(self._processors) as pool:
            try:
                for item, result in zip(items, pool.map(call, items), strict=True):
                    results.append(result)
                    self._progress(f"{text}, {len(results)} of {len(items)}: {item}")
            finally:  # after an error or an interruption, no further trial begins
                pool.shutdown(wait=False, cancel_futures=True)
        return results

    def select(self, tests: _Tests) -> _Tests:
        """The tests that have something to run."""
        every = sorted({test for found in tests.values() for test in found})
        [selected] = self._each(
            lambda copy, _: copy.with_tests(every), ["all files"], "collection of tests")
        return {module: tuple(test for test in found if test in selected)
                for module, found in tests.items()}

    def judge(self, trials: Sequence[_Trial], tests: _Tests) -> list[tuple[_Trial, bool]]:
        """The trials that count, each with whether it was caught."""
        if self._netlists is None and any(trial.folder == "rtl" for trial in trials):
            [self._netlists] = self._each(_netlists, ["--lines"], "netlists without mutants")
        known = self._seconds.keys()
        new = sorted({test for trial in trials for test in tests[trial.module]} - known)
        for test, seconds in zip(new, self._each(_time, new, "tests without mutants"), strict=True):
            self._seconds[test] = seconds
        caught = self._each(
            lambda copy, trial: self._catch(copy, trial, tests[trial.module]), trials, "mutants")
        survivors = [trial for trial, found in zip(trials, caught, strict=True) if not found]
        ineffective = {trial for trial, without in zip(
            survivors, self._each(self._changes_nothing, survivors, "survivors"), strict=True)
            if without}
        return [(trial, found) for trial, found in zip(trials, caught, strict=True)
                if trial not in ineffective]

    def _catch(self, copy: SourceCopy, trial: _Trial, tests: Sequence[Path]) -> bool:
        seconds = sum(self._seconds[test] for test in tests)
        copy.write(trial.module, trial.text)
        try:
            status, _ = copy.test(tests, timeout=_PATIENCE * seconds + _GRACE)
        finally:
            copy.restore(trial.module)
        return status != 0

    def _changes_nothing(self, copy: SourceCopy, trial: _Trial) -> bool:
        """Whether the code is the same, or is hardware's and makes the same netlists."""
        if same_code(trial.source, trial.text):
            return True
        if trial.folder != "rtl":
            return False
        assert self._netlists
        lines = self._netlists["lines"].get("/".join(trial.module.parts[1:]), ())
        if trial.mutant.line not in lines:
            return False
        copy.write(trial.module, trial.text)
        try:
            return bool(_netlists(copy)["digest"] == self._netlists["digest"])
        except RuntimeError:
            return False
        finally:
            copy.restore(trial.module)


def _time(copy: SourceCopy, test: Path) -> float:
    """Seconds that a test takes without any mutant."""
    start = time.monotonic()
    status, printed = copy.test([test])
    if status:
        raise ToolError(f"without any mutant, {test} fails:\n{printed}")
    return time.monotonic() - start


def _netlists(copy: SourceCopy, *options: str) -> dict[str, Any]:
    """The output of ``netlists``."""
    status, printed = copy.run("-m", "hypercast.benches.netlists", *options)
    if status:
        raise ToolError(f"the netlists cannot be made:\n{printed}")
    found: dict[str, Any] = json.loads(printed.splitlines()[-1])
    return found


def _figures(counted: Sequence[tuple[_Trial, bool]], tests: _Tests) -> list[Figure]:
    total = Counter(trial.folder for trial, _ in counted)
    caught = Counter(trial.folder for trial, found in counted if found)
    borrowed = {trial.module for trial, _ in counted
                if own_test(trial.module) not in tests[trial.module]}
    return [
        Figure(name="mutants that count", value=len(counted), bar=_MUTANTS),
        *(figure for folder in sorted(total) for figure in (
            Figure(name=f"{folder}: mutants", value=total[folder]),
            Figure(name=f"{folder}: caught", value=caught[folder] / total[folder]))),
        *(Figure(name=f"survives: {trial}", value=1) for trial in sorted(
            str(trial) for trial, found in counted if not found)),
        *(Figure(name=f"tested through its users only: {module}", value=1)
          for module in sorted(borrowed)),
        Figure(name="caught by the mirrored tests", value=caught.total() / len(counted),
               bar=_BAR),
    ]
