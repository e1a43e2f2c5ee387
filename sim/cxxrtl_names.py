# SPDX-License-Identifier: BSD-2-Clause
"""Names that CXXRTL makes."""

__all__ = ["cxx_name"]


def cxx_name(name: str) -> str:
    """The C++ member that CXXRTL makes of a port or of a register with a name."""
    return "p_" + "".join(
        character if character.isalnum() and character.isascii()
        else "__" if character == "_" else f"_{ord(character):02x}_" for character in name)
