"""Weights by the names of PyTorch Geometric's models GCN, GraphSAGE and GIN, in files.

A convolution is ``convs.0`` with ``lin`` (GCN), ``lin_l`` and ``lin_r`` (GraphSAGE), or
``nn.lins.0`` and ``nn.lins.1`` (GIN); what ends jumping knowledge is ``lin``. Matrices have a row
per output there, a row per input here. The identity of a residual connection is not among them.
GCNII, which is no such model there, has ``lins.0``, convolutions with ``lin_l`` for what is summed
over neighbours and ``lin_r`` for the first layer's outputs, and ``lins.1``. These are the matrices
that are multiplied with, shares and identity included. MixHop has ``lins.0``, branches
``branches.0.lin``, ``branches.1.convs.0.lin`` and so on, and ``lins.1``.
"""

import io
import itertools
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors.numpy import save

from hypercast.host.files.durable_file import write_durably
from hypercast.host.files.reading.regular_file import FileError
from hypercast.host.files.reading.tensor_file import read_safetensors, read_torch
from hypercast.reference.array_types import FloatArray
from hypercast.reference.masters import master_weights
from hypercast.reference.network import LINEAR, ROOT_INITIAL, ROOT_WEIGHTS, Network
from hypercast.reference.tensor import Kind, Tensor

__all__ = ["WeightsError", "load_weights", "parameters_of", "save_weights", "tensors_of"]

_TORCH = (".pt", ".pth")
_EPSILON = re.compile(r"convs\.\d+\.eps")
_SUFFIXES = ("*.safetensors", *(f"*{suffix}" for suffix in _TORCH))


class WeightsError(ValueError):
    """Weights that do not fit the network, or a file that holds none; says what to do."""


def _names(network: Network) -> Iterator[tuple[str, list[Tensor] | Tensor]]:
    """Name of each tensor, and the matrices that it has side by side, or the bias that it is."""
    if network.branches:
        yield from _branch_names(network)
        return
    convolutions, convolution = itertools.count(), ""
    linears = len(network.layers) - bool(network.jumping)  # all beyond is no convolution's
    for number, layer in enumerate(network.layers, 1):
        weights = [weight.name for weight in network.weights(number)
                   if weight.name.kind != Kind.IDENTITY]
        if layer.order == LINEAR and not convolution:
            places = "lins.0", "lins.0.bias"
        elif number == linears and network.layers[number - 2].root == ROOT_INITIAL:
            places = "lins.1", "lins.1.bias"
        elif number > linears:
            places = "lin", "lin.bias"
        elif layer.order == LINEAR:
            places = f"{convolution}.nn.lins.1", f"{convolution}.nn.lins.1.bias"
        else:
            convolution = f"convs.{next(convolutions)}"
            perceptron = number < linears and layer.root != ROOT_INITIAL
            if perceptron and network.layers[number].order == LINEAR:
                places = f"{convolution}.nn.lins.0", f"{convolution}.nn.lins.0.bias"
            elif layer.root in (ROOT_WEIGHTS, ROOT_INITIAL):
                places = f"{convolution}.lin_l", f"{convolution}.lin_l.bias"
                yield f"{convolution}.lin_r.weight", [weights.pop()]
            else:
                places = f"{convolution}.lin", f"{convolution}.bias"
        yield f"{places[0]}.weight", weights
        yield places[1], Tensor(Kind.BIAS, number)


def _branch_names(network: Network) -> Iterator[tuple[str, list[Tensor] | Tensor]]:
    """The same, of a network with branches of no more than convolutions, or one linear layer."""
    branch, place, last = -1, 0, len(network.layers)
    for number, layer in enumerate(network.layers, 1):
        begins = layer.source is not None
        branch, place = branch + begins, 0 if begins else place + 1
        name = f"branches.{branch}.lin" if layer.order == LINEAR else \
            f"branches.{branch}.convs.{place}.lin"
        if number in (1, last):
            name = f"lins.{int(number == last)}"
        bias = name.removesuffix(".lin") if layer.order != LINEAR else name
        yield f"{name}.weight", [weight.name for weight in network.weights(number)]
        yield f"{bias}.bias", Tensor(Kind.BIAS, number)


def tensors_of(network: Network,
               parameters: Mapping[Tensor, npt.NDArray[np.floating[Any]]],
               ) -> dict[str, npt.NDArray[np.float32]]:
    """Tensors by PyTorch Geometric's names.

    Parameters
    ----------
    network : Network
        What the parameters are of.
    parameters : dict
        Arrays by name (W1, b1, ...).

    Returns
    -------
    dict
        float32 arrays.
    """
    found = {}
    for name, source in _names(network):
        values = parameters[source] if isinstance(source, Tensor) else \
            np.concatenate([parameters[matrix] for matrix in source]).T
        found[name] = np.ascontiguousarray(values, dtype=np.float32)
    return found


