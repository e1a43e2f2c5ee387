# SPDX-License-Identifier: BSD-2-Clause
"""Benches: every claimed figure is the output of one of them."""

import importlib
from collections.abc import Callable
from pathlib import Path

from hypercast.benches.figure import Figure

__all__ = ["BENCHES", "SEEDED", "run"]

#: Name of each bench to the claim that it shows. A bench is a module of this package with a
#: function ``run``. The module has the same name, unless ``_MODULES`` gives another one.
BENCHES = {
    "accuracy": "accuracy of models, losses and samplers, next to float64",
    "area": "estimated area against synthesis, and area of one router, by open synthesis",
    "batches": "trainings on samples: features stay on the chip, lists come while a step runs",
    "bits": "whole trainings on the simulated chip, word for word equal to the reference",
    "board": "the bitstream of a ULX3S by open tools, what fits, and clocks of router and array",
    "boards": "several boards train together: the bits of one, kills, division, memory",
    "compiler": "speed and memory of the compiler, for a large graph and for sampled batches",
    "cora": "accuracy on Cora with 16- and 8-bit elements, and Cora on the simulated chip",
    "epochs": "an epoch on the reference: dense and sparse features; samples, and accuracy",
    "explore": "the configuration found for a VCU128 and Reddit, against the board's preset",
    "fuzz": "damaged inputs of all kinds: refused in one line, or what they say",
    "gpu": "epochs of large graphs on a CUDA device by PyTorch, beside predicted steps of a VCU128",
    "host": "mini-batches per second that the host makes, against the device's steps",
    "interchange": "weights to and from PyTorch Geometric: logits, accuracy, pace of an epoch",
    "ip": "exported chips in tools: lint, elaboration, FuseSoC's targets; time of an export",
    "link": "the serial link: a training through a pseudo-terminal, throughput, faults of the line",
    "model": "the cycle model against the simulated chip, on many small workloads",
    "mutants": "small mistakes put into hardware, reference and host, and found by tests",
    "noc": "efficiency, balance, fairness and scaling of the network under traffic",
    "paper": "steps on sampled batches of four large graphs, against HP-GNN; models on both sides",
    "plan": "the planner: schedules, searches, and systems that split a training side by side",
    "roofline": "training steps on the simulated chip, against their busiest resource; scaling",
    "scale": "steps and programs of large graphs by the cycle model, and the host's work for one",
    "shapes": "trainings of random shapes on random simulated chips, word for word",
    "sparse": "Cora's first layer on the simulated chip, word-sparse against dense",
    "staleness": "accuracy with old rows and weights, next to exact training, over seeds",
    "strips": "random trainings on graphs of many strips: words, the cycle model, the bound",
    "sim": "speed of the compiled simulation: against Amaranth's, threads, compiling, Cora",
}
#: Benches that are called like a command, to the name of their module.
_MODULES = {"boards": "several_boards", "model": "cycle_model", "plan": "planner"}
#: Benches that draw at random, with a seed.
SEEDED = ("fuzz", "mutants", "shapes", "strips")


def run(name: str, *, data: Path | None, progress: Callable[[str], None],
        seed: int | None = None) -> list[Figure]:
    """Run a bench.

    Parameters
    ----------
    name : str
        A key of ``BENCHES``.
    data : pathlib.Path or None
        Folder with the Planetoid files of Cora.
    progress : callable
        Called with a line of text now and then.
    seed : int, optional
        Seed of random draws; only for benches that are ``SEEDED``.

    Returns
    -------
    list of Figure
        The measurements.
    """
    module = importlib.import_module(f"{__name__}.{_MODULES.get(name, name)}")
    figures: list[Figure] = module.run(
        data=data, progress=progress, **({} if seed is None else {"seed": seed}))
    return figures
