# SPDX-License-Identifier: BSD-2-Clause
"""The registers and the configuration as a C header."""

from collections.abc import Sequence

from hypercast.rtl.config import Config
from hypercast.rtl.export.export_options import DEFAULT_OPTIONS, ExportOptions
from hypercast.rtl.export.notice import notice
from hypercast.rtl.limits import PATIENCE
from hypercast.rtl.registers import (
    COUNTERS,
    LIMIT_UNIT,
    PHASES,
    REGISTERS,
    CoreSpace,
    Space,
)

__all__ = ["c_header"]

#: The beginning of names. Names of one configuration begin with its top module's name instead.
_COMMON = "HYPERCAST"
_OWN = "CONFIG_"
#: What tells two chips apart.
_HASH, _EXTERNAL = "CONFIG_HASH_VALUE", "CONFIG_EXTERNAL_MEMORY"
#: Derived values of ``Config`` that a driver needs.
_DERIVED = ("cores", "chunks")


def c_header(config: Config, options: ExportOptions = DEFAULT_OPTIONS) -> str:
    """The header of a configuration, as text: constants only, all unsigned.

    Headers of several chips can be included together: common definitions have the same name, and
    definitions of one configuration have the name of its top module, in capitals. Top modules
    whose names differ in nothing else are an error of the preprocessor.
    """
    own = options.top.upper()
    guard = f"{own}_H"
    sections: list[tuple[str, Sequence[tuple[str, object, str]]]] = [
        ("Byte offsets of the registers",
         [(f"REG_{register.name}", f"{register.offset:#04x}", register.description)
          for register in REGISTERS]),
        ("What the first registers read",
         [(f"{register.name}_VALUE", f"{register.reset_value(config):#010x}", "")
          for register in REGISTERS[:3]]),
        *((f"Bits of register {register.name}",
           [(f"{register.name}_{field.name}", f"{1 << field.low:#x}", field.description)
            for field in register.fields])
          for register in REGISTERS if any(field.width == 1 for field in register.fields)),
        ("Address spaces of the window: register space",
         [(f"SPACE_{space.name}", int(space), space.description) for space in Space]),
        ("Addresses within the space of a core",
         [(f"CORE_SPACE_{place.name}", int(place), place.description) for place in CoreSpace]),
        ("Performance counters, from CORE_SPACE_COUNTERS on",
         [*((f"COUNTER_{name}", index, counter.description)
            for index, (name, counter) in enumerate(COUNTERS.items())),
          ("COUNTERS", len(COUNTERS), "Number of counters of a core")]),
        ("Sizes", [("PHASES", PHASES, "Registers phase_0, phase_1 and so on"),
                   ("LIMIT_UNIT", LIMIT_UNIT, "Cycles that a unit of register limit stands for"),
                   ("PATIENCE", PATIENCE, "Cycles that nothing moves before a program is stuck")]),
        ("Configuration, see rtl/config.py",
         [(f"CONFIG_{name}", int(value), "") for name, value in config.to_dict().items()]
         + [(f"CONFIG_{name}", getattr(config, name), "") for name in _DERIVED]
         + [(_EXTERNAL, int(options.external), "1 if memory is reached by AXI4"),
            ("CONFIG_CHANNELS", 2 * config.cores, "Memory channels"),
            ("CONFIG_CHANNEL_BYTES", config.channel_bytes, "Size of each")]),
    ]
    lines = ["/*", *(f" * {line}".rstrip() for line in notice(config)), " */",
             f"#ifndef {guard}", f"#define {guard}"]
    for title, constants in sections:
        lines += ["", f"/* {title}. */", *(_define(own, *constant) for constant in constants)]
    if own != _COMMON:
        lines += ["", f"/* For code that knows one chip only: that of {_COMMON.lower()}.h, or else "
                      f"of the first header included. */"]
        for _, constants in sections:
            lines += [_alias(own, name) for name, _, _ in constants
                      if name.upper().startswith(_OWN)]
    [digest] = [value for _, constants in sections for name, value, _ in constants
                if name.upper() == _HASH]
    lines += ["", f"#elif {own}_{_HASH} != {digest}u "
                  f"|| {own}_{_EXTERNAL} != {int(options.external)}u",
              f"#error \"two chips have names that begin with {own}_: give their top modules names "
              f"that differ in more than capitals\""]
    return "\n".join([*lines, f"#endif /* {guard} */", ""])


def _define(own: str, name: str, value: object, description: str) -> str:
    comment = f" /* {description}. */" if description else ""
    configured = name.upper().startswith(_OWN)
    name = f"{own if configured else _COMMON}_{name.upper()}"
    # Another chip's header may have made it an alias.
    before = f"#undef {name}\n" if configured and own == _COMMON else ""
    return f"{before}#define {name} {value}u{comment}"


def _alias(own: str, name: str) -> str:
    common = f"{_COMMON}_{name.upper()}"
    return f"#ifndef {common}\n#define {common} {own}_{name.upper()}\n#endif"
