"""A device around another one."""

from hypercast.host.runtime.devices import TrainingDevice

__all__ = ["WrappedDevice"]


class WrappedDevice(TrainingDevice):
    """Leaves to another device what a subclass does not do itself.

    Parameters
    ----------
    device : TrainingDevice
        The other one; all its attributes can be read here.
    """

    def __init__(self, device):
        self._device = device

    def __getattr__(self, name):
        return getattr(self._device, name)

    def train_step(self, *, record=False):
        return self._device.train_step(record=record)

    def take(self, sample):
        self._device.take(sample)

    def evaluate(self):
        return self._device.evaluate()

    def snapshot(self):
        return self._device.snapshot()

    def exponents(self):
        return self._device.exponents()

    def logits(self):
        return self._device.logits()

    def state(self):
        return self._device.state()

    def load_state(self, state):
        self._device.load_state(state)

    def close(self):
        self._device.close()
