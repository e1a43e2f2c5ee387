# SPDX-License-Identifier: BSD-2-Clause
"""Descriptions: what a file says, what is refused, and where."""

import math
import pickle
import re
from dataclasses import fields
from pathlib import Path

import pytest

from hypercast.host.description.conversion import DescriptionError, Name, check
from hypercast.host.description.description import Description, load_description
from hypercast.host.description.device import Device
from hypercast.host.description.model import Model
from hypercast.host.description.sampling import SAMPLERS, SAMPLING_DEFAULTS, Sampling
from hypercast.host.description.source import Source
from hypercast.host.description.stopping import Stopping
from hypercast.host.graphs.graph import Graph
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST, LINEAR
from hypercast.rtl.config import PRESETS

FILE = """\
[graph]
source = "karate"
split = [60, 20, 20]
split_seed = 4

[model]  # three layers
hidden = [8, 4]
dropout = 0

[recipe]
epochs = 12
learning_rate = [0.1, 0.2]
schedule = [[5, 0.5]]

[device]
preset = "tiny"
lanes = 4

[stopping]
patience = 3
"""


def load(tmp_path, text, **changes):
    path = tmp_path / "training.toml"
    path.write_text(text)
    return load_description(path, changes)


def test_a_file(tmp_path):
    found = load(tmp_path, FILE)
    assert found.graph == Source(source="karate", split=(60.0, 20.0, 20.0), split_seed=4)
    assert found.model == Model(hidden=(8, 4), dropout=(0.0,))
    assert (found.recipe.epochs, found.recipe.learning_rates) == (12, (0.1, 0.2))
    assert found.recipe.schedule == ((5, 0.5),)
    assert found.recipe.element_width == found.device.config.element_width
    assert found.device.config == PRESETS["tiny"].replace(lanes=4)
    assert (found.stopping.patience, found.stopping.monitor) == (3, "validation_loss")


def test_what_is_saved_is_loaded(tmp_path):
    found = load(tmp_path, FILE)
    (tmp_path / "copy.toml").write_text(found.text())
    assert load_description(tmp_path / "copy.toml").sections() == found.sections()


def test_changes_count_more(tmp_path):
    found = load(tmp_path, FILE, recipe={"epochs": 2}, device={"name": "rtl", "elements": 8})
    assert (found.recipe.epochs, found.recipe.element_width) == (2, 8)
    assert found.device.config == PRESETS["tiny"].replace(lanes=4, element_width=8)
    assert found.recipe.learning_rates == (0.1, 0.2)


def test_paths_are_relative_to_the_file(tmp_path):
    found = load(tmp_path, '[graph]\nsource = "data/cora"\n')
    assert found.graph.source == str(tmp_path / "data" / "cora")


@pytest.mark.parametrize(("old", "new", "message"), [
    ("hidden =", "hiden =", r"training\.toml, line 7: \[model\] has no hiden; did you mean hidden"),
    ("[stopping]", "[stoping]", r"line 19: there is no section \[stoping\]; did you mean \[stopp"),
    ("lanes = 4", "colour = 4", r"line 17: \[device\] has no colour; there are name, preset"),
    ("lanes = 4", "lanes = 5", r"line 15: \[device\] lanes must be one of 2, 4, 8, 16, not 5"),
    ("epochs = 12", 'epochs = "12"', r"line 11: \[recipe\] epochs must be a whole number"),
    ("epochs = 12", "epochs = true", r"line 11: .* must be a whole number, not True"),
    ("[[5, 0.5]]", "[5]", r"line 13: \[recipe\] schedule must be a list of 2"),
    ("dropout = 0", "dropout = []", r"line 8: \[model\] dropout must not be empty"),
    ("[8, 4]", "[8, 4]\nlayers = 2", r"line 7: \[model\] hidden has 2 numbers, but"),
    ('"tiny"', '"huge"', r"line 16: \[device\] preset must be one of tiny, .*, not 'huge'"),
    ("20, 20]", "20, 30]", r"line 3: \[graph\] split must be three percentages that sum up to 100"),
    ("patience = 3", "patience = 0", r"line 20: \[stopping\] patience must be at least 1, not 0"),
    ('source = "karate"', "", r"line 1: \[graph\] needs source"),
    ("learning_rate = [0.1, 0.2]", "learning_rate = -1", r"line 12: \[recipe\] learning_rate"),
    ("[graph]", "[graph", r"training\.toml: .*line 1"),
    ("[graph]", "model = 3\n[graph]", r"model must be a section \[model\]"),
])
def test_refusals(tmp_path, old, new, message):
    assert old in FILE
    text = FILE.replace("[model]  # three layers", "") if "model = 3" in new else FILE
    with pytest.raises(DescriptionError, match=message):
        load(tmp_path, text.replace(old, new))


