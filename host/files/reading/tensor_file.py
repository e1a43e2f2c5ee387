# SPDX-License-Identifier: BSD-2-Clause
"""Tensors by name: safetensors, and the files that PyTorch writes."""

import pickle
import re
import zipfile
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import safetensors

from hypercast.host.files.reading.json_file import parse_json
from hypercast.host.files.reading.pickles import read_pickled_arrays
from hypercast.host.files.reading.regular_file import (
    FileError,
    Place,
    check_size,
    intact,
    open_regular,
    read_bytes,
)

__all__ = ["read_safetensors", "read_torch", "read_torch_arrays"]

_TYPES = {"F16": "<f2", "F32": "<f4", "F64": "<f8", "I8": "<i1", "I16": "<i2", "I32": "<i4",
          "I64": "<i8", "U8": "<u1", "U16": "<u2", "U32": "<u4", "U64": "<u8"}
_LENGTH = 8
#: What PyTorch says that a pickle asks for, and is not called harmless.
_ASKED = re.compile(r"GLOBAL (\S+)")


def read_safetensors(path: Place) -> tuple[dict[str, npt.NDArray[Any]], dict[str, str]]:
    """Tensors and metadata, both dictionaries by name.

    Raises
    ------
    FileError
        If the file cannot be read, is damaged, or has a tensor of a type that NumPy lacks.
    """
    content = read_bytes(path)
    with intact(path, "a file of safetensors"):
        parts = safetensors.deserialize(content)
        # The library takes keys that are there twice, and does not give metadata of bytes.
        length = int.from_bytes(content[:_LENGTH], "little")
        facts = parse_json(content[_LENGTH:_LENGTH + length].decode(), path)
        tensors = {}
        for name, part in parts:
            if part["dtype"] not in _TYPES:
                raise FileError(f"{path}: {name} is of type {part['dtype']}; save it as float32 "
                                f"(tensor.float())")
            values = np.frombuffer(part["data"], _TYPES[part["dtype"]])
            tensors[name] = values.reshape(part["shape"])
        return tensors, facts.get("__metadata__", {})


def read_torch(path: Place, torch: ModuleType, classes: Sequence[type] = ()) -> Any:
    """Read a file of ``torch.save``, on the CPU; only functions that PyTorch calls harmless run.

    Parameters
    ----------
    path : path-like
        The file.
    torch : module
        PyTorch.
    classes : sequence of type
        What is harmless as well.

    Raises
    ------
    FileError
        If it cannot be read, is damaged, or asks for anything else.
    """
    with open_regular(path) as file, intact(path, "a file of PyTorch"), \
            torch.serialization.safe_globals(list(classes)):
        try:
            return torch.load(file, map_location="cpu", weights_only=True)
        except pickle.UnpicklingError as error:
            asked = _ASKED.search(str(error))
            if not asked:  # PyTorch's text says how to execute what is in there
                raise FileError(f"{path} is damaged or not a file of PyTorch; make it again"
                                ) from error
            raise FileError(f"{path} holds a {asked[1]}, which is not taken from files; save "
                            f"tensors alone") from error


def read_torch_arrays(path: Place) -> dict[Any, npt.NDArray[Any]]:
    """Arrays of NumPy by name, as ``torch.save`` wrote a dictionary of them; without PyTorch.

    Raises
    ------
    FileError
        If it cannot be read, is damaged, or holds anything else.
    """
    with (open_regular(path) as file, intact(path, "a file of PyTorch"),
          zipfile.ZipFile(file) as archive):
        found = [one for one in archive.infolist() if one.filename.endswith("/data.pkl")]
        if len(found) != 1:
            raise FileError(f"{path} has {len(found)} files data.pkl, not one; save it again")
        check_size(path, found[0].file_size)
        with archive.open(found[0]) as member:
            content = member.read(found[0].file_size + 1)
    return read_pickled_arrays(content, path)
