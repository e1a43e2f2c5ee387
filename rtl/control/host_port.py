# SPDX-License-Identifier: BSD-2-Clause
"""The chip's host port: AXI4-Lite registers and the window behind them."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from hypercast.rtl.config import Config
from hypercast.rtl.control.axi_lite import AxiLite, AxiLiteSubordinate
from hypercast.rtl.control.control_port import ControlPort
from hypercast.rtl.control.window import Window
from hypercast.rtl.layouts import HostRequest
from hypercast.rtl.registers import PHASES, REGISTERS, Control, Error, Register, register

__all__ = ["HostPort"]


class HostPort(wiring.Component):
    """Serves ``registers.REGISTERS``.

    An unmapped address, a write to a read-only register and a failed window access end with
    SLVERR; the last also sets ``Error.WINDOW``. ``address`` moves on after a window access that
    succeeded.

    Parameters
    ----------
    config : Config
        Configuration.
    bulk : bool
        Whether the chip has a bulk port, as ``status`` tells.

    Members
    -------
    axi : In(AxiLite())
        The host.
    control : Out(ControlPort(config))
        The controller.
    reset : Out(1)
        High for one cycle to begin a reset of the cores and the controller.
    resetting : In(1)
        A reset is under way.
    request : Out(HostRequest)
        Window access to a core; registered, stays until the next one.
    request_valid : Out(1)
        High for one cycle per request.
    request_upper : Out(1)
        The request is for what a sum over all cores has beyond 32 bits; as ``request``.
    request_done : Out(1)
        High for one cycle when a window access has ended, with an answer or without.
    response, response_valid : In(32), In(1)
        The answer, as ``CoreAnswers`` gives it. Every request is answered, writes too (then
        ``response`` does not matter), after any time below ``window.TIMEOUT``.
    """

    def __init__(self, config: Config, *, bulk: bool = False) -> None:
        self._config = config
        self._bulk = bulk
        super().__init__({
            "axi": In(AxiLite()),
            "control": Out(ControlPort(config)),
            "reset": Out(1),
            "resetting": In(1),
            "request": Out(HostRequest),
            "request_valid": Out(1),
            "request_upper": Out(1),
            "request_done": Out(1),
            "response": In(32),
            "response_valid": In(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        control = self.control
        m.submodules.axi = port = AxiLiteSubordinate()
        m.submodules.window = window = Window(self._config)
        connect(m, flipped(self.axi), port.axi)
        bus = port.bus

        held = {one.name: Signal.like(getattr(control, one.name, Value.cast(bus.data)),
                                      name=one.name, init=one.reset_value(self._config))
                for one in REGISTERS if one.held}
        cycles_high = Signal(32)

        m.d.comb += [
            window.core.eq(held["core"]), window.space.eq(held["space"]),
            window.address.eq(held["address"]),
            window.write.eq(bus.write), window.data.eq(bus.data),
            window.running.eq(control.running), window.resetting.eq(self.resetting),
            window.response.eq(self.response | control.response),
            window.response_valid.eq(self.response_valid | control.response_valid),
            self.request.eq(window.request), self.request_valid.eq(window.core_valid),
            self.request_upper.eq(window.upper), self.request_done.eq(window.done),
            control.request.eq(window.request), control.request_valid.eq(window.chip_valid),
            *(getattr(control, name).eq(held[name]) for name in ("entry", "repeat", "limit")),
            control.data.eq(bus.data),
            control.phase_index.eq(bus.address[:(PHASES - 1).bit_length()]),
            control.error_set.eq(Mux(window.done & window.error, Error.WINDOW, 0)),
        ]

        # What reads as neither what it holds, nor what it is, nor the controller's of that name.
        values = {
            "status": Cat(control.running, control.done, control.error.any(), self.resetting,
                          Const(self._bulk, 1)),
            "control": Const(0), "cycles_low": control.cycles[:32], "cycles_high": cycles_high,
            **held, **{f"phase_{index}": control.phase_cycles for index in range(PHASES)},
        }
        # What reading or writing a register does besides.
        on_read = {"cycles_low": [cycles_high.eq(control.cycles[32:])]}
        on_write = {
            "error": [control.error_clear.eq(bus.data)],
            "control": [control.start.eq((bus.data & Control.START).any()),
                        control.stop.eq((bus.data & Control.STOP).any()),
                        self.reset.eq((bus.data & Control.RESET).any())],
            "step": [control.step_write.eq(1)], "step_key": [control.step_key_write.eq(1)],
            **{name: [value.eq(bus.data)] for name, value in held.items()},
        }

        def value_of(one: Register) -> Value:
            if one.name in values:
                return values[one.name]
            if one.name in control.signature.members:
                return getattr(control, one.name)
            return Const(one.reset_value(self._config), 32)

        m.d.sync += [
            control.start.eq(0), control.stop.eq(0), control.error_clear.eq(0),
            control.step_write.eq(0), control.step_key_write.eq(0), self.reset.eq(0),
        ]
        with m.FSM():
            with m.State("IDLE"), m.If(bus.valid):
                m.next = "EXECUTE"  # one cycle later phase_cycles belongs to the address
            with m.State("EXECUTE"):
                m.d.sync += [bus.error.eq(1), bus.done.eq(1)]
                m.next = "DONE"
                with m.Switch(bus.address):
                    with m.Case(register("data") // 4):
                        m.d.comb += window.access.eq(1)
                        m.d.sync += bus.done.eq(0)
                        m.next = "WINDOW"
                    for one in REGISTERS:
                        if one.name == "data":
                            continue
                        with m.Case(one.offset // 4):
                            with m.If(~bus.write):
                                m.d.sync += [
                                    bus.error.eq(0), bus.result.eq(value_of(one)),
                                    *on_read.get(one.name, ()),
                                ]
                            if one.access == "rw":
                                with m.Else():
                                    m.d.sync += [bus.error.eq(0), *on_write[one.name]]
            with m.State("WINDOW"), m.If(window.done):
                m.d.sync += [
                    bus.done.eq(1), bus.error.eq(window.error), bus.result.eq(window.result),
                ]
                with m.If(~window.error):
                    m.d.sync += held["address"].eq(held["address"] + 1)
                m.next = "DONE"
            with m.State("DONE"):
                m.d.sync += bus.done.eq(0)
                m.next = "IDLE"
        return m
