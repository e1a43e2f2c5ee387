# SPDX-License-Identifier: BSD-2-Clause
"""Weights go out and come in by PyTorch Geometric's names, and mean the same there."""

import contextlib
import sys
import types
import warnings
from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from hypercast import Graph, Model, Trainer
from hypercast.host.files.reading.regular_file import FileError
from hypercast.host.graphs.interchange.weights import (
    WeightsError,
    WeightsWarning,
    load_weights,
    parameters_of,
    save_weights,
    tensors_of,
)
from hypercast.reference.float_gnn import FloatGnn
from hypercast.reference.initial_parameters import initial_parameters
from hypercast.reference.tensor import Kind

KARATE = Graph.load("karate")
MODELS = {
    "gcn": (Model(hidden=(5, 4)), [
        "convs.0.lin.weight", "convs.0.bias", "convs.1.lin.weight", "convs.1.bias",
        "convs.2.lin.weight", "convs.2.bias"]),
    "sage": (Model("sage", hidden=5), [
        "convs.0.lin_r.weight", "convs.0.lin_l.weight", "convs.0.lin_l.bias",
        "convs.1.lin_r.weight", "convs.1.lin_l.weight", "convs.1.lin_l.bias"]),
    "gin": (Model("gin", hidden=5), ["convs.0.eps", "convs.1.eps", *(
        f"convs.{convolution}.nn.lins.{linear}.{kind}" for convolution in (0, 1)
        for linear in (0, 1) for kind in ("weight", "bias"))]),
    "residual": (Model(hidden=(5, 5), residual=True), [
        "convs.0.lin.weight", "convs.0.bias", "convs.1.lin.weight", "convs.1.bias",
        "convs.2.lin.weight", "convs.2.bias"]),
    "jumping": (Model("sage", layers=2, hidden=5, jumping=True), [
        "convs.0.lin_r.weight", "convs.0.lin_l.weight", "convs.0.lin_l.bias",
        "convs.1.lin_r.weight", "convs.1.lin_l.weight", "convs.1.lin_l.bias",
        "lin.weight", "lin.bias"]),
    "gin, jumping": (Model("gin", layers=1, hidden=5, jumping=True), [
        "convs.0.eps", "convs.0.nn.lins.0.weight", "convs.0.nn.lins.0.bias",
        "convs.0.nn.lins.1.weight",
        "convs.0.nn.lins.1.bias", "lin.weight", "lin.bias"]),
    "gcnii": (Model("gcnii", layers=2, hidden=5), [
        "lins.0.weight", "lins.0.bias",
        *(f"convs.{number}.{name}" for number in (0, 1)
          for name in ("lin_r.weight", "lin_l.weight", "lin_l.bias")),
        "lins.1.weight", "lins.1.bias"]),
    "mixhop": (Model("mixhop", hidden=(5, 4, 3, 6)), [
        "lins.0.weight", "lins.0.bias", "branches.0.lin.weight", "branches.0.lin.bias",
        *(f"branches.{place}.{name}" for place in ("1.convs.0", "2.convs.0", "2.convs.1")
          for name in ("lin.weight", "bias")),
        "lins.1.weight", "lins.1.bias"]),
    "sign": (Model("sign", hidden=(5, 4, 3)), [
        "branches.0.lin.weight", "branches.0.lin.bias",
        *(f"branches.{place}.{name}" for place in ("1.convs.0", "2.convs.0", "2.convs.1")
          for name in ("lin.weight", "bias")), "lin.weight", "lin.bias"]),
}


@pytest.mark.parametrize(("model", "names"), MODELS.values(), ids=MODELS)
def test_names_and_round_trip(model, names):
    network = model.network(KARATE)
    parameters = {name: np.float32(values).astype(float)
                  for name, values in initial_parameters(network, 0).items()}
    tensors = tensors_of(network, parameters)
    assert list(tensors) == names
    assert all(values.dtype == np.float32 for values in tensors.values())
    found = parameters_of(network, tensors)
    assert found.keys() == parameters.keys()
    assert all(np.array_equal(found[name], parameters[name]) for name in found)


@pytest.mark.parametrize(("model", "names"), MODELS.values(), ids=MODELS)
def test_the_same_model_in_floats_says_the_same(tmp_path, model, names):
    """The float64 model, with what was exported, is as near as 16-bit elements let it be."""
    with Trainer(KARATE, model, epochs=20, learning_rate=0.1) as trainer:
        trainer.fit()
        path = tmp_path / "weights.safetensors"
        save_weights(path, trainer.network, trainer.parameters())
        found = trainer.predict().logits
    edges = KARATE.normalise(trainer.recipe.normalisation)
    model = FloatGnn(trainer.network, trainer.recipe, edges, KARATE.features, KARATE.labels,
                     KARATE.splits)
    model.parameters = load_weights(path, trainer.network)
    expected = model.forward(training=False)[-1][1]
    assert np.abs(found - expected).max() < 2e-3 * np.abs(expected).max()


