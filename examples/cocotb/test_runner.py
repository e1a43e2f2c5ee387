# SPDX-License-Identifier: BSD-2-Clause
"""The same tests without make: pytest test_runner.py, or python test_runner.py.

The training is on the chip with AXI4 managers. Its memory is a model of cocotbext-axi.
"""

import subprocess
from pathlib import Path

from hypercast.cocotb import run

FOLDER = Path(__file__).parent
PRESET = "tiny"


def exported(memory):
    """The folder of the chip with its memory inside, ``sram``, or outside, ``axi``."""
    chip = FOLDER / "build" / f"{PRESET}-{memory}"
    if not chip.exists():
        subprocess.run(["hypercast", "verilog", "--preset", PRESET, "--memory", memory, "-o", chip],
                       check=True)
    return chip


def simulate(test, memory, simulator):
    chip = exported(memory)
    run(FOLDER / test, chip, simulator=simulator,
        environment={"CHIP": str(chip), "PRESET": PRESET, "EPOCHS": "1"})


def test_registers(simulator="icarus"):
    simulate("test_registers.py", "sram", simulator)


def test_training(simulator="verilator"):
    simulate("test_training.py", "axi", simulator)


if __name__ == "__main__":
    test_registers()
    test_training()
    print("passed")
