# SPDX-License-Identifier: BSD-2-Clause
"""Checkpoints: read back as they were written, or refused in one line."""

import json
import os
import random

import numpy as np
import pytest
from safetensors.numpy import load, save

from hypercast.host.training.checkpoint import CheckpointError
from hypercast.host.training.checkpoint_file import _digest, load_checkpoint, save_checkpoint
from tests.host.runtime.test_state_transfer import assert_equal
from tests.host.training.test_checkpoint import kept


@pytest.fixture
def path(tmp_path):
    return tmp_path / "c.safetensors"


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    """The file of a checkpoint of an early-stopping training."""
    path = tmp_path_factory.mktemp("checkpoint") / "c.safetensors"
    save_checkpoint(path, kept(3, best=1))
    return path.read_bytes()


def refusal(path, content=None):
    """The message with which a file, or other contents of it, are refused: one line."""
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(CheckpointError) as refused:
        load_checkpoint(path)
    message = str(refused.value)
    assert message.startswith(str(path)) and "\n" not in message, message
    assert message.endswith("; put back a copy of it, or delete it and train again"), message
    return message


@pytest.mark.parametrize("best", [None, 1])
def test_what_is_written_is_read_back(tmp_path, path, best):
    written = kept(3, best)
    save_checkpoint(path, written)
    found = load_checkpoint(path)
    assert found.identity == written.identity and found.records == written.records
    assert_equal(written.state, found.state)
    assert found.state.momentum_exponents == written.state.momentum_exponents
    if best:
        assert_equal(written.best, found.best)
    else:
        assert found.best is None
    assert list(tmp_path.iterdir()) == [path]


def test_the_same_checkpoint_is_the_same_file(path, content):
    for _ in range(8):  # the writer's own order of names is random
        save_checkpoint(path, kept(3, best=1))
        assert path.read_bytes() == content


def test_a_write_that_fails_leaves_the_old_one(path, monkeypatch):
    save_checkpoint(path, kept(2))

    def fail(descriptor):
        raise OSError("the disk is full")
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="full"):
        save_checkpoint(path, kept(3))
    assert load_checkpoint(path).state.step == 2


def test_a_value_that_does_not_fit_is_not_written(path):
    checkpoint = kept(1)
    checkpoint.state.parameters["W1"]["momentum"][0, 0] = 1 << 31
    with pytest.raises(ValueError, match=r"W1\.momentum does not fit 32 bits"):
        save_checkpoint(path, checkpoint)
    assert not path.exists()