@pytest.mark.parametrize("section", ["graph]\nsource", "graph]\nsource='karate'\n[model]\nweights"])
def test_a_link_to_itself_is_a_path_like_others(tmp_path, section):
    (tmp_path / "own").symlink_to("own")
    found = load(tmp_path, f"[{section} = 'own'\n")
    assert str(tmp_path / "own") in (found.graph.source, found.model.weights)


def test_a_change_is_not_blamed_on_the_file(tmp_path):
    with pytest.raises(DescriptionError, match=r"^\[stopping\] patience must be at least 1"):
        load(tmp_path, FILE, stopping={"patience": -1})


@pytest.mark.parametrize(("model", "widths"), [
    (Model(), [34, 16, 2]),
    (Model(hidden=5), [34, 5, 2]),
    (Model(layers=1), [34, 2]),
    (Model(hidden=()), [34, 2]),
    (Model(layers=4, hidden=5), [34, 5, 5, 5, 2]),
    (Model(layers=3, hidden=(7, 6)), [34, 7, 6, 2]),
    (Model("sage", hidden=7, jumping=True), [34, 7, 2]),
    (Model(layers=2, hidden=7, jumping=True), [34, 7, 7, 2]),
    (Model("gin", hidden=7), [34, 7, 7, 2, 2]),
    (Model("gcnii", hidden=7), [34, 7, 7, 2]),
    (Model("gcnii", layers=3, hidden=7), [34, 7, 7, 7, 7, 2]),
    (Model("mixhop", layers=4, hidden=7), [34, 7, 7, 7, 7, 7, 2]),
    (Model("mixhop", hidden=(7, 5, 6)), [34, 7, 5, 6, 2]),
    (Model("sign", layers=3, hidden=7), [34, 7, 7, 7, 7, 2]),
    (Model("sign", hidden=(7, 5)), [34, 7, 5, 2]),
])
def test_widths(model, widths):
    layers = model.network(Graph.load("karate")).layers
    assert [34, *(layer.features_out for layer in layers)] == widths


def test_dropout_and_order_of_each_layer():
    layers = Model(layers=3, dropout=(0, 0.25), order=AGGREGATE_FIRST).network(
        Graph.load("karate")).layers
    assert [layer.dropout for layer in layers] == [0, 0.25, 0.25]
    assert {layer.order for layer in layers} == {AGGREGATE_FIRST}


def test_orders_of_each_layer():
    """One for each layer, of those that it can have; or one for all that can have it."""
    graph = Graph.load("karate")
    given = (AGGREGATE_FIRST, LINEAR, COMBINE_FIRST, LINEAR)
    for order, expected in (given, given), (AGGREGATE_FIRST, (AGGREGATE_FIRST, LINEAR) * 2):
        model = Model("gin", order=order, dropout=0)
        assert not model.chosen
        assert tuple(layer.order for layer in model.network(graph).layers) == expected
    for order, message in (
            (given[:3], "order has 3 values, but the network has 4 layers"),
            ((LINEAR, LINEAR, COMBINE_FIRST, LINEAR), "order of layer 1 must be combine_first or"),
            ((*given[:3], COMBINE_FIRST), "order of layer 4 must be linear, not combine_first")):
        with pytest.raises(DescriptionError, match=message) as error:
            Model("gin", order=order).network(graph)
        assert (error.value.section, error.value.key) == ("model", "order")
    for order in ((), "auto2", ("auto", "auto"), "linear"):
        with pytest.raises(DescriptionError, match=r"\[model\] order (is empty|must be one of)"):
            Model(order=order)


