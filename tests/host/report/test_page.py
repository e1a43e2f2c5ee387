# SPDX-License-Identifier: BSD-2-Clause
"""A run is kept, read back, and drawn on a page that needs nothing else."""

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest

from hypercast import Graph, Trainer
from hypercast.host.compiler.compiler import compile_job
from hypercast.host.description.description import Description
from hypercast.host.description.device import Device
from hypercast.host.description.model import Model
from hypercast.host.report.folder import load_run
from hypercast.host.report.page import page
from hypercast.host.report.roofline import operations, traffic
from hypercast.host.report.timeline import coverage
from hypercast.host.runtime.reference_device import ReferenceDevice
from hypercast.host.runtime.timeline import profile
from hypercast.host.training.run_folder import RunError, RunFolder
from hypercast.rtl.config import Config
from hypercast.rtl.registers import COUNTERS
from tests.host.models import SMALL, small_model
from tests.host.runtime.test_timeline import FIRST, STEP, recording

FACTS = {"data set": "ring <of & vertices>", "device": "rtl", "features": [5, 4, 3]}


def record(epoch):
    return {"epoch": epoch, "training_loss": 1.5, "train_loss": 1.0, "validation_loss": 2.0,
            "test_loss": None, "train_accuracy": 0.5, "validation_accuracy": 0.25,
            "test_accuracy": None}


def keep(folder, config=SMALL, *, epochs=2, chip=True):
    """Keep a run of a small model; returns the profile of its step."""
    trained = small_model(config=config)
    job = compile_job(trained, config)
    kept = RunFolder(folder)
    kept.lock()
    kept.begin(Description(device=Device("reference", **config.to_dict())), FACTS,
               job if chip else None, [])
    device = ReferenceDevice(trained)
    for epoch in range(epochs):
        device.train_step()
        kept.epoch({**record(epoch), "saturations": device.saturations,
                    "exponents": device.exponents()})
    if not chip:
        return None
    timeline = recording(job)
    count = len(timeline.issued)
    counters = {name: [count, 3 * count][:config.cores] for name in COUNTERS}
    if config.cores == 1:
        mine = timeline.core == 0
        timeline = timeline._replace(
            cycle=timeline.cycle[mine], core=timeline.core[mine], busy=timeline.busy[mine],
            counters=timeline.counters[:, :1])
    found = profile(timeline, job, job.starts["train"], FIRST + STEP * count, counters)
    kept.step(2, found, config)
    return found


class Page(HTMLParser):
    """Collects headings, everything a page would load, and its SVGs."""

    def __init__(self, text):
        super().__init__()
        self.headings, self.loads, self._heading = [], [], False
        self.feed(text)
        self.svgs = [ElementTree.fromstring(svg) for svg in
                     re.findall(r"<svg.*?</svg>", text, flags=re.DOTALL)]

    def handle_starttag(self, tag, attributes):
        self._heading = tag == "h2"
        for name, value in attributes:
            if name in ("src", "href", "xlink:href", "action", "data"):
                self.loads.append(value)

    def handle_data(self, data):
        if self._heading:
            self.headings.append(data)
            self._heading = False


def test_what_is_kept_is_read_back(tmp_path):
    found = keep(tmp_path / "run")
    run = load_run(tmp_path / "run")
    assert run.facts == FACTS and run.config == SMALL
    assert (run.step, run.cycles) == (2, found.cycles)
    assert run.phases == found.phases
    assert np.array_equal(run.slices.start, found.slices.start)
    assert [run.phases[number].name for number in run.slices.instruction] == [
        found.instructions[number].phase for number in found.slices.instruction]
    assert [epoch["epoch"] for epoch in run.epochs] == [0, 1]
    assert run.epochs[0]["exponents"].keys() == ReferenceDevice(small_model()).exponents().keys()
    assert run.counters()["edges"] == np.sum(
        [phase.counters["edges"] for phase in found.phases], axis=0).tolist()


def test_memory_map_has_no_gaps(tmp_path):
    keep(tmp_path)
    for regions in load_run(tmp_path).memory.values():
        end = 0
        for _, address, words in regions:
            assert address == end and words > 0
            end = address + words


