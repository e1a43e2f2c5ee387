# SPDX-License-Identifier: BSD-2-Clause
import pytest

from hypercast.reference.exponents import AlignmentError, ExponentError, ExponentFile
from hypercast.rtl.isa import MAXIMUM_EXPONENT, MINIMUM_EXPONENT


@pytest.fixture
def file():
    return ExponentFile(element_width=16, accumulator_width=48, headroom=lambda name: 1)


def test_exponent_follows_peak_of_step_before(file):
    file["T1"] = -10
    file.settle("T1", base=-25, bits=20)  # values below 2**-5
    assert file["T1"] == -10
    assert file.peak("T1") == -5
    file.settle("T1", base=-25, bits=22)
    assert file["T1"] == -5 + 1 - 15
    assert file.shift("T1", -25) == -19 + 25


def test_peak_is_the_largest_of_all_panels(file):
    file.open("T1", -25)
    for bits in (3, 9, 0, 5):
        file.fold("T1", -25, bits)
    assert file.peak("T1") == -16


def test_zeros_leave_the_exponent_alone(file):
    file["T1"] = -10
    file.settle("T1", base=-25, bits=0)
    file.settle("T1", base=-25, bits=0)
    assert file["T1"] == -10
    assert file.peak("T1") is None


@pytest.mark.parametrize(("base", "expected"), [(-20, -20), (-40, MINIMUM_EXPONENT)])
def test_exponent_is_never_below_base_or_minimum(file, base, expected):
    file.fold("T1", base, 1)
    file.open("T1", base)
    assert file["T1"] == expected


def test_calibration_looks_at_the_result_itself(file):
    file.calibrate("T1", base=-25, bits=20)
    assert file["T1"] == -5 + 1 - 15
    assert file.peak("T1") is None


def test_another_tensors_peak_can_count(file):
    file.settle("T1", base=-25, bits=20)
    file["T1.eval"] = -3
    for bits in (0, 30):  # its own peak, valid or not, is ignored
        file.settle("T1.eval", base=-25, bits=bits, peak_of="T1")
        assert file["T1.eval"] == -5 + 1 - 15
    assert file.peak("T1") == -5


def test_another_tensors_peak_may_be_missing(file):
    file["T1.eval"] = -3
    file.open("T1.eval", -25, peak_of="T1")
    assert file["T1.eval"] == -3


def test_assignment_makes_the_peak_invalid(file):
    file.settle("T1", -25, 20)
    file["T1"] = -3
    file.open("T1", -25)
    assert file["T1"] == -3


def test_shift_is_at_most_63(file):
    file["T1"] = 31
    assert file.shift("T1", -40) == 63


def test_exponent_above_maximum(file):
    file.fold("T1", base=30, bits=20)
    with pytest.raises(ExponentError, match=f"T1 is 36, above {MAXIMUM_EXPONENT}"):
        file.open("T1", base=30)


def test_base_above_exponent(file):
    file["T1"] = -20
    with pytest.raises(ExponentError, match="T1 have exponent -19, above the tensor's -20"):
        file.shift("T1", -19)
    assert file.shift("T1", -20) == 0


@pytest.mark.parametrize(("exponent", "base", "expected"),
                         [(-15, -46, 31), (-15, -15, 0), (-28, 30, -58), (-28, 40, -63)])
def test_bias_shift(file, exponent, base, expected):
    file["b1"] = exponent
    assert file.bias_shift("b1", base) == expected


def test_bias_shift_too_far(file):
    file["b1"] = -15
    with pytest.raises(AlignmentError, match="b1 with exponent -15 must be shifted left by 32"):
        file.bias_shift("b1", -47)


@pytest.mark.parametrize(("exponent", "expected"), [(10, 0), (-12, 22), (-53, 63)])
def test_loss_shift(file, exponent, expected):
    file["Z2"] = exponent
    assert file.loss_shift("Z2") == expected


def test_loss_shift_out_of_range(file):
    file["Z2"] = 11
    with pytest.raises(AlignmentError, match="Z2 must be -53 to 10 for the loss, not 11"):
        file.loss_shift("Z2")


@pytest.mark.parametrize(("momentum", "base", "expected"),
                         [(-20, -4, 0), (-20, -20, 16), (60, -20, 63)])
def test_gradient_shift(file, momentum, base, expected):
    assert file.gradient_shift("W1", momentum, base) == expected


def test_gradient_shift_negative(file):
    with pytest.raises(AlignmentError, match="gradient of W1 has exponent -3"):
        file.gradient_shift("W1", -20, -3)
