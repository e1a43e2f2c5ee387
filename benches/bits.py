# SPDX-License-Identifier: BSD-2-Clause
"""Whole trainings on the simulated chip, equal to the reference in every word."""

import hashlib
import pickle
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from hypercast.benches.board_trainings import state_digest
from hypercast.benches.figure import Figure
from hypercast.benches.trainings import BenchTraining, compare_training
from hypercast.host.compiler.compiler import compile_job
from hypercast.host.compiler.job import Job
from hypercast.host.description.device import Device
from hypercast.host.files.reading.json_file import read_json
from hypercast.host.graphs.graph import Graph
from hypercast.host.runtime.alone_chip import AloneChip
from hypercast.host.training.prepare import open_device
from hypercast.host.training.trainer import Trainer
from hypercast.reference.array_types import IntArray
from hypercast.reference.tensor import Kind
from hypercast.rtl.config import PRESETS
from hypercast.rtl.placement import rows_of

__all__ = ["COMPILED", "VERILATED", "default_states", "run", "run_verilated"]

_DEMO = PRESETS["demo"]
#: A core by itself works on strips, and needs a longer program.
_BASE = _DEMO.replace(lanes=4, planes=4, program_rows=512)

#: Trainings under CXXRTL: both bundled graphs, and one graph over many configurations.
COMPILED = {
    "karate, demo preset": BenchTraining(dataset="karate", config=_DEMO, epochs=60),
    "blocks, demo preset": BenchTraining(dataset="blocks", config=_DEMO, epochs=60),
    "karate, Adam": BenchTraining(dataset="karate", config=_DEMO, epochs=20, optimiser="adam"),
    "karate, 8-bit elements": BenchTraining(
        dataset="karate", config=_DEMO.replace(element_width=8), epochs=20),
}
#: Configurations that must all give the same bits as each other.
SAME_BITS = {
    "dimensions 0, P = 4, 1 plane": _BASE.replace(dimensions=0, planes=1),
    "dimensions 2, P = 4, 4 planes, latency 100 with stalls": _BASE.replace(
        dimensions=2, memory_latency=100, memory_stalls=True),
    "dimensions 4, P = 4, 1 plane": _BASE.replace(planes=1),
    "dimensions 4, P = 4, 4 planes, 2 ejection ports": _BASE.replace(eject=2),
    "dimensions 2, P = 16, 1 plane": _BASE.replace(dimensions=2, lanes=16, planes=1),
    "dimensions 4, P = 16, 4 planes, latency 100 with stalls": _BASE.replace(
        lanes=16, memory_latency=100, memory_stalls=True),
}
#: Graphs that are trained by default options, on presets: simulated chips, and a chip that is too
#: large to be simulated.
DEFAULTS = ("karate", "blocks", "communities")
SIMULATED, REFERENCE = ("tiny", "test", "demo", "cora"), ("vcu128",)
_EPOCHS = 10
#: Least memory of a chip that is trained on.
_ROOM = {"weight_rows": 1024, "channel_words": 32768, "program_rows": 1024}
#: Trainings under cocotb with Verilator.
VERILATED = {
    "karate": BenchTraining(dataset="karate", config=_DEMO, epochs=30),
    "blocks": BenchTraining(dataset="blocks", config=_DEMO, epochs=10),
}


def _figures(name: str, words: Mapping[str, int], cycles: int) -> list[Figure]:
    return [
        Figure(name=f"{name}: words compared", value=words["words"]),
        Figure(name=f"{name}: equal", value=words["equal"], bar=words["words"], relation="="),
        Figure(name=f"{name}: training cycles", value=cycles, unit="cycles"),
    ]


def _compile(training: BenchTraining,
             progress: Callable[[str], None]) -> tuple[dict[str, int], dict[str, IntArray], int]:
    words, snapshot, cycles = compare_training(
        training, lambda model: open_device("rtl", model, training.config, progress=progress))
    return {"words": words.words, "equal": words.equal}, snapshot, cycles