def test_page(tmp_path):
    keep(tmp_path)
    text = page(load_run(tmp_path))
    shown = Page(text)
    assert shown.headings == ["Loss and accuracy", "Exponents and saturations", "Timeline",
                              "Roofline", "Utilisation", "Links", "Memory map", "Settings"]
    assert len(shown.svgs) == len(shown.headings) - 1
    assert all(load.startswith(("#", "data:")) for load in shown.loads)
    assert not re.search(r"url\((?!#)|@import|<script", text)
    assert "ring &lt;of &amp; vertices&gt;" in text
    words = {element.text for svg in shown.svgs for element in svg.iter() if element.text}
    for label in ("epoch", "cross-entropy [nats]", "exponent", "cycle of the step",
                  "operations per word of memory traffic", "operations per cycle, chip",
                  "flits sent along the link", "word address", "core"):
        assert label in words, label
    ids = re.findall(r'\bid="([^"]*)"', text)
    assert len(ids) == len(set(ids))


def test_pages_are_repeatable(tmp_path):
    keep(tmp_path)
    run = load_run(tmp_path)
    assert page(run) == page(run)


def test_page_of_the_reference(tmp_path):
    keep(tmp_path, chip=False)
    assert Page(page(load_run(tmp_path))).headings == [
        "Loss and accuracy", "Exponents and saturations", "Settings"]


def test_page_of_one_core(tmp_path):
    config = Config(dimensions=0, lanes=2, planes=1, accumulator_rows=16, weight_rows=64,
                    channel_words=1024, program_rows=128, read_buffer=4, tensors=32)
    keep(tmp_path, config)
    headings = Page(page(load_run(tmp_path))).headings
    assert "Links" not in headings and "Utilisation" in headings


def test_page_of_a_run_that_was_stopped(tmp_path):
    keep(tmp_path, chip=False, epochs=0)
    assert Page(page(load_run(tmp_path))).headings == ["Settings"]


def test_a_new_run_replaces_the_old_one(tmp_path):
    keep(tmp_path)
    keep(tmp_path, chip=False, epochs=1)
    run = load_run(tmp_path)
    assert len(run.epochs) == 1 and run.slices is None and not run.memory


def test_folders_without_a_run(tmp_path):
    with pytest.raises(RunError, match="make one by hypercast train --run"):
        load_run(tmp_path)
    for name in ("epochs.jsonl", "run.json"):
        keep(tmp_path)
        (tmp_path / name).write_text("{\n")
        with pytest.raises(RunError, match=f"{name} cannot be read .* again"):
            load_run(tmp_path)


@pytest.mark.parametrize("name", ["step.json", "slices.npz"])
def test_files_that_a_report_can_do_without(tmp_path, name):
    keep(tmp_path)
    (tmp_path / name).write_text("{\n")
    with pytest.raises(RunError, match=rf"{name} cannot be read .* remove .*step\.json, and"):
        load_run(tmp_path)
    (tmp_path / "step.json").unlink()
    assert load_run(tmp_path).slices is None


def test_operations_and_traffic():
    counters = {name: [0, 0] for name in COUNTERS}
    counters |= {"array_words": [10, 20], "edges": [3, 0], "vector_words": [1, 1],
                 "features_read": [5, 5], "gradients_written": [0, 2]}
    assert operations(counters, Config(lanes=4)) == 30 * 16 + 3 * 4 + 2 * 4
    assert traffic(counters) == 12


def test_coverage():
    start, end = np.array([0, 12, 30]), np.array([5, 18, 40])
    assert np.allclose(coverage(start, end, 40, 4), [0.5, 0.6, 0, 1])
    assert np.allclose(coverage(start[:0], end[:0], 40, 4), 0)


