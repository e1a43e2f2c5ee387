# SPDX-License-Identifier: BSD-2-Clause
"""Images: what a driver finds in the file is what the driver in Python loads."""

import numpy as np
import pytest

from hypercast.host.compiler.assembly import updates_at
from hypercast.host.compiler.compiler import compile_job
from hypercast.host.runtime.driver import Driver
from hypercast.host.runtime.image import BLOCK, HEADER, MAGIC, NO_ENTRY, PARAMETER, write_image
from hypercast.reference.fixed_gnn import FixedGnn
from hypercast.rtl.config import INTERFACE_VERSION
from hypercast.rtl.isa import INSTRUCTION_WORDS
from hypercast.rtl.registers import Space, register
from tests.host.models import SMALL, named_model, small_model
from tests.host.runtime.fake_chip import FakeChip

RECIPE = {"seed": 77, "schedule": ((2, 0.5), (4, 0.25))}
MODEL = small_model(**RECIPE)
JOB = compile_job(MODEL, SMALL)
#: Rates that make gradients grow.
_LARGE = {"learning_rates": (300.0,), "bias_learning_rates": (300.0,)}


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    path = tmp_path_factory.mktemp("image") / "job.image"
    write_image(path, JOB, small_model(**RECIPE))
    return contents(path)


def contents(path):
    """Header and parameters as dictionaries, blocks as (fields, words) pairs."""
    words = list(np.fromfile(path, dtype="<u4"))

    def take(names):
        return dict(zip(names, [int(words.pop(0)) for _ in names], strict=True))

    header = take(HEADER)
    parameters = [take(PARAMETER) for _ in range(header["parameters"])]
    blocks = []
    for _ in range(header["blocks"]):
        fields = take(BLOCK)
        blocks.append((fields, [int(words.pop(0)) for _ in range(fields["count"])]))
    assert not words
    return header, parameters, blocks


def test_header(image):
    header, _, _ = image
    assert header["magic"] == MAGIC == int.from_bytes(b"HCIM", "big")
    assert (header["version"], header["config_hash"]) == (INTERFACE_VERSION, SMALL.hash)
    assert (header["step_key"], header["steps"]) == (77, 5)
    assert {name: header[name] for name in ("load", "train", "evaluate")} == {
        name: JOB.starts.get(name, NO_ENTRY) for name in ("load", "train", "evaluate")}


def test_parameters(image):
    _, parameters, _ = image
    assert parameters == [
        {"tensor": JOB.tensors[name], "rows": weights.shape[0], "columns": weights.shape[1],
         "base": weights.base, "height": weights.height} for name, weights in JOB.weights.items()]


@pytest.mark.parametrize(("name", "additions"), [
    ("sage", {}), ("gcn", {"hidden": (4, 4), "residual": True}),
    ("gcn", {"hidden": (4, 4), "jumping": True})])
def test_parameters_that_share_an_exponent(tmp_path, name, additions):
    """They have one entry of the exponent file, so one tensor number."""
    config = SMALL.replace(tensors=64, channel_words=4096, weight_rows=128, program_rows=512)
    model = named_model(name, config=config, **additions)
    job = compile_job(model, config)
    write_image(tmp_path / "image", job, model)
    _, parameters, _ = contents(tmp_path / "image")
    numbers = dict(zip(job.weights, (fields["tensor"] for fields in parameters), strict=True))
    entry_of = model.network.exponent_entry
    assert numbers == {name: job.tensors[entry_of(name)] for name in job.weights}
    assert len(set(numbers.values())) < len(numbers)


def test_first_blocks_are_what_the_driver_loads(image):
    chip, expected = FakeChip(SMALL), FakeChip(SMALL)
    Driver(expected, SMALL).load(JOB)
    for fields, words in image[2]:
        if fields["step"] == 0:
            chip["core"], chip["space"] = fields["core"], fields["space"]
            chip["address"] = fields["address"]
            for word in words:
                chip.write(register("data"), word)
    assert chip.window == expected.window


def test_later_blocks_are_the_changes_of_the_learning_rate(image):
    steps = [fields["step"] for fields, _ in image[2]]
    assert steps == sorted(steps)
    for step in range(1, 5):
        assert instructions(image, step) == (
            dict(updates_at(JOB, MODEL.rules(), step)) if step in (2, 4) else {})


def test_exponents_of_the_second_step_are_raised(tmp_path):
    model = small_model(optimiser="adam", learning_rates=(0.5,), bias_learning_rates=(0.5,))
    job = compile_job(model, SMALL)
    write_image(tmp_path / "image", job, model)
    rules = trained_rules(model)
    assert rules.raised
    written = {(fields["step"], address): word
               for fields, words in contents(tmp_path / "image")[2]
               if fields["space"] == Space.TENSORS and fields["step"]
               for address, word in enumerate(words, fields["address"])}
    assert written == {
        (1, job.tensors[name]): exponent & 0xFF for name, exponent in rules.raised.items()}


def trained_rules(model):
    """The rules of the second step."""
    oracle = FixedGnn(model)
    oracle.train_step()
    oracle.train_step()
    return oracle.rules


def test_constants_follow_gradients(tmp_path):
    """The program of each step is what a chip's driver would make it from the last step."""
    model = small_model(**_LARGE)
    job = compile_job(model, SMALL)
    write_image(tmp_path / "image", job, model)
    image = contents(tmp_path / "image")
    oracle, program, raised = FixedGnn(model), {}, 0
    for step in range(5):
        oracle.train_step()
        raised += len(oracle.rules.momentum_exponents.raised)
        program |= instructions(image, step)
        assert program.items() >= dict(updates_at(job, oracle.rules, step)).items()
    assert raised


def instructions(image, step):
    """Program row to instruction, of the blocks before a step."""
    return {fields["address"] // 16: sum(word << 32 * i for i, word in enumerate(words))
            for fields, words in image[2]
            if fields["step"] == step and fields["space"] == Space.PROGRAM
            and fields["count"] == INSTRUCTION_WORDS}
