# SPDX-License-Identifier: BSD-2-Clause
"""All files of an exported chip."""

import json
from collections.abc import Callable

from hypercast.host.eda.integration.c_header import c_header
from hypercast.host.eda.integration.fusesoc_core import fusesoc_core, names_file, yosys_names
from hypercast.host.eda.integration.ipxact import ipxact
from hypercast.host.eda.integration.litex_wrapper import litex_wrapper
from hypercast.host.eda.integration.register_page import register_page
from hypercast.host.eda.integration.svd import svd
from hypercast.host.eda.integration.training_bench import training_bench
from hypercast.host.eda.integration.vivado_component import COMPONENT_FILE, vivado_component
from hypercast.host.files.joined_files import joined_files
from hypercast.rtl.config import Config
from hypercast.rtl.export.chip_conversion import lint_waivers, to_verilog
from hypercast.rtl.export.export_options import ExportOptions
from hypercast.rtl.export.manifest import manifest

__all__ = ["export_files"]


def export_files(config: Config, options: ExportOptions, *,
                 progress: Callable[[str], None] = lambda text: None) -> dict[str, str]:
    """The files by name, the Verilog first.

    There is no test bench if its training does not fit the chip.
    """
    top = options.top
    design = to_verilog(config, options, progress=progress)
    progress("training the reference for the test bench")
    bench = training_bench(config, options)
    return joined_files([
        (f"{top}.v", design), (f"{top}.vlt", lint_waivers(options)),
        (f"{top}.xml", ipxact(config, options)),
        (COMPONENT_FILE, vivado_component(config, options)),
        (f"{top}.core", fusesoc_core(config, options, bench=bool(bench))), *bench.items(),
        (names_file(options), yosys_names(config, options)),
        (f"{top}_litex.py", litex_wrapper(config, options)),
        (f"{top}.svd", svd(config, options)), (f"{top}.h", c_header(config, options)),
        ("registers.md", register_page()),
        ("manifest.json", json.dumps(manifest(config, options), indent=2) + "\n")])