def test_orders_that_are_chosen():
    for order, chosen, fastest in (("auto", True, False), ("fastest", True, True),
                                   (COMBINE_FIRST, False, False)):
        assert (Model(order=order).chosen, Model(order=order).fastest) == (chosen, fastest)
    assert Model() == Model(order="auto")


@pytest.mark.parametrize(("rate", "taken"), [
    (0, True), (0.999, True), (1, False), (-1e-9, False), (float("nan"), False)])
def test_rates_of_dropout(rate, taken):
    if taken:
        assert Model(dropout=rate).dropout == (rate,)
    else:
        with pytest.raises(DescriptionError, match="dropout must be at least 0 and below 1"):
            Model(dropout=(0.5, rate))


def test_dropout_is_that_of_convolutions():
    """The second linear layer of GIN has none; what ends jumping knowledge has that of the last."""
    layers = Model("gin", hidden=(4, 3), dropout=(0.25, 0.5), jumping=True).network(
        Graph.load("karate")).layers
    assert [layer.dropout for layer in layers] == [0.25, 0, 0.5, 0, 0.5]
    assert [layer.order for layer in layers][1::2] == [LINEAR, LINEAR]


def test_gcnii_takes_its_shares_and_no_others_do():
    layers = Model("gcnii", layers=2, hidden=5, alpha=0.2, theta=0.7, dropout=0.5).network(
        Graph.load("karate")).layers
    assert [layer.alpha for layer in layers] == [0, 0.2, 0.2, 0]
    assert [layer.beta for layer in layers] == [1, math.log(1.7), math.log(1.35), 1]
    assert [layer.dropout for layer in layers] == [0.5] * 4
    layers = Model("gcnii", hidden=5).network(Graph.load("karate")).layers
    assert (layers[1].alpha, layers[1].beta) == (0.1, math.log(1.5))


@pytest.mark.parametrize(("changes", "key", "message"), [
    ({"name": "gcn", "alpha": 0.1}, "alpha", "alpha is of gcnii, not of gcn"),
    ({"name": "gin", "theta": 0.1}, "theta", "theta is of gcnii, not of gin"),
    ({"alpha": 0}, "alpha", "alpha must be above 0 and below 1, not 0"),
    ({"alpha": 1}, "alpha", "alpha must be above 0 and below 1, not 1"),
    ({"alpha": float("nan")}, "alpha", "alpha"),
    ({"theta": 0}, "theta", "theta must be above 0 and at most 1.718, not 0"),
    ({"theta": 1.8}, "theta", "theta must be above 0 and at most 1.718, not 1.8"),
    ({"residual": True}, "residual", "has an initial residual; leave residual out"),
    ({"jumping": True}, "jumping", "has an initial residual; leave jumping out"),
    ({"hidden": [4, 5]}, "hidden", "one number for gcnii"),
    ({"hidden": []}, "hidden", "one number for gcnii"),
])
def test_what_gcnii_does_not_take_is_refused(changes, key, message):
    with pytest.raises(DescriptionError, match=re.escape(message)) as error:
        Model(**{"name": "gcnii", **changes})
    assert error.value.key == key


@pytest.mark.parametrize(("changes", "key", "message"), [
    ({}, "hidden", "mixhop has a first layer and branches; give 3 numbers"),
    ({"layers": 2}, "hidden", "give 3 numbers or more"),
    ({"hidden": [4, 5]}, "hidden", "not [4, 5]"),
    ({"layers": 4, "hidden": [4, 5]}, "hidden", "4 layers have 4 hidden ones"),
    ({"layers": 3, "residual": True}, "residual", "mixhop has branches; leave residual out"),
    ({"layers": 3, "jumping": True}, "jumping", "mixhop has branches; leave jumping out"),
    ({"layers": 3, "alpha": 0.1}, "alpha", "alpha is of gcnii, not of mixhop"),
])
def test_what_mixhop_does_not_take_is_refused(changes, key, message):
    with pytest.raises(DescriptionError, match=re.escape(message)) as error:
        Model(**{"name": "mixhop", **changes})
    assert error.value.key == key