def test_training_begins_with_given_weights(tmp_path):
    path = tmp_path / "weights.safetensors"
    with Trainer(KARATE, Model(hidden=5), epochs=5, seed=1) as first:
        first.fit()
        save_weights(path, first.network, first.parameters())
        expected = first.parameters()
    with Trainer(KARATE, Model(hidden=5, weights=str(path)), run=tmp_path / "run",
                 epochs=4) as second:
        for name, values in second.parameters().items():
            assert np.allclose(values, expected[name], atol=1e-6)
        whole = second.fit()
    with Trainer(KARATE, Model(hidden=5, weights=str(path)), run=tmp_path / "run", resume=True,
                 epochs=6) as resumed:
        assert resumed.fit()[:4] == whole
    assert Model(weights=path) == Model(weights=str(path))
    save_weights(path, first.network, initial_parameters(first.network, 2))
    with pytest.raises(ValueError, match=r"is of another training: weights\.sha256"):
        Trainer(KARATE, Model(hidden=5, weights=str(path)), run=tmp_path / "run", resume=True)


@pytest.mark.parametrize(("change", "message"), [
    (lambda tensors: tensors.pop("convs.0.bias"), r"convs\.0\.bias is missing, but the network's "
                                                  r"is of shape \(5,\); give weights of the same"),
    (lambda tensors: tensors.update(other=np.zeros(3)), r"the network has no other; its weights "
                                                        r"are convs\.0\.lin\.weight, convs"),
    (lambda tensors: tensors.update({"convs.1.lin.weight": np.zeros((5, 2))}),
     r"convs\.1\.lin\.weight is of shape \(5, 2\), but the network's is of shape \(2, 5\)"),
    (lambda tensors: tensors["convs.0.bias"].fill(np.nan), r"bias\[0\] is nan, which is no weight"),
    (lambda tensors: tensors["convs.0.lin.weight"].__setitem__((2, 7), 40),
     r"convs\.0\.lin\.weight\[2, 7\] is 40, but weights are at least -32 and below 32.*scale"),
    (lambda tensors: tensors["convs.1.bias"].__setitem__(1, -np.inf),
     r"convs\.1\.bias\[1\] is -inf"),
    (lambda tensors: tensors.update({"convs.0.bias": np.zeros(5, complex)}), "of type complex128"),
    (lambda tensors: tensors.update({"convs.0.bias": np.zeros(5, bool)}), "of type bool; give r"),
    *((lambda tensors, end=end: tensors.update(
        {f"convs.0.lin.{end}": tensors.pop("convs.0.lin.weight")}),
       r"is one part of a weight .* keeps in several; make it one before")
      for end in ("weight_orig", "weight_g", "parametrizations.weight.original1")),
])
def test_weights_of_another_network(change, message):
    network = Model(hidden=5).network(KARATE)
    tensors = tensors_of(network, initial_parameters(network, 0))
    change(tensors)
    with pytest.raises(WeightsError, match=message):
        parameters_of(network, tensors)


def test_epsilons_of_gin_have_to_be_those_of_the_training():
    network = Model("gin", hidden=5).network(KARATE)
    tensors = tensors_of(network, initial_parameters(network, 0), gin_epsilon=0.5)
    assert tensors["convs.1.eps"].tolist() == [0.5]
    for other in (np.zeros(0), np.full(3, 0.5), np.full(1, 0.5j), np.ones(1, bool)):
        with pytest.raises(WeightsError, match=r"eps is of shape .*epsilon of a layer is one real"):
            parameters_of(network, {**tensors, "convs.1.eps": other}, 0.5)
    with pytest.raises(WeightsError, match=r"convs\.0\.eps is \[0\.5\], but .*--gin-epsilon"):
        parameters_of(network, tensors)
    assert parameters_of(network, tensors, gin_epsilon=0.5)
    tensors["convs.1.eps"] = np.array(np.nan)
    with pytest.raises(WeightsError, match=r"convs\.1\.eps is \[nan\]"):
        parameters_of(network, tensors, gin_epsilon=0.5)
    with pytest.raises(WeightsError, match=r"the network has no junk\.eps"):
        parameters_of(network, tensors | {"junk.eps": np.zeros(1), "convs.1.eps": np.ones(1) / 2})
    bare = {name: values for name, values in tensors.items() if not name.endswith("eps")}
    assert parameters_of(network, bare, gin_epsilon=0.5)


