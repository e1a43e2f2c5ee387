# SPDX-License-Identifier: BSD-2-Clause
"""The file of a checkpoint, which is read as it was written, or refused.

It is safetensors: int32 tensors ``W1.master``, ``W1.momentum``, ...; tensors of the best epoch so
far have the same names after ``best/``. Everything else is JSON in the metadata, with a SHA-256 of
this JSON and of all tensors, their names, types and shapes.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load

from hypercast.errors import require
from hypercast.host.compiler.state import STATE
from hypercast.host.files.durable_file import write_durably
from hypercast.host.files.reading.regular_file import read_bytes
from hypercast.host.files.safetensors_bytes import safetensors_bytes
from hypercast.host.training.checkpoint import Checkpoint, CheckpointError
from hypercast.reference.array_types import IntArray
from hypercast.reference.rows import Older
from hypercast.reference.tensor import Tensor
from hypercast.reference.training_state import TrainingState

__all__ = ["load_checkpoint", "save_checkpoint"]

Stored: TypeAlias = npt.NDArray[np.int32]

#: What is kept of the step before, where rows are stale, and its exponents; and older weights.
_OLDER, _VERSIONS = "older", "versions"
_FACTS, _DIGEST, _BEST = "hypercast", "sha256", "best/"
#: What tensors are, as safetensors calls it.
_KIND = "I32"
#: Steps, as the chip counts them; exponents as it stores them; and what exponents add up to.
_STEPS, _EXPONENTS, _SUMS = range(1 << 32), range(-128, 128), range(-512, 512)


def save_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Write a ``Checkpoint``; whenever the machine stops, ``path`` is the old one or the new one.

    Parameters
    ----------
    path : pathlib.Path
        The file.
    checkpoint : Checkpoint
        What it shall hold.

    Raises
    ------
    InputError
        If a value does not fit 32 bits; nothing is written then.
    """
    states = {"": checkpoint.state}
    if checkpoint.best is not None:
        states[_BEST] = checkpoint.best
    tensors = {key: _read_stored(values, key) for prefix, state in states.items()
               for name, arrays in state.parameters.items() for kind, values in arrays.items()
               for key in [f"{prefix}{name}.{kind}"]}
    tensors |= {key: _read_stored(rows.values, key) for prefix, state in states.items()
                for name, rows in state.older.items() for key in [f"{prefix}{name}.{_OLDER}"]}
    tensors |= {key: _read_stored(one.values, key) for prefix, state in states.items()
                for name, versions in state.versions.items()
                for number, one in enumerate(versions)
                for key in [f"{prefix}{name}.{_VERSIONS}{number}"]}
    facts = json.dumps({
        "identity": checkpoint.identity, "records": checkpoint.records, "states": {
            prefix: {"step": state.step, "exponents": state.exponents,
                     "momentum_exponents": state.momentum_exponents,
                     **({_OLDER: {name: rows.exponent for name, rows in state.older.items()}}
                        if state.older else {}),
                     **({_VERSIONS: {name: [one.exponent for one in versions]
                                     for name, versions in state.versions.items()}}
                        if state.versions else {})}
            for prefix, state in states.items()}})
    write_durably(path, safetensors_bytes(
        tensors, {_FACTS: facts, _DIGEST: _digest(facts, tensors)}))


def _read_stored(values: IntArray, name: str) -> Stored:
    stored = np.ascontiguousarray(values, dtype=np.int32)
    require(np.array_equal(stored, values), f"{name} does not fit 32 bits")
    return stored


def _digest(facts: str, tensors: Mapping[str, Stored]) -> str:
    digest = hashlib.sha256(facts.encode())
    for name, values in sorted(tensors.items()):
        digest.update(repr((name, values.dtype.str, values.shape)).encode())
        digest.update(values.tobytes())
    return digest.hexdigest()


def load_checkpoint(path: Path) -> Checkpoint:
    """The ``Checkpoint`` in a file.

    Raises
    ------
    CheckpointError
        If there is none, it cannot be read, or it holds anything but what was written.
    """
    if not path.exists():
        raise CheckpointError(f"{path} does not exist; hypercast train --run FOLDER writes one "
                              f"into its folder")
    try:
        return _checkpoint(*_read(read_bytes(path)))
    except (ValueError, RecursionError, SafetensorError) as error:
        raise CheckpointError(f"{path} is damaged or no checkpoint of this version ({error}); put "
                              f"back a copy of it, or delete it and train again") from error


def _read(content: bytes) -> tuple[Any, dict[str, Stored]]:
    """Everything in the metadata, and the tensors by name, as they were written."""
    length = int.from_bytes(content[:8], "little")
    require(8 + length <= len(content), f"it ends after {len(content)} bytes")
    header = json.loads(content[8:8 + length])
    require(isinstance(header, dict), "its header names no tensors")
    metadata = header.pop("__metadata__", None)
    require(isinstance(metadata, dict) and metadata.keys() == {_FACTS, _DIGEST},
            f"its metadata are not {_FACTS} and {_DIGEST}")
    for name, tensor in header.items():
        require(isinstance(tensor, dict) and tensor.get("dtype") == _KIND,
                f"tensor {name} is not {_KIND}")
    tensors = load(content)
    facts = metadata[_FACTS]
    require(isinstance(facts, str) and metadata[_DIGEST] == _digest(facts, tensors),
            "its SHA-256 is of other contents")
    return json.loads(facts), tensors


