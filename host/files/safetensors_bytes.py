# SPDX-License-Identifier: BSD-2-Clause
"""Tensors as the bytes of a file of safetensors: the same bytes whenever they are the same."""

import json
from collections.abc import Mapping
from typing import Any

import numpy.typing as npt
from safetensors.numpy import save

__all__ = ["safetensors_bytes"]


def safetensors_bytes(tensors: Mapping[str, npt.NDArray[Any]],
                      metadata: Mapping[str, str]) -> bytes:
    """The file, with its header in alphabetical order: safetensors' order of metadata is random."""
    content = save(dict(tensors), dict(metadata))
    begin = 8 + int.from_bytes(content[:8], "little")
    header = json.dumps(json.loads(content[8:begin]), sort_keys=True).encode()
    header += b" " * (-len(header) % 8)
    return len(header).to_bytes(8, "little") + header + content[begin:]