def test_files(tmp_path, monkeypatch):
    network = Model(hidden=5).network(KARATE)
    parameters = initial_parameters(network, 0)
    with pytest.raises(WeightsError, match=r"must end in one of \*\.safetensors, \*\.pt"):
        save_weights(tmp_path / "weights.bin", network, parameters)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(WeightsError, match="needs PyTorch, which is not installed"):
        save_weights(tmp_path / "weights.pt", network, parameters)
    (tmp_path / "bad.safetensors").write_bytes(b"nothing of the kind")
    with pytest.raises(FileError, match=r"bad\.safetensors is damaged or not a file of safetens"):
        load_weights(tmp_path / "bad.safetensors", network)


def test_a_state_dictionary_has_what_the_safetensors_have(tmp_path, monkeypatch):
    """With as much of PyTorch as it takes."""
    kept = {}

    def tensor(values):
        return types.SimpleNamespace(numpy=lambda: values, detach=lambda: tensor(values))

    def save(values, file):
        file.write(b"a state dictionary")
        kept.update(values)
    torch = types.SimpleNamespace(
        from_numpy=tensor, save=save,
        load=lambda file, weights_only, map_location: kept,
        serialization=types.SimpleNamespace(safe_globals=contextlib.nullcontext))
    monkeypatch.setitem(sys.modules, "torch", torch)
    network = Model(hidden=5).network(KARATE)
    parameters = initial_parameters(network, 0)
    for name in ("weights.pt", "weights.safetensors"):
        save_weights(tmp_path / name, network, parameters)
    expected = load_file(tmp_path / "weights.safetensors")
    assert {name: tensor.numpy().tolist() for name, tensor in kept.items()} == {
        name: values.tolist() for name, values in expected.items()}
    plain = dict(kept)
    for content in (plain, {"epoch": 3, "state_dict": plain}):
        kept = content
        with pytest.warns(WeightsWarning, match="does not say"):
            assert load_weights(tmp_path / "weights.pt", network).keys() == parameters.keys()
    kept = {"model": plain, "average": plain}
    with pytest.raises(FileError, match="holds several state dictionaries, model, average; save"):
        load_weights(tmp_path / "weights.pt", network)
    kept = {3: tensor(np.zeros(3))}
    with pytest.raises(FileError, match="holds a tensor that is called 3"):
        load_weights(tmp_path / "weights.pt", network)


#: Of torch_geometric 2.8.1: its models' state dictionaries, with 34 inputs, 5 hidden features, two
#: layers and 2 outputs.
RECORDED = {
    "gcn": {"convs.0": {"bias": (5,), "lin.weight": (5, 34)},
            "convs.1": {"bias": (2,), "lin.weight": (2, 5)}},
    "sage": {f"convs.{place}": {"lin_l.weight": (out, before), "lin_l.bias": (out,),
                                "lin_r.weight": (out, before)}
             for place, before, out in ((0, 34, 5), (1, 5, 2))},
    "gin": {f"convs.{place}": {
        "eps": (1,), "nn.lins.0.weight": (out, before), "nn.lins.0.bias": (out,),
        "nn.lins.1.weight": (out, out), "nn.lins.1.bias": (out,)}
        for place, before, out in ((0, 34, 5), (1, 5, 2))}}
@pytest.mark.parametrize("name", RECORDED)
def test_names_and_shapes_are_those_of_pytorch_geometric(name):
    network = Model(name, hidden=5).network(KARATE)
    tensors = tensors_of(network, initial_parameters(network, 0))
    assert {name: values.shape for name, values in tensors.items()} == {
        f"{module}.{part}": shape for module, parts in RECORDED[name].items()
        for part, shape in parts.items()}


def written(path, network, tensors):
    """A file of safetensors as others write it, of what is found by other names."""
    save_file({name: np.ascontiguousarray(values) for name, values in tensors.items()}, path)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = load_weights(path, network)
    return found, [str(one.message) for one in caught]


@pytest.mark.parametrize(("model", "said"), [
    (Model(hidden=5), "taken as GCN with act='relu', add_self_loops=True, improved=False"),
    (Model("sage", hidden=5), "taken as GraphSAGE with aggr='mean', act='relu', normalize=False"),
    (Model("gin", hidden=5), "taken as GIN with act='relu'"),
    (Model("gcnii", hidden=5, layers=2), None),
    (Model("mixhop", hidden=(5, 4, 3)), None), (Model("sign", hidden=(5, 4)), None)])