def _checkpoint(facts: Any, tensors: Mapping[str, Stored]) -> Checkpoint:
    _require_keys("the metadata", facts, {"identity", "records", "states"})
    _require_dictionary("identity", facts["identity"])
    require(isinstance(facts["records"], str), "records is no text")
    _require_dictionary("states", facts["states"])
    require(facts["states"].keys() in ({""}, {"", _BEST}), "its states are not the last and the "
                                                           "best one")
    states = {prefix: _state(tensors, prefix, found) for prefix, found in facts["states"].items()}
    state, best = states[""], states.get(_BEST)
    require(best or not any(name.startswith(_BEST) for name in tensors),
            "there are tensors of the best epoch, but no step")
    require(best is None or 1 <= best.step <= state.step,
            f"the best epoch is {best and best.step} of {state.step}")
    return Checkpoint(identity=facts["identity"], records=facts["records"], state=state, best=best)


def _state(tensors: Mapping[str, Stored], prefix: str, facts: Any) -> TrainingState:
    """The ``TrainingState`` whose tensors begin with ``prefix``."""
    _require_keys(f"state {prefix!r}", facts, {
        "step", "exponents", "momentum_exponents", *({_OLDER, _VERSIONS} & {*facts})})
    _require_integer(f"{prefix}step", facts["step"], _STEPS)
    for kind in ("exponents", "momentum_exponents"):
        _require_dictionary(f"{prefix}{kind}", facts[kind])
    for name, entry in facts["exponents"].items():
        require(isinstance(entry, list) and len(entry) == 2,
                f"{prefix}exponent of {name} is {entry!r}, not exponent and peak")
        _require_integer(f"{prefix}exponent of {name}", entry[0], _EXPONENTS)
        if entry[1] is not None:
            _require_integer(f"{prefix}peak of {name}", entry[1], _SUMS)
    for name, exponent in facts["momentum_exponents"].items():
        _require_integer(f"{prefix}momentum exponent of {name}", exponent, _SUMS)
    older = facts.get(_OLDER, {})
    _require_dictionary(f"{prefix}{_OLDER}", older)
    for name, exponent in older.items():
        _require_integer(f"{prefix}exponent of older {name}", exponent, _SUMS)
        require(f"{prefix}{name}.{_OLDER}" in tensors, f"there is no older {prefix}{name}")
    versions = facts.get(_VERSIONS, {})
    _require_dictionary(f"{prefix}{_VERSIONS}", versions)
    for name, exponents in versions.items():
        require(isinstance(exponents, list), f"{prefix}{_VERSIONS} of {name} are {exponents!r}")
        for number, exponent in enumerate(exponents):
            _require_integer(f"{prefix}exponent of version {number} of {name}", exponent, _SUMS)
            require(f"{prefix}{name}.{_VERSIONS}{number}" in tensors,
                    f"there is no version {number} of {prefix}{name}")
    return TrainingState(
        step=facts["step"], parameters=_parameters(tensors, prefix),
        older={Tensor.parse(name): Older(
            tensors[f"{prefix}{name}.{_OLDER}"].astype(np.int64), exponent)
            for name, exponent in older.items()},
        versions={Tensor.parse(name): tuple(
            Older(tensors[f"{prefix}{name}.{_VERSIONS}{number}"].astype(np.int64), exponent)
            for number, exponent in enumerate(exponents)) for name, exponents in versions.items()},
        exponents={Tensor.parse(name): tuple(entry) for name, entry in facts["exponents"].items()},
        momentum_exponents={Tensor.parse(name): exponent
                            for name, exponent in facts["momentum_exponents"].items()})


def _parameters(tensors: Mapping[str, Stored], prefix: str) -> dict[Tensor, dict[str, IntArray]]:
    """Arrays by parameter and kind, of the tensors of a state."""
    found: dict[Tensor, dict[str, IntArray]] = {}
    for key, values in tensors.items():
        if key.startswith(_BEST) == (prefix == _BEST):
            name, _, kind = key.removeprefix(prefix).rpartition(".")
            if kind == _OLDER or kind.startswith(_VERSIONS):
                continue
            require(name and kind in STATE, f"tensor {key} is none of {', '.join(STATE)}")
            require(kind != "second_moment" or (values >= 0).all(), f"tensor {key} is negative")
            found.setdefault(Tensor.parse(name), {})[kind] = values.astype(np.int64)
    return found


def _require_dictionary(name: str, value: object) -> None:
    require(isinstance(value, dict), f"{name} is {value!r}, no dictionary")


def _require_keys(name: str, value: Any, keys: set[str]) -> None:
    _require_dictionary(name, value)
    require(value.keys() == keys, f"{name} has {', '.join(sorted(value))} instead of "
                                  f"{', '.join(sorted(keys))}")


def _require_integer(name: str, value: object, values: range) -> None:
    require(type(value) is int and value in values,
            f"{name} is {value!r}, no whole number from {values[0]} to {values[-1]}")
