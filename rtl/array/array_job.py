# SPDX-License-Identifier: BSD-2-Clause
"""What the array engine keeps of an instruction while it works on it."""

from amaranth.hdl import Mux, Value, ValueLike
from amaranth.lib import data

from hypercast.rtl.isa import (
    ADDRESS_WIDTH,
    BASE_WIDTH,
    DIGITS_WIDTH,
    KEY_WIDTH,
    PANELS_WIDTH,
    ROWS_WIDTH,
    THRESHOLD_WIDTH,
    Opcode,
)
from hypercast.rtl.layouts import CONTROL
from hypercast.rtl.lib.extremes import tile_rows

__all__ = ["ArrayJob", "decode"]


class ArrayJob(data.Struct):
    """Operands of a MATMUL or a GRADIENT (``gradient``), as in ``isa.OPERANDS``.

    ``chained`` is about the left operand of a MATMUL, and the right one of a GRADIENT.

    ``rows`` rows are processed, from ``row_start`` on.
    ``panel`` is what dropout calls the first panel, ``key`` its key with the step key added; with
    ``ranked``, ``ranks`` is the list of what it calls the rows, of a dense left operand. Flags
    of GRADIENT are low for MATMUL; other fields of the other opcode mean nothing.
    """

    gradient: 1
    rows: ROWS_WIDTH
    row_start: ROWS_WIDTH
    panels: PANELS_WIDTH
    panel: PANELS_WIDTH
    buffer: 1
    channel: 1
    sparse: 1
    address: ADDRESS_WIDTH
    stride: ADDRESS_WIDTH
    dropout: 1
    threshold: THRESHOLD_WIDTH
    key: KEY_WIDTH
    ranked: 1
    ranks: ADDRESS_WIDTH
    weights: BASE_WIDTH
    weight_stride: BASE_WIDTH
    transposed: 1
    ones: 1
    gradient_address: ADDRESS_WIDTH
    gradient_channel: 1
    first_row: ROWS_WIDTH
    digits: DIGITS_WIDTH
    sums: 1
    sums_row: ROWS_WIDTH
    operand: 2
    operand_base: BASE_WIDTH
    operand_stride: BASE_WIDTH
    bypassed: 1
    bypass_base: BASE_WIDTH
    chained: 1


def decode(issue: Value, rows: ValueLike) -> Value:
    """The ``ArrayJob`` of an issued instruction.

    Parameters
    ----------
    issue : Issue
        The instruction, MATMUL or GRADIENT.
    rows : Value
        Rows that this core holds of the instruction's vertices (ROWS_WIDTH bits).

    Returns
    -------
    dict
        A value for every field of ``ArrayJob``.
    """
    matmul, gradient = issue.view(Opcode.MATMUL), issue.view(Opcode.GRADIENT)
    is_gradient = CONTROL(issue.instruction[:CONTROL.size]).opcode == Opcode.GRADIENT

    fields = {
        name: Mux(is_gradient, gradient[name], matmul[name])
        for name in ("row_start", "panels", "panel", "sparse", "address", "stride", "dropout",
                     "ranked", "ranks", "operand", "operand_base", "operand_stride", "chained")}
    return {
        **fields,
        "gradient": is_gradient,
        "rows": tile_rows(rows, fields["row_start"],
                          Mux(is_gradient, gradient.row_limit, matmul.row_limit)),
        "threshold": Mux(is_gradient, gradient.dropout_threshold, matmul.dropout_threshold),
        "key": issue.dropout_key,
        "buffer": matmul.buffer,
        "channel": Mux(is_gradient, ~gradient.gradient_channel, matmul.channel),
        "weights": matmul.weights,
        "weight_stride": matmul.weight_stride,
        "transposed": matmul.transposed,
        "ones": is_gradient & gradient.ones,
        "gradient_address": gradient.gradient_address,
        "gradient_channel": gradient.gradient_channel,
        "first_row": gradient.first_row,
        "digits": gradient.digits,
        "sums": is_gradient & gradient.sums,
        "sums_row": gradient.sums_row,
        "bypassed": is_gradient & gradient.bypassed,
        "bypass_base": gradient.bypass_base,
    }
