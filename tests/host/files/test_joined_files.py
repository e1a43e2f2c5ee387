# SPDX-License-Identifier: BSD-2-Clause
"""Files of one folder: whatever their names, none is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.files.joined_files import joined_files

NAMES = st.lists(st.text(alphabet="abAB._", min_size=1, max_size=3), max_size=6)


@given(NAMES)
def test_all_files_are_there_or_two_are_named(names):
    files = [(name, str(number)) for number, name in enumerate(names)]
    if len({name.lower() for name in names}) == len(names):
        assert list(joined_files(files).items()) == files
    else:
        with pytest.raises(ValueError, match="two files would be called"):
            joined_files(files)
