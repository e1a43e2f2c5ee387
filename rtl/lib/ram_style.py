# SPDX-License-Identifier: BSD-2-Clause
"""Which kind of RAM a large memory should become, as synthesis tools are told."""

__all__ = ["ram_style"]

#: Words and bits of AMD's RAMs (UG573): a block RAM of that depth, and an UltraRAM.
_BLOCK, _ULTRA = (2048, 18), (4096, 72)
#: Block RAMs that are worth an UltraRAM.
_WORTH = 3


def _count(ram: tuple[int, int], words: int, width: int) -> int:
    return -(-words // ram[0]) * -(-width // ram[1])


def ram_style(words: int, width: int) -> dict[str, str]:
    """Attributes of a memory: UltraRAM where block RAMs would be three times as many, or none.

    Tools for FPGAs without UltraRAM must not see the attribute, where they do not ignore it; so
    ``host.eda.synthesis`` and ``boards.serial_project`` take it away.

    Parameters
    ----------
    words, width : int
        Words, and bits of each.
    """
    deep = words >= _BLOCK[0]
    worth = _count(_BLOCK, words, width) >= _WORTH * _count(_ULTRA, words, width)
    return {"ram_style": "ultra"} if deep and worth else {}