@pytest.mark.parametrize(("changes", "key", "message"), [
    ({}, "hidden", "sign has branches; give 2 numbers or more for hidden, or one and "
                   "layers of 2 or more, not [16]"),
    ({"layers": 2, "jumping": True}, "jumping", "sign has branches; leave jumping out"),
    ({"layers": 2, "theta": 0.1}, "theta", "theta is of gcnii, not of sign"),
])
def test_what_sign_does_not_take_is_refused(changes, key, message):
    with pytest.raises(DescriptionError, match=re.escape(message)) as error:
        Model(**{"name": "sign", **changes})
    assert error.value.key == key


def test_edge_weights_are_those_the_model_is_defined_with():
    for name, kind in (("gcn", "symmetric"), ("sage", "neighbours"), ("gin", "sum")):
        sections = {"model": {"name": name}}
        assert Description.of_sections(sections).recipe.normalisation == kind
        sections["recipe"] = {"normalisation": "mean"}
        assert Description.of_sections(sections).recipe.normalisation == "mean"


def test_a_device_has_the_presets_configuration_but_for_the_changes():
    device = Device("rtl", preset="tiny", elements=8, lanes=4)
    assert device.config == PRESETS["tiny"].replace(element_width=8, lanes=4)
    assert device.values() == {"name": "rtl", "preset": "tiny", "lanes": 4, "element_width": 8}
    other = device.on("reference")
    assert (other.name, other.config) == ("reference", device.config)


def test_devices_of_several_boards():
    assert Device("rtl").names == ("rtl",)
    assert Device("rtl,xdma:/dev/xdma0,serial").names == ("rtl", "xdma:/dev/xdma0", "serial")
    with pytest.raises(DescriptionError, match="device 'fpga' is not of the form"):
        Device("rtl,fpga")


#: Least and most of all numbers with a range, by section, key and what else is given.
RANGES = [
    (Model, "layers", 1, 1_000, {}), (Model, "hidden", 1, 1 << 14, {}),
    (Sampling, "batch", 1, 1 << 24, {"sampler": "nodes"}),
    (Sampling, "fan_outs", 1, (1 << 31) - 1, {"sampler": "neighbours"}),
    (Sampling, "walk", 1, 1 << 10, {"sampler": "walks"}),
    (Sampling, "coverage", 1e-3, 1e3, {"sampler": "edges"}),
    (Sampling, "parts", 1, 1 << 16, {"sampler": "cut"}),
    (Source, "split_seed", 0, math.inf, {"source": "karate", "split": (50, 25, 25)}),
    (Stopping, "patience", 1, math.inf, {}),
]


@pytest.mark.parametrize(("kind", "key", "least", "most", "given"), RANGES)
def test_ranges(kind, key, least, most, given):
    """Both ends are in the range, and the next numbers beyond are not."""
    whole = type(least) is int
    for value, beyond in (least, -math.inf), (most, math.inf):
        if value == math.inf:
            continue
        kept = getattr(kind(**{key: value}, **given), key)
        assert kept == value or kept == (value,)
        wrong = value + (1 if beyond > 0 else -1) if whole else math.nextafter(value, beyond)
        with pytest.raises(DescriptionError, match=rf"{key} must be ") as error:
            kind(**{key: wrong}, **given)
        assert error.value.key == key


def test_all_ranges_are_tested():
    """All keys of each section whose types have one."""
    with_ranges = {(kind, field.name) for kind in (Model, Sampling, Source, Stopping)
                   for field in fields(kind) if "Within" in str(field.type)}
    assert with_ranges == {(kind, key) for kind, key, *_ in RANGES}


