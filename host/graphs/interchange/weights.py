# SPDX-License-Identifier: BSD-2-Clause
"""Weights of the network in files, by the names of PyTorch Geometric's models.

``weight_names`` says which these are.
"""

import io
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from hypercast.errors import InputError
from hypercast.host.files.durable_file import write_durably
from hypercast.host.files.reading.regular_file import FileError
from hypercast.host.files.reading.tensor_file import read_safetensors, read_torch
from hypercast.host.files.safetensors_bytes import safetensors_bytes
from hypercast.host.graphs.interchange.weight_names import (
    epsilon_names,
    own_names,
    proposed_names,
    weight_names,
)
from hypercast.reference.array_types import FloatArray
from hypercast.reference.masters import master_weights
from hypercast.reference.network import ROOT_WEIGHTS, Network
from hypercast.reference.tensor import Kind, Tensor

__all__ = ["WeightsError", "WeightsWarning", "load_weights", "parameters_of", "save_weights",
           "tensors_of"]

_TORCH = (".pt", ".pth", ".ckpt")
#: Parts of the names of tensors that layers have which normalise what passes.
_NORMALISATION = r"norm|running_(mean|var)|num_batches_tracked"
#: Ends of the names of tensors that PyTorch makes a weight of, whenever it is used.
_REPARAMETRISED = r"_orig$|_mask$|_[guv]$|parametrizations\."
#: Metadata of files that were written here.
_MADE_HERE = {"made_by": "hypercast"}
_SUFFIXES = ("*.safetensors", *(f"*{suffix}" for suffix in _TORCH))


class WeightsError(InputError):
    """Weights that do not fit the network, or a file that holds none; says what to do."""


class WeightsWarning(UserWarning):
    """An assumption about weights that a state dictionary does not settle."""


def tensors_of(network: Network, parameters: Mapping[Tensor, npt.NDArray[np.floating[Any]]],
               gin_epsilon: float = 0.0) -> dict[str, npt.NDArray[np.float32]]:
    """Tensors by PyTorch Geometric's names.

    Parameters
    ----------
    network : Network
        What the parameters are of.
    parameters : dict
        Arrays by name (W1, b1, ...).
    gin_epsilon : float
        The epsilon of GIN, which its models have as a tensor of each convolution.

    Returns
    -------
    dict
        float32 arrays.
    """
    names = dict(weight_names(network))
    found = {name: np.full(1, gin_epsilon, dtype=np.float32) for name in epsilon_names(names)}
    for name, source in names.items():
        values = parameters[source] if isinstance(source, Tensor) else \
            np.concatenate([parameters[matrix] for matrix in source]).T
        found[name] = np.ascontiguousarray(values, dtype=np.float32)
    return found


def parameters_of(network: Network, tensors: Mapping[str, npt.ArrayLike],
                  gin_epsilon: float = 0.0) -> dict[Tensor, FloatArray]:
    """The inverse of ``tensors_of``, as float64.

    Names may be others, as ``own_names`` knows them. GIN's epsilons may be missing: they are no
    parameters here, and have to be ``gin_epsilon``. If all biases are missing, they are zero.

    Raises
    ------
    WeightsError
        If a tensor is missing or has another shape, there are others, or a value is out of range.
    """
    shapes = {weight.name: weight.shape for number in range(1, len(network.layers) + 1)
              for weight in network.weights(number)}
    names = dict(weight_names(network))
    expected = {name: (network.layers[source.layer - 1].features_out,)
                if isinstance(source, Tensor) else
                (shapes[source[0]][1], sum(shapes[matrix][0] for matrix in source))
                for name, source in names.items()}
    given = {here: name for name, here in own_names(tensors, names).items()}
    epsilons = [name for name in epsilon_names(names) if name in given]
    if others := [name for here, name in given.items() if here not in {*names, *epsilons}]:
        raise WeightsError(_foreign(others, tensors, expected))
    _check_epsilons([given[name] for name in epsilons], tensors, gin_epsilon)
    found: dict[Tensor, FloatArray] = {
        name: np.eye(*shape) for name, shape in shapes.items() if name.kind == Kind.IDENTITY}
    biased = any(isinstance(source, Tensor) for name, source in names.items() if name in given)
    for name, source in names.items():
        if isinstance(source, Tensor) and not biased:
            found[source] = np.zeros(expected[name])
            continue
        values = np.asarray(tensors[given[name]]) if name in given else None
        if values is not None and values.dtype.kind == "b":
            raise WeightsError(f"{given[name]} is of type bool; give real numbers")
        if values is None or values.shape != expected[name]:
            shape = "missing" if values is None else f"of shape {values.shape}"
            raise WeightsError(
                f"{given.get(name, name)} is {shape}, but the network's is of shape "
                f"{expected[name]}; give weights of the same model, layers and widths")
        try:
            master_weights(values, given[name])
        except ValueError as error:
            raise WeightsError(str(error)) from error
        values = values.astype(np.float64)
        if isinstance(source, Tensor):
            found[source] = values
        else:
            ends = np.cumsum([shapes[matrix][0] for matrix in source])[:-1]
            found |= dict(zip(source, np.split(values.T, ends), strict=True))
    return found


