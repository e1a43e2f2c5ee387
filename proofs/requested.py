# SPDX-License-Identifier: BSD-2-Clause
"""Follows one word of a request for several, whatever bursts they are asked for in."""

from typing import Any

from amaranth.hdl import Assert, Module, Signal, Value, ValueLike

from hypercast.rtl.config import Config

__all__ = ["Requested"]


class Requested:
    """An arbitrary word of an arbitrary request: exactly one burst asks for it, in its turn.

    Asserts that of the words that are due, as many are asked for in every burst as its length says,
    and that the word followed is the one that it should be. So every word is, and there are neither
    more nor less.

    Parameters
    ----------
    m : Module
        The bench.
    config : Config
        Configuration.
    enters : Value
        A request comes, for ``count`` words from ``address`` on.
    address, count : Value
        Valid with ``enters``.
    leaves : Value
        A burst is accepted, of ``length`` words from ``given`` on.
    given, length : Value
        Valid with ``leaves``.
    tag, given_tag : Value
        What else of the request has to be so in the burst.

    Attributes
    ----------
    choices : list of Signal
        Free inputs: whether to follow a word, and which of the request.
    due : Signal
        Words requested that no accepted burst has asked for.
    active, ahead : Signal
        Whether a word is followed, and how many of those that are due come first.
    """

    def __init__(self, m: Module, config: Config, *, enters: Value, address: Value, count: Value,
                 leaves: Value, given: Value, length: Value, tag: Value,
                 given_tag: Value) -> None:
        room = 4 * config.channel_words
        choose, place = Signal(name="choose"), Signal.like(count, name="place")
        self.choices = [choose, place]
        self.due = Signal(range(room), name="due")
        self.active, self.ahead = Signal(name="asked"), Signal(range(room), name="to_ask")
        self._address = Signal(config.address_width, name="asked_address")
        self._tag = Signal.like(tag, name="asked_tag")
        came, went = enters.replicate(len(count)) & count, leaves.replicate(len(length)) & length
        m.d.sync += self.due.eq(self.due + came - went)
        with m.If(~self.active):
            m.d.sync += [self.active.eq(enters & choose & (place < count)),
                         self._address.eq(address + place), self._tag.eq(tag),
                         self.ahead.eq(self.due - went + place)]
        with m.Elif(leaves):
            m.d.sync += [self.ahead.eq(self.ahead - length),
                         self.active.eq(self.ahead >= length)]
        with m.If(self.active & leaves & (self.ahead < length)):
            m.d.comb += self.check(given, self.ahead, given_tag)
        m.d.comb += [
            Assert(~leaves | (length <= self.due)),
            Assert(~self.active | (self.ahead < self.due)),
        ]

    def check(self, address: Value, offset: ValueLike, tag: Value) -> Any:
        """Assertion that the word followed is ``offset`` words behind ``address``.

        Amaranth has no public name for the type of a statement.
        """
        width = len(self._address)
        return Assert(((address + offset)[:width] == self._address) & (tag == self._tag))
