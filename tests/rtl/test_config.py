# SPDX-License-Identifier: BSD-2-Clause
"""Config: what it refuses and how it says so, and the values derived from it."""

import dataclasses
import hashlib
import itertools
import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.rtl.config import PRESETS, Config, ConfigurationError

#: Field, a value it refuses, and what the message must name.
REFUSED = [
    ("dimensions", -1, "dimensions must be 0 to 6, not -1"),
    ("dimensions", 7, "dimensions must be 0 to 6, not 7"),
    ("lanes", 1, "lanes must be one of 2, 4, 8, 16, not 1"),
    ("lanes", 6, "lanes must be one of 2, 4, 8, 16, not 6"),
    ("lanes", 32, "lanes must be one of 2, 4, 8, 16, not 32"),
    ("planes", 0, "planes must be one of 1, 2, 4, not 0"),
    ("planes", 3, "planes must be one of 1, 2, 4, not 3"),
    ("eject", 3, "eject must be one of 1, 2, 4, not 3"),
    ("eject", 8, "eject must be one of 1, 2, 4, not 8"),
    ("buffer_depth", 1, "buffer_depth must be 2 to 16, not 1"),
    ("buffer_depth", 17, "buffer_depth must be 2 to 16, not 17"),
    ("element_width", 4, "element_width must be one of 8, 16, not 4"),
    ("element_width", 32, "element_width must be one of 8, 16, not 32"),
    ("accumulator_rows", 8, "accumulator_rows must be a power of two from 16 to 16384, not 8"),
    ("accumulator_rows", 48, "accumulator_rows must be a power of two from 16 to 16384, not 48"),
    ("aggregation_rows", 128,
     "aggregation_rows must be 0, for as many as accumulator_rows, or a power of two from 256 to "
     "16384, not 128"),
    ("aggregation_rows", 768, "aggregation_rows must be .* from 256 to 16384, not 768"),
    ("aggregation_rows", 32768, "aggregation_rows must be .* from 256 to 16384, not 32768"),
    ("weight_rows", 0, "weight_rows must be a power of two from 16 to 65536, not 0"),
    ("weight_rows", 131072, "weight_rows must be a power of two from 16 to 65536, not 131072"),
    ("channel_words", 32, "channel_words must be a power of two from 64 to 16777216, not 32"),
    ("channel_words", 1 << 25, "channel_words must be a power of two from 64 to 16777216, not 33"),
    ("operand_words", 8, "operand_words must be a power of two from 16 to 65536, not 8"),
    ("bypass_rows", 8, "bypass_rows must be a power of two from 16 to 65536, not 8"),
    ("operand_words", 1000, "operand_words must be a power of two from 16 to 65536, not 1000"),
    ("read_buffer", 2, "read_buffer must be a power of two from 4 to 256, not 2"),
    ("read_buffer", 12, "read_buffer must be a power of two from 4 to 256, not 12"),
    ("edge_buffer", 1, "edge_buffer must be one of 2, 4, 8, 16, 32, not 1"),
    ("program_rows", -16, "program_rows must be a power of two from 16 to 16384, not -16"),
    ("program_rows", 32768, "program_rows must be a power of two from 16 to 16384, not 32768"),
    ("tensors", 4, "tensors must be a power of two from 8 to 1024, not 4"),
    ("tensors", 2048, "tensors must be a power of two from 8 to 1024, not 2048"),
    ("row_counts", 8, "row_counts must be a power of two from 16 to 1024, not 8"),
    ("row_counts", 2048, "row_counts must be a power of two from 16 to 1024, not 2048"),
    ("memory_latency", 0, "memory_latency must be 1 to 1024, not 0"),
    ("memory_latency", 1025, "memory_latency must be 1 to 1024, not 1025"),
    ("adam", 1, "adam must be of type bool, not 1"),
    ("memory_stalls", 1, "memory_stalls must be of type bool, not 1"),
]

