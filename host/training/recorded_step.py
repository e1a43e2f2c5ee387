# SPDX-License-Identifier: BSD-2-Clause
"""The training step of which a timeline or waveforms are recorded."""

from hypercast.errors import InputError

__all__ = ["check_to_come", "choose_recorded_step"]


def choose_recorded_step(device: str, epochs: int, *, wanted: int | None, traced: bool,
                         kept: bool, pieces: bool) -> int | None:
    """Choose the epoch of which a training step is recorded, if one is.

    Parameters
    ----------
    device : str
        Name of the device; only ``rtl`` keeps a timeline.
    epochs : int
        How many are trained.
    wanted : int, optional
        The epoch that is asked for, from 1; the last one if not given.
    traced : bool
        Whether a timeline or waveforms are asked for.
    kept : bool
        Whether a run is kept, which has a timeline where there can be one.
    pieces : bool
        Whether a step is several programs: on several samples, or of several boards.

    Returns
    -------
    int or None
        The epoch, from 1; None for none.

    Raises
    ------
    InputError
        If what is asked for cannot be recorded; names what to do on the command line.
    """
    asked = traced or wanted
    if device != "rtl":
        if asked:
            what = "the reference has no cycles to trace" if device == "reference" \
                else "a board keeps no timeline"
            raise InputError(f"{what}; add --device rtl")
        return None
    if pieces:
        if asked:
            raise InputError("a step on several samples, or of several boards, is several "
                             "programs, of which no timeline is kept; leave out --trace, --vcd "
                             "and --trace-step, or train on one board, with one sample a step")
        return None
    if not (traced or kept):
        if wanted:
            raise InputError("--trace-step says which step --trace, --vcd or --run records; give "
                             "one of them")
        return None
    if wanted and wanted > epochs:
        raise InputError(f"--trace-step {wanted} is beyond the last of {epochs} epochs; raise "
                         f"--epochs")
    return wanted or epochs


def check_to_come(step: int, epoch: int, *, wanted: int | None) -> None:
    """Refuse a recorded step that a training has left behind.

    Parameters
    ----------
    step : int
        The epoch of which a step is recorded, from 1.
    epoch : int
        How many epochs have been trained.
    wanted : int, optional
        The epoch that was asked for.

    Raises
    ------
    InputError
        If the step has been.
    """
    if step <= epoch:
        later = "give a later --trace-step" if wanted else "raise --epochs"
        raise InputError(f"the training step of epoch {step} is to be recorded, but the "
                         f"checkpoint is of epoch {epoch}; {later}")
