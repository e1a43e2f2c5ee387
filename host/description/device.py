# SPDX-License-Identifier: BSD-2-Clause
"""The device to train on, and the configuration of its chip."""

from dataclasses import fields
from typing import Any

from hypercast.errors import InputError
from hypercast.host.description.conversion import DescriptionError, call_text, check
from hypercast.host.runtime.mapped_transport import MAPPED, mapped_place
from hypercast.host.runtime.serial.discovery import serial_address
from hypercast.host.runtime.xdma_transport import XDMA, xdma_path
from hypercast.rtl.config import PRESETS, Config, ConfigurationError

__all__ = ["DEVICES", "EVALUATORS", "ON_DEVICE", "ON_HOST", "Device"]

#: Names of the devices that every machine has. Other devices are boards on serial ports, on PCIe,
#: and around the processor.
DEVICES = ("reference", "rtl")
#: What can evaluate parameters that are trained on samples.
EVALUATORS = (ON_HOST, ON_DEVICE) = ("host", "device")

_FIELDS = {field.name: field.type for field in fields(Config)}


class Device:
    """A device to train on.

    Parameters
    ----------
    name : str
        ``reference``: NumPy. ``rtl``: the whole chip, simulated. ``serial[:PORT][@BAUD]``: a board
        on a serial port, found if PORT is left out. ``xdma:FILE``: a board on PCIe.
        ``mapped:FILE[@ADDRESS]``: a board whose processor this is. Of several boards, one for all
        of them, or one for each, with commas between them.
    preset : str
        One of ``PRESETS``.
    elements : int, optional
        Bits of a tensor element, 8 or 16; the preset's if not given.
    evaluate_on : str
        One of ``EVALUATORS``: where parameters that are trained on samples are evaluated on the
        whole graph.
    **changes
        Fields of ``Config`` that differ from the preset.

    Attributes
    ----------
    config : Config
        The chip's configuration.
    names : tuple of str
        The devices of ``name``.

    Raises
    ------
    DescriptionError
        If there is no such device, preset, evaluator or configuration.
    """

    #: Keys of a description, and their types.
    HINTS = {"name": str, "preset": str, "elements": int | None, "evaluate_on": str, **_FIELDS}

    def __init__(self, name: str = "reference", *, preset: str = "demo",
                 elements: int | None = None, evaluate_on: str = ON_HOST,
                 **changes: Any) -> None:
        given = check("device", {
          "name": name, "preset": preset, "elements": elements, "evaluate_on": evaluate_on,
          **changes}, self.HINTS)
        self.evaluate_on = given.pop("evaluate_on")
        self.name, self.preset = given.pop("name"), given.pop("preset")
        elements = given.pop("elements")
        self.names = tuple(self.name.split(","))
        for one in self.names:
            _check_name(one)
        if self.preset not in PRESETS:
            raise DescriptionError(f"[device] preset must be one of {', '.join(PRESETS)}, not "
                                   f"{self.preset!r}", "device", "preset")
        if self.evaluate_on not in EVALUATORS:
            raise DescriptionError(f"[device] evaluate_on must be {' or '.join(EVALUATORS)}, not "
                                   f"{self.evaluate_on!r}", "device", "evaluate_on")
        if elements is not None:
            if given.setdefault("element_width", elements) != elements:
                raise DescriptionError(
                    f"[device] elements is {elements}, but element_width, which is the same, is "
                    f"{given['element_width']}; give one of them", "device", "elements")
        try:
            self.config = PRESETS[self.preset].replace(**given)
        except ConfigurationError as error:
            raise DescriptionError(f"[device] {error}", "device") from error

    def _key(self) -> tuple[str, str, str, Config]:
        return self.name, self.preset, self.evaluate_on, self.config

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return call_text("Device", self.values())

    def on(self, name: str) -> "Device":
        """This configuration on another device; the host evaluates."""
        changes: dict[str, Any] = self.config.to_dict()
        return Device(name, preset=self.preset, **changes)

    def values(self) -> dict[str, Any]:
        """Arguments of ``Device``, without the preset's values."""
        preset = PRESETS[self.preset]
        evaluator = {} if self.evaluate_on == ON_HOST else {"evaluate_on": self.evaluate_on}
        return {"name": self.name, "preset": self.preset, **evaluator, **{
            key: value for key, value in self.config.to_dict().items()
            if value != getattr(preset, key)}}


def _check_name(name: str) -> None:
    if name in DEVICES:
        return
    try:
        if name.startswith(XDMA):
            xdma_path(name)
        elif name.startswith(MAPPED):
            mapped_place(name)
        else:
            serial_address(name)
    except InputError as error:
        others = "xdma:FILE", "mapped:FILE[@ADDRESS]", *DEVICES
        raise DescriptionError(f"{error}; or {' or '.join(others)}", "device", "name") from None
