# SPDX-License-Identifier: BSD-2-Clause
"""What every generated file begins with: licence, configuration and its hash."""

from hypercast.rtl.config import INTERFACE_VERSION, Config

__all__ = ["notice"]

_NOTICE = """\
Hypercast: graph convolutional networks trained on a hypercube of cores
SPDX-License-Identifier: BSD-2-Clause
Copyright (c) 2026, the Hypercast authors

Generated, not to be edited. Interface version {version}, configuration hash {hash:#010x}:
"""


def notice(config: Config) -> list[str]:
    """The notice of a configuration, as a list of lines."""
    return [*_NOTICE.format(version=INTERFACE_VERSION, hash=config.hash).splitlines(),
            *(f"  {name} = {value}" for name, value in config.to_dict().items())]
