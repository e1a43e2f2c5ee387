# SPDX-License-Identifier: BSD-2-Clause
"""RTLIL text, module by module, and what makes two modules the same."""

import hashlib
import re
from collections.abc import Collection
from functools import partial

__all__ = ["STUB", "ModuleTexts"]

#: How the names of modules begin that are only there for their ports.
STUB = "stub_"
#: What says where something comes from, and changes nothing.
_ORIGIN = re.compile(r"^ *attribute \\(?:src|generator|top|amaranth\.\w+) .*\n", re.MULTILINE)
_MODULE = re.compile(r"^module \\(\S+)$(.*?)^end$", re.MULTILINE | re.DOTALL)
#: An instance of a module, whose name begins with a backslash; names of cells begin with a dollar.
_INSTANCE = re.compile(r"^  cell \\(\S+) \\(\S+)\n((?:    .*\n)*)  end$", re.MULTILINE)
_PORT = re.compile(r"^  wire .*(?:input|output|inout) .*\n", re.MULTILINE)
#: What Amaranth calls a port after the number of a net, which counts all nets of the design.
_NUMBERED = re.compile(r"\\port\$\d+\$\d+")
_CONNECTED = re.compile(r"^(    connect )(\S+)(.*)$", re.MULTILINE)


class ModuleTexts:
    """The modules of a design, to be taken out of it.

    Parameters
    ----------
    design : str
        RTLIL text, as from ``amaranth.back.rtlil``.
    """

    def __init__(self, design: str) -> None:
        self._texts: dict[str, str] = dict(_MODULE.findall(_ORIGIN.sub("", design)))

    @property
    def first(self) -> str:
        """Name of the first module: of the whole design."""
        return next(iter(self._texts))

    def parts(self, module: str) -> dict[str, str]:
        """Modules that a module consists of, by the names they have in it."""
        return {name: kind for kind, name, _ in _INSTANCE.findall(self._texts[module])
                if kind in self._texts}

    def alone(self, module: str, without: Collection[str] = ()) -> str:
        """A module with all that is in it, as a design: the same text for the same hardware.

        Modules are called after what they contain. So neither where they are in the whole design,
        nor what else there is in it, nor the place of its source makes a difference.

        Parameters
        ----------
        module : str
            Name of the module.
        without : collection of str
            Modules in it that keep only their ports.
        """
        found: dict[str, str] = {}
        self._collect(module, frozenset(without), found)
        return "".join(found.values())

    def _collect(self, module: str, without: frozenset[str], found: dict[str, str]) -> str:
        """Add a module and the modules in it to ``found``; returns its name there."""
        text, names = self._texts[module], self._port_names(module)
        if module in without:
            text = "\n" + "".join(_PORT.findall(text))
            begin, prefix = "attribute \\blackbox 1\nmodule", STUB
        else:
            text = _INSTANCE.sub(partial(self._instance, without, found), text)
            begin, prefix = "module", "m"
        text = _NUMBERED.sub(lambda match: names.get(match[0], match[0]), text)
        name = f"{prefix}{hashlib.sha256(text.encode()).hexdigest()[:24]}"
        found[name] = f"{begin} \\{name}{text}end\n"
        return name

    def _port_names(self, module: str) -> dict[str, str]:
        """New names of a module's ports that have a number."""
        names = dict.fromkeys(_NUMBERED.findall("".join(_PORT.findall(self._texts[module]))))
        return {name: f"\\port${number}" for number, name in enumerate(names)}

    def _instance(self, without: frozenset[str], found: dict[str, str],
                  match: re.Match[str]) -> str:
        kind, name, connections = match.groups()
        if kind not in self._texts:
            return match[0]
        names = self._port_names(kind)
        connections = _CONNECTED.sub(
            lambda line: f"{line[1]}{names.get(line[2], line[2])}{line[3]}", connections)
        module = self._collect(kind, without, found)
        return f"  cell \\{module} \\{name}\n{connections}  end"