configs = st.builds(
    Config,
    dimensions=st.integers(0, 6), lanes=st.sampled_from((2, 4, 8, 16)),
    planes=st.just(4), eject=st.sampled_from((1, 2, 4)),
    element_width=st.sampled_from((8, 16)),
    accumulator_rows=st.integers(4, 10).map(lambda n: 1 << n),
    aggregation_rows=st.integers(10, 14).map(lambda n: 1 << n) | st.just(0),
    weight_rows=st.integers(4, 16).map(lambda n: 1 << n),
    channel_words=st.integers(6, 24).map(lambda n: 1 << n))


@pytest.mark.parametrize("field, value, message", REFUSED)
def test_refuses(field, value, message):
    with pytest.raises(ConfigurationError, match=f"^{message}"):
        Config(**{field: value})


def test_every_field_is_refused_something():
    assert {field for field, _, _ in REFUSED} == {
        field.name for field in dataclasses.fields(Config)}


@pytest.mark.parametrize("field", [field.name for field in dataclasses.fields(Config)])
@pytest.mark.parametrize("value", ["4", 4.0, None])
def test_refuses_other_types(field, value):
    with pytest.raises(ConfigurationError, match=f"^{field} must be of type (int|bool), not"):
        Config(**{field: value})


def test_a_number_is_not_true():
    with pytest.raises(ConfigurationError, match=r"^planes must be of type int, not True"):
        Config(planes=True)


@pytest.mark.parametrize("planes, eject", [(1, 2), (1, 4), (2, 4)])
def test_refuses_more_ejection_ports_than_planes(planes, eject):
    with pytest.raises(ConfigurationError, match=rf"eject must be at most planes \({planes}\)"):
        Config(planes=planes, eject=eject)


def test_replace_checks_again():
    with pytest.raises(ConfigurationError, match="lanes must be one of"):
        Config().replace(lanes=3)
    with pytest.raises(ConfigurationError, match=r"^cores is no configuration field; there are"):
        Config().replace(cores=4)


def test_aggregators_have_as_many_rows_as_the_array_unless_said():
    assert Config(accumulator_rows=64).replace(accumulator_rows=512).strip_rows == 512
    assert Config(accumulator_rows=64, aggregation_rows=128).strip_rows == 128


def test_replace_leaves_the_original():
    original = Config()
    assert original.replace(lanes=2) == dataclasses.replace(original, lanes=2) != original


@pytest.mark.parametrize(("field", "ends"), [
    ("dimensions", (0, 6)), ("lanes", (2, 4, 8, 16)), ("planes", (1, 2, 4)), ("eject", (1, 2, 4)),
    ("buffer_depth", (2, 16)), ("element_width", (8, 16)), ("accumulator_rows", (16, 1 << 14)),
    ("weight_rows", (16, 1 << 16)), ("channel_words", (64, 1 << 24)),
    ("operand_words", (16, 1 << 16)), ("bypass_rows", (16, 1 << 16)), ("read_buffer", (4, 256)),
    ("edge_buffer", (2, 4, 8, 16, 32)), ("program_rows", (16, 1 << 14)), ("tensors", (8, 1024)),
    ("row_counts", (16, 1024)), ("aggregation_rows", (0, 256, 1 << 14)),
    ("memory_latency", (1, 1024))])
def test_ends_of_ranges(field, ends):
    for value in ends:
        assert getattr(Config(**{field: value}), field) == value


def test_figures_are_of_these_presets():
    """The documents' figures were measured on these presets: measure again what has changed."""
    text = json.dumps({"": Config().to_dict(), **{
        name: config.to_dict() for name, config in PRESETS.items()}}, sort_keys=True)
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "1f846aca3e636588"


