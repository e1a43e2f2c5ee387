# SPDX-License-Identifier: BSD-2-Clause
import struct
import warnings
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from hypercast.host.files.reading.arrays import array_names, opened_archive, read_array
from hypercast.host.files.reading.regular_file import FileError

TYPES = st.sampled_from(["?", "i1", "<u2", ">i4", "<i8", "<f2", ">f4", "<f8"])


@given(arrays(TYPES, array_shapes(min_dims=0, min_side=0)), st.booleans())
def test_arrays(tmp_path_factory, values, fortran):
    path = tmp_path_factory.mktemp("arrays") / "a.npy"
    values = np.asarray(values, order="F" if fortran else "C")
    np.save(path, values)
    found = read_array(path)
    assert found.dtype == values.dtype.newbyteorder("=") and found.dtype.isnative
    np.testing.assert_array_equal(found, values)
    np.savez_compressed(path.with_suffix(".npz"), a=values, b=[1])
    with opened_archive(path.with_suffix(".npz")) as archive:
        assert archive.names == ["a", "b"]
        np.testing.assert_array_equal(archive["a"], values)
        assert archive["b"].flags.writeable


@given(arrays(TYPES, array_shapes()), st.sampled_from([(1, 0), (2, 0)]), st.integers(0, 9_000))
def test_headers_of_both_versions(tmp_path_factory, values, version, spaces):
    """The length of the second one's has four bytes instead of two."""
    path = tmp_path_factory.mktemp("arrays") / "a.npy"
    with path.open("wb") as file:
        np.lib.format.write_array(file, values, version)
    if version == (2, 0):
        octets = path.read_bytes()
        size = int.from_bytes(octets[8:12], "little")
        header = octets[12:11 + size] + b" " * spaces + b"\n"
        path.write_bytes(
            octets[:8] + len(header).to_bytes(4, "little") + header + octets[12 + size:])
    found = read_array(path)
    np.testing.assert_array_equal(found, values)


def npy(header, content=b""):
    text = repr(header).encode().ljust(118)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + content


@pytest.mark.parametrize(("content", "message"), [
    (npy({"descr": "<f8", "fortran_order": False, "shape": (1 << 60,)}), "has shape"),
    (npy({"descr": "<f8", "fortran_order": False, "shape": (-1,)}, b"8" * 8), r"shape \(-1,\)"),
    (npy({"descr": "<f8", "fortran_order": False, "shape": (1,)}, b"8" * 9), "but has 9"),
    (npy({"descr": "|O", "fortran_order": False, "shape": (1,)}, b"8" * 8), "type object"),
    (npy({"descr": [("a", "<i4")], "fortran_order": False, "shape": (1,)}, b"8" * 4), "of type"),
    (npy({"descr": "<c8", "fortran_order": False, "shape": (1,)}, b"8" * 8), "complex64"),
    (npy({"descr": "|V0", "fortran_order": False, "shape": (1,)}), "of type"),
    (npy({"descr": "|b1", "fortran_order": False, "shape": (2,)}, b"\x01\x02"), "neither 0 nor 1"),
    (npy({"descr": "<f8"}), "damaged"),
    (npy("__import__('os').mkdir('x')"), "damaged"),
    (b"\x93NUMPY\x03\x00", "columns with names"),
    (b"", "damaged"),
])
def test_refusals(tmp_path, content, message):
    (tmp_path / "a.npy").write_bytes(content)
    with pytest.raises(FileError, match=rf"a\.npy .*{message}"):
        read_array(tmp_path / "a.npy")
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as file:
        file.writestr("a.npy", content)
    with pytest.raises(FileError, match=rf"a\.npz, array a, .*{message}"), \
            opened_archive(tmp_path / "a.npz") as archive:
        archive["a"]


def test_arrays_that_are_larger_than_memory(tmp_path, monkeypatch):
    np.save(tmp_path / "a.npy", np.zeros(3))
    monkeypatch.setattr("os.sysconf", lambda name: 10)
    with pytest.raises(FileError, match="GiB of memory; take a smaller one"):
        read_array(tmp_path / "a.npy")


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("lacking", [1, 8, 16])
def test_members_that_end_early(tmp_path, method, lacking):
    """Though the archive, the header and the checksum agree, numbers are missing."""
    path = tmp_path / "a.npz"
    content = npy({"descr": "<f8", "fortran_order": False, "shape": (2,)}, bytes(16 - lacking))
    with zipfile.ZipFile(path, "w", method) as file:
        file.writestr("a.npy", content)
        file.infolist()[0].file_size += lacking
    with pytest.raises(FileError, match=r"a\.npz, array a, .*(ends early|damaged)"), \
            opened_archive(path) as archive:
        archive["a"]


def test_archives(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, a=[1])
    with pytest.raises(FileError, match=r"a\.npz has no array b, but a;"), \
            opened_archive(path) as archive:
        archive["b"]
    with zipfile.ZipFile(path, "a") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        file.writestr("a.npy", b"")
    with pytest.raises(FileError, match="has a 2 times"), opened_archive(path):
        pass
    assert array_names(path) == []
    path.write_bytes(b"no archive")
    assert array_names(path) == []
