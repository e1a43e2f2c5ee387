# SPDX-License-Identifier: BSD-2-Clause
"""The wrapper for LiteX, with a LiteX that notes what is made of it."""

import sys
from types import ModuleType, SimpleNamespace

import pytest

from hypercast.host.eda.integration.litex_wrapper import litex_wrapper
from hypercast.rtl.config import PRESETS
from hypercast.rtl.export.export_options import ExportOptions
from hypercast.rtl.export.interfaces import ports

CONFIG = PRESETS["tiny"]


class Anything:
    """A signal or an interface: its parts have their names, slices too."""

    def __init__(self, name, **options):
        self.name, self.options = name, options

    def __getattr__(self, part):
        return Anything(f"{self.name}.{part}")

    def __getitem__(self, bits):
        return Anything(f"{self.name}[{bits.start}:{bits.stop}]")

    def __invert__(self):
        return Anything(f"~{self.name}")

    def eq(self, other):
        return self.name, other.name


@pytest.fixture
def litex(monkeypatch):
    """Modules of LiteX and Migen, as far as the wrapper knows them."""
    def module(name, **contents):
        found = ModuleType(name)
        vars(found).update(contents)
        monkeypatch.setitem(sys.modules, name, found)
        return found

    class Base:
        """A module of LiteX: statements and instances are added."""

        def __new__(cls, *args, **kwargs):
            one = super().__new__(cls)
            one.specials, one.comb = Specials(), []
            return one

    class Specials:
        def __iadd__(self, instance):
            self.instance = instance
            return self

    axi = SimpleNamespace(AXILiteInterface=lambda **options: Anything("lite", **options),
                          AXIInterface=lambda **options: Anything("axi", **options))
    for name in ("litex", "litex.soc"):
        module(name)
    module("litex.gen", LiteXModule=Base)
    module("litex.soc.interconnect", axi=axi)
    module("migen", Instance=lambda name, **pins: (name, pins),
           ClockSignal=lambda domain: Anything(f"clk({domain})"),
           ResetSignal=lambda domain: Anything(f"rst({domain})"),
           Signal=lambda width: Anything(f"signal{width}"))


@pytest.mark.parametrize("external", [False, True], ids=["sram", "axi"])
def test_every_port_is_connected(external, litex, tmp_path):
    options = ExportOptions(external=external, top_name="mine")
    names = {"__file__": str(tmp_path / "mine_litex.py"), "__name__": "mine_litex"}
    exec(compile(litex_wrapper(CONFIG, options), "mine_litex.py", "exec"), names)
    sources = []
    chip = names["Hypercast"](SimpleNamespace(add_source=sources.append), clock_domain="fast")
    assert sources == [str(tmp_path / "mine.v")]
    top, pins = chip.specials.instance
    assert top == "mine"
    stride = pins.pop("p_MEMORY_STRIDE", None)
    assert stride == (CONFIG.channel_bytes if external else None)
    assert set(pins) == {f"{'o' if port.output else 'i'}_{port.name}"
                         for port in ports(CONFIG, external=external)}
    assert pins["i_aclk"].name == "clk(fast)" and pins["i_aresetn"].name == "~rst(fast)"
    assert pins["i_s_axi_araddr"].name == "lite.ar.addr[None:12]"
    assert pins["o_s_axi_rdata"].name == "lite.r.data"
    assert names["Hypercast"].SIZE == 4096
    if external:
        assert len(chip.memories) == 4 and chip.memories[0].options["data_width"] == 32
        assert pins["o_m_axi_03_wdata"].name == "axi.w.data"
        assert ("axi.aw.addr", "signal64") in chip.comb
        chip = names["Hypercast"](SimpleNamespace(add_source=sources.append), memory_stride=1 << 30)
        assert chip.specials.instance[1]["p_MEMORY_STRIDE"] == 1 << 30
