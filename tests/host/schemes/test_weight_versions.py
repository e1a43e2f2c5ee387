# SPDX-License-Identifier: BSD-2-Clause
"""Each step takes the oldest weights that a board keeps, and leaves newer ones."""

from hypercast.host.schemes.actions import ReadWeights
from hypercast.host.schemes.weight_versions import WeightVersions
from hypercast.reference.tensor import Kind, Tensor

W1, W2, W3, W4 = (Tensor(Kind.WEIGHTS, layer) for layer in (1, 2, 3, 4))


def answered(actions, newest):
    """What actions return where the device has these weights."""
    try:
        action = next(actions)
        while True:
            assert isinstance(action, ReadWeights)
            action = actions.send(newest)
    except StopIteration as end:
        return end.value


def test_steps_take_weights_as_late_as_their_layers():
    versions = WeightVersions(range(1, 4), (2, 0, 1, 1))
    begun = {W1: "a0", W2: "b0", W3: "c0"}
    assert answered(versions.begin(), {**begun, W4: "of another board"}) == begun
    for step in range(1, 5):
        newest = {W1: f"a{step}", W2: f"b{step}", W3: f"c{step}"}
        answered(versions.end(), newest)
        assert versions.newest == newest
        older = {W1: (f"a{max(step - 2, 0)}", f"a{step - 1}"), W3: (f"c{step - 1}",)}
        assert versions.older == older
        assert answered(versions.begin(), None) == {
            W1: older[W1][0], W2: f"b{step}", W3: older[W3][0]}


def test_steps_under_way_take_one_version_each():
    versions = WeightVersions(range(1, 2), (2,))
    answered(versions.load({W1: ("a", "b")}), {W1: "c"})
    assert [answered(versions.begin(), None)[W1] for _ in range(3)] == ["a", "b", "c"]


def test_nothing_is_kept_where_no_weights_are_older():
    versions = WeightVersions(range(1, 2))
    for actions in (versions.load({}), versions.begin(), versions.end()):
        assert [*actions] == []  # no weights are read
    assert versions.newest is None and versions.older == {}
