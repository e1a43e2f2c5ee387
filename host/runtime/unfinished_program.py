"""Refuses a chip that holds something of a program that was broken off."""

from hypercast.host.runtime.transport import Transport, TransportError
from hypercast.rtl.registers import Status, register

__all__ = ["refuse_unfinished"]


def refuse_unfinished(transport: Transport, place: str, remedy: str) -> None:
    """Nothing, if the chip's last program reached its end, or there was none.

    A board that no reset but its bitstream's reaches may have sums in its accumulators, which a
    program that stopped before its end has left.

    Parameters
    ----------
    transport : Transport
        The chip.
    place, remedy : str
        Where it is, and what makes it usable.

    Raises
    ------
    TransportError
        If a program runs, or did not reach its end.
    """
    status = Status(transport.read(register("status")))
    started = any(transport.read(register(half)) for half in ("cycles_low", "cycles_high"))
    if status not in (Status(0), Status.DONE) or (started and not status & Status.DONE):
        raise TransportError(
            f"the chip of {place} runs a program, or the last one did not reach its end (status "
            f"{status!r}); wait for it, or {remedy}")
