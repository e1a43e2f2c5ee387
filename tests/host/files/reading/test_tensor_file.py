# SPDX-License-Identifier: BSD-2-Clause
import json
import pickle
import struct
import zipfile

import numpy as np
import pytest
from safetensors.numpy import save_file

from hypercast.host.files.reading.regular_file import FileError
from hypercast.host.files.reading.tensor_file import read_safetensors, read_torch_arrays


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


def torch_file(path, *members):
    """A file as PyTorch writes it, with members of these names and contents."""
    with zipfile.ZipFile(path, "w") as file:
        for name, content in members:
            file.writestr(name, content)
    return path


def test_arrays_of_pytorch_without_it(tmp_path):
    values = {"a": np.arange(6.0).reshape(2, 3), "b": np.array([1, 2])}
    path = torch_file(tmp_path / "a.pt", ("a/data.pkl", pickle.dumps(values, protocol=2)),
                      ("a/version", b"3"))
    found = read_torch_arrays(path)
    assert found.keys() == values.keys()
    for name, expected in values.items():
        np.testing.assert_array_equal(found[name], expected)


@pytest.mark.parametrize("names", [[], ["data.pkl"], ["a/data.pkl", "b/data.pkl"]])
def test_files_of_pytorch_have_one_pickle(tmp_path, names):
    path = torch_file(tmp_path / "a.pt", *((name, pickle.dumps({})) for name in names))
    with pytest.raises(FileError, match=r"a\.pt has [02] files data\.pkl, not one; save it again"):
        read_torch_arrays(path)


def test_pickles_that_are_larger_than_memory(tmp_path, monkeypatch):
    path = torch_file(tmp_path / "a.pt", ("a/data.pkl", pickle.dumps({})))
    assert read_torch_arrays(path) == {}
    monkeypatch.setattr("os.sysconf", lambda name: 1)
    with pytest.raises(FileError, match="GiB of memory; take a smaller one"):
        read_torch_arrays(path)


@pytest.mark.parametrize("content", [b"", b"\x01", b"\xff" * 8, bytes(8)])
def test_damaged(tmp_path, content):
    (tmp_path / "a.safetensors").write_bytes(content)
    with pytest.raises(FileError, match="damaged or not a file of safetensors"):
        read_safetensors(tmp_path / "a.safetensors")