def parameters_of(network: Network, tensors: Mapping[str, npt.ArrayLike],
                  gin_epsilon: float = 0.0) -> dict[Tensor, FloatArray]:
    """The inverse of ``tensors_of``, as float64.

    GIN's epsilons, ``convs.0.eps`` and so on, may be among the tensors: they are no parameters
    here, and have to be ``gin_epsilon``.

    Raises
    ------
    WeightsError
        If a tensor is missing or has another shape, there are others, or a value is out of range.
    """
    names = dict(_names(network))
    epsilons = [name for name in tensors if _EPSILON.fullmatch(name)]
    for name in epsilons:
        if not np.allclose(tensors[name], gin_epsilon, rtol=1e-6, atol=0):
            raise WeightsError(f"{name} is {np.ravel(tensors[name])[:1]}, but the epsilon of this "
                               f"training is {gin_epsilon}, of all layers; give another epsilon "
                               f"(--gin-epsilon)")
    others = [name for name in tensors if name not in names and name not in epsilons]
    if others:
        raise WeightsError(f"the network has no {others[0]}; its weights are {', '.join(names)}")
    shapes = {weight.name: weight.shape for number in range(1, len(network.layers) + 1)
              for weight in network.weights(number)}
    found: dict[Tensor, FloatArray] = {
        name: np.eye(*shape) for name, shape in shapes.items() if name.kind == Kind.IDENTITY}
    for name, source in names.items():
        expected: tuple[int, ...]
        if isinstance(source, Tensor):
            expected = (network.layers[source.layer - 1].features_out,)
        else:
            rows = [shapes[matrix][0] for matrix in source]
            expected = (shapes[source[0]][1], sum(rows))
        values = np.asarray(tensors[name]) if name in tensors else None
        if values is None or values.shape != expected:
            shape = "missing" if values is None else f"of shape {values.shape}"
            raise WeightsError(f"{name} is {shape}, but the network's is of shape {expected}; give "
                               f"weights of the same model, layers and widths")
        try:
            master_weights(values, name)
        except ValueError as error:
            raise WeightsError(str(error)) from error
        values = values.astype(np.float64)
        if isinstance(source, Tensor):
            found[source] = values
        else:
            parts = np.split(values.T, np.cumsum(rows)[:-1])
            found |= dict(zip(source, parts, strict=True))
    return found


def save_weights(path: Path, network: Network,
                 parameters: Mapping[Tensor, npt.NDArray[np.floating[Any]]]) -> None:
    """Write float32 weights: safetensors, or, to a ``.pt`` file, a state dictionary of PyTorch.

    Raises
    ------
    WeightsError
        If the file's name ends in neither, or PyTorch is needed and missing.
    OSError
        If it cannot be written.
    """
    tensors = tensors_of(network, parameters)
    if path.suffix in _TORCH:
        torch = _torch(path)
        content = io.BytesIO()
        torch.save({name: torch.from_numpy(values) for name, values in tensors.items()}, content)
        write_durably(path, content.getvalue())
    elif path.suffix == ".safetensors":
        write_durably(path, save(tensors, metadata={"format": "pt"}))
    else:
        raise WeightsError(f"{path} must end in one of {', '.join(_SUFFIXES)}")


def load_weights(path: Path, network: Network,
                 gin_epsilon: float = 0.0) -> dict[Tensor, FloatArray]:
    """Parameters from a file as ``save_weights`` writes it, or PyTorch Geometric's models do.

    ``gin_epsilon`` is that of ``parameters_of``.

    Raises
    ------
    WeightsError
        If the file holds no weights, or such that do not fit; or PyTorch is needed and missing.
    FileError
        If it cannot be read, or is damaged.
    """
    tensors = _of_torch(path) if path.suffix in _TORCH else read_safetensors(path)[0]
    try:
        return parameters_of(network, tensors, gin_epsilon)
    except WeightsError as error:
        raise WeightsError(f"{path}: {error}") from error


def _of_torch(path: Path) -> dict[str, npt.NDArray[Any]]:
    """Arrays by name, from a state dictionary."""
    loaded = read_torch(path, _torch(path))
    if not isinstance(loaded, dict):
        raise FileError(f"{path} holds a {type(loaded).__name__}, not a state dictionary; "
                        f"torch.save(model.state_dict(), ...)")
    tensors = {}
    for name, tensor in loaded.items():
        try:
            tensors[name] = tensor.detach().numpy()
        except (AttributeError, TypeError, RuntimeError) as error:
            raise FileError(f"{path}: {name} is no tensor that NumPy takes ({error}); save it as "
                            f"float32 (tensor.float())") from error
    return tensors


def _torch(path: Path) -> ModuleType:
    try:
        import torch
    except ImportError:
        raise WeightsError(f"{path} needs PyTorch, which is not installed; use a file that ends in "
                           f".safetensors") from None
    found: ModuleType = torch
    return found