def test_what_a_state_dictionary_cannot_tell_is_said(tmp_path, model, said):
    network = model.network(KARATE)
    parameters = initial_parameters(network, 0)
    path = tmp_path / "weights.safetensors"
    _, texts = written(path, network, tensors_of(network, parameters))
    assert len(texts) == (said is not None) and (said is None or texts[0].endswith(said)), texts
    save_weights(path, network, parameters)  # we know how these were trained
    with warnings.catch_warnings(action="error"):
        load_weights(path, network)


def test_biases_that_are_all_missing_are_zero(tmp_path):
    network = Model("sage", hidden=5).network(KARATE)
    tensors = {name: values for name, values
               in tensors_of(network, initial_parameters(network, 0)).items() if "bias" not in name}
    found, texts = written(tmp_path / "weights.safetensors", network, tensors)
    assert not any(values.any() for name, values in found.items() if name.kind == Kind.BIAS)
    assert texts[0].endswith("there are no biases, which begin at zero")


def test_layers_that_normalise_are_refused():
    network = Model(hidden=5).network(KARATE)
    tensors = tensors_of(network, initial_parameters(network, 0))
    for name in ("norms.0.module.weight", "bn1.running_mean", "convs.0.nn.norms.0.module.bias"):
        with pytest.raises(WeightsError, match=f"{name} is of a layer that normalises.*norm=None"):
            parameters_of(network, tensors | {name: np.ones(5)})


@pytest.mark.parametrize("model", [
    Model(layers=3, hidden=5), Model(layers=1), Model("sage", layers=2, hidden=5),
    Model("sage", layers=2, hidden=5, jumping=True), Model("gin", layers=2, hidden=5),
    Model("gin", layers=3, hidden=5), Model("gin", layers=2, hidden=5, jumping=True),
], ids=["gcn", "gcn of one layer", "sage", "sage, jumping", "gin", "gin of three layers",
        "gin, jumping"])
@pytest.mark.parametrize("suffix", [".pt", ".safetensors"])
def test_pytorch_geometric_predicts_the_same(tmp_path, model, suffix):
    """With every tensor of its state dictionary, and the other way round."""
    torch = pytest.importorskip("torch")
    models = pytest.importorskip("torch_geometric.nn")
    kind = {"gcn": models.GCN, "sage": models.GraphSAGE, "gin": models.GIN}[model.name]
    epsilon = {"gin_epsilon": 0.25} if model.name == "gin" else {}

    def theirs():
        return kind(34, 5, model.layers, 2, jk="cat" if model.jumping else None).eval()

    def logits(module):
        with torch.no_grad():
            return module(torch.eye(34), edges).numpy()

    edges = torch.tensor(np.stack(KARATE.edges.tocoo().coords[::-1]), dtype=torch.long)
    path = tmp_path / f"weights{suffix}"
    with Trainer(KARATE, model, epochs=20, **epsilon) as trainer:
        trainer.fit()
        trainer.save_weights(path)
        found = trainer.predict().logits
    module = theirs()
    loaded = torch.load(path) if suffix == ".pt" else {
        name: torch.from_numpy(values) for name, values in load_file(path).items()}
    module.load_state_dict(loaded)
    if epsilon:
        for convolution in module.convs:  # forward reads the tensor
            assert convolution.eps.item() == 0.25
    expected = logits(module)
    assert np.abs(found - expected).max() < 2e-3 * np.abs(expected).max()

    torch.manual_seed(1)
    module = theirs()
    if epsilon:
        for convolution in module.convs:
            convolution.eps.fill_(0.25)
    path = tmp_path / "theirs.pt"
    torch.save(torch.nn.DataParallel(module).state_dict(), path)
    with pytest.warns(WeightsWarning, match=f"does not say.*{kind.__name__}"), \
            Trainer(KARATE, replace(model, weights=str(path)), **epsilon) as trainer:
        found = trainer.predict().logits
    expected = logits(module)
    assert np.abs(found - expected).max() < 2e-3 * np.abs(expected).max()


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    network = Model(hidden=5).network(KARATE)
    for path in (tmp_path / f"{'x' * 300}.safetensors", tmp_path / "none" / "x.safetensors"):
        with pytest.raises(OSError) as error:
            save_weights(path, network, initial_parameters(network, 0))
        assert error.value.filename == str(path)
    assert not list(tmp_path.iterdir())


def test_files_with_the_same_weights_are_the_same(tmp_path):
    network = Model(hidden=5).network(KARATE)
    for number in range(20):
        save_weights(tmp_path / f"{number}.safetensors", network, initial_parameters(network, 0))
    assert len({path.read_bytes() for path in tmp_path.iterdir()}) == 1