@pytest.mark.parametrize("sampler", [None, *SAMPLERS])
def test_what_a_sampler_does_not_take_is_refused(sampler):
    """What it takes has a default; the others are none, and cannot be given."""
    taken = SAMPLERS.get(sampler, ())
    made = Sampling(sampler)
    for key, default in SAMPLING_DEFAULTS.items():
        if key in taken:
            assert getattr(made, key) == default
            continue
        assert getattr(made, key) is None
        with pytest.raises(DescriptionError, match=rf"{key} is of sampler .*, not of") as error:
            Sampling(sampler, **{key: default})
        users = re.findall(r"\w+", str(error.value).split("sampler", 1)[1].split(",")[0])
        assert set(users) - {"or"} == {name for name, keys in SAMPLERS.items() if key in keys}


def test_defaults_of_samples():
    assert SAMPLING_DEFAULTS == {
        "batch": 512, "fan_outs": (10, 25), "walk": 2, "coverage": 20.0, "parts": 4}


@pytest.mark.parametrize(("value", "taken"), [
    ("a", True), ("a b", True), ("ä-1", True), ("x" * 64, True), ("x" * 65, False), (" a", False),
    ("a ", False), ("a  b", False), ("a\nb", False), ("a,b", False), ("a\x07", False),
    ("a\u2800", False), ("a\u200b", False), ("", False), (" ", False),
])
def test_names(value, taken):
    """They read as what they are."""
    if taken:
        assert check("section", {"key": value}, {"key": Name}) == {"key": value}
    else:
        with pytest.raises(DescriptionError, match=r"key (must|is empty)"):
            check("section", {"key": value}, {"key": Name})


@pytest.mark.parametrize(("hint", "value", "result"), [
    (int, 3, 3), (float, 3, 3.0), (bool, False, False), (str, "a", "a"), (int | None, None, None),
    (int | None, 3, 3), (tuple[int, ...], 3, (3,)), (tuple[int, ...], [3, 4], (3, 4)),
    (tuple[float, float] | None, [3, 4.5], (3.0, 4.5)),
    (tuple[tuple[int, float], ...], [[3, 4]], ((3, 4.0),)),
])
def test_values_are_converted(hint, value, result):
    found = check("section", {"key": value}, {"key": hint})["key"]
    assert found == result and type(found) is type(result)


@pytest.mark.parametrize(("hint", "value"), [
    (int, 3.0), (int, True), (float, "3"), (bool, 1), (str, 3), (int | None, "3"),
    (tuple[int, ...], ["3"]), (tuple[float, float], [3]), (float, 10**400),
])
def test_values_of_other_types(hint, value):
    with pytest.raises(DescriptionError, match=r"\[section\] key must be "):
        check("section", {"key": value}, {"key": hint})


def test_a_graph_made_in_python_is_no_part_of_a_file(tmp_path):
    (tmp_path / "run.toml").write_text(Description().text())
    assert load_description(tmp_path / "run.toml").graph is None


def test_paths_of_changes_are_relative_to_the_working_folder(tmp_path, monkeypatch):
    """Paths in a file are relative to its folder."""
    folder = tmp_path / "sub"
    folder.mkdir()
    (folder / "d.toml").write_text("[graph]\nsource='karate'\n[model]\nweights='w.safetensors'\n")
    monkeypatch.chdir(tmp_path)
    path = Path("sub/d.toml")
    assert load_description(path).model.weights == str(folder / "w.safetensors")
    changed = load_description(path, {"model": {"weights": "w.safetensors"}})
    assert changed.model.weights == str(tmp_path / "w.safetensors")


def test_other_processes_are_told_what_a_file_describes(tmp_path):
    for found in (load(tmp_path, FILE), Description()):
        assert pickle.loads(pickle.dumps(found)).sections() == found.sections()


def test_errors_come_from_other_processes_with_their_place():
    error = pickle.loads(pickle.dumps(DescriptionError("it is wrong", "graph", "source")))
    assert (str(error), error.section, error.key) == ("it is wrong", "graph", "source")