def test_any_bit_that_flips_is_found(path, content):
    """About 700 of them, in every part of the file."""
    generator = random.Random(1)
    for bit in range(generator.randrange(97), 8 * len(content), 8 * len(content) // 700):
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << bit % 8
        refusal(path, flipped)


@pytest.mark.slow
def test_every_bit_that_flips_is_found(path, content):
    for bit in range(8 * len(content)):
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << bit % 8
        refusal(path, flipped)


def test_a_file_of_another_length_is_refused(path, content):
    for length in {*range(0, len(content), 37), *range(12), len(content) - 1}:
        refusal(path, content[:length])
    refusal(path, content + b"\0")
    refusal(path, content * 2)


def parts(content):
    """Everything in the metadata, and the tensors."""
    length = int.from_bytes(content[:8], "little")
    return (json.loads(json.loads(content[8:8 + length])["__metadata__"]["hypercast"]),
            load(content))


def signed(facts, tensors):
    """A file whose SHA-256 is right."""
    text = json.dumps(facts)
    return save(tensors, {"hypercast": text, "sha256": _digest(text, tensors)})


def test_what_is_signed_again_is_the_same(path, content):
    path.write_bytes(signed(*parts(content)))
    assert load_checkpoint(path).best.step == 1


def test_a_tensor_under_another_name_is_found(path, content):
    facts, tensors = parts(content)
    digest = _digest(json.dumps(facts), tensors)
    for one, other in (("W1.master", "W1.momentum"), ("best/W1.master", "W1.master")):
        swapped = {**tensors, one: tensors[other], other: tensors[one]}
        assert "its SHA-256 is of other contents" in refusal(path, save(
            swapped, {"hypercast": json.dumps(facts), "sha256": digest}))


@pytest.mark.parametrize("kind", [np.int64, np.float32, np.uint32, np.int8, np.bool_])
def test_other_types_are_refused(path, content, kind):
    facts, tensors = parts(content)
    tensors["W1.master"] = tensors["W1.master"].astype(kind)
    assert "tensor W1.master is not I32" in refusal(path, signed(facts, tensors))


@pytest.mark.parametrize(("where", "value", "message"), [
    (["identity"], [], "identity is [], no dictionary"),
    (["identity"], None, "the metadata has records, states instead of identity, records, states"),
    (["records"], 3, "records is no text"),
    (["states"], {}, "its states are not the last and the best one"),
    (["states", "best/"], None, "there are tensors of the best epoch, but no step"),
    (["states", ""], "x", "state '' is 'x', no dictionary"),
    (["states", "", "seed"], 3, "state '' has exponents, momentum_exponents, seed, step instead"),
    (["states", "", "step"], -1, "step is -1, no whole number from 0 to 4294967295"),
    (["states", "", "step"], 1.0, "step is 1.0, no whole number"),
    (["states", "", "step"], True, "step is True, no whole number"),
    (["states", "", "step"], 1 << 32, "step is 4294967296, no whole number"),
    (["states", "best/", "step"], 4, "the best epoch is 4 of 3"),
    (["states", "best/", "step"], 0, "the best epoch is 0 of 3"),
    (["states", "", "exponents"], [1], "exponents is [1], no dictionary"),
    (["states", "", "exponents", "W1"], 3, "exponent of W1 is 3, not exponent and peak"),
    (["states", "", "exponents", "W1"], [1, 2, 3], "is [1, 2, 3], not exponent and peak"),
    (["states", "", "exponents", "W1"], [128, 2], "W1 is 128, no whole number from -128 to 127"),
    (["states", "best/", "exponents", "W1"], [1, "2"], "best/peak of W1 is '2', no whole number"),
    (["states", "", "exponents", "V1"], [1, 2], "V1 is no tensor of a training"),
    (["states", "", "momentum_exponents", "V1"], 1, "V1 is no tensor of a training"),
    (["states", "", "momentum_exponents", "W1"], "1", "momentum exponent of W1 is '1', no whole"),
])
def test_what_makes_no_sense_is_refused_whatever_its_digest(path, content, where, value, message):
    facts, tensors = parts(content)
    *folders, name = where
    section = facts
    for folder in folders:
        section = section[folder]
    if value is None:
        del section[name]
    else:
        section[name] = value
    assert message in refusal(path, signed(facts, tensors))


@pytest.mark.parametrize(("name", "message"), [
    ("W1", "tensor W1 is none of master, momentum, second_moment"),
    ("W1.velocity", "tensor W1.velocity is none of master"),
    ("W1.second_moment", "tensor W1.second_moment is negative"),
    ("V1.master", "V1 is no tensor of a training"),
])
def test_other_tensors_are_refused(path, content, name, message):
    facts, tensors = parts(content)
    tensors[name] = np.array([-1], dtype=np.int32)
    assert message in refusal(path, signed(facts, tensors))


@pytest.mark.parametrize("content", [
    b"", b"no safetensors", b"\x02\0\0\0\0\0\0\0{}", b"\x02\0\0\0\0\0\0\0[]", b"\xff" * 16,
    (100_000).to_bytes(8, "little") + b"[" * 100_000])
def test_what_is_no_checkpoint(path, content):
    assert "damaged or no checkpoint" in refusal(path, content)


def test_what_is_no_file(tmp_path, path):
    with pytest.raises(CheckpointError, match="does not exist; hypercast train --run FOLDER"):
        load_checkpoint(path)
    assert "is a folder, not a regular file" in refusal(tmp_path)
    os.mkfifo(path)
    assert "is a FIFO, not a regular file" in refusal(path)
