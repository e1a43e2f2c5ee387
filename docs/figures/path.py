# SPDX-License-Identifier: BSD-2-Clause
"""The path of a training, from the graph to the chip and back."""

from itertools import pairwise

from docs.figures.drawing import Box, Drawing

__all__ = ["draw"]

_LEFT, _BOX, _GAP, _HEIGHT = 30, 164, 18, 64
_RIGHT = 768


def draw() -> Drawing:
    """Packages from top to bottom, with files in them."""
    drawing = Drawing(800, 604, "From a graph to the chip: prepared, compiled, driven, and back")
    _, _, prepare, model, reference = first = _training(drawing)
    compiler = _package(drawing, 202, "host/compiler: compile_job", "compute", [
        ("messages", "messages.py", "send lists, edges"),
        ("memory map", "memory_map.py", "a place for each"),
        ("lowering", "emitter.py", "instructions"),
        ("order of issue", "schedule.py", "what waits for what")])
    runtime = _package(drawing, 356, "host/runtime", "control", [
        ("job", "compiler/job.py", "program, images"),
        ("driver", "driver.py", "load, run, read"),
        ("transport", "transport.py", "simulation, UART, PCIe"),
        ("chip", "rtl/chip.py", "trains")])
    kept = _package(drawing, 510, "host/training, host/report", "memory", [
        ("metrics", "run_folder.py", "a line per epoch"),
        ("checkpoint", "checkpoint.py", "weights, exponents"),
        ("timeline", "runtime/timeline.py", "of one step"),
        ("report", "report/page.py", "drawn from them")])
    for source in first[:2]:
        drawing.line((source.right, source.centre), (prepare.x, source.centre), end=True, width=2)
    for left, right, tone in (
            (prepare, model, "plain"), (model, reference, "plain"),
            *((left, right, "compute") for left, right in pairwise(compiler)),
            (runtime[0], runtime[1], "control")):
        drawing.line((left.right, left.centre), (right.x, left.centre), tone=tone, end=True,
                     width=2)
    for left, right in pairwise(runtime[1:]):
        drawing.line((left.right, left.centre), (right.x, left.centre), tone="control", start=True,
                     end=True, width=2)
    _down(drawing, model, compiler[0], "compute", 152)
    _down(drawing, compiler[-1], runtime[0], "control", 306)
    for target in kept[:3]:
        _down(drawing, runtime[1], target, "memory", 460)
    drawing.line((kept[2].right, kept[2].centre), (kept[3].x, kept[3].centre), tone="memory",
                 end=True, width=2)
    drawing.line((reference.right, reference.centre), (782, reference.centre),
                 (782, runtime[-1].centre), (runtime[-1].right, runtime[-1].centre), tone="result",
                 start=True, end=True, dashed=True, width=2)
    drawing.text(_RIGHT - 4, 318, "the same bits", size=11, anchor="end", muted=True)
    return drawing


def _training(drawing: Drawing) -> tuple[Box, ...]:
    """What a training is made of, up to the model in integers."""
    top = 48
    _frame(drawing, top, "host/graphs, host/training, reference", "plain")
    half = (_HEIGHT - 6) / 2
    graph, recipe = (
        drawing.box(_LEFT, top + (half + 6) * number, _BOX, half, (name,), size=13, source=source)
        for number, (name, source) in enumerate((
            ("graph", "host/graphs/graph.py"), ("model, recipe", "reference/recipe.py"))))
    return graph, recipe, *_boxes(drawing, top, "plain", [
        ("prepare", "prepare.py", "ranks, integers"),
        ("integer model", "initial_model.py", "first exponents"),
        ("NumPy reference", "fixed_gnn.py", "trains")], 1)


def _down(drawing: Drawing, source: Box, target: Box, tone: str, middle: float) -> None:
    """An arrow from the bottom of a box to the top of one in the next package."""
    drawing.line((source.middle, source.bottom), (source.middle, middle), (target.middle, middle),
                 (target.middle, target.y), tone=tone, end=True, width=2)


def _frame(drawing: Drawing, y: float, name: str, tone: str) -> None:
    drawing.box(16, y - 30, _RIGHT - 16, _HEIGHT + 44, dashed=True, tone=tone, radius=8)
    drawing.text(_RIGHT - 14, y - 11, name, bold=True, size=12, anchor="end")


def _package(drawing: Drawing, y: float, name: str, tone: str,
             boxes: list[tuple[str, str, str]]) -> list[Box]:
    """A package, and files in it: what they are called, where, and what for."""
    _frame(drawing, y, name, tone)
    return _boxes(drawing, y, tone, boxes)


def _boxes(drawing: Drawing, y: float, tone: str, boxes: list[tuple[str, str, str]],
           first: int = 0) -> list[Box]:
    return [drawing.box(_LEFT + (_BOX + _GAP) * number, y, _BOX, _HEIGHT, lines, tone=tone, size=13)
            for number, lines in enumerate(boxes, first)]
