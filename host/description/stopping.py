"""When a training ends before its last epoch."""

from dataclasses import asdict, dataclass, fields

from hypercast.host.description.conversion import DescriptionError, checked

__all__ = ["MONITORS", "Stopping"]

#: What can be watched, and whether more of it is better.
MONITORS = {"validation_loss": False, "validation_accuracy": True,
            "validation_micro_f1": True}


@dataclass(frozen=True, kw_only=True)
class Stopping:
    """Early stopping: the training ends when no epoch of the last few was the best so far.

    Parameters
    ----------
    patience : int, optional
        How many; the training goes on to its last epoch if not given. Else, the parameters of the
        best epoch are put back at the end.
    monitor : str
        What the best epoch is the best in, one of ``MONITORS``.

    Raises
    ------
    DescriptionError
        If a value is out of range.
    """

    patience: int | None = None
    monitor: str = "validation_loss"

    def __post_init__(self):
        hints = {field.name: field.type for field in fields(self)}
        checked("stopping", asdict(self), hints)
        if self.patience is not None and self.patience < 1:
            raise DescriptionError(f"[stopping] patience must be at least 1, not {self.patience}",
                                   "stopping", "patience")
        if self.monitor not in MONITORS:
            raise DescriptionError(f"[stopping] monitor must be one of {', '.join(MONITORS)}, not "
                                   f"{self.monitor!r}", "stopping", "monitor")

    def better(self, value, best):
        """Whether ``value`` of the monitored quantity is better than ``best``, the best so far."""
        return value > best if MONITORS[self.monitor] else value < best

    def values(self):
        """What ``Stopping`` is made from, but for what is not given."""
        return {key: value for key, value in asdict(self).items() if value is not None}
