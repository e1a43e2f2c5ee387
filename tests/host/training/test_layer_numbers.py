# SPDX-License-Identifier: BSD-2-Clause
"""Numbers for layers that there are not are refused, with the file and the line if there is one."""

import pytest

from hypercast.host.description.conversion import DescriptionError
from hypercast.host.description.description import load_description
from hypercast.host.description.sampling import Sampling
from hypercast.host.training.layer_numbers import check_layer_numbers
from hypercast.host.training.trainer import Trainer
from hypercast.reference.network import Network
from hypercast.reference.recipe import Recipe


@pytest.mark.parametrize(("recipe", "sampling", "message"), [
    ({"learning_rates": (1.0, 2.0, 3.0)}, {}, r"^\[recipe\] learning_rate has 3 numbers, but the "
     r"network has 2 layers; give"),
    ({"weight_decays": (0.1, 0.2, 0.3)}, {}, r"\[recipe\] weight_decay has 3"),
    ({}, {"sampler": "neighbours", "fan_outs": (1, 2, 3)}, r"\[sampling\] fan_outs has 3 numbers, "
     r"but the network has 2 convolutions"),
])
def test_numbers_that_are_left_over(recipe, sampling, message):
    network = Network.of_widths([4, 3, 2])
    with pytest.raises(DescriptionError, match=message):
        check_layer_numbers(network, Recipe(**recipe), Sampling(**sampling))
    deeper = Network.of_widths([4, 3, 3, 2])
    check_layer_numbers(deeper, Recipe(**recipe), Sampling(**sampling))


def test_the_file_is_named_unless_its_value_was_changed(tmp_path):
    path = tmp_path / "training.toml"
    path.write_text('[graph]\nsource = "karate"\n[recipe]\nepochs = 1\nweight_decay = [1, 2, 3]\n')
    with pytest.raises(DescriptionError, match=rf"^{path}, line 5: \[recipe\] weight_decay has 3"):
        Trainer.of_description(load_description(path))
    with pytest.raises(DescriptionError, match=r"^\[recipe\] weight_decay has 4"):
        Trainer.of_description(load_description(
            path, {"recipe": {"weight_decay": (1.0, 2.0, 3.0, 4.0)}}))
