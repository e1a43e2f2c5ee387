import pytest

from hypercast.host.cluster.group import ClusterError
from hypercast.host.training.sharing import agree
from tests.host.cluster.thread_group import on_ranks


def test_ranks_that_are_about_the_same():
    on_ranks(3, lambda group: agree(group, {"graph": {"sha256": "ab"}, "seeds": [1, 2]}))


def test_the_rank_that_differs_is_named():
    with pytest.raises(ClusterError, match=r"^board 2 trains something else: seeds.2 is 5 on board "
                                           r"2, 2 on board 0; give all boards the same command"):
        on_ranks(3, lambda group: agree(group, {"seeds": [1, 5 if group.rank == 2 else 2]}))


def test_versions_are_compared(monkeypatch):
    class Group:
        def gather(self, value):
            return [value, value | {"version.numpy": "1.0"}]

    with pytest.raises(ClusterError, match=r"version.numpy is 1.0 on board 1, 2"):
        agree(Group(), {})
