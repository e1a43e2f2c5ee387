# SPDX-License-Identifier: BSD-2-Clause
import pytest

from hypercast.host.files.reading.json_file import read_json
from hypercast.host.files.reading.regular_file import FileError


def test_json(tmp_path):
    (tmp_path / "a.json").write_text('{"ü": [1, 2.5, null, true]}', encoding="utf-8")
    assert read_json(tmp_path / "a.json") == {"ü": [1, 2.5, None, True]}


@pytest.mark.parametrize(("text", "message"), [
    ('{"a": 1,\n "b": 1,\n "a": 2}', "a.json: the key 'a' is there twice"),
    ('{"x": {"a": 1, "a": 1}}', "the key 'a' is there twice"),
    ("[NaN]", "NaN is no number of JSON"),
    ("[-Infinity]", "-Infinity is no number"),
    ('{"a":\n 1,}', "a.json, line 2, column "),
    ("", "line 1, column 1"),
    ("[" * 100_000, "too many brackets"),
    ("9" * 10_000, "Exceeds the limit"),
])
def test_refusals(tmp_path, text, message):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(FileError, match=message):
        read_json(tmp_path / "a.json")
