# SPDX-License-Identifier: BSD-2-Clause
"""The C driver as a library of Python: compiled for a configuration, with its bus a transport."""

import ctypes
import subprocess
from ctypes import CFUNCTYPE, POINTER, Structure, byref, c_int, c_int32, c_uint32, c_uint64
from pathlib import Path

import numpy as np

from hypercast.host.eda.integration.c_header import c_header
from hypercast.host.transport.transport import TransportError
from hypercast.rtl.registers import Status, register
from tests.host.runtime.fake_chip import FakeChip

__all__ = ["FLAGS", "SOURCES", "CDriver", "CDriverError", "PolledChip", "compile_c"]

SOURCES = Path(__file__).parents[2] / "examples" / "c"
FLAGS = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"]

_Access = CFUNCTYPE(c_int, ctypes.c_void_p, c_uint32, POINTER(c_uint32), ctypes.c_size_t)
_FAILED = 1


class _Bus(Structure):
    _fields_ = [("read", _Access), ("write", _Access), ("context", ctypes.c_void_p)]


class _Chip(Structure):
    _fields_ = [("bus", _Bus), ("error", c_uint32),
                ("image", ctypes.c_void_p), ("next_block", ctypes.c_size_t), ("blocks", c_uint32),
                ("rows", c_uint32), ("step", c_uint32)]


class _Parameter(Structure):
    _fields_ = [("rows", c_uint32), ("columns", c_uint32), ("exponent", c_int32),
                ("base", c_uint32), ("height", c_uint32)]


class PolledChip(FakeChip):
    """A chip whose time passes with each look at its status."""

    def read(self, address):
        if address == register("status") and self["status"] & Status.RUNNING:
            self.wait(500)
        return super().read(address)


class CDriverError(Exception):
    """What a function of the driver returned, in its own words."""


def compile_c(program, *sources, compiler="cc", options=()):
    """Compile sources with the headers beside ``program``; returns it."""
    subprocess.run([compiler, *FLAGS, "-O2", *options, f"-I{program.parent}", f"-I{SOURCES}",
                    "-o", program, *sources], check=True)
    return program


class CDriver:
    """Calls of the driver, which raise ``CDriverError`` if they do not return HYPERCAST_OK.

    Parameters
    ----------
    folder : pathlib.Path
        Where it is compiled, unless it is there.
    config : Config
        Configuration it is compiled for.
    transport : Transport
        The chip.
    """

    def __init__(self, folder, config, transport):
        library = folder / f"driver_{config.hash:08x}.so"
        if not library.exists():
            (folder / "hypercast.h").write_text(c_header(config))
            compile_c(library, SOURCES / "hypercast_driver.c", options=("-shared", "-fPIC"))
        self._library = ctypes.CDLL(str(library))
        for name in ("message", "cause"):
            getattr(self._library, f"hypercast_{name}").restype = ctypes.c_char_p

        def read(_, offset, values, count):
            try:
                for index, value in enumerate(transport.read_stream(offset, count)):
                    values[index] = value
            except TransportError:
                return _FAILED
            return 0

        def write(_, offset, values, count):
            try:
                transport.write_stream(offset, values[:count])
            except TransportError:
                return _FAILED
            return 0

        self.chip = _Chip()
        self._bus = _Bus(_Access(read), _Access(write), None)  # C keeps no reference to it
        self._call("open", self._bus)

    def _call(self, name, *arguments):
        result = getattr(self._library, f"hypercast_{name}")(byref(self.chip), *arguments)
        if result:
            raise CDriverError(self._library.hypercast_message(result).decode())

    def load(self, image):
        """Load the contents of an image file."""
        self._image = ctypes.create_string_buffer(image, len(image))
        self._call("load", self._image, ctypes.c_size_t(len(image)))

    def steps(self):
        """Training steps of the image."""
        return self._library.hypercast_steps(byref(self.chip))

    def train(self):
        """One training step."""
        self._call("train")

    def evaluate(self):
        """One evaluation."""
        self._call("evaluate")

    def cause(self):
        """What stopped the last program, in words."""
        return self._library.hypercast_cause(byref(self.chip)).decode()

    def cycles(self):
        """Cycles of the last program."""
        value = c_uint64()
        self._call("cycles", byref(value))
        return value.value

    def counter(self, index):
        """Sum of a counter over all cores."""
        value = c_uint64()
        self._call("counter", c_uint32(index), byref(value))
        return value.value

    def parameters(self):
        """(elements, exponent) of every parameter."""
        found = []
        for number in range(self._library.hypercast_parameters(byref(self.chip))):
            parameter = _Parameter()
            self._call("describe", c_uint32(number), byref(parameter))
            elements = (c_int32 * (parameter.rows * parameter.columns))()
            self._call("elements", byref(parameter), elements)
            shape = parameter.rows, parameter.columns
            found.append((np.array(elements).reshape(shape), parameter.exponent))
        return found
