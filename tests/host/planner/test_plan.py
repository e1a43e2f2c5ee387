"""The fastest plan of a strategy is kept, and the fastest that more devices can train."""

from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.planner.plan import TRAINS, Plan, fastest

PLANS = st.lists(st.builds(
    Plan, strategy=st.just("one"), scheme=st.just("one"), shares=st.just(()),
    memory=st.just({"board": 1}), seconds=st.integers(1, 5).map(float),
    trains=st.sampled_from(TRAINS)), max_size=6)


@given(PLANS)
def test_whatever_a_device_can_train_the_fastest_is_there(plans):
    found = list(fastest(plans))
    for most in range(1, len(TRAINS) + 1):
        able = TRAINS[:most]
        assert min((plan.seconds for plan in found if plan.trains in able), default=0) == min(
            (plan.seconds for plan in plans if plan.trains in able), default=0)
    assert len({plan.trains for plan in found}) == len(found)
    assert found == sorted(found, key=lambda plan: plan.seconds)