@pytest.mark.parametrize(("name", "old", "new", "message"), [
    ("epochs.jsonl", '"W1.master"', '"X"', "epoch 1, exponents has not just|epoch 2, exponents"),
    ("epochs.jsonl", '"saturations": ', '"saturations": -1', "epoch 1, saturations is -1"),
    ("epochs.jsonl", '"train_loss": 1.0', '"train_loss": "a"', "epoch 1, train_loss is a, no num"),
    ("epochs.jsonl", '"train_loss": 1.0', '"train_loss": 1e308', "train_loss is 1e.308, no number"),
    ("epochs.jsonl", '"epoch": 1', '"epoch": 7', "epoch 2, epoch is 7, no whole number from 1"),
    ("epochs.jsonl", '"test_loss": null, ', "", "epoch 1 has not just"),
    ("epochs.jsonl", '{"epoch": 0', '3\n{"epoch": 0', "epoch 1 is 3, no dict"),
    ("epochs.jsonl", "{", "[" * 100_000 + "{", "recursion"),
    ("run.json", '"data set"', '"data"', "facts, data set is None, no str"),
    ("run.json", '"channel 0": [', '"channel 0": [3, ', "channel 0, entry 1 is 3, no list"),
    ("run.json", '"memory"', '"memories"', "the run has not just facts, config, memory"),
    ("step.json", '"cycles": ', '"cycles": 0.', "the step, cycles is 0"),
    ("step.json", '"counters": {', '"counters": {"x": [1], ', "counters has not just"),
    ("step.json", '"name": "', '"name": 3, "names": "', "entry 1 has not just name"),
    ("numbers.json", '"bits": 1', '"bits": -1', "the numbers, entry 1, bits is -1"),
])
def test_files_of_a_run_that_make_no_sense(tmp_path, name, old, new, message):
    keep(tmp_path)
    (tmp_path / "numbers.json").write_text(
        '[{"name": "W1", "exponent": 3, "largest": 1.5, "bits": 1, "saturations": 0, '
        '"error": null}]')
    load_run(tmp_path)
    path = tmp_path / name
    text = path.read_text()
    if "W1.master" in old:
        old = f'"{next(iter(load_run(tmp_path).epochs[0]["exponents"]))}"'
    assert old in text
    path.write_text(text.replace(old, new, 1))
    remedy = "again" if name in ("epochs.jsonl", "run.json") else "the report is without it"
    with pytest.raises(RunError, match=rf"{name} cannot be read \(.*({message}).* {remedy}$"):
        load_run(tmp_path)


def test_records_that_are_not_those_of_the_checkpoint(tmp_path):
    folder = tmp_path / "run"
    with Trainer(Graph.load("karate"), run=folder, epochs=2) as trainer:
        trainer.fit()
    load_run(folder)
    path = folder / "epochs.jsonl"
    path.write_text(path.read_text().replace('"saturations": 0', '"saturations": 1', 1))
    with pytest.raises(RunError, match=r"epochs\.jsonl has changed since"):
        load_run(folder)


def test_a_run_that_went_on_with_another_device(tmp_path):
    """Only epochs of chips have cycles, which are counted on."""
    graph, model = Graph.load("karate"), Model(hidden=(4,))
    counted = []
    for epochs, device in ((2, "rtl"), (3, "reference"), (5, "rtl")):
        with Trainer(graph, model, Device(device, preset="tiny"), run=tmp_path, epochs=epochs,
                     resume=True) as trainer:
            trainer.fit()
            counted.append([record.get("train_cycles") for record in trainer.history])
    *_, cycles = counted
    assert cycles[2] is None
    assert 0 < cycles[0] < cycles[1] < cycles[3] < cycles[4]
    run = load_run(tmp_path)
    assert [record.get("train_cycles") for record in run.epochs] == cycles
    assert "epoch" in page(run)


@pytest.mark.parametrize(("old", "new", "message"), [
    ('"train_cycles": ', '"train_cycles": -', "train_cycles is -"),
    ('"train_cycles": ', '"other": ', "has not just"),
])
def test_cycles_that_are_none(tmp_path, old, new, message):
    with Trainer(Graph.load("karate"), Model(hidden=(4,)), Device("rtl", preset="tiny"),
                 run=tmp_path, epochs=2) as trainer:
        trainer.fit()
    path = tmp_path / "epochs.jsonl"
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(RunError, match=rf"epochs.jsonl cannot be read \(.*{message}"):
        load_run(tmp_path)


def test_slices_that_are_not_the_steps(tmp_path):
    keep(tmp_path)
    with np.load(tmp_path / "slices.npz") as arrays:
        slices = dict(arrays)
    for name, values in {"core": slices["core"] + 99, "engine": slices["engine"] - 9,
                         "end": slices["end"][:-1], "instruction": slices["core"] * 0.5}.items():
        np.savez(tmp_path / "slices.npz", **{**slices, name: values})
        with pytest.raises(RunError, match=rf"slices\.npz cannot be read .*{name} "):
            load_run(tmp_path)
