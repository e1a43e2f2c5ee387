# SPDX-License-Identifier: BSD-2-Clause
import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hypercast.host.files.reading import number_table
from hypercast.host.files.reading.number_table import read_real_numbers, read_whole_numbers
from hypercast.host.files.reading.regular_file import FileError


def write(path, text):
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "wb") as file:
        file.write(text.encode())
    return path


@given(arrays(np.int64, st.tuples(st.integers(1, 30), st.integers(1, 4))), st.booleans(),
       st.sampled_from(["", "\n", "\r\n"]), st.integers(1, 100))
def test_whole_numbers(tmp_path_factory, values, names, end, block):
    path = tmp_path_factory.mktemp("table") / ("a.csv.gz" if names else "a.csv")
    lines = [",".join("abcd"[:values.shape[1]])] * names
    lines += [",".join(map(str, row)) for row in values.tolist()]
    write(path, (end or "\n").join(lines) + end)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(number_table, "_BLOCK", max(block, 100))
        assert read_whole_numbers(path, names=names).tolist() == values.tolist()


@given(arrays(np.float64, st.tuples(st.integers(1, 30), st.integers(1, 4))))
def test_real_numbers(tmp_path_factory, values):
    path = tmp_path_factory.mktemp("table") / "a.csv"
    write(path, "\n".join(",".join(map(repr, row)) for row in values.tolist()))
    np.testing.assert_array_equal(read_real_numbers(path, np.float64), values)


#: What a column can be called, and what it cannot, by the words of ``read_whole_numbers``.
CALLED = ["a", "_", "node id", "x.1-2", "\u00e9", '"quoted"', "nano", "e5"]
NOT_CALLED = ["1", "1a", "a#", "-a", "a/b", "", "nan", "Inf", "1e5", "#a"]


@given(st.lists(st.sampled_from([*CALLED, *NOT_CALLED]), min_size=1, max_size=3))
def test_the_first_line_names_all_columns_or_none(tmp_path_factory, names):
    path = tmp_path_factory.mktemp("table") / "a.csv"
    row = list(range(2, 2 + len(names)))
    write(path, f"{','.join(names)}\n{','.join(map(str, row))}\n")
    if set(names) <= set(CALLED):
        assert read_whole_numbers(path, names=True).tolist() == [row]
        with pytest.raises(FileError, match=r"line 1: .* is no whole number"):
            read_whole_numbers(path)
    elif set(names) == {"1"}:
        assert read_whole_numbers(path, names=True).tolist() == [[1] * len(row), row]
    elif names == [""]:  # an empty line
        assert read_whole_numbers(path, names=True).tolist() == [row]
    else:
        with pytest.raises(FileError, match=r"line 1: .* is no whole number"):
            read_whole_numbers(path, names=True)


def test_nothing(tmp_path):
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b""))
    assert read_whole_numbers(tmp_path / "a.csv.gz").size == 0


@pytest.mark.parametrize(("text", "message"), [
    ("1,2\n3,4.0\n", r"a\.csv, line 2: '4\.0' is no whole number"),
    ("1,2\n\n3,1_0\n", r"line 3: '1_0' is no"),
    ("1,2\n3\n", "line 2 has 1 numbers, but lines before have 2"),
    ("1,2 # and so on\n", r"line 1: '2 # and so on' is no"),
    ("1,\n", "line 1: '' is no"),
    ("1\r2\n", r"line 1: '1\\r2' is no"),
    ("1,\u0662\n", "line 1: '\u0662' is no"),
    ("1,99999999999999999999\n", "is no whole number"),
    ("a,b\n1,2\n", "line 1: 'a' is no"),
])
def test_refusals(tmp_path, text, message):
    with pytest.raises(FileError, match=message):
        read_whole_numbers(write(tmp_path / "a.csv", text))


@pytest.mark.parametrize("field", ["0x1p3", "1_0", "infinity", "1d5", "", "--1", "1 2"])
def test_real_refusals(tmp_path, field):
    with pytest.raises(FileError, match=f"line 2: '{field}' is no number"):
        read_real_numbers(write(tmp_path / "a.csv", f"1.5\n{field},\n"), np.float32)


def test_lines_in_different_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(number_table, "_BLOCK", 8)
    path = write(tmp_path / "a.csv", "1,2\n3,4\n5\n6\n7\n8\n")
    with pytest.raises(FileError, match="lines of 2 and of 1 numbers"):
        read_whole_numbers(path)
    with pytest.raises(FileError, match="a line of more than 8 bytes"):
        read_whole_numbers(write(tmp_path / "a.csv", "1" * 20 + "\n2"))
    with pytest.raises(FileError, match="line 4: 'x' is no whole number"):
        read_whole_numbers(write(tmp_path / "a.csv", "1\n2\n3\nx\n"))


def test_damaged(tmp_path):
    path = write(tmp_path / "a.csv.gz", "1,2\n" * 100)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(FileError, match=r"a\.csv\.gz is damaged or not a table of numbers"):
        read_whole_numbers(path)
    path.write_bytes(b"no gzip")
    with pytest.raises(FileError, match="Not a gzipped file"):
        read_whole_numbers(path)


@pytest.mark.parametrize("line", ["01,2", "1,-0", "1,00", "-01,1", "1,000000000000000000001"])
def test_whole_numbers_have_one_spelling(tmp_path, line):
    """In the fast way of reading as well."""
    (tmp_path / "a.csv").write_text(f"1,2\n{line}\n3,4\n")
    with pytest.raises(FileError, match=r"a\.csv, line 2: .* is no whole number"):
        read_whole_numbers(tmp_path / "a.csv")


def test_zeros_are_whole_numbers(tmp_path):
    (tmp_path / "a.csv").write_text("0,10\n100,0\n-10,20\n")
    assert read_whole_numbers(tmp_path / "a.csv").tolist() == [[0, 10], [100, 0], [-10, 20]]


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
def test_a_file_of_no_bytes_is_no_table(tmp_path, suffix):
    path = tmp_path / f"edge{suffix}"
    path.touch()
    for read in (read_whole_numbers, lambda path: read_real_numbers(path, np.float32)):
        with pytest.raises(FileError, match="is empty, of 0 bytes; get it again"):
            read(path)
