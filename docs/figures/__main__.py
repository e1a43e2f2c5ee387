# SPDX-License-Identifier: BSD-2-Clause
"""Draws all figures anew: ``python -m docs.figures``; with ``--record``, records the step first."""

import sys

from docs.figures.catalogue import FIGURES, path_of
from docs.figures.recording import RECORDING, record, text

if sys.argv[1:] == ["--record"]:
    RECORDING.write_text(text(record()))
for name, draw in FIGURES.items():
    path_of(name).write_text(draw().svg())