@pytest.mark.parametrize(("config", "derived"), [
    (Config(lanes=2, element_width=8, dimensions=0, accumulator_rows=32, weight_rows=16), {
        "word_width": 32, "data_width": 16, "chunks": 1, "digits": 5, "accumulator_width": 40,
        "reset_cycles": 65, "strip_rows": 32, "state_words": 2, "send_record_width": 32,
        "mask_rows": 16, "info_rows": 2, "index_width": 5, "skip_width": 29}),
    (Config(lanes=16, dimensions=5, channel_words=128), {
        "word_width": 256, "data_width": 256, "chunks": 8, "digits": 3, "accumulator_width": 48,
        "state_words": 2, "send_record_width": 64, "mask_rows": 16, "info_rows": 16,
        "index_width": 11, "address_width": 7, "streams": 128}),
    (Config(weight_rows=256, aggregation_rows=1024), {"reset_cycles": 2049, "strip_rows": 1024,
                                                     "index_width": 10}),
    (Config(dimensions=4), {"send_record_width": 32, "skip_width": 14}),
    (Config(dimensions=6), {"send_record_width": 128, "cores": 64, "skip_width": 62})])
def test_derived(config, derived):
    assert {name: getattr(config, name) for name in derived} == derived


def test_presets():
    assert {name: config.cores for name, config in PRESETS.items()} == {
        "tiny": 2, "test": 4, "demo": 16, "cora": 16, "vcu128": 16, "u50": 8,
        "ulx3s": 16, "de10-nano": 2, "kv260": 2}


@given(configs)
def test_derived_widths(config):
    assert config.cores == 2 ** config.dimensions
    assert config.data_width == config.lanes * config.element_width
    assert config.word_width >= config.data_width and config.word_width % 32 == 0
    assert config.chunks * 32 == config.word_width
    assert config.channel_bytes == 4 * config.chunks * config.channel_words
    assert config.accumulator_width == config.digits * config.element_width
    assert config.accumulator_width >= 2 * config.element_width
    assert config.state_words * config.word_width >= 32 * config.lanes
    assert config.streams == config.planes * config.cores
    assert config.send_record_width == config.cores + 2 + config.skip_width
    assert config.skip_width > 0
    for packed, bits in ((config.mask_rows, config.lanes), (config.info_rows, 16)):
        assert packed * bits == config.word_width
    assert config.strip_rows == max(config.aggregation_rows, config.accumulator_rows)
    assert 2 ** config.index_width == max(config.strip_rows, config.weight_rows)
    assert 2 ** config.address_width == config.channel_words


@given(configs, configs)
def test_hash_tells_configurations_apart(first, second):
    assert 0 <= first.hash < 1 << 32
    assert (first.hash == second.hash) == (first == second)
    assert Config(**first.to_dict()).hash == first.hash


def test_every_field_changes_the_hash():
    changes = {"dimensions": 3, "lanes": 8, "planes": 2, "eject": 2, "buffer_depth": 8,
               "element_width": 8, "accumulator_rows": 512, "aggregation_rows": 512,
               "weight_rows": 1024,
               "channel_words": 65536, "operand_words": 512, "bypass_rows": 256, "read_buffer": 64,
               "edge_buffer": 4, "program_rows": 256, "tensors": 32, "row_counts": 32,
               "adam": False, "memory_latency": 2, "memory_stalls": True}
    assert changes.keys() == Config().to_dict().keys()
    hashes = [Config().hash, *(Config().replace(**{name: value}).hash
                               for name, value in changes.items())]
    assert all(first != second for first, second in itertools.combinations(hashes, 2))


def test_hash_is_the_same_in_another_process():
    code = "from hypercast.rtl.config import Config; print(Config().hash)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                            check=True)
    assert int(result.stdout) == Config().hash


def test_scalars_of_numpy_are_plain_values():
    plain = PRESETS["vcu128"]
    scalars = {name: np.bool_(value) if isinstance(value, bool) else np.int64(value)
               for name, value in plain.to_dict().items()}
    assert Config(**scalars) == plain and Config(**scalars).hash == plain.hash
    assert {type(value) for value in Config(**scalars).to_dict().values()} == {bool, int}