def _words_of_tensors(job: Job) -> int:
    """Words that the tensors of one training step occupy, each stored once, over all cores."""
    config, total = job.config, 0
    for core in range(config.cores):
        rows = rows_of(core, job.vertices, config.cores)
        for region in job.regions.values():
            if region.tensor and region.tensor.kind == Kind.MASK:
                per_panel = -(-region.stride // config.mask_rows)
                total += region.words // per_panel * -(-rows // config.mask_rows)
        total += sum(job.regions[name].panels * rows for name in job.matrices)
        for weights in job.weights.values():
            total += len(range(core, weights.rows, config.cores)) * (
                weights.state_values * config.state_words)
    return total


def _writes(progress: Callable[[str], None]) -> Figure:
    """No transposed or other copy is written: only the tensors' words are."""
    training = COMPILED["blocks, demo preset"]
    model = training.model()
    device = open_device("rtl", model, training.config, progress=progress)
    assert isinstance(device, AloneChip)
    try:
        device.train_step()
        counters = device.counters
    finally:
        device.close()
    written = sum(counters["features_written"]) + sum(counters["gradients_written"])
    return Figure(name="blocks, demo preset: words written in a step, against those of its tensors",
                  value=written, unit="words", relation="=",
                  bar=_words_of_tensors(compile_job(training.model(), training.config)))


def _digest(snapshot: Mapping[str, IntArray]) -> str:
    digest = hashlib.sha256()
    for name in sorted(snapshot):
        digest.update(name.encode())
        digest.update(snapshot[name].astype("<i8").tobytes())
    return digest.hexdigest()


def default_states(dataset: str, epochs: int, presets: Mapping[str, str],
                   progress: Callable[[str], None]) -> dict[str, str]:
    """Digests of the results of a training by default options on some presets.

    Parameters
    ----------
    dataset : str
        A bundled data set.
    epochs : int
        Training steps.
    presets : dict
        Preset to the device's name.
    progress : callable
        Called with a line of text before each slow step.
    """
    graph, found = Graph.load(dataset), {}
    for preset, name in presets.items():
        config = PRESETS[preset]
        room = {field: max(least, getattr(config, field)) for field, least in _ROOM.items()}
        progress(f"{dataset} by default options, {preset}, {name}")
        with Trainer(graph, device=Device(name, preset=preset, **room), epochs=epochs,
                     progress=progress) as trainer:
            trainer.fit()
            found[f"{preset}, {name}"] = state_digest(trainer.target.state())
    return found


def _defaults(progress: Callable[[str], None]) -> Iterator[Figure]:
    """The same hash whatever chip a graph is trained on by default options, or the reference."""
    for dataset in DEFAULTS:
        states = default_states(dataset, _EPOCHS, dict.fromkeys(SIMULATED, "rtl"), progress)
        states |= default_states(dataset, _EPOCHS, dict.fromkeys(
            SIMULATED + REFERENCE, "reference"), progress)
        hashes = {*states.values()}
        yield Figure(
            name=f"{dataset} by default options, {_EPOCHS} epochs: hashes on {len(SIMULATED)} "
                 f"simulated chips, and by the reference for {len(SIMULATED + REFERENCE)}: "
                 f"{', '.join(sorted(one[:12] for one in hashes))}",
            value=len(hashes), bar=1, relation="=")


def run_verilated(training: BenchTraining) -> dict[str, Any]:
    """One training under cocotb with Verilator; returns a dictionary of words, equal, cycles."""
    from hypercast.rtl.chip import CORE_MODULE
    from hypercast.rtl.export.chip_conversion import to_verilog
    from hypercast.rtl.export.export_options import TOP_MODULE
    from hypercast.sim import cocotb_runner

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "training.pickle"
        path.write_bytes(pickle.dumps(training))
        cocotb_runner.run(
            "verilator", to_verilog(training.config), top=TOP_MODULE, block=CORE_MODULE,
            module="hypercast.benches.cocotb_training",
            environment={"HYPERCAST_TRAINING": str(path)})
        found: dict[str, Any] = read_json(path.with_suffix(".json"))
        return found


def run(data: Path | None, progress: Callable[[str], None]) -> list[Figure]:
    """The figures; ``data`` is not used, all graphs are bundled."""
    figures = []
    for name, training in COMPILED.items():
        progress(f"{name} under CXXRTL")
        words, _, cycles = _compile(training, progress)
        figures += _figures(f"{name}, {training.epochs} epochs, CXXRTL", words, cycles)
    figures.append(_writes(progress))
    digests = set()
    for name, config in SAME_BITS.items():
        progress(f"blocks, {name}")
        training = BenchTraining(dataset="blocks", config=config, epochs=5)
        words, snapshot, cycles = _compile(training, progress)
        figures += _figures(f"blocks, {training.epochs} epochs, {name}", words, cycles)
        digests.add(_digest(snapshot))
    figures.append(Figure(name=f"different results over these {len(SAME_BITS)} configurations",
                          value=len(digests), bar=1, relation="="))
    figures += _defaults(progress)
    for name, training in VERILATED.items():
        progress(f"{name} under cocotb with Verilator")
        result = run_verilated(training)
        figures += _figures(f"{name}, {training.epochs} epochs, cocotb with Verilator", result,
                            result["cycles"])
    return figures
