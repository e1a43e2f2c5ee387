# SPDX-License-Identifier: BSD-2-Clause
"""Damaged files of weights."""

import json
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from hypercast.benches.fuzzing.bytes_damage import damaged_bytes
from hypercast.benches.fuzzing.command_line import run_command
from hypercast.benches.fuzzing.file_damage import damage_file
from hypercast.benches.fuzzing.trial import READ, REFUSED, SAME, Trial, outcome, require
from hypercast.benches.fuzzing.value_damage import damaged_array, damaged_tree
from hypercast.host.description.model import Model
from hypercast.host.graphs.graph import Graph
from hypercast.host.graphs.interchange.weights import load_weights, save_weights, tensors_of
from hypercast.reference.models import MODELS
from hypercast.reference.tensor import Kind, Tensor

__all__ = ["try_weights_file"]

_TYPES = {"F16": "<f2", "F32": "<f4", "F64": "<f8", "I8": "<i1", "I16": "<i2", "I32": "<i4",
          "I64": "<i8", "U8": "<u1", "U16": "<u2", "U32": "<u4", "U64": "<u8"}
_CODES = {np.dtype(text): name for name, text in _TYPES.items()} | {np.dtype(bool): "BOOL"}


def _read(content: bytes) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """Header and tensors of safetensors, by their definition."""
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8:8 + length])
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = (8 + length + offset for offset in entry["data_offsets"])
            values = np.frombuffer(content[begin:end], _TYPES[entry["dtype"]])
            tensors[name] = values.reshape(entry["shape"])
    return header, tensors


def _write(header: Any, body: bytes) -> bytes:
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + body


def _damage(random: Random, path: Path) -> str:
    """Damage a file of safetensors: its bytes, its header or its tensors; says how."""
    kind = random.choice(("file", "header", "tensor", "tensor", "body"))
    if kind == "file":
        return damage_file(random, path)
    content = path.read_bytes()
    header, tensors = _read(content)
    body = content[8 + int.from_bytes(content[:8], "little"):]
    if kind == "header":
        header, text = damaged_tree(random, header)
    elif kind == "body":
        body, text = damaged_bytes(random, body)
    else:
        name = random.choice(list(tensors))
        values, text = damaged_array(random, tensors[name])
        values = np.asarray(values)
        header, parts, end = {}, [], 0
        for key, array in {**tensors, name: values}.items():
            parts.append(array.tobytes())
            header[key] = {"dtype": _CODES.get(array.dtype, "BF16"), "shape": array.shape,
                           "data_offsets": [end, end + len(parts[-1])]}
            end += len(parts[-1])
        body, text = b"".join(parts), f"{name}: {text}"
    path.write_bytes(_write(header, body))
    return f"{kind}: {text}"


def try_weights_file(trial: Trial) -> str:
    """Weights of a model for the karate club: loaded, or trained on."""
    random = trial.random
    name, hidden = random.choice(list(MODELS)), random.randint(1, 4)
    model = Model(name=name, hidden=(hidden,), layers=MODELS[name].least or None,
                  jumping=not MODELS[name].own and trial.chance(0.3))
    network = model.network(Graph.load("karate"))
    generator = np.random.default_rng(random.getrandbits(32))
    shapes: dict[Tensor, tuple[int, ...]] = {
        weight.name: weight.shape for number in range(1, len(network.layers) + 1)
              for weight in network.weights(number)}
    shapes |= {Tensor(Kind.BIAS, number): (layer.features_out,)
               for number, layer in enumerate(network.layers, 1)}
    parameters = {key: generator.uniform(-1, 1, shape).astype(np.float32)
                  for key, shape in shapes.items()}
    path = trial.folder / "weights.safetensors"
    save_weights(path, network, parameters)
    whole = not trial.chance(0.95)
    if not whole:
        trial.note(_damage(random, path))
    if trial.chance(0.1):
        more = ["--jumping"] if model.jumping else []
        if model.layers:
            more += ["--layers", str(model.layers)]
        if run_command([str(path)], "train", "karate", "--model", name, "--hidden", hidden,
                       *more, "--weights", path, "--epochs", 1, "--json") is None:
            require(not whole, "weights that are not damaged are refused")
            return REFUSED
    try:
        found = tensors_of(network, load_weights(path, network))
    except Exception as error:
        require(not whole, f"weights that are not damaged are refused: {error}")
        return outcome(error, [str(path)])
    if _equal(found, tensors_of(network, parameters)):
        return SAME
    require(_equal(found, _read(path.read_bytes())[1]), "accepted with other values than it has")
    return READ


def _equal(one: Mapping[str, npt.NDArray[Any]], other: Mapping[str, npt.NDArray[Any]]) -> bool:
    """Whether tensors are the same; GIN's epsilons may be missing, where they are zero."""
    return all(np.array_equal(values, other[name].astype(np.float32)) if name in other else
               name.endswith(".eps") and not values.any() for name, values in one.items())
