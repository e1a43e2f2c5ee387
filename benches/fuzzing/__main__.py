# SPDX-License-Identifier: BSD-2-Clause
"""``python -m hypercast.benches.fuzzing SEED NUMBER...``: make trials alone, and show them."""

import sys
import tempfile
from pathlib import Path

from hypercast.benches.fuzzing.trial_kinds import kind_of
from hypercast.benches.fuzzing.worker import make_trial

__all__ = []

seed, *numbers = map(int, sys.argv[1:])
with tempfile.TemporaryDirectory(prefix="hypercast-fuzz-") as folder:
    for number in numbers:
        print(f"{seed}/{number}: {kind_of(number)}")
        print(*make_trial(seed, number, Path(folder), print))
