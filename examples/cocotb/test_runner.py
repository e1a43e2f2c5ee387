"""The same tests without make: pytest test_runner.py, or python test_runner.py."""

import subprocess
from pathlib import Path

from hypercast.cocotb import run

FOLDER = Path(__file__).parent
CHIP = FOLDER / "build" / "tiny-sram"


def test_registers(simulator="icarus"):
    if not CHIP.exists():
        subprocess.run(["hypercast", "verilog", "--preset", "tiny", "-o", CHIP], check=True)
    run(FOLDER / "test_registers.py", CHIP, simulator=simulator, environment={"CHIP": str(CHIP)})


if __name__ == "__main__":
    test_registers()
    print("passed")
