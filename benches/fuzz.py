# SPDX-License-Identifier: BSD-2-Clause
"""Damaged inputs of all kinds: each is refused in one line, or taken for its true meaning."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

from hypercast.benches.figure import Figure
from hypercast.benches.fuzzing.campaign import DEFECTS, run_trials
from hypercast.benches.fuzzing.trial import READ, REFUSED, SAME
from hypercast.benches.fuzzing.trial_kinds import KINDS

__all__ = ["run"]

#: Trials.
_TRIALS = 10_000
_TEXTS = {REFUSED: "refused", SAME: "still what they were", READ: "accepted as what they say"}


def run(data: Path | None, progress: Callable[[str], None], *, seed: int = 0,
        trials: int = _TRIALS) -> list[Figure]:
    """The figures; ``data`` is not used.

    Each defect is listed with the arguments of ``python -m hypercast.benches.fuzzing SEED NUMBER``
    that make it again.
    """
    outcomes = run_trials(seed, range(trials), progress)
    found = Counter((outcome.kind, outcome.result) for outcome in outcomes)
    results = Counter(outcome.result for outcome in outcomes)
    return [
        Figure(name="inputs", value=len(outcomes), bar=_TRIALS),
        *(Figure(name=f"{kind}: {text}", value=found[kind, result])
          for kind in KINDS for result, text in _TEXTS.items()),
        *(Figure(name=f"{seed} {one.number}: {one.kind}, {one.result}: {one.done}: {one.summary}",
                 value=1) for one in outcomes if one.defect),
        *(Figure(name=f"ended in a {defect}" if defect != "wrong" else "taken wrongly",
                 value=results[defect], bar=0, relation="=") for defect in DEFECTS),
    ]
