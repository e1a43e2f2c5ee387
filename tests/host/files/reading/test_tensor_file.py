# SPDX-License-Identifier: BSD-2-Clause
import json
import struct

import numpy as np
import pytest
from safetensors.numpy import save_file

from hypercast.host.files.reading.regular_file import FileError
from hypercast.host.files.reading.tensor_file import read_safetensors


def test_safetensors(tmp_path):
    path = tmp_path / "a.safetensors"
    tensors = {kind: np.arange(6).reshape(2, 3).astype(kind)
               for kind in ("float16", "float32", "float64", "int32", "int64", "uint8")}
    save_file(tensors, path, metadata={"key": "value"})
    found, facts = read_safetensors(path)
    assert facts == {"key": "value"} and found.keys() == tensors.keys()
    for name, values in tensors.items():
        assert found[name].dtype == values.dtype
        np.testing.assert_array_equal(found[name], values)


def write(path, header, content=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + content)


@pytest.mark.parametrize(("header", "message"), [
    ({"w": {"dtype": "BF16", "shape": [2], "data_offsets": [0, 4]}},
     r"w is of type BF16; save it as float32 \(tensor\.float\(\)\)"),
    ({"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}}, "damaged"),
    (b'{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},'
     b'"w":{"dtype":"I32","shape":[1],"data_offsets":[0,4]}}', "'w' is there twice|damaged"),
    (b"[1]", "damaged"),
    (b"\xff", "damaged"),
])
def test_refusals(tmp_path, header, message):
    path = tmp_path / "a.safetensors"
    write(path, header, bytes(4))
    with pytest.raises(FileError, match=rf"a\.safetensors.*({message})"):
        read_safetensors(path)


@pytest.mark.parametrize("content", [b"", b"\x01", b"\xff" * 8, bytes(8)])
def test_damaged(tmp_path, content):
    (tmp_path / "a.safetensors").write_bytes(content)
    with pytest.raises(FileError, match="damaged or not a file of safetensors"):
        read_safetensors(tmp_path / "a.safetensors")