def _foreign(others: Sequence[str], tensors: Mapping[str, npt.ArrayLike],
             expected: Mapping[str, tuple[int, ...]]) -> str:
    """The error about names that are none of the network's."""
    if any(re.search(_NORMALISATION, name) for name in others):
        name = next(name for name in others if re.search(_NORMALISATION, name))
        return (f"{name} is of a layer that normalises, and networks here have none; train without "
                f"(norm=None)")
    if reparametrised := [name for name in others if re.search(_REPARAMETRISED, name)]:
        return (f"{reparametrised[0]} is one part of a weight that pruning, or a normalisation of "
                f"weights, keeps in several; make it one before it is saved "
                f"(torch.nn.utils.prune.remove, or parametrize.remove_parametrizations)")
    given = {name: np.shape(tensors[name]) for name in tensors}
    return (f"the network has no {others[0]}; its weights are {', '.join(expected)}; save them by "
            f"these names, old being what there is: {proposed_names(given, expected)}")


def _check_epsilons(names: Iterable[str], tensors: Mapping[str, npt.ArrayLike],
                    gin_epsilon: float) -> None:
    for name in names:
        found = np.asarray(tensors[name])
        if found.size != 1 or found.dtype.kind not in "iuf":
            raise WeightsError(f"{name} is of shape {found.shape} and type {found.dtype}, but the "
                               f"epsilon of a layer is one real number")
        if not np.allclose(tensors[name], gin_epsilon, rtol=1e-6, atol=0):
            raise WeightsError(f"{name} is {np.ravel(tensors[name])[:1]}, but the epsilon of this "
                               f"training is {gin_epsilon}, of all layers; give another epsilon "
                               f"(--gin-epsilon)")


def save_weights(path: str | PathLike[str], network: Network,
                 parameters: Mapping[Tensor, npt.NDArray[np.floating[Any]]],
                 gin_epsilon: float = 0.0) -> None:
    """Write float32 weights: safetensors, or, to a ``.pt`` file, a state dictionary of PyTorch.

    Parameters
    ----------
    path : pathlib.Path or str
        The file.
    network, parameters, gin_epsilon
        As for ``tensors_of``.

    Raises
    ------
    WeightsError
        If the file's name ends in neither, or PyTorch is needed and missing.
    OSError
        If it cannot be written.
    """
    path = Path(path)
    tensors = tensors_of(network, parameters, gin_epsilon)
    if path.suffix in _TORCH:
        torch = _torch(path)
        content = io.BytesIO()
        torch.save({name: torch.from_numpy(values) for name, values in tensors.items()}, content)
        write_durably(path, content.getvalue())
    elif path.suffix == ".safetensors":
        write_durably(path, safetensors_bytes(tensors, {"format": "pt", **_MADE_HERE}))
    else:
        raise WeightsError(f"{path} must end in one of {', '.join(_SUFFIXES)}")


