"""Ports by which the vector unit's engines reach memory."""

from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.config import Config
from hypercast.rtl.layouts import WritePort
from hypercast.rtl.lib.burst_reader import read_command

__all__ = ["WordSource", "write_request"]


class WordSource(wiring.Signature):
    """A share of a burst reader (seen from the engine).

    Members
    -------
    command : Out(stream of read_command(config))
        Words to read.
    words : In(stream of word_width)
        The words, in the order of the commands. The engine takes all it asked for.
    """

    def __init__(self, config: Config) -> None:
        super().__init__({
            "command": Out(stream.Signature(read_command(config))),
            "words": In(stream.Signature(config.word_width)),
        })


def write_request(config: Config) -> wiring.Signature:
    """Signature of the stream of writes, as in ``WritePort``."""
    return WritePort(config).members["request"].signature
