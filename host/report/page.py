# SPDX-License-Identifier: BSD-2-Clause
"""Puts a run's pictures and tables on one HTML page that needs nothing else."""

from collections.abc import Callable
from html import escape
from typing import TypeAlias

import numpy as np
from matplotlib.figure import Figure

from hypercast.host.noc.cube import draw_links
from hypercast.host.report import (
    board_times,
    engines,
    exponents,
    memory,
    roofline,
    summary,
    timeline,
)
from hypercast.host.report.drawing import figure, picture
from hypercast.host.report.folder import Run
from hypercast.host.training.curves import draw_curves

__all__ = ["page"]

_STYLE = """
:root { color-scheme: light dark; --ink: #1f2328; --paper: #fff; --faint: #d0d7de; --soft: #59636e }
@media (prefers-color-scheme: dark) {
  :root { --ink: #d7dce2; --paper: #15181c; --faint: #3a4048; --soft: #9aa4ae } }
@media print { :root { --ink: #000; --paper: #fff; --faint: #bbb; --soft: #444 }
  section { break-inside: avoid } }
body { color: var(--ink); background: var(--paper); max-width: 62rem; margin: 2rem auto;
  padding: 0 1rem; font: 15px/1.5 system-ui, sans-serif }
h1, h2 { line-height: 1.2; margin: 2.2rem 0 .4rem } h1 { margin-top: 0 }
p { max-width: 48rem; margin: .4rem 0 1rem }
.scroll { overflow-x: auto }
svg { display: block; width: 100%; height: auto }
svg text { font-family: "DejaVu Sans", Verdana, sans-serif !important }
table { border-collapse: collapse; font-size: 13px; margin: .6rem 0;
  font-variant-numeric: tabular-nums }
th, td { border-bottom: 1px solid var(--faint); padding: .2rem .6rem; text-align: right;
  vertical-align: top }
th:first-child, td:first-child, .facts td { text-align: left }
.facts td { overflow-wrap: anywhere } .result { font-size: 15px }
.beside { display: flex; flex-wrap: wrap; gap: 0 3rem; align-items: start }
td small { display: block; color: var(--soft); white-space: nowrap }
tr > th:first-child { white-space: nowrap }
"""


def _draw_curves(run: Run) -> Figure:
    """Loss, and accuracy or F1, of each split after every epoch."""
    result, [[loss, score]] = figure(3.2, columns=2)
    draw_curves(run.epochs, loss, score)
    return result


def _draw_links(run: Run) -> Figure:
    """The hypercube, each link coloured by the flits sent along it in the step."""
    result, [[axes]] = figure(5.6)
    counters = run.counters()
    loads = np.array([counters[f"link_{dimension}"]
                      for dimension in range(run.config.dimensions)]).T
    draw_links(result, axes, loads, run.config.dimensions)
    return result


Section: TypeAlias = tuple[
    str, str, Callable[[Run], Figure], Callable[[Run], str] | None]
#: Sections about training: title, explanation, functions that draw or write.
_TRAINING: tuple[Section, ...] = (
    ("Loss and accuracy", "After every epoch, without dropout. The loss of the training step "
     "itself is shown too, with dropout.", _draw_curves, None),
    ("Exponents and saturations", "Every tensor has one exponent, which follows its largest "
     "value from step to step. Saturations are those of the training steps: elements of a tensor "
     "that grew by more than its headroom within one step. The table is about the step after the "
     "last one; errors are relative, and include those of the tensors before.",
     exponents.draw, exponents.table),
)
#: Sections about the step that was recorded.
_STEP: tuple[Section, ...] = (
    ("Timeline", "When each engine was busy, core by core. Reduction and weights are arrivals: "
     "digits of gradients and new weights that are still to come.", timeline.draw, None),
    ("Roofline", "An operation is a multiply-accumulate, or an element that a vector unit "
     "produces. Work counts for the phase whose instruction was issued last, as cycles do.",
     roofline.draw, None),
    ("Utilisation", "Starved: waiting for data. Blocked: waiting for room behind. Idle: without "
     "an instruction, filling or emptying. The table has means over the cores.",
     engines.draw, engines.table),
    ("Links", "Each line is a link, in its sender's direction.", _draw_links, None),
)
_BOARDS: Section = (
    "Boards", "What the boards of the cluster would have done in the last step, by the cycle model "
    "and the cluster's links. Bars of a port are what it sends.",
    board_times.draw, board_times.table)
_MEMORY: Section = ("Memory map", "The same on every core.", memory.draw, memory.table)


def page(run: Run) -> str:
    """The page of a run.

    Parameters
    ----------
    run : Run
        What was kept. Without a chip, only what the reference knows is shown.
    """
    sections: list[Section] = [*_TRAINING] if run.epochs else []
    if run.phases:
        sections += [part for part in _STEP
                     if run.config.dimensions or part[2] is not _draw_links]
    if run.boards:
        sections.append(_BOARDS)
    if run.memory:
        sections.append(_MEMORY)
    title = f"Hypercast: {run.facts['data set']} on {run.facts['device']}"
    body = "".join(_section(run, number, *part) for number, part in enumerate(sections))
    return (f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
            f'<meta name="viewport" content="width=device-width"><title>{escape(title)}</title>'
            f"<style>{_STYLE}</style></head><body><h1>{escape(title)}</h1>"
            f'<div class="scroll">{summary.result(run)}</div>{body}'
            f"<section><h2>Settings</h2><p>What was trained, and on which chip.</p></section>"
            f'<div class="scroll beside">{summary.settings(run)}</div></body></html>\n')


def _section(run: Run, number: int, title: str, text: str, draw: Callable[[Run], Figure],
             table: Callable[[Run], str] | None) -> str:
    drawing = picture(draw, run, f"picture-{number}", title)
    rest = f'<div class="scroll">{table(run)}</div>' if table else ""
    return f"<section><h2>{escape(title)}</h2><p>{escape(text)}</p>{drawing}</section>{rest}"