def load_weights(path: str | PathLike[str], network: Network,
                 gin_epsilon: float = 0.0) -> dict[Tensor, FloatArray]:
    """Parameters from a file as ``save_weights`` writes it, or as PyTorch saves a model.

    A warning says what is assumed of the model, unless the file was written here: a state
    dictionary does not say it.

    Parameters
    ----------
    path : pathlib.Path or str
        A file of safetensors, a state dictionary of PyTorch, or a checkpoint that has one.
    network, gin_epsilon
        As for ``parameters_of``.

    Raises
    ------
    WeightsError
        If the file holds no weights, or such that do not fit; or PyTorch is needed and missing.
    FileError
        If it cannot be read, or is damaged.
    """
    path = Path(path)
    tensors, facts = (_of_torch(path), {}) if path.suffix in _TORCH else read_safetensors(path)
    try:
        found = parameters_of(network, tensors, gin_epsilon)
    except WeightsError as error:
        raise WeightsError(f"{path}: {error}") from error
    if not _MADE_HERE.items() <= facts.items() and (text := _assumptions(network, tensors)):
        warnings.warn(f"{path}: {text}", WeightsWarning, stacklevel=2)
    return found


def _assumptions(network: Network, tensors: Mapping[str, object]) -> str:
    """Assumptions about tensors; an empty text for networks that PyTorch Geometric lacks.
    """
    names = dict(weight_names(network))
    if not any(name.startswith("convs.0.") for name in names) or "lins.0.weight" in names:
        return ""
    model = "GIN with act='relu'" if epsilon_names(names) else \
        "GraphSAGE with aggr='mean', act='relu', normalize=False" \
        if network.layers[0].root == ROOT_WEIGHTS else \
        "GCN with act='relu', add_self_loops=True, improved=False"
    text = (f"a state dictionary does not say how it aggregates, activates and normalises; taken "
            f"as {model}")
    here = own_names(tensors, names)
    if renamed := [f"{name} is {own}" for name, own in here.items() if name != own]:
        more = f" and {len(renamed) - 2} more" if len(renamed) > 2 else ""
        text += f"; {', '.join(renamed[:2])}{more}"
    if not any(isinstance(names.get(own), Tensor) for own in here.values()):
        text += "; there are no biases, which begin at zero"
    return text


def _of_torch(path: Path) -> dict[str, npt.NDArray[Any]]:
    """Arrays by name, from a state dictionary, or from a checkpoint with one among other things."""
    loaded = read_torch(path, _torch(path))
    if not isinstance(loaded, dict):
        raise FileError(f"{path} holds a {type(loaded).__name__}, not a state dictionary; "
                        f"torch.save(model.state_dict(), ...)")
    if inner := [name for name, value in loaded.items() if _holds_tensors(value)]:
        if len(inner) > 1:
            raise FileError(f"{path} holds several state dictionaries, {', '.join(map(str, inner))}"
                            f"; save the model's alone: torch.save(model.state_dict(), ...)")
        loaded = loaded[inner[0]]
    tensors = {}
    for name, tensor in loaded.items():
        if not isinstance(name, str):
            raise FileError(f"{path} holds a tensor that is called {name!r}, not by a text; save "
                            f"the model's state dictionary: torch.save(model.state_dict(), ...)")
        try:
            tensors[name] = tensor.detach().numpy()
        except (AttributeError, TypeError, RuntimeError) as error:
            raise FileError(f"{path}: {name} is no tensor that NumPy takes "
                            f"({error}); {_remedy(tensor)}") from error
    return tensors


def _remedy(tensor: object) -> str:
    """Advice about a tensor that NumPy does not take."""
    if getattr(tensor, "is_meta", False):
        return "it has no values; save the model after they are loaded"
    if str(getattr(tensor, "layout", "")) not in ("", "torch.strided"):
        return "save it dense (tensor.to_dense())"
    if getattr(tensor, "is_neg", bool)() or getattr(tensor, "is_conj", bool)():
        return "save it as it reads (tensor.resolve_neg().resolve_conj())"
    if getattr(tensor, "is_quantized", False):
        return "save its dequantize()"
    return "save it as float32 (tensor.float())"


def _holds_tensors(value: object) -> bool:
    return isinstance(value, dict) and bool(value) and all(
        hasattr(one, "detach") for one in value.values())


def _torch(path: Path) -> ModuleType:
    try:
        import torch
    except ImportError:
        raise WeightsError(f"{path} needs PyTorch, which is not installed; use a file that ends in "
                           f".safetensors") from None
    found: ModuleType = torch
    return found
