# SPDX-License-Identifier: BSD-2-Clause
"""Names of signals in Verilog without ``$``, which waveform viewers and scripts stumble over.

Amaranth calls what has no name in the sources ``$1``, and tells signals of one name apart by a
number after ``$``.
"""

import re

from hypercast.rtl.export.identifiers import RESERVED

__all__ = ["with_plain_names"]

#: An escaped name with a ``$``, and the space that ends it.
_ESCAPED = re.compile(r"\\(\S*\$\S*)(?: |(?=\s))")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_OTHER = re.compile(r"\W+")


def with_plain_names(text: str) -> str:
    """Verilog with letters, digits and ``_`` in the place of each name with a ``$``.

    A signal without a name in the sources gets one that begins with ``_``: simulators such as
    Verilator keep it out of waveforms. A name is the same in all modules, as a port's must be.

    Parameters
    ----------
    text : str
        Verilog as Yosys writes it, in which names with a ``$`` are escaped.
    """
    taken = {*RESERVED, *(match[0] for match in _IDENTIFIER.finditer(text))}
    names: dict[str, str] = {}

    def plain(match: re.Match[str]) -> str:
        old = match[1]
        if old not in names:
            new = re.sub(r"\A(?=\d)", "_", _OTHER.sub("_", old))
            while new in taken:
                new += "_"
            names[old] = new
            taken.add(new)
        return names[old]

    return _ESCAPED.sub(plain, text)
